package profile

import (
	"cmp"
	"math"

	"tracekit/partial"
	"tracekit/partial/model"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/stats/threads"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Code codes what the pass over some locations, ascending, has to know beside their events: it
// writes that, or reads it into a NewPass. Locations that are not wanted are left out.
func (x *Pass) Code(c *partial.Coder, locations []trace.LocationID) {
	t := x.Trace
	partial.List(c, &x.Ranks, func(r *uint32) { partial.Number(c, r) })
	for _, at := range []*scope.Instant{&x.From, &x.To} {
		partial.Number(c, &at.Kind)
		partial.Number(c, &at.Ns)
		partial.Real(c, &at.Share)
	}
	model.Tree(c, t.Defs, &t.Tree)
	partial.List(c, &t.Span, func(s *trace.Span) {
		partial.Number(c, &s.First)
		partial.Number(c, &s.Last)
		partial.Number(c, &s.Events)
	})
	partial.List(c, &t.Rank, func(r *uint32) { partial.Number(c, r) })
	disorder := x.p != nil && x.p.disorder
	partial.Flag(c, &disorder)
	if c.Reading() {
		if x.begin(c); c.Err() != nil {
			return
		}
		x.p.disorder = disorder
	}
	for _, l := range locations {
		if x.Wants(l) && c.Err() == nil {
			x.codeKnown(c, l)
		}
	}
}

// begin makes the profiler of a pass whose common part was read.
func (x *Pass) begin(c *partial.Coder) {
	t, n := x.Trace, len(x.Trace.Defs.Locations)
	if len(t.Span) != n || len(t.Rank) != n {
		c.Refuse("it tells of %d and %d of %d locations", len(t.Span), len(t.Rank), n)
	}
	if c.Err() != nil {
		return
	}
	s, err := scope.New(t, x.Selection)
	if err != nil {
		c.Refuse("%v", err)
		return
	}
	t.Clock.Maps = make([]trace.ClockMap, n)
	x.p = New(t, &s, make([]*spill.Table[PathPiece], n), make([]*spill.Table[int64], n))
	x.p.Segments = NewSegments(t, &s, make(waits.ByCall, n))
	x.p.WatchThreads()
}

// ticks bounds durations.
var ticks = partial.Within("ticks", 0, math.MaxInt64)

// codeKnown codes what is to be known of one location.
func (x *Pass) codeKnown(c *partial.Coder, l trace.LocationID) {
	p, store := x.p, x.Trace.Store
	var clock trace.ClockMap
	if int(l) < len(x.Trace.Clock.Maps) {
		clock = x.Trace.Clock.Maps[l]
	}
	model.Clock(c, store, &clock)
	codeTimes(c, store, &p.clocks[l])
	partial.Table(c, store, &p.path[l],
		partial.Numbers(func(r *PathPiece) *int64 { return &r.From }),
		partial.Numbers(func(r *PathPiece) *int64 { return &r.To }))
	var known *spill.Table[waits.KnownWait]
	if !c.Reading() {
		known = p.Segments[l].waits.Known()
		defer known.Release()
	}
	partial.Table(c, store, &known,
		partial.Numbers(func(r *waits.KnownWait) *uint32 { return &r.Call }, partial.Below("call", p.clocks[l].Len())),
		partial.Numbers(func(r *waits.KnownWait) *int64 { return &r.From }),
		partial.Numbers(func(r *waits.KnownWait) *int64 { return &r.Time }, ticks))
	if !c.Reading() || c.Err() != nil {
		return
	}
	x.Trace.Clock.Maps[l] = clock
	table := waits.NewTable(store, p.clocks[l].Len())
	for i := range known.Len() {
		w := known.At(i)
		table.Note(w.Call, new(trace.Call), &waits.Wait{From: w.From, Time: w.Time})
	}
	known.Release()
	p.Segments[l].waits = table
}

func codeTimes(c *partial.Coder, store *spill.Store, times **spill.Table[int64]) {
	partial.Table(c, store, times, partial.Numbers(func(t *int64) *int64 { return t }))
}

// codeLeft codes what the pass leaves for a location.
func (x *Pass) codeLeft(c *partial.Coder, l trace.LocationID, part *Part) {
	p, store := x.p, x.Trace.Store
	x.codePart(c, l, part)
	before := p.clocks[l]
	if c.Reading() {
		p.clocks[l] = nil
	}
	if codeTimes(c, store, &p.clocks[l]); c.Reading() {
		if p.clocks[l].Len() != before.Len() {
			c.Refuse("location %d: it tells of %d of %d calls", l, p.clocks[l].Len(), before.Len())
			p.clocks[l] = before
			return
		}
		before.Release()
	}
	p.Segments[l].code(c, len(x.Trace.Tree.Nodes), p.clocks[l].Len())
	x.codeThread(c, l)
	for _, b := range x.shared() {
		if c.Err() == nil {
			b.Code(c, l)
		}
	}
}

// code codes the segments of a location that has so many calls.
func (s *Segments) code(c *partial.Coder, paths, calls int) {
	partial.Table(c, s.store, &s.Rows,
		partial.Numbers(func(r *Segment) *trace.PathID { return &r.Path }),
		partial.Numbers(func(r *Segment) *uint32 { return &r.Visits }),
		partial.Numbers(func(r *Segment) *int64 { return &r.Time }, ticks))
	rows := partial.Below("segment", s.Rows.Len()).Ascending(1)
	partial.Table(c, s.store, &s.Calls, partial.Numbers(func(r *uint32) *uint32 { return r }, rows))
	if !c.Reading() || c.Err() != nil {
		return
	}
	for _, rows := range s.Rows.Rows {
		for i := range rows {
			if r := &rows[i]; int(r.Path) >= paths && r.Path < PathOff {
				c.Refuse("call path %d does not exist", r.Path)
				return
			}
		}
	}
	if s.Calls.Len() != calls {
		c.Refuse("%d of %d calls have a segment", s.Calls.Len(), calls)
		return
	}
	s.sum(paths)
}

// codeThread codes what the thread of a location does, if it is one.
func (x *Pass) codeThread(c *partial.Coder, l trace.LocationID) {
	p := x.p
	if p.threads == nil || c.Reading() && p.newThread(l) == nil || !c.Reading() && p.threads[l] == nil {
		return
	}
	if c.Reading() {
		p.threads[l] = &threads.Recorder{Timeline: threads.Timeline{Location: l}}
	}
	type row = threads.Span
	partial.Table(c, x.Trace.Store, &p.threads[l].Spans,
		partial.Numbers(func(r *row) *int64 { return &r.From }, partial.Within("time", p.Scope.From, math.MaxInt64).Ascending(0)),
		partial.Numbers(func(r *row) *trace.PathID { return &r.Path }),
		partial.Numbers(func(r *row) *threads.Activity { return &r.Activity }, partial.Below("activity", int(threads.Activities))),
		partial.Flags(func(r *row) *bool { return &r.Parallel }))
}

// codePart codes the sums of one location.
func (x *Pass) codePart(c *partial.Coder, l trace.LocationID, part *Part) {
	d, rank := x.Trace.Defs, x.Trace.Rank[l]
	paths := partial.Below("call path", len(x.Trace.Tree.Nodes)).Ascending(1)
	visits, regions := partial.Within("visits", 0, x.Trace.Span[l].Events), partial.Below("region", len(d.Regions))
	partial.List(c, &part.Paths, func(s *pathSum) {
		partial.Number(c, &s.Path, paths)
		partial.Number(c, &s.Count, visits)
		for _, time := range []*int64{&s.Inclusive, &s.Exclusive, &s.Critical, &s.met, &s.Shortest} {
			partial.Number(c, time)
		}
		partial.Optional(c, &s.calls, func(s *callSum) { s.code(c, rank) })
		codeCounters(c, d, &s.Counters)
		if c.Reading() && c.Err() == nil && s.calls != nil && !x.p.isMPI(x.Trace.Tree.Nodes[s.Path].Region) {
			c.Refuse("call path %d has durations of calls and is of no MPI function", s.Path)
		}
	})
	partial.List(c, &part.regions, func(r *regionTime) {
		partial.Number(c, &r.region, regions)
		partial.Number(c, &r.time)
		r.rank = rank
	})
	if c.Reading() {
		part.Locations = []locationTime{{Location: l}}
	}
	of := &part.Locations[0]
	for _, time := range []*int64{&of.Useful, &of.waited, &of.Gap, &of.Span,
		&of.Paused[0].since, &of.Paused[0].Critical, &of.Paused[1].since, &of.Paused[1].Critical} {
		partial.Number(c, time)
	}
	codeCounters(c, d, &of.counters)
	partial.Flag(c, &part.Changed)
	model.Findings(c, &part.Findings)
}

// code codes the durations of calls, all of which are of one rank.
func (s *callSum) code(c *partial.Coder, rank uint32) {
	partial.Number(c, &s.min)
	partial.Number(c, &s.max)
	s.minRank, s.maxRank = rank, rank
	buckets := partial.Below("bucket", numbers.AllBuckets).Ascending(1)
	partial.List(c, &s.buckets, func(b *numbers.BucketCount) {
		partial.Number(c, &b.Bucket, buckets)
		partial.Number(c, &b.Count)
	})
}

// codeCounters codes the sums of all counters, nil if nothing was sampled: those of which something
// was.
func codeCounters(c *partial.Coder, d *trace.Defs, sums *[]counterSum) {
	there := *sums != nil
	if partial.Flag(c, &there); !there || c.Err() != nil {
		return
	}
	sampled := make(map[trace.MetricMemberID]counterSum)
	for i, s := range *sums {
		if s.samples > 0 {
			sampled[trace.MetricMemberID(i)] = s
		}
	}
	members := partial.Below("counter", len(d.MetricMembers))
	model.Map(c, &sampled, cmp.Compare, func(member *trace.MetricMemberID, s *counterSum) {
		partial.Number(c, member, members)
		partial.Number(c, &s.samples)
		partial.Number(c, &s.high)
		partial.Number(c, &s.low)
		partial.Real(c, &s.real)
		partial.Real(c, &s.min)
		partial.Real(c, &s.max)
		partial.Number(c, &s.time)
	})
	if c.Reading() && c.Err() == nil {
		*sums = make([]counterSum, len(d.MetricMembers))
		for member, s := range sampled {
			(*sums)[member] = s
		}
	}
}
