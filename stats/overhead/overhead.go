package overhead

import (
	"context"

	"tracekit/document/field"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Options says how the overhead of MPI calls is found. The zero value calibrates
// with the analyzed trace itself and fit's defaults.
type Options struct {
	// Fit says how laws are fitted and at which quantile t_max lies. Its Resolution is
	// never finer than the trace's clock.
	Fit fit.Options

	// PerCall keeps the overhead of each call: see Result.CallOverhead.
	PerCall bool

	// PerLine counts the calls of the lines with the most time: see Result.LineCalls.
	PerLine bool

	// Profile gives t_max; nil: the analyzed trace itself does. Operations that it does not
	// know are calibrated with the trace.
	Profile *fit.Profile
}

// discoveries is the false-discovery rate among the keys that are called anomalous.
const discoveries = 0.05

// Finder finds necessary time and overhead of calls after DEFINITIONS 1.1, in two walks
// over the calls: the first samples the durations of each key, between them laws are
// fitted, the second charges what is beyond t_max.
type Finder struct {
	*waits.Finder
	opts      Options
	withWaits bool // sample durations with their wait states
	keep      int  // durations of each key kept in order
	points    bool // a picture of all calls is wanted
	rate      numbers.Rate
	ops       []string  // names of operations
	op        []keyedOp // by region

	groups []fit.Group
	own    fit.Profile             // of groups
	index  map[fit.Key][]sizeGroup // the sizes of a key without its bytes, ascending

	drawn  []profile.Site // lines whose calls are counted
	lineOf []int          // by call path: index into drawn; -1: another line; nil: none is counted
	bars   []fit.Bars     // by group

	charges
	byRank []pathOnRank
	ByCall ByCall
}

// A sizeGroup says which group calls of a size are in.
type sizeGroup struct {
	bytes int64
	group int // index into overheads.groups
}

// A keyedOp is what the keys of a region's calls have of it.
type keyedOp struct {
	op    uint32     // index into overheads.ops
	roles waits.Role // that its calls may differ in
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
	Overhead, late, transfer, unexplained int64 // ns
}

func (s *overheadPart) add(o *overheadPart) {
	s.calls, s.slow = s.calls+o.calls, s.slow+o.slow
	s.total = numbers.Plus(s.total, o.total)
	s.Overhead, s.late = numbers.Plus(s.Overhead, o.Overhead), numbers.Plus(s.late, o.late)
	s.transfer, s.unexplained = numbers.Plus(s.transfer, o.transfer), numbers.Plus(s.unexplained, o.unexplained)
}

// pathOnRank is the overhead of one call path on one location.
type pathOnRank struct {
	path     trace.PathID
	rank     uint32
	overhead int64
}

// NewFinder returns what finds the overhead of the calls that w has gone over, with their sizes kept.
func NewFinder(w *waits.Finder, opts Options) *Finder {
	o := &Finder{Finder: w, opts: opts, rate: numbers.Rate{Resolution: w.T.Defs.Clock.Resolution}, index: make(map[fit.Key][]sizeGroup)}
	tick := int64((numbers.NsPerSecond-1)/o.rate.Resolution) + 1
	o.opts.Fit.Resolution = max(o.opts.Fit.Resolution, tick)
	functions := w.T.Defs.MPIFunctions()
	index := make(map[string]uint32)
	for id := range w.T.Defs.Regions {
		name := w.T.Defs.RegionLabel(trace.RegionID(id))
		if _, ok := index[name]; !ok {
			index[name] = uint32(len(o.ops))
			o.ops = append(o.ops, name)
		}
		o.op = append(o.op, keyedOp{index[name], waits.RolesOf(functions[id])})
	}
	return o
}

// Find calibrates, and charges the calls, but for calls of lines: which of those are counted the
// profile tells.
func (o *Finder) Find(ctx context.Context) error {
	if err := o.calibrate(ctx); err != nil || o.opts.PerLine {
		return err
	}
	return o.Charge(ctx)
}

// calibrate samples the durations and fits their laws.
func (o *Finder) calibrate(ctx context.Context) error {
	samples, err := o.sample(ctx)
	if err != nil {
		return err
	}
	groups := fit.Groups(samples.named())
	o.groups, err = engine.Map(ctx, o.Jobs, len(groups), func(_ context.Context, i int) (fit.Group, error) {
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

// ByCall holds the overhead of the calls of each location.
type ByCall []overheads

// overheads are those of a location.
//
//	calls are by row of trace.Trace.Calls: ns, plus 1; 0: none to speak of; from longOverhead on: a row in long
type overheads struct {
	calls *spill.Table[uint32]
	long  *spill.Table[int64] // in ns
}

const longOverhead = 1 << 31

// Add adds the overhead of the next call of a location in ns; below 0: it has none to speak of.
func (t ByCall) Add(store *spill.Store, l trace.LocationID, ns int64) {
	x, n := &t[l], uint64(ns+1)
	if n >= longOverhead {
		n = longOverhead + uint64(spill.Ensure(store, &x.long).Append(ns))
	}
	spill.Ensure(store, &x.calls).Append(uint32(n))
}

// At returns the overhead in ns of a call of a location; ok is false if it is not known,
// because it was not asked for, the call is not selected or it is no communication event.
func (t ByCall) At(l trace.LocationID, call int) (ns int64, ok bool) {
	if int(l) >= len(t) {
		return 0, false
	}
	n := t[l].calls.At(call)
	if n >= longOverhead {
		return t[l].long.At(int(n - longOverhead)), true
	}
	return int64(n) - 1, n > 0
}

// A OfRank is the overhead of a line on one rank.
type OfRank struct {
	Line       int // index into Overhead.Lines
	Rank       field.Rank
	OverheadNs int64
}
