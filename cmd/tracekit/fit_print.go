package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
)

// A fitDocument is what `fit --json` prints.
type fitDocument struct {
	Schema    string                 `json:"schema"` // tracekit.fit/1
	Traces    []string               `json:"traces"`
	Rebuilt   *document.Rebuilt      `json:"rebuilt"` // of the first trace whose durations are a model's; null: all were recorded
	Machine   string                 `json:"machine"`
	Library   string                 `json:"library"`
	Creator   string                 `json:"creator"`
	Processes int                    `json:"processes"`
	Quantile  float64                `json:"quantile"`
	Alpha     float64                `json:"alpha"`
	Paper     bool                   `json:"paper"`
	Families  []fit.Family           `json:"families"` // that were tried
	Keys      []fitKey               `json:"keys"`     // by operation, role, processes, bytes
	Stability []stableKey            `json:"stability,omitempty"`
	Findings  []document.Finding     `json:"findings"`
	models    []document.OverheadKey // of Keys
}

// A fitKey is one key of the document.
type fitKey struct {
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
	Tried      []triedModel     `json:"tried"`
}

// A triedModel is one family in the contest, by the test that decides about it.
type triedModel struct {
	Family     string           `json:"family"`
	Parameters []document.Param `json:"parameters"` // by maximum likelihood
	Chi2       float64          `json:"chi2"`
	Dof        int              `json:"dof"`
	PValue     float64          `json:"p_value"`
	Accepted   bool             `json:"accepted"`
	TMaxNs     int64            `json:"t_max_ns"` // by maximum likelihood
	Estimates  []triedEstimate  `json:"estimates"`
}

// A triedEstimate is one way to choose the parameters: "likelihood" is the maximum of it,
// "absolute" the least Σ|f_k - p_k| (of exponential and Poisson laws, with --paper), "chi-square" the least χ².
type triedEstimate struct {
	By         string           `json:"by"`
	Parameters []document.Param `json:"parameters"`
	Chi2       float64          `json:"chi2"`
	Dof        int              `json:"dof"`
	PValue     float64          `json:"p_value"`
	Accepted   bool             `json:"accepted"` // χ² alone; the family's verdict needs both ends
}

func newTriedModel(m *fit.Model) triedModel {
	t := triedModel{string(m.Family), params(m.Params), m.Test.Chi2, m.Test.DOF, m.Test.P, m.Test.Accepted, m.TMax, nil}
	for _, e := range m.Estimates {
		t.Estimates = append(t.Estimates, triedEstimate{e.By, params(e.Params), e.Test.Chi2, e.Test.DOF, e.Test.P, e.Test.Accepted})
	}
	return t
}

func params(in []fit.Param) []document.Param {
	out := []document.Param{}
	for _, p := range in {
		out = append(out, document.Param{Name: p.Name, Value: p.Value})
	}
	return out
}

