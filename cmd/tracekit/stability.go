package main

import (
	"context"
	"maps"
	"slices"

	"tracekit/document/field"
	"tracekit/engine"
	"tracekit/stats/fit"
)

// A stableKey shows how t_max of a key, and the fit behind it, settle with the number of calls.
type stableKey struct {
	Operation string      `json:"operation"`
	Role      string      `json:"role"`
	Processes uint32      `json:"processes"`
	Bytes     uint64      `json:"bytes"`
	Rows      []stableRow `json:"rows"`
}

// A stableRow is t_max as the first calls of a key give it, with the test of the law behind it or,
// where none is accepted, of the one that comes nearest.
type stableRow struct {
	Calls    int        `json:"calls"`
	TMinNs   int64      `json:"t_min_ns"`
	TMaxNs   int64      `json:"t_max_ns"`
	From     string     `json:"from"`
	Model    field.Name `json:"model"` // null: none accepted
	Law      field.Name `json:"law"`   // that was tested; null: there is none
	Chi2     *float64   `json:"chi2"`
	Critical *float64   `json:"critical"` // the largest χ² that is accepted
	Dof      *int       `json:"dof"`
	PValue   *float64   `json:"p_value"`
	Accepted bool       `json:"accepted"`
	Within   bool       `json:"within"` // 5 % of t_max - t_min of all calls
}

func newStableRow(r *fit.StabilityRow) stableRow {
	out := stableRow{Calls: r.N, TMinNs: r.TMin, TMaxNs: r.TMax, From: r.From, Within: r.Within}
	if t := &r.Test; r.Law != "" {
		out.Law, out.Chi2, out.Critical, out.Dof, out.PValue, out.Accepted = field.Name(r.Law), &t.Chi2, &t.Critical, &t.DOF, &t.P, t.Accepted
	}
	if out.Accepted {
		out.Model = out.Law
	}
	return out
}

func (k *stableKey) name() string { return keyName(k.Operation, k.Role, k.Processes, k.Bytes) }

// stableKeys studies one key of each operation and role: that with the most calls, of equals the one
// in the middle of their order.
func stableKeys(ctx context.Context, jobs int, order map[fit.Key][]int64, o fit.Options) ([]stableKey, error) {
	keys := slices.SortedFunc(maps.Keys(order), fit.CompareKeys)
	var chosen []fit.Key
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].Operation == keys[0].Operation && keys[n].Role == keys[0].Role {
			n++
		}
		chosen, keys = append(chosen, typical(keys[:n], order)), keys[n:]
	}
	return engine.Map(ctx, jobs, len(chosen), func(_ context.Context, i int) (stableKey, error) {
		key := chosen[i]
		k := stableKey{Operation: key.Operation, Role: key.Role, Processes: uint32(key.Processes), Bytes: uint64(key.Bytes)}
		for _, r := range fit.Stability(order[key], nil, o) {
			k.Rows = append(k.Rows, newStableRow(&r))
		}
		return k, nil
	})
}

func typical(keys []fit.Key, order map[fit.Key][]int64) fit.Key {
	var most []fit.Key
	for _, k := range keys {
		if len(most) > 0 && len(order[k]) > len(order[most[0]]) {
			most = most[:0]
		}
		if len(most) == 0 || len(order[k]) == len(order[most[0]]) {
			most = append(most, k)
		}
	}
	return most[len(most)/2]
}
