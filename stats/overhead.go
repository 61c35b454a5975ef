package stats

import (
	"context"

	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// OverheadOptions says how the overhead of MPI calls is found. The zero value calibrates
// with the analysed trace itself and fit's defaults.
type OverheadOptions struct {
	// Fit says how laws are fitted and at which quantile t_max lies. Its Resolution is
	// never finer than the trace's clock.
	Fit fit.Options

	// PerCall keeps the overhead of each call: see Result.CallOverhead.
	PerCall bool

	// PerLine counts the calls of the lines with the most time: see Result.LineCalls.
	PerLine bool

	// Profile gives t_max; nil: the analysed trace itself does. Operations that it does not
	// know are calibrated with the trace.
	Profile *fit.Profile
}

// discoveries is the false-discovery rate among the keys that are called anomalous.
const discoveries = 0.05

// overheads finds necessary time and overhead of calls after DEFINITIONS 1.1, in two walks
// over the calls: the first samples the durations of each key, between them laws are
// fitted, the second charges what is beyond t_max.
type overheads struct {
	*waiting
	opts      OverheadOptions
	withWaits bool // sample durations with their wait states
	keep      int  // durations of each key kept in order
	points    bool // a picture of all calls is wanted
	rate      rate
	ops       []string  // names of operations
	op        []keyedOp // by region

	groups []fit.Group
	own    fit.Profile             // of groups
	index  map[fit.Key][]sizeGroup // the sizes of a key without its bytes, ascending

	drawn  []site     // lines whose calls are counted
	lineOf []int      // by call path: index into drawn; -1: another line; nil: none is counted
	bars   []fit.Bars // by group

	charges
	byRank []pathOnRank
	byCall OverheadTables
}

// A sizeGroup says which group calls of a size are in.
type sizeGroup struct {
	bytes int64
	group int // index into overheads.groups
}

// A keyedOp is what the keys of a region's calls have of it.
type keyedOp struct {
	op    uint32 // index into overheads.ops
	roles role   // that its calls may differ in
}

// An overheadSum adds up the calls of one call path.
type overheadSum struct {
	overheadPart
	unreliable, foreign uint64 // calls by the threshold that they are held to: see limit
}

func (s *overheadSum) merge(o *overheadSum) {
	s.add(&o.overheadPart)
	s.unreliable, s.foreign = s.unreliable+o.unreliable, s.foreign+o.foreign
}

// An overheadPart is what some calls take and what they need.
type overheadPart struct {
	calls, slow                           uint64
	total                                 int64 // ticks
	overhead, late, transfer, unexplained int64 // ns
}

func (s *overheadPart) add(o *overheadPart) {
	s.calls, s.slow = s.calls+o.calls, s.slow+o.slow
	s.total = Plus(s.total, o.total)
	s.overhead, s.late = Plus(s.overhead, o.overhead), Plus(s.late, o.late)
	s.transfer, s.unexplained = Plus(s.transfer, o.transfer), Plus(s.unexplained, o.unexplained)
}

// pathOnRank is the overhead of one call path on one location.
type pathOnRank struct {
	path     trace.PathID
	rank     uint32
	overhead int64
}

func newOverheads(w *waiting, opts OverheadOptions) *overheads {
	o := &overheads{waiting: w, opts: opts, rate: rate{w.t.Defs.Clock.Resolution}, index: make(map[fit.Key][]sizeGroup)}
	tick := int64((nsPerSecond-1)/o.rate.resolution) + 1
	o.opts.Fit.Resolution = max(o.opts.Fit.Resolution, tick)
	functions := w.t.Defs.MPIFunctions()
	index := make(map[string]uint32)
	for id := range w.t.Defs.Regions {
		name := w.t.Defs.RegionLabel(trace.RegionID(id))
		if _, ok := index[name]; !ok {
			index[name] = uint32(len(o.ops))
			o.ops = append(o.ops, name)
		}
		o.op = append(o.op, keyedOp{index[name], rolesOf(functions[id])})
	}
	return o
}

// find calibrates, and charges the calls, but for calls of lines: which of those are counted the
// profile tells.
func (o *overheads) find(ctx context.Context) error {
	if err := o.calibrate(ctx); err != nil || o.opts.PerLine {
		return err
	}
	return o.charge(ctx)
}

// calibrate samples the durations and fits their laws.
func (o *overheads) calibrate(ctx context.Context) error {
	samples, err := o.sample(ctx)
	if err != nil {
		return err
	}
	groups := fit.Groups(samples.named())
	o.groups, err = engine.Map(ctx, o.jobs, len(groups), func(_ context.Context, i int) (fit.Group, error) {
		return groups[i].Fit(o.opts.Fit), nil
	})
	if err != nil {
		return err
	}
	o.own = fit.ProfileOf(o.groups, o.opts.Fit)
	for i, g := range o.groups {
		of := withoutBytes(g.Key)
		for _, bytes := range g.Sizes {
			o.index[of] = append(o.index[of], sizeGroup{bytes, i})
		}
	}
	return nil
}
