package cli

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"time"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/merge"
	"tracekit/shards"
	"tracekit/trace"
)

// MergeFlags are the flags of every command that reconciles a trace.
type MergeFlags struct {
	ReadFlags
	Clock      string
	MinLatency time.Duration
	like       string // what set both

	Shards *shards.Set // what was decoded before; nil: nothing
}

// Add adds the flags.
func (f *MergeFlags) Add(set *pflag.FlagSet) {
	f.AddClock(set, "auto", "clock `correction`: auto, none, offsets, or clc, the logical clock on top of the offsets")
}

// AddClock adds the flags with another default of --clock, which its usage explains.
func (f *MergeFlags) AddClock(set *pflag.FlagSet, clock, usage string) {
	f.ReadFlags.Add(set)
	flags.Var(set, &f.Clock, flags.Choice("auto", "none", "offsets", "clc"), "clock", clock, usage)
	flags.Var(set, &f.MinLatency, flags.Duration(time.Second), "min-latency", "", "minimum `time` of messages and collectives; the "+
		"clock correction repairs faster ones (Scalasca: 1us)")
	flags.Var(set, &f.like, flags.Parsed(f.parseLike).Offering("scalasca"), "like", "",
		"read times as another `tool` does: scalasca is --clock offsets and "+
			"--min-latency 1us; what follows it overrides it")
}

// parseLike sets the flags that make times those of another tool.
func (f *MergeFlags) parseLike(tool string) (string, error) {
	if tool != "scalasca" {
		return "", errors.New("want scalasca")
	}
	f.Clock, f.MinLatency = string(merge.ClockOffsets), time.Microsecond
	return tool, nil
}

// Open opens a trace, as ReadFlags do, and reconciles it. The caller closes its Source.
func (f *MergeFlags) Open(ctx context.Context, io *Streams, paths ...string) (*trace.Trace, error) {
	in, err := f.ReadFlags.Open(ctx, paths...)
	if err != nil {
		return nil, err
	}
	t, err := f.Reconcile(ctx, io, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return t, nil
}

// Reconcile reconciles an open trace, whose store takes the tables.
func (f *MergeFlags) Reconcile(ctx context.Context, io *Streams, in *Input) (*trace.Trace, error) {
	return Watch(io, f.Quiet, "reading", func(p *engine.Progress) (_ *trace.Trace, err error) {
		o := merge.Options{
			Jobs: f.Jobs, Store: in.Store, Clock: merge.ClockMode(f.Clock), Progress: p,
			Together:   f.Align == "collectives",
			MinLatency: ticksOf(f.MinLatency, in.Defs().Clock.Resolution),
		}
		if f.Shards != nil {
			o.Scans, err = shards.Read(ctx, f.Shards, in, in.Store, f.Jobs, func() *merge.Scans { return new(merge.Scans) })
			if err != nil {
				return nil, err
			}
		}
		defer boundGarbage()
		return merge.Merge(ctx, in, o)
	})
}

// ticksOf returns a time of at most a second in ticks, rounded up.
func ticksOf(d time.Duration, resolution uint64) int64 {
	hi, lo := bits.Mul64(uint64(d), resolution)
	ticks, rest := bits.Div64(hi, lo, uint64(time.Second))
	if rest > 0 {
		ticks++
	}
	return int64(min(ticks, math.MaxInt64))
}
