package cli

import (
	"context"
	"math"

	"github.com/spf13/pflag"

	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// SelectFlags select a part of a trace.
type SelectFlags struct {
	Set      *pflag.FlagSet
	Ranks    []uint32 // nil: all
	From, To scope.Instant
}

// Add adds the flags.
func (f *SelectFlags) Add(set *pflag.FlagSet) {
	f.Set = set
	Var(set, &f.Ranks, Ranks(), "ranks", "", "only these `ranks`, such as 0-3,8")
	Var(set, &f.From, Instant(), "from", "", "start of the selection as a `time`: 1.5s or 200ms after the start, or 10% of "+
		"the run")
	Var(set, &f.To, Instant(), "to", "", "end of the selection as a `time`")
}

// Given returns what is written behind a flag.
func (f *SelectFlags) Given(flag string) string { return f.Set.Lookup(flag).Value.String() }

// Validate refuses a selection that ends before it begins.
func (f *SelectFlags) Validate() error {
	if f.From.Kind == f.To.Kind && (f.From.Ns > f.To.Ns || f.From.Share > f.To.Share) {
		return Usagef("--from %s is after --to %s", f.Given("from"), f.Given("to"))
	}
	return nil
}

// PhaseFlags select a phase of the run in place of a stretch of time.
type PhaseFlags struct{ phase int }

// Add adds the flag.
func (f *PhaseFlags) Add(set *pflag.FlagSet) {
	Var(set, &f.phase, Int(1, math.MaxInt), "phase", "", "only phase `number`, counted from 1; replaces --from and --to")
}

// Check refuses what contradicts the other flags of a selection.
func (f *PhaseFlags) Check(s *SelectFlags) error {
	if f.phase > 0 && (s.From.Kind != scope.Unset || s.To.Kind != scope.Unset) {
		return Usagef("--phase cannot be combined with --from and --to")
	}
	return nil
}

// Choose makes the phase, if one is asked for, the selection.
func (f *PhaseFlags) Choose(ctx context.Context, t *trace.Trace, jobs int, s *SelectFlags) (err error) {
	if f.phase > 0 {
		s.From, s.To, err = profile.PhaseWindow(ctx, t, f.phase, jobs)
	}
	return err
}