func newFitDocument(opts *fitOptions, m *measured, groups []fit.Group, p *fit.Profile) *fitDocument {
	families := opts.fitOptions(0).Families
	if families == nil {
		families = fit.Families()
	}
	d := &fitDocument{Schema: "tracekit.fit/1", Traces: opts.paths, Rebuilt: m.rebuilt, Machine: p.Machine, Library: p.Library, Creator: p.Creator, Processes: p.Processes,
		Quantile: p.Quantile, Alpha: opts.alpha, Paper: opts.paper, Families: families, Keys: []fitKey{}, Findings: m.findings}
	if d.Findings == nil {
		d.Findings = []document.Finding{}
	}
	for i := range groups {
		k := overhead.DescribeKey(&groups[i])
		d.models = append(d.models, k)
		row := fitKey{Operation: k.Operation, Role: k.Role, Unreliable: k.Unreliable, Processes: k.Processes, Bytes: k.Bytes, Calls: k.Calls, TMinNs: k.TMinNs, TMaxNs: k.TMaxNs,
			From: k.From, Model: k.Model, Parameters: k.Parameters, WindowNs: k.WindowNs, Chi2: k.Chi2, Dof: k.Dof, PValue: k.PValue,
			Accepted: k.Accepted, Pooled: k.Pooled, Few: k.Few, Threshold: k.ThresholdNs, Over: k.Over, Tried: []triedModel{}}
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

// shown returns the keys of the table: those with the most calls if not all are wanted.
func (d *fitDocument) shown(top int) []document.OverheadKey {
	if top == 0 || top >= len(d.models) {
		return d.models
	}
	keys := slices.Clone(d.models)
	slices.SortStableFunc(keys, func(a, b document.OverheadKey) int { return cmp.Compare(b.Calls, a.Calls) })
	return keys[:top]
}

func (d *fitDocument) print(io *streams, opts *fitOptions) {
	report.PrintRebuilt(io.Out, "Durations are a model's: a trace was ", d.Rebuilt)
	fmt.Fprintln(io.Out, text.Wrap(fmt.Sprintf("%s made on %s by %s; %s; MPI: %s", words.Plural(len(opts.paths), "trace", "traces"), words.OrNotRecorded(d.Machine),
		words.OrNotRecorded(d.Creator), words.Plural(d.Processes, "process", "processes"), words.OrNotRecorded(d.Library)), io.Width, 2))
	if len(d.Findings) > 0 {
		report.PrintFindings(io.Out, io.Width, "Findings", d.Findings)
	}
	accepted := 0
	for _, k := range d.models {
		if k.Accepted {
			accepted++
		}
	}
	keys := d.shown(opts.top)
	heading := fmt.Sprintf("What calls need at the %s quantile (%s): %s, for %s a law is accepted", words.Share(d.Quantile), d.way(),
		words.Plural(len(d.models), "key", "keys"), words.Count(accepted))
	report.Keys(heading, keys, false).Print(io.Out, io.Width)
	if d.Paper {
		printEstimates(io, keys)
	}
	d.printStability(io)
	if opts.output != "" {
		fmt.Fprintln(io.Out)
		text.Line(io.Out, "Profile: %s", opts.output)
	}
	if opts.plots != "" {
		fmt.Fprintln(io.Out)
		text.Line(io.Out, "Plots: %s", opts.plots)
	}
}

// way says what was fitted.
func (d *fitDocument) way() string {
	if d.Paper {
		return "all calls as they are"
	}
	return "wait states taken off, body below a robust cut"
}

// printEstimates prints, as the paper does, every law in each of the three ways to find its λ.
func printEstimates(io *streams, keys []document.OverheadKey) {
	g := &text.Grid{Heading: "Laws by maximum likelihood, by least Σ|f-p| (equation 10 of the paper) and by least χ²; λ of an exponential law is per µs, of a Poisson law in windows",
		Titles: []string{"<operation", "<role", "processes", "bytes", "window", "<law", "<by", "λ", "offset", "χ²", "ν", "p", "<accepted"}}
	for i := range keys {
		k := &keys[i]
		for m := range k.Fit.Models {
			law := &k.Fit.Models[m]
			for n, e := range law.Estimates {
				verdict := yesNo(e.Test.Accepted)
				if m == k.Fit.Chosen && n == k.Fit.Estimate {
					verdict += ", chosen"
				}
				lambda, offset := lambdaOf(law.Family, e.Params)
				g.Add(k.Operation, k.Role, words.Count(k.Processes), words.Bytes(k.Bytes), words.Time(k.Fit.Histogram.Window), string(law.Family),
					e.By, lambda, offset, words.Decimal(&e.Test.Chi2), fmt.Sprint(e.Test.DOF), words.Decimal(&e.Test.P), verdict)
			}
		}
	}
	g.Print(io.Out, io.Width)
}

// lambdaOf returns the λ of a law that has one, per µs or in windows, and its offset.
func lambdaOf(f fit.Family, params []fit.Param) (lambda, offset string) {
	if f != fit.Exponential && f != fit.Poisson {
		return "-", "-"
	}
	x := params[0].Value
	if f == fit.Exponential {
		x *= 1000
		return words.Decimal(&x), "-"
	}
	return words.Decimal(&x), words.Decimal(&params[1].Value)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (d *fitDocument) printStability(io *streams) {
	for _, k := range d.Stability {
		g := &text.Grid{Heading: fmt.Sprintf("t_max by number of calls: %s (%s)", k.name(), d.way()),
			Titles: []string{"calls", "t_min", "t_max", "<law", "χ²", "ν", "p", "<accepted", "<t_max within 5 % of all"}}
		for _, r := range k.Rows {
			law, chi2, dof, p := "-", "-", "-", "-"
			if r.Law != "" {
				law, chi2, dof, p = string(r.Law), words.Decimal(r.Chi2), fmt.Sprint(*r.Dof), words.Decimal(r.PValue)
			}
			g.Add(words.Count(r.Calls), words.Time(r.TMinNs), words.Time(r.TMaxNs), law, chi2, dof, p, yesNo(r.Accepted), yesNo(r.Within))
		}
		g.Print(io.Out, io.Width)
	}
}

// writeProfile writes a profile as JSON, one entry in a line.
func writeProfile(w io.Writer, p *fit.Profile) error {
	head := *p
	head.Entries = []fit.Entry{}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	// The head ends in `"entries": []` and a brace.
	text = text[:len(text)-len("]\n}")]
	for i, e := range p.Entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n    "...), line...)
	}
	_, err = w.Write(append(text, "\n  ]\n}\n"...))
	return err
}
