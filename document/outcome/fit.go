package outcome

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
)

// A Fit is what `fit --json` prints.
type Fit struct {
	Schema    string            `json:"schema"` // tracekit.fit/1
	Traces    []string          `json:"traces"`
	Rebuilt   *document.Rebuilt `json:"rebuilt"` // of the first trace whose durations are a model's; null: all were recorded
	Machine   string            `json:"machine"`
	Library   string            `json:"library"`
	Creator   string            `json:"creator"`
	Processes int               `json:"processes"`
	Quantile  float64           `json:"quantile"`
	Alpha     float64           `json:"alpha"`
	Paper     bool              `json:"paper"`
	Families  []fit.Family      `json:"families"` // that were tried
	Sample    int               `json:"sample"`   // calls of each key that were drawn; 0: all were fitted
	Seed      uint64            `json:"seed"`     // of the draws

	// Base is null if the profile keeps all points; else BasePoints are left.
	Base       *fit.Base `json:"base_points"`
	BasePoints int       `json:"base_points_kept"`

	Keys      []FitKey               `json:"keys"` // by operation, role, processes, bytes
	Stability []StableKey            `json:"stability,omitempty"`
	Findings  []document.Finding     `json:"findings"`
	Models    []document.OverheadKey `json:"-"` // of Keys
}

// A FitKey is one key of the document.
type FitKey struct {
	Operation  string           `json:"operation"`
	Role       string           `json:"role"` // see stats.OverheadKey
	Processes  uint32           `json:"processes"`
	Bytes      uint64           `json:"bytes"`
	Calls      uint64           `json:"calls"`
	TMinNs     int64            `json:"t_min_ns"`
	TMaxNs     int64            `json:"t_max_ns"`
	From       string           `json:"from"`
	Model      field.Name       `json:"model"` // null: none accepted
	By         field.Name       `json:"by"`    // the estimate of the model that t_max is from: "likelihood", "absolute" or "chi-square"
	Parameters []document.Param `json:"parameters"`
	WindowNs   *int64           `json:"window_ns"`
	Chi2       *float64         `json:"chi2"`
	Dof        *int             `json:"dof"`
	PValue     *float64         `json:"p_value"`
	Accepted   bool             `json:"accepted"`
	Pooled     []int64          `json:"pooled,omitempty"`
	Few        bool             `json:"few"`
	Unreliable bool             `json:"unreliable"`   // see stats.OverheadKey
	Threshold  *int64           `json:"threshold_ns"` // see stats.OverheadKey
	Over       uint64           `json:"over"`         // calls above t_max
	Draws      int              `json:"draws"`        // how often calls were drawn; 0: all were fitted
	Tried      []TriedModel     `json:"tried"`
}

// A TriedModel is one family in the contest, by the test that decides about it.
type TriedModel struct {
	Family     string           `json:"family"`
	Parameters []document.Param `json:"parameters"` // by maximum likelihood
	Chi2       float64          `json:"chi2"`
	Dof        int              `json:"dof"`      // below 1: not testable
	PValue     *float64         `json:"p_value"`  // null: not testable
	Accepted   *bool            `json:"accepted"` // null: not testable
	TMaxNs     int64            `json:"t_max_ns"` // by maximum likelihood
	Estimates  []TriedEstimate  `json:"estimates"`
}

// A TriedEstimate is one way to choose the parameters: "likelihood" is the maximum of it,
// "absolute" the least Σ|f_k - p_k| (of exponential and Poisson laws, with --paper), "chi-square" the least χ².
type TriedEstimate struct {
	By         string           `json:"by"`
	Parameters []document.Param `json:"parameters"`
	Chi2       float64          `json:"chi2"`
	Dof        int              `json:"dof"`
	PValue     *float64         `json:"p_value"`  // null: not testable
	Accepted   *bool            `json:"accepted"` // χ² alone; the family's verdict needs both ends; null: not testable
}

func newTriedModel(m *fit.Model) TriedModel {
	p, accepted := verdict(&m.Test)
	t := TriedModel{string(m.Family), params(m.Params), m.Test.Chi2, m.Test.DOF, p, accepted, m.TMax, nil}
	for i := range m.Estimates {
		e := &m.Estimates[i]
		p, accepted := verdict(&e.Test)
		t.Estimates = append(t.Estimates, TriedEstimate{e.By, params(e.Params), e.Test.Chi2, e.Test.DOF, p, accepted})
	}
	return t
}

// verdict returns what a test says; nil where there is nothing to test.
func verdict(t *fit.Test) (p *float64, accepted *bool) {
	if !t.Testable() {
		return nil, nil
	}
	return &t.P, &t.Accepted
}

func params(in []fit.Param) []document.Param {
	out := []document.Param{}
	for _, p := range in {
		out = append(out, document.Param{Name: p.Name, Value: p.Value})
	}
	return out
}

