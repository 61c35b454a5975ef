package main

import (
	"context"
	"math"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/plots"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// phaseFlags select a phase of the run in place of a stretch of time.
type phaseFlags struct{ phase int }

func (f *phaseFlags) add(set *pflag.FlagSet) {
	cli.Var(set, &f.phase, cli.Int(1, math.MaxInt), "phase", "", "select the `number`th phase, from 1, instead of --from and --to")
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
		s.from, s.to, err = profile.PhaseWindow(ctx, t, f.phase, jobs)
	}
	return err
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
