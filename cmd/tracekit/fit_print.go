package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"

	"tracekit/stats"
	"tracekit/stats/fit"
)

// A fitDocument is what `fit --json` prints.
type fitDocument struct {
	Schema    string              `json:"schema"` // tracekit.fit/1
	Traces    []string            `json:"traces"`
	Machine   string              `json:"machine"`
	Library   string              `json:"library"`
	Creator   string              `json:"creator"`
	Processes int                 `json:"processes"`
	Quantile  float64             `json:"quantile"`
	Alpha     float64             `json:"alpha"`
	Paper     bool                `json:"paper"`
	Keys      []fitKey            `json:"keys"` // by operation, processes, bytes
	Stability []stableKey         `json:"stability,omitempty"`
	Findings  []stats.Finding     `json:"findings"`
	models    []stats.OverheadKey // of Keys
}

// A fitKey is one key of the document.
type fitKey struct {
	Operation  string        `json:"operation"`
	Processes  uint32        `json:"processes"`
	Bytes      uint64        `json:"bytes"`
	Calls      uint64        `json:"calls"`
	TMinNs     int64         `json:"t_min_ns"`
	TMaxNs     int64         `json:"t_max_ns"`
	From       string        `json:"from"`
	Model      stats.Name    `json:"model"` // null: none accepted
	Parameters []stats.Param `json:"parameters"`
	WindowNs   *int64        `json:"window_ns"`
	Chi2       *float64      `json:"chi2"`
	Dof        *int          `json:"dof"`
	PValue     *float64      `json:"p_value"`
	Accepted   bool          `json:"accepted"`
	Pooled     []int64       `json:"pooled,omitempty"`
	Few        bool          `json:"few"`
	Threshold  *int64        `json:"threshold_ns"` // see stats.OverheadKey
	Over       uint64        `json:"over"`         // calls above t_max
	Tried      []triedModel  `json:"tried"`
}

// A triedModel is one family in the contest.
type triedModel struct {
	Family   string  `json:"family"`
	Chi2     float64 `json:"chi2"`
	Dof      int     `json:"dof"`
	PValue   float64 `json:"p_value"`
	Accepted bool    `json:"accepted"`
	TMaxNs   int64   `json:"t_max_ns"`
}

func newFitDocument(opts *fitOptions, m *measured, groups []fit.Group, p *fit.Profile) *fitDocument {
	d := &fitDocument{Schema: "tracekit.fit/1", Traces: opts.paths, Machine: p.Machine, Library: p.Library, Creator: p.Creator, Processes: p.Processes,
		Quantile: p.Quantile, Alpha: opts.alpha, Paper: opts.paper, Keys: []fitKey{}, Findings: m.findings}
	if d.Findings == nil {
		d.Findings = []stats.Finding{}
	}
	for i := range groups {
		k := stats.DescribeKey(&groups[i])
		d.models = append(d.models, k)
		row := fitKey{Operation: k.Operation, Processes: k.Processes, Bytes: k.Bytes, Calls: k.Calls, TMinNs: k.TMinNs, TMaxNs: k.TMaxNs,
			From: k.From, Model: k.Model, Parameters: k.Parameters, WindowNs: k.WindowNs, Chi2: k.Chi2, Dof: k.Dof, PValue: k.PValue,
			Accepted: k.Accepted, Pooled: k.Pooled, Few: k.Few, Threshold: k.ThresholdNs, Over: k.Over, Tried: []triedModel{}}
		for _, t := range k.Fit.Models {
			row.Tried = append(row.Tried, triedModel{string(t.Family), t.Test.Chi2, t.Test.DOF, t.Test.P, t.Test.Accepted, t.TMax})
		}
		d.Keys = append(d.Keys, row)
	}
	return d
}

// shown returns the keys of the table: those with the most calls if not all are wanted.
func (d *fitDocument) shown(top int) []stats.OverheadKey {
	if top == 0 || top >= len(d.models) {
		return d.models
	}
	keys := slices.Clone(d.models)
	slices.SortStableFunc(keys, func(a, b stats.OverheadKey) int { return cmp.Compare(b.Calls, a.Calls) })
	return keys[:top]
}

func (d *fitDocument) print(io *streams, opts *fitOptions) {
	fmt.Fprintln(io.Out, wrap(fmt.Sprintf("%s made on %s by %s; %s; MPI: %s", plural(len(opts.paths), "trace", "traces"), orNotRecorded(d.Machine),
		orNotRecorded(d.Creator), plural(d.Processes, "process", "processes"), orNotRecorded(d.Library)), io.Width, 2))
	if len(d.Findings) > 0 {
		printFindings(io.Out, io.Width, "Findings", d.Findings)
	}
	way := "wait states taken off, body below a robust cut"
	if d.Paper {
		way = "all calls as they are"
	}
	accepted := 0
	for _, k := range d.models {
		if k.Accepted {
			accepted++
		}
	}
	keys := d.shown(opts.top)
	g := &grid{heading: fmt.Sprintf("What calls need at the %s quantile (%s): %s, for %s a law is accepted", formatShare(d.Quantile), way,
		plural(len(d.models), "key", "keys"), formatCount(accepted)), titles: keyTitles()}
	for i := range keys {
		g.add(keyCells(&keys[i])...)
	}
	g.print(io.Out, io.Width)
	d.printStability(io)
	if opts.output != "" {
		fmt.Fprintf(io.Out, "\nProfile: %s\n", opts.output)
	}
	if opts.plots != "" {
		fmt.Fprintf(io.Out, "\nPlots: %s\n", opts.plots)
	}
}

func (d *fitDocument) printStability(io *streams) {
	for _, k := range d.Stability {
		g := &grid{heading: "t_max by number of calls: " + k.name(), titles: []string{"calls", "t_min", "t_max", "<model", "<within 5 % of all"}}
		for _, r := range k.Rows {
			within := "no"
			if r.Within {
				within = "yes"
			}
			g.add(formatCount(r.Calls), formatTime(r.TMinNs), formatTime(r.TMaxNs), cmp.Or(string(r.Model), "-"), within)
		}
		g.print(io.Out, io.Width)
	}
}

func orNotRecorded(s string) string { return cmp.Or(s, "(not recorded)") }

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

// drawFit draws everything about a fit.
func drawFit(ctx context.Context, opts *fitOptions, d *fitDocument, p *fit.Profile) error {
	out := newReportDir(opts.plots)
	return out.close(ctx, opts.jobs, fillPlots(opts, d, p, out))
}

func fillPlots(opts *fitOptions, d *fitDocument, p *fit.Profile, out *reportDir) error {
	costs, err := costPlot(fmt.Sprintf("What calls need on %s: operation, processes (0 bytes are drawn at 1)", orNotRecorded(p.Machine)), p)
	if err != nil {
		return err
	}
	out.figure("costs", costs)
	if len(d.Stability) > 0 {
		stability, err := stabilityPlot("t_max against the number of calls it was learned from", d.Stability)
		if err != nil {
			return err
		}
		out.figure("stability", stability)
	}
	keys := d.shown(opts.top)
	for i := range keys {
		figure, err := histogramPlot(&keys[i])
		if err != nil {
			return err
		}
		out.figure(path.Join("histograms", keyFile(&keys[i])), figure)
	}
	return nil
}