// NewFit makes the document of a profile from the groups that were fitted. Traces and options are for the caller to add.
func NewFit(p *fit.Profile, groups []fit.Group) *Fit {
	d := &Fit{Schema: "tracekit.fit/1", Machine: p.Machine, Library: p.Library, Creator: p.Creator, Processes: p.Processes,
		Quantile: p.Quantile,
		Families: fit.DefaultFamilies(), Keys: []FitKey{}, Findings: []document.Finding{}}
	for i := range groups {
		k := overhead.DescribeKey(&groups[i])
		d.Models = append(d.Models, k)
		row := FitKey{Operation: k.Operation, Role: k.Role, Unreliable: k.Unreliable, Processes: k.Processes, Bytes: k.Bytes,
			Calls: k.Calls, TMinNs: k.TMinNs, TMaxNs: k.TMaxNs,
			From: k.From, Model: k.Model, Parameters: k.Parameters, WindowNs: k.WindowNs, Chi2: k.Chi2, Dof: k.Dof, PValue: k.PValue,
			Accepted: k.Accepted, Pooled: k.Pooled, Few: k.Few, Threshold: k.ThresholdNs, Over: k.Over, Draws: k.Fit.Draws, Tried: []TriedModel{}}
		if k.Accepted {
			row.By = field.Name(k.Fit.Models[k.Fit.Chosen].Estimates[k.Fit.Estimate].By)
		}
		for j := range k.Fit.Models {
			row.Tried = append(row.Tried, newTriedModel(&k.Fit.Models[j]))
		}
		d.Keys = append(d.Keys, row)
	}
	return d
}

// Shown returns the keys of the table: those with the most calls if not all are wanted.
func (d *Fit) Shown(top int) []document.OverheadKey {
	if top == 0 || top >= len(d.Models) {
		return d.Models
	}
	keys := slices.Clone(d.Models)
	slices.SortStableFunc(keys, func(a, b document.OverheadKey) int { return cmp.Compare(b.Calls, a.Calls) })
	return keys[:top]
}

// Way says what was fitted.
func (d *Fit) Way() string {
	way := "wait states taken off, body below a robust cut"
	if d.Paper {
		way = "all calls as they are"
	}
	if d.Sample > 0 {
		way += fmt.Sprintf(", %s of each key, drawn again after a rejection", words.Plural(d.Sample, "call", "calls"))
	}
	return way
}

// A StableKey shows how t_max of a key, and the fit behind it, settle with the number of calls.
type StableKey struct {
	Operation string      `json:"operation"`
	Role      string      `json:"role"`
	Processes uint32      `json:"processes"`
	Bytes     uint64      `json:"bytes"`
	Rows      []StableRow `json:"rows"`
}

// A StableRow is t_max as the first calls of a key give it, with the test of the law behind it. Where none is accepted, it is the test of
// the nearest one.
type StableRow struct {
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

func newStableRow(r *fit.StabilityRow) StableRow {
	out := StableRow{Calls: r.N, TMinNs: r.TMin, TMaxNs: r.TMax, From: r.From, Within: r.Within}
	if t := &r.Test; r.Law != "" {
		out.Law, out.Chi2, out.Critical, out.Dof, out.PValue, out.Accepted = field.Name(r.Law), &t.Chi2, &t.Critical, &t.DOF, &t.P, t.Accepted
	}
	if out.Accepted {
		out.Model = out.Law
	}
	return out
}

// Name names the key for people.
func (k *StableKey) Name() string { return KeyName(k.Operation, k.Role, k.Processes, k.Bytes) }

// KeyName names a key for people.
func KeyName(operation, role string, processes uint32, bytes uint64) string {
	return fmt.Sprintf("%s, %s, %s", RoleName(operation, role), words.Plural(int(processes), "process", "processes"), words.Bytes(bytes))
}

// RoleName names an operation in a role for people.
func RoleName(operation, role string) string {
	if role == "" {
		return operation
	}
	return operation + " (" + role + ")"
}

// Stability studies one key of each operation and role: that with the most calls, of equals the one
// in the middle of their order.
func Stability(ctx context.Context, jobs int, order map[fit.Key][]int64, o fit.Options) ([]StableKey, error) {
	keys := slices.SortedFunc(maps.Keys(order), fit.CompareKeys)
	var chosen []fit.Key
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].Operation == keys[0].Operation && keys[n].Role == keys[0].Role {
			n++
		}
		chosen, keys = append(chosen, typical(keys[:n], order)), keys[n:]
	}
	return engine.Map(ctx, jobs, len(chosen), func(_ context.Context, i int) (StableKey, error) {
		key := chosen[i]
		k := StableKey{Operation: key.Operation, Role: key.Role, Processes: uint32(key.Processes), Bytes: uint64(key.Bytes)}
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
