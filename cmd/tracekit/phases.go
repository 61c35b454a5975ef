package main

import (
	"context"
	"math"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// phaseFlags select a phase of the run in place of a stretch of time.
type phaseFlags struct{ phase int }

func (f *phaseFlags) add(set *pflag.FlagSet) {
	cli.Var(set, &f.phase, cli.Int(1, math.MaxInt), "phase", "", "only phase `number`, counted from 1; replaces --from and --to")
}

// check refuses what contradicts the other flags of a selection.
func (f *phaseFlags) check(s *selectFlags) error {
	if f.phase > 0 && (s.from.Kind != scope.Unset || s.to.Kind != scope.Unset) {
		return usagef("--phase cannot be combined with --from and --to")
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
