package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"tracekit/document"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// phaseFlags select a phase of the run in place of a stretch of time.
type phaseFlags struct{ phase phaseNumber }

// A phaseNumber is the number of a phase, from 1; 0: none is asked for.
type phaseNumber int

func (n *phaseNumber) String() string { return strconv.Itoa(int(*n)) }

func (n *phaseNumber) Type() string { return "whole number, from 1" }

func (n *phaseNumber) Set(text string) error {
	x, err := strconv.Atoi(text)
	if x < 1 {
		err = strconv.ErrRange
	}
	*n = phaseNumber(x)
	return err
}

func (f *phaseFlags) add(set *pflag.FlagSet) {
	set.Var(&f.phase, "phase", "select the `number`th phase, from 1, instead of --from and --to")
}

// check refuses what contradicts the other flags of a selection.
func (f *phaseFlags) check(s *selectFlags) error {
	if f.phase > 0 && (s.from.Kind != scope.Unset || s.to.Kind != scope.Unset) {
		return usagef("--phase selects a stretch of time, as --from and --to do")
	}
	return nil
}

// choose makes the phase, if one is asked for, the selection.
func (f *phaseFlags) choose(ctx context.Context, t *trace.Trace, jobs int, s *selectFlags) (err error) {
	if f.phase > 0 {
		s.from, s.to, err = profile.PhaseWindow(ctx, t, int(f.phase), jobs)
	}
	return err
}

// phases prints the iterations of the program: those that are far from the others first, then
// the longest.
func (r *report) phases() {
	p := r.a.Phases
	if p == nil {
		return
	}
	site := p.Operation
	if place := r.place(p.SourceLine); place != "" {
		site += ", " + place
	}
	next := "the next"
	if p.Every > 1 {
		next = fmt.Sprintf("the one %d such calls later", p.Every)
	}
	g := r.grid(fmt.Sprintf("Phases, from one %s to %s%s", site, next, r.of(p.Count, "phases")),
		"phase", "begins after", "lasts", "parallel efficiency", "load balance", "communication", "<remarks")
	far := "no outliers"
	if p.Outliers > 0 {
		far = words.Plural(p.Outliers, "outlier stands", "outliers stand") + " first"
	}
	note := fmt.Sprintf("%s last %s in the median, %s to %s; %s. Wall time, a mean over ranks. --phase selects one.",
		words.Plural(p.Count, "phase", "phases"), words.Time(p.Period.P50), words.Time(p.Period.Min), words.Time(p.Period.Max), far)
	if slices.ContainsFunc(p.Rows, func(x document.PhaseRow) bool {
		return x.CommunicationEfficiency != nil && *x.CommunicationEfficiency > 1
	}) {
		note += " Communication is above 100 % where ranks are in a phase at different times, some longer than the mean."
	}
	g.Note(note)
	rows := slices.Clone(p.Rows)
	slices.SortStableFunc(rows, func(a, b document.PhaseRow) int {
		if a.Outlier != b.Outlier {
			if a.Outlier {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.DurationNs, a.DurationNs)
	})
	for _, x := range rows[:min(r.top, len(rows))] {
		remark := ""
		if x.Outlier {
			remark = "outlier"
		}
		g.Add(strconv.Itoa(x.Phase), words.Time(x.FromNs-r.a.Trace.StartNs), words.Time(x.DurationNs), words.ShareOrDash(x.ParallelEfficiency), words.ShareOrDash(x.LoadBalance), words.ShareOrDash(x.CommunicationEfficiency), remark)
	}
	r.show(g)
}

// phasesPlot draws the efficiencies of phases against the time at which they begin.
func phasesPlot(title string, a *analysis.Result) (*plots.Figure, error) {
	d := plots.CurvesData{Title: "Efficiency of phases, " + title, X: plots.Axis{Label: "time", Unit: plots.Nanoseconds}, Y: plots.Axis{Label: "efficiency"}}
	for _, of := range []struct {
		name string
		get  func(document.PhaseRow) *float64
	}{
		{"parallel efficiency", func(x document.PhaseRow) *float64 { return x.ParallelEfficiency }},
		{"load balance", func(x document.PhaseRow) *float64 { return x.LoadBalance }},
		{"communication", func(x document.PhaseRow) *float64 { return x.CommunicationEfficiency }},
	} {
		s := plots.Series{Name: of.name}
		for _, row := range a.Phases.Rows {
			if y := of.get(row); y != nil {
				s.X, s.Y = append(s.X, float64(row.FromNs-a.Trace.StartNs)), append(s.Y, *y)
			}
		}
		d.Series = append(d.Series, s)
	}
	return plots.Curves(d)
}
