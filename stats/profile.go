package stats

import (
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// profiler is the second decoding pass: it attributes corrected times, the critical path
// and counters to call paths. It is an engine.Stage.
type profiler struct {
	t        *trace.Trace
	scope    *Scope
	mpi      []bool // by region
	waits    []bool // by region: a call that only waits for an accelerator; nil: there are no accelerators
	disorder bool   // some location's recorded times run backwards

	callWaits CallWaits // for who hears what is decoded

	path   []*spill.Table[pathPiece] // by location: its pieces of the critical path, the last first
	clocks []*spill.Table[int64]     // by location and call: useful time when it is entered
	useful []int64                   // by location, after run
	waited []int64                   // by location, after run: of it, in calls that only wait for accelerators

	threads  []*threads.Recorder // by location; nil: no thread, or threads are not told apart
	meanings []threads.Meaning
	running  trace.MetricMemberID // tells when threads run; None: there is none
	segments []*Segments          // by location: where its time goes between calls
	ledger   trace.Ledger         // what the rows are to be told about
}

// A profilePart is what the pass yields for some locations.
type profilePart struct {
	paths     []pathSum       // ascending by path
	regions   []regionTime    // exclusive times by rank
	locations []locationTime  // in order
	changed   bool            // there are other events than those that were merged
	findings  []trace.Finding // of one location each
}

// regionTime is the exclusive time of a region on one location.
type regionTime struct {
	region trace.RegionID
	rank   uint32
	time   int64
}

// locationTime is what a location does over all.
type locationTime struct {
	location trace.LocationID
	useful   int64
	waited   int64 // of useful, for accelerators
	gap      int64 // time outside any region
	span     int64 // from the first to the last event
	paused   [2]pausedTime
	counters []counterSum // in useful time; nil: none
}

// A callSum describes the durations of the calls of an MPI function in one call path.
type callSum struct {
	min, max         int64
	minRank, maxRank uint32
	buckets          []bucketCount
}

func (c *callSum) merge(o *callSum) {
	if o.min < c.min || o.min == c.min && o.minRank < c.minRank {
		c.min, c.minRank = o.min, o.minRank
	}
	if o.max > c.max || o.max == c.max && o.maxRank < c.maxRank {
		c.max, c.maxRank = o.max, o.maxRank
	}
	c.buckets = addBuckets(c.buckets, o.buckets)
}

func newProfiler(t *trace.Trace, s *Scope, path []*spill.Table[pathPiece], clocks []*spill.Table[int64]) *profiler {
	p := &profiler{t: t, scope: s, path: path, clocks: clocks, running: t.Defs.RunningCounter()}
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

// run decodes the selected locations.
func (p *profiler) run(ctx context.Context, opts PassOptions) (*profilePart, error) {
	part, err := p.all(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	if part == nil {
		part = new(profilePart)
	}
	p.useful, p.waited = make([]int64, len(p.t.Span)), make([]int64, len(p.t.Span))
	for _, l := range part.locations {
		p.useful[l.location], p.waited[l.location] = l.useful, l.waited
	}
	return part, nil
}

// all makes the pass here or has it made by the Workers.
func (p *profiler) all(ctx context.Context, opts PassOptions) (*profilePart, error) {
	if opts.Workers != nil {
		return (&Pass{Trace: p.t, PassOptions: opts, p: p}).gather(ctx)
	}
	o := engine.Options{Jobs: opts.Jobs, Progress: opts.Progress, Listeners: p.listeners(opts.Beside)}
	return engine.Run(ctx, p.t.Source, o, p)
}

// Map implements engine.Stage.
func (p *profiler) Map(_ context.Context, _ *trace.Defs, l trace.LocationID, batches engine.Batches) (*profilePart, error) {
	if int(l) >= len(p.t.Span) || p.t.Span[l].Events == 0 || !p.scope.has(l) {
		return new(profilePart), nil
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
	w.end(p.scope.clamp(p.t.Span[l].Last))
	part := w.part()
	if merged := p.t.Span[l].Events; events != merged {
		part.changed = true
		part.findings = append(part.findings, trace.Finding{Code: trace.CodeChangedMeanwhile, Count: 1,
			First: trace.Place{Location: l, Seq: min(events, merged), Offset: -1},
			Text:  fmt.Sprintf("it had %d events and has %d now", merged, events)})
	}
	return part, nil
}

func (p *profiler) newWalk(l trace.LocationID) *walk {
	w := &walk{profiler: p, location: l, clock: new(trace.ClockMap)}
	if int(l) < len(p.t.Clock.Maps) {
		w.clock = &p.t.Clock.Maps[l]
	}
	w.pieces, w.ahead = p.path[l], p.path[l].Len()
	s := p.segments[l]
	w.segments.begin(s, p.clocks[l].Len(), len(p.t.Tree.Nodes))
	w.calls = callRows{clocks: p.clocks[l], waits: s.waits.index, segments: s.calls}
	w.exact = !p.scope.timed && w.clock.Identity()
	w.begin(p.scope.clamp(p.t.Span[l].First))
	if p.threads != nil {
		w.thread = p.newThread(l)
		p.threads[l] = w.thread
	}
	return w
}

// isMPI reports whether a region is an MPI function.
func (p *profiler) isMPI(r trace.RegionID) bool { return int(r) < len(p.mpi) && p.mpi[r] }

// outside reports whether a visit between two clipped times was clipped away.
func (p *profiler) outside(enter, leave int64) bool {
	return p.scope.timed && enter == leave && (enter == p.scope.from || enter == p.scope.to)
}

// clipped reports whether a recorded time lies outside the selection.
func (p *profiler) clipped(m *trace.ClockMap, t int64) bool {
	if !p.scope.timed {
		return false
	}
	t = m.At(t)
	return t < p.scope.from || t > p.scope.to
}

// part returns what the walk found, in the form in which parts are combined.
func (w *walk) part() *profilePart {
	rank := w.profiler.t.Rank[w.location]
	first := w.profiler.scope.clamp(w.profiler.t.Span[w.location].First)
	out := &profilePart{locations: []locationTime{{w.location, w.useful, w.waits.time, w.steps[0].exclusive, w.now - first, w.paused, w.counters.useful}}}
	regions := make(map[trace.RegionID]int64)
	for _, s := range w.steps[1:] {
		if s.hist != nil && s.count > 0 {
			s.calls = &callSum{s.shortest, s.longest, rank, rank, s.hist.sparse()}
		}
		if s.count > 0 || s.exclusive > 0 {
			regions[s.region] += s.exclusive
		}
		out.paths = append(out.paths, s.pathSum)
	}
	slices.SortFunc(out.paths, func(a, b pathSum) int { return int(int64(a.path) - int64(b.path)) })
	for r, t := range regions {
		out.regions = append(out.regions, regionTime{r, rank, t})
	}
	for _, f := range []trace.Finding{w.counters.bad, w.counters.falls} {
		if f.Count > 0 {
			out.findings = append(out.findings, f)
		}
	}
	if w.open > 0 {
		out.findings = append(out.findings, trace.Finding{Code: trace.CodeOpenTeam, Count: uint64(w.open),
			First: trace.Place{Location: w.location, Offset: -1}})
	}
	slices.SortFunc(out.regions, func(a, b regionTime) int { return int(int64(a.region) - int64(b.region)) })
	return out
}

// Combine implements engine.Stage.
func (p *profiler) Combine(a, b *profilePart) *profilePart {
	return &profilePart{
		paths:     combinePaths(a.paths, b.paths),
		regions:   append(a.regions, b.regions...),
		locations: append(a.locations, b.locations...),
		changed:   a.changed || b.changed,
		findings:  append(a.findings, b.findings...),
	}
}

func combinePaths(a, b []pathSum) []pathSum {
	out := make([]pathSum, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].path < b[0].path:
			out, a = append(out, a[0]), a[1:]
		case a[0].path > b[0].path:
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
	case s.count == 0:
		s.shortest = o.shortest
	case o.count > 0:
		s.shortest = min(s.shortest, o.shortest)
	}
	s.count += o.count
	s.inclusive = Plus(s.inclusive, o.inclusive)
	s.exclusive = Plus(s.exclusive, o.exclusive)
	s.critical += o.critical
	s.met += o.met
	switch {
	case s.calls == nil:
		s.calls = o.calls
	case o.calls != nil:
		s.calls.merge(o.calls)
	}
	s.counters = mergeCounters(s.counters, o.counters)
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
