package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/outcome"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/topology"
	"tracekit/trace"
)

// repeatFlags are the flags of reduce about what repeats.
type repeatFlags struct {
	repeating  bool
	marker     string
	instances  int
	distance   int
	times      string
	regenerate bool

	rule *pattern.Rule // nil: not asked for
}

// Add adds the flags.
func (f *repeatFlags) Add(set *pflag.FlagSet) {
	set.BoolVar(&f.repeating, "repeating", false, "cut iterations that repeat others, on all ranks; --regenerate restores them")
	flags.Var(set, &f.marker, flags.Text(), "repeating-marker", "auto", "where an iteration begins: auto, a `region`, an MPI "+
		"collective, or a time such as 10ms")
	flags.Var(set, &f.instances, flags.Int(1, math.MaxInt), "repeating-keep", strconv.Itoa(pattern.DefaultKeep), "`number` of "+
		"iterations of each kind to keep")
	set.IntVar(&f.distance, "repeating-distance", -1, "iterations are equal if their counts of MPI calls differ by at most this "+
		"`number` (default: all calls, partners and sizes equal)")
	flags.Var(set, &f.times, flags.Choice("auto", "laws", "exact"), "repeating-times", "auto",
		"`times` to keep of iterations that are cut: exact; "+
			"laws, whose size does not grow with the run; or auto: laws if ranks are in step")
	set.BoolVar(&f.regenerate, "regenerate", false, "restore the iterations that --repeating cut, and write them to -o")
}

var times = map[string]pattern.Times{"auto": pattern.AutoTimes, "laws": pattern.LawTimes, "exact": pattern.ExactTimes}

// Validate makes the rule that is asked for.
func (f *repeatFlags) Validate() error {
	if !f.repeating && (f.marker != "auto" || f.instances != pattern.DefaultKeep || f.distance >= 0 || f.times != "auto") {
		return cli.Usagef("--repeating-marker, --repeating-keep, --repeating-distance and --repeating-times need --repeating")
	}
	f.rule = nil
	if f.repeating {
		marker, err := pattern.ParseMarker(f.marker)
		if err != nil {
			return cli.Usagef("--repeating-marker: %w", err)
		}
		f.rule = &pattern.Rule{Options: pattern.Options{Marker: marker, Keep: f.instances, Times: times[f.times]}}
		if f.distance >= 0 {
			f.rule.Options.Alike, f.rule.Options.Distance = pattern.ByDistance, uint64(f.distance)
		}
	}
	return nil
}

// gridFlags are the flags of reduce about where ranks are.
type gridFlags struct {
	where string
	block string
	torus bool

	topology *topology.Topology // once a trace is open
	asked    bool               // the topology is known from more than the numbers of ranks
}

const topologyUsage = "topology of ranks: a `file`, a grid such as 8x8x16, or a name from the trace (default: the trace's grid)"

// Add adds the flags.
func (f *gridFlags) Add(set *pflag.FlagSet) {
	set.StringVar(&f.where, "topology", "", topologyUsage)
	flags.Var(set, &f.block, flags.Text(), "block", "", "keep only ranks in this `part` of the topology, such as 0-3,0-3,5 or *,0")
	set.BoolVar(&f.torus, "torus", false, "the topology wraps around in all dimensions")
}

// Validate checks what can be checked without a trace.
func (f *gridFlags) Validate() error {
	if f.block == "" {
		return nil
	}
	if _, err := topology.ParseBlock(f.block, nil); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// find finds the topology of a trace.
func (f *gridFlags) find(d *trace.Defs) (err error) {
	ranks := len(d.World())
	f.topology, f.asked = topology.OfTrace(d, f.where), true
	if f.topology == nil && f.where == "" {
		f.topology, f.asked = topology.Row(ranks), false
	}
	if f.topology == nil {
		if f.topology, err = topology.At(f.where, ranks); err != nil {
			return cli.Usagef("--topology: %w", err)
		}
	}
	return nil
}

// hops is the topology as rule files see it.
func (f *gridFlags) hops() reduce.Topology {
	if f.topology == nil {
		return nil
	}
	return f.topology.Wrapped(f.torus)
}

// certifyAgain compares the analysis of the full trace with that of one in which what was cut
// is made again.
func (o *reduceOptions) certifyAgain(ctx context.Context, io *cli.Streams, t *trace.Trace, r *reduce.Reduction,
	full *analysis.Result) (*outcome.Again, error) {
	again, err := pattern.Regenerate(r.Source(t.Source), o.rule.Found.Repeats, t.Store)
	if err != nil {
		return nil, err
	}
	a, err := o.analyzeSource(ctx, io, t, again)
	if err != nil {
		return nil, err
	}
	figures, err := reduce.Certify(full, a, gate.NameOf)
	return &outcome.Again{Error: reduce.Error(figures), Certificate: figures}, err
}

// regenerateSchema names the JSON document of reduce --regenerate.
const regenerateSchema = "tracekit.regenerate/1"

// runRegenerate makes what was cut again.
func runRegenerate(ctx context.Context, io *cli.Streams, opts *reduceOptions) error {
	in, err := opts.ReadFlags.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	text := in.Info().Properties[trace.PropertyRepeats]
	if text == "" && slices.Equal(in.Info().ReducedBy(), []string{new(pattern.Rule).Name()}) {
		return cli.Usagef("%s: reduce --repeating cut nothing, so there is nothing to restore", opts.Paths[0])
	}
	if text == "" {
		return cli.Usagef("%s does not contain what was cut: it is not a result of reduce --repeating, or its times were corrected",
			in.Info().Path)
	}
	repeats, err := pattern.Decode(text, len(in.Defs().Locations))
	if err != nil {
		return fmt.Errorf("%s: %w", in.Info().Path, err)
	}
	again, err := pattern.Regenerate(in.Source, repeats, in.Store)
	if err != nil {
		return err
	}
	t, err := opts.Reconcile(ctx, io, &cli.Input{Source: again, Store: in.Store})
	if err != nil {
		return err
	}
	doc := &outcome.Regenerate{Schema: regenerateSchema, In: in.Info().Path, Out: opts.Out, Format: opts.Format,
		Intervals: repeats.Intervals, Again: len(repeats.Which), Drawn: repeats.Laws != nil, Rebuilt: document.RebuiltOf(again.Info()),
		Findings: analysis.FindingRows(t.Findings)}
	t.Release()
	if t.Clock.MaxShift > 0 || readers.Foreign(opts.Format) {
		again = pattern.Moved(merge.Corrected(t), t)
		clock := analysis.Clock(t)
		doc.Clock = &clock
	}
	if doc.Records.After, doc.Lost, err = opts.WriteTrace(ctx, io, &opts.ReadFlags, again, t.Store); err != nil {
		return err
	}
	doc.Records.Before = doc.Records.After - repeats.Events
	return opts.Finish(io, doc, func() { show.Regenerate(io.Sections(0), doc) }, doc.Findings)
}
