package profile

import (
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/stats/threads"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Profiler is the second decoding pass: it attributes corrected times, the critical path
// and counters to call paths. It is an engine.Stage.
type Profiler struct {
	T        *trace.Trace
	Scope    *scope.Scope
	mpi      []bool // by region
	waits    []bool // by region: a call that only waits for an accelerator; nil: there are no accelerators
	disorder bool   // some location's recorded times run backwards

	CallWaits waits.ByCall // for who hears what is decoded

	path   []*spill.Table[PathPiece] // by location: its pieces of the critical path, the last first
	clocks []*spill.Table[int64]     // by location and call: useful time when it is entered
	cuts   []*spill.Table[int64]     // by location: when its segments are cut beside calls, about ascending; see Cut
	Useful []int64                   // by location, after run
	Waited []int64                   // by location, after run: of it, in calls that only wait for accelerators

	threads  []*threads.Recorder // by location; nil: no thread, or threads are not told apart
	meanings []threads.Meaning
	teams    *teams               // of threads, whose timelines lie in this process; nil: they are left to another one
	running  trace.MetricMemberID // tells when threads run; None: there is none
	Segments []*Segments          // by location: where its time goes between calls
	Ledger   trace.Ledger         // what the rows are to be told about
}

// A Part is what the pass yields for some locations.
type Part struct {
	Paths     []pathSum       // ascending by path
	regions   []regionTime    // exclusive times by rank
	Locations []locationTime  // in order
	Changed   bool            // there are other events than those that were merged
	Findings  []trace.Finding // of one location each
}

// regionTime is the exclusive time of a region on one location.
type regionTime struct {
	region trace.RegionID
	rank   uint32
	time   int64
}

// locationTime is what a location does over all.
type locationTime struct {
	Location trace.LocationID
	Useful   int64
	waited   int64 // of useful, for accelerators
	Gap      int64 // time outside any region
	Span     int64 // from the first to the last event
	Paused   [2]pausedTime
	counters []counterSum // in useful time; nil: none
}

// A callSum describes the durations of the calls of an MPI function in one call path.
type callSum struct {
	min, max         int64
	minRank, maxRank uint32
	buckets          []numbers.BucketCount
}

func (c *callSum) merge(o *callSum) {
	if o.min < c.min || o.min == c.min && o.minRank < c.minRank {
		c.min, c.minRank = o.min, o.minRank
	}
	if o.max > c.max || o.max == c.max && o.maxRank < c.maxRank {
		c.max, c.maxRank = o.max, o.maxRank
	}
	c.buckets = numbers.AddBuckets(c.buckets, o.buckets)
}

// New returns a profiler of a trace. Path holds the pieces of the critical path. Clocks hold the sequence numbers of the calls' Enter and
// later the useful time before them. Both are by location.
func New(t *trace.Trace, s *scope.Scope, path []*spill.Table[PathPiece], clocks []*spill.Table[int64]) *Profiler {
	p := &Profiler{T: t, Scope: s, path: path, clocks: clocks, running: t.Defs.RunningCounter()}
	for _, f := range t.Defs.MPIFunctions() {
		p.mpi = append(p.mpi, f.Class != trace.ClassNone)
	}
	if slices.ContainsFunc(t.Defs.Locations, func(l trace.Location) bool { return l.Kind == trace.LocationGPU }) {
		p.waits = t.Defs.DeviceWaits()
	}
	for _, f := range t.Findings {
		p.disorder = p.disorder || f.Code == trace.CodeTimeDecreases
	}
	return p
}

// Run decodes the selected locations.
func (p *Profiler) Run(ctx context.Context, opts Options) (*Part, error) {
	part, err := p.all(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	if part == nil {
		part = new(Part)
	}
	p.Useful, p.Waited = make([]int64, len(p.T.Span)), make([]int64, len(p.T.Span))
	for _, l := range part.Locations {
		p.Useful[l.Location], p.Waited[l.Location] = l.Useful, l.waited
	}
	return part, nil
}

// all makes the pass here or has it made by the Workers.
func (p *Profiler) all(ctx context.Context, opts Options) (*Part, error) {
	if opts.Workers != nil {
		return (&Pass{Trace: p.T, Options: opts, p: p}).gather(ctx)
	}
	o := engine.Options{Jobs: opts.Jobs, Progress: opts.Progress, Listeners: p.listeners(opts.Observers)}
	if p.teams != nil {
		o.Group = p.teams.group
	}
	return engine.Run(ctx, p.T.Source, o, p)
}

// covers reports whether the pass goes over a location: it is selected and has events.
func (p *Profiler) covers(l trace.LocationID) bool {
	return int(l) < len(p.T.Span) && p.T.Span[l].Events > 0 && p.Scope.Has(l)
}

// Map implements engine.Stage.
func (p *Profiler) Map(_ context.Context, _ *trace.Defs, l trace.LocationID, batches engine.Batches) (*Part, error) {
	if !p.covers(l) {
		return new(Part), nil
	}
	w := p.newWalk(l)
	events := uint64(0)
	for b, err := range batches {
		if err != nil {
			return nil, fmt.Errorf("reading location %d: %w", l, err)
		}
		w.batch(b)
		events += uint64(b.Len())
	}
	w.end(p.Scope.Clamp(p.T.Span[l].Last))
	part := w.part()
	if merged := p.T.Span[l].Events; events != merged {
		part.Changed = true
		part.Findings = append(part.Findings, trace.Finding{Code: trace.CodeChangedMeanwhile, Count: 1,
			First: trace.Place{Location: l, Seq: min(events, merged), Offset: -1},
			Text:  fmt.Sprintf("it had %d events and has %d now", merged, events)})
	}
	if p.teams != nil {
		p.teams.passed(l)
	}
	return part, nil
}

func (p *Profiler) newWalk(l trace.LocationID) *walk {
	w := &walk{profiler: p, location: l, clock: new(trace.ClockMap)}
	if int(l) < len(p.T.Clock.Maps) {
		w.clock = &p.T.Clock.Maps[l]
	}
	w.pieces, w.ahead = p.path[l], p.path[l].Len()
	s := p.Segments[l]
	w.segments.begin(s, p.clocks[l].Len(), len(p.T.Tree.Nodes))
	w.calls = callRows{clocks: p.clocks[l], waits: s.waits.Index, segments: s.Calls}
	if p.cuts != nil {
		w.cuts = p.cuts[l]
	}
	w.exact = !p.Scope.Timed && w.clock.Identity()
	w.begin(p.Scope.Clamp(p.T.Span[l].First))
	if p.threads != nil {
		w.thread = p.newThread(l)
		p.threads[l] = w.thread
	}
	return w
}

// isMPI reports whether a region is an MPI function.
func (p *Profiler) isMPI(r trace.RegionID) bool { return int(r) < len(p.mpi) && p.mpi[r] }

// outside reports whether a visit between two clipped times was clipped away.
func (p *Profiler) outside(enter, leave int64) bool {
	return p.Scope.Timed && enter == leave && (enter == p.Scope.From || enter == p.Scope.To)
}

// clipped reports whether a recorded time lies outside the selection.
func (p *Profiler) clipped(m *trace.ClockMap, t int64) bool {
	if !p.Scope.Timed {
		return false
	}
	t = m.At(t)
	return t < p.Scope.From || t > p.Scope.To
}

// part returns what the walk found, in the form in which parts are combined.
func (w *walk) part() *Part {
	rank := w.profiler.T.Rank[w.location]
	first := w.profiler.Scope.Clamp(w.profiler.T.Span[w.location].First)
	out := &Part{Locations: []locationTime{{w.location, w.useful, w.waits.time, w.steps[0].Exclusive, w.now - first, w.paused,
		w.counters.useful}}}
	regions := make(map[trace.RegionID]int64)
	for _, s := range w.steps[1:] {
		if s.hist != nil && s.Count > 0 {
			s.calls = &callSum{s.Shortest, s.longest, rank, rank, s.hist.Sparse()}
		}
		if s.Count > 0 || s.Exclusive > 0 {
			regions[s.region] += s.Exclusive
		}
		out.Paths = append(out.Paths, s.pathSum)
	}
	slices.SortFunc(out.Paths, func(a, b pathSum) int { return int(int64(a.Path) - int64(b.Path)) })
	for r, t := range regions {
		out.regions = append(out.regions, regionTime{r, rank, t})
	}
	for _, f := range []trace.Finding{w.counters.bad, w.counters.falls} {
		if f.Count > 0 {
			out.Findings = append(out.Findings, f)
		}
	}
	if w.open > 0 {
		out.Findings = append(out.Findings, trace.Finding{Code: trace.CodeOpenTeam, Count: uint64(w.open),
			First: trace.Place{Location: w.location, Offset: -1}})
	}
	slices.SortFunc(out.regions, func(a, b regionTime) int { return int(int64(a.region) - int64(b.region)) })
	return out
}

// Combine implements engine.Stage.
func (p *Profiler) Combine(a, b *Part) *Part {
	return &Part{
		Paths:     combinePaths(a.Paths, b.Paths),
		regions:   append(a.regions, b.regions...),
		Locations: append(a.Locations, b.Locations...),
		Changed:   a.Changed || b.Changed,
		Findings:  append(a.Findings, b.Findings...),
	}
}

func combinePaths(a, b []pathSum) []pathSum {
	out := make([]pathSum, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Path < b[0].Path:
			out, a = append(out, a[0]), a[1:]
		case a[0].Path > b[0].Path:
			out, b = append(out, b[0]), b[1:]
		default:
			a[0].merge(&b[0])
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (s *pathSum) merge(o *pathSum) {
	switch {
	case s.Count == 0:
		s.Shortest = o.Shortest
	case o.Count > 0:
		s.Shortest = min(s.Shortest, o.Shortest)
	}
	s.Count += o.Count
	s.Inclusive = numbers.Plus(s.Inclusive, o.Inclusive)
	s.Exclusive = numbers.Plus(s.Exclusive, o.Exclusive)
	s.Critical += o.Critical
	s.met += o.met
	switch {
	case s.calls == nil:
		s.calls = o.calls
	case o.calls != nil:
		s.calls.merge(o.calls)
	}
	s.Counters = mergeCounters(s.Counters, o.Counters)
}

func mergeCounters(a, b []counterSum) []counterSum {
	if a == nil {
		return b
	}
	for i := range b {
		a[i].merge(b[i])
	}
	return a
}
