package cli

import (
	"context"
	"math"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// SelectFlags select a part of a trace.
type SelectFlags struct {
	Set      *pflag.FlagSet
	Ranks    []uint32 // nil: all
	From, To scope.Instant
	phase    int // 0: none
}

// Add adds the flags.
func (f *SelectFlags) Add(set *pflag.FlagSet) {
	f.Set = set
	flags.Var(set, &f.Ranks, flags.Ranks(), "ranks", "", RanksUsage)
	flags.Var(set, &f.From, flags.Instant(), "from", "", "start of the selection as a `time`: 1.5s or 200ms after the start, or 10% of "+
		"the run")
	flags.Var(set, &f.To, flags.Instant(), "to", "", "end of the selection as a `time`")
	flags.Var(set, &f.phase, flags.Int(1, math.MaxInt), "phase", "", "only phase `number`, counted from 1; replaces --from and --to")
}

// Given returns what is written behind a flag.
func (f *SelectFlags) Given(flag string) string { return f.Set.Lookup(flag).Value.String() }

// Validate refuses a selection that ends before it begins, and a stretch of time beside a phase.
func (f *SelectFlags) Validate() error {
	if f.From.Kind == f.To.Kind && (f.From.Ns > f.To.Ns || f.From.Share > f.To.Share) {
		return Usagef("--from %s is after --to %s", f.Given("from"), f.Given("to"))
	}
	if f.phase > 0 && (f.From.Kind != scope.Unset || f.To.Kind != scope.Unset) {
		return Usagef("--phase cannot be combined with --from and --to")
	}
	return nil
}

// Timed reports whether a stretch of time is asked for.
func (f *SelectFlags) Timed() bool {
	return f.phase > 0 || f.From.Kind != scope.Unset || f.To.Kind != scope.Unset
}

// Choose sets the stretch of time to the phase of a trace, if one is asked for.
func (f *SelectFlags) Choose(ctx context.Context, t *trace.Trace, jobs int) (err error) {
	if f.phase > 0 {
		f.From, f.To, err = profile.PhaseWindow(ctx, t, f.phase, jobs)
	}
	return err
}
