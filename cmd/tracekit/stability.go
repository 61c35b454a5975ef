package main

import (
	"cmp"
	"maps"
	"slices"

	"tracekit/stats"
	"tracekit/stats/fit"
)

// A stableKey shows how t_max of a key settles with the number of calls.
type stableKey struct {
	Operation string      `json:"operation"`
	Processes uint32      `json:"processes"`
	Bytes     uint64      `json:"bytes"`
	Rows      []stableRow `json:"rows"`
}

// A stableRow is t_max as the first calls of a key give it.
type stableRow struct {
	Calls  int        `json:"calls"`
	TMinNs int64      `json:"t_min_ns"`
	TMaxNs int64      `json:"t_max_ns"`
	From   string     `json:"from"`
	Model  stats.Name `json:"model"`
	Within bool       `json:"within"` // 5 % of t_max - t_min of all calls
}

func (k *stableKey) name() string { return keyName(k.Operation, k.Processes, k.Bytes) }

// stableKeys studies one key of each operation: that with the most calls, of equals the one
// in the middle of their order.
func stableKeys(order map[fit.Key][]int64, o fit.Options) []stableKey {
	keys := slices.SortedFunc(maps.Keys(order), func(a, b fit.Key) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Processes, b.Processes), cmp.Compare(a.Bytes, b.Bytes))
	})
	var out []stableKey
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].Operation == keys[0].Operation {
			n++
		}
		key := typical(keys[:n], order)
		k := stableKey{Operation: key.Operation, Processes: uint32(key.Processes), Bytes: uint64(key.Bytes)}
		for _, r := range fit.Stability(order[key], nil, o) {
			k.Rows = append(k.Rows, stableRow{r.N, r.TMin, r.TMax, r.From, stats.Name(r.Model), r.Within})
		}
		out = append(out, k)
		keys = keys[n:]
	}
	return out
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
