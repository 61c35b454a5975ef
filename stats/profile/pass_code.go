package profile

import (
	"cmp"
	"math"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/stats/threads"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Code codes what the pass over some locations, ascending, has to know beside their events: it
// writes that, or reads it into a NewPass. Locations that are not wanted are left out.
func (x *Pass) Code(c *codec.Coder, locations []trace.LocationID) {
	t := x.Trace
	codec.List(c, &x.Ranks, func(r *uint32) { codec.Number(c, r) })
	for _, at := range []*scope.Instant{&x.From, &x.To} {
		codec.Number(c, &at.Kind)
		codec.Number(c, &at.Ns)
		codec.Real(c, &at.Share)
	}
	model.Tree(c, t.Defs, &t.Tree)
	codec.List(c, &t.Span, func(s *trace.Span) {
		codec.Number(c, &s.First)
		codec.Number(c, &s.Last)
		codec.Number(c, &s.Events)
	})
	codec.List(c, &t.Rank, func(r *uint32) { codec.Number(c, r) })
	disorder := x.p != nil && x.p.disorder
	codec.Flag(c, &disorder)
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
func (x *Pass) begin(c *codec.Coder) {
	t, n := x.Trace, len(x.Trace.Defs.Locations)
	if len(t.Span) != n || len(t.Rank) != n {
		c.Refuse("it describes %d and %d of %d locations", len(t.Span), len(t.Rank), n)
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
	x.p.Segments, x.p.cuts = NewSegments(t, &s, make(waits.ByCall, n)), make([]*spill.Table[int64], n)
	x.p.WatchThreads()
}

// ticks bounds durations.
var ticks = codec.Within("ticks", 0, math.MaxInt64)

// codeKnown codes what the pass needs of one location beyond its events.
func (x *Pass) codeKnown(c *codec.Coder, l trace.LocationID) {
	p, store := x.p, x.Trace.Store
	var clock trace.ClockMap
	if int(l) < len(x.Trace.Clock.Maps) {
		clock = x.Trace.Clock.Maps[l]
	}
	model.Clock(c, store, &clock)
	codeTimes(c, store, &p.clocks[l])
	codeTimes(c, store, &p.cuts[l])
	codec.Table(c, store, &p.path[l],
		codec.Numbers(func(r *PathPiece) *int64 { return &r.From }),
		codec.Numbers(func(r *PathPiece) *int64 { return &r.To }))
	var known *spill.Table[waits.KnownWait]
	if !c.Reading() {
		known = p.Segments[l].waits.Known()
		defer known.Release()
	}
	codec.Table(c, store, &known,
		codec.Numbers(func(r *waits.KnownWait) *uint32 { return &r.Call }, codec.Below("call", p.clocks[l].Len())),
		codec.Numbers(func(r *waits.KnownWait) *int64 { return &r.From }),
		codec.Numbers(func(r *waits.KnownWait) *int64 { return &r.Time }, ticks))
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

func codeTimes(c *codec.Coder, store *spill.Store, times **spill.Table[int64]) {
	codec.Table(c, store, times, codec.Numbers(func(t *int64) *int64 { return t }))
}

// codeLeft codes what the pass leaves for a location.
func (x *Pass) codeLeft(c *codec.Coder, l trace.LocationID, part *Part) {
	p, store := x.p, x.Trace.Store
	x.codePart(c, l, part)
	before := p.clocks[l]
	if c.Reading() {
		p.clocks[l] = nil
	}
	if codeTimes(c, store, &p.clocks[l]); c.Reading() {
		if p.clocks[l].Len() != before.Len() {
			c.Refuse("location %d: it describes %d of %d calls", l, p.clocks[l].Len(), before.Len())
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
func (s *Segments) code(c *codec.Coder, paths, calls int) {
	var all *spill.Table[Segment]
	if !c.Reading() {
		all = spill.NewTable[Segment](s.store)
		for _, r := range s.All() {
			all.Append(r)
		}
	}
	codec.Table(c, s.store, &all,
		codec.Numbers(func(r *Segment) *trace.PathID { return &r.Path }),
		codec.Numbers(func(r *Segment) *uint32 { return &r.Visits }),
		codec.Numbers(func(r *Segment) *int64 { return &r.Time }, ticks))
	rows := codec.Below("segment", all.Len()).Ascending(1)
	codec.Table(c, s.store, &s.Calls, codec.Numbers(func(r *uint32) *uint32 { return r }, rows))
	defer all.Release()
	if !c.Reading() || c.Err() != nil {
		return
	}
	for _, rows := range all.Rows {
		for _, r := range rows {
			if int(r.Path) >= paths && r.Path < PathOff {
				c.Refuse("call path %d does not exist", r.Path)
				return
			}
			spill.Ensure(s.store, &s.Rows).Append(s.row(r))
		}
	}
	s.Rows = s.Rows.Sealed()
	if s.Calls.Len() != calls {
		c.Refuse("%d of %d calls have a segment", s.Calls.Len(), calls)
		return
	}
	s.sum(paths)
}

// codeThread codes what the thread of a location does, if it is one.
func (x *Pass) codeThread(c *codec.Coder, l trace.LocationID) {
	p := x.p
	if p.threads == nil || c.Reading() && !p.isThread(l) || !c.Reading() && p.threads[l] == nil {
		return
	}
	if c.Reading() {
		p.threads[l] = &threads.Recorder{Timeline: threads.Timeline{Location: l}}
	}
	type row = threads.Span
	codec.Table(c, x.Trace.Store, &p.threads[l].Spans,
		codec.Numbers(func(r *row) *int64 { return &r.From }, codec.Within("time", p.Scope.From, math.MaxInt64).Ascending(0)),
		codec.Numbers(func(r *row) *trace.PathID { return &r.Path }),
		codec.Numbers(func(r *row) *threads.Activity { return &r.Activity }, codec.Below("activity", int(threads.Activities))),
		codec.Flags(func(r *row) *bool { return &r.Parallel }), codec.Flags(func(r *row) *bool { return &r.Locks }))
}

// codePart codes the sums of one location.
func (x *Pass) codePart(c *codec.Coder, l trace.LocationID, part *Part) {
	d, rank := x.Trace.Defs, x.Trace.Rank[l]
	paths := codec.Below("call path", len(x.Trace.Tree.Nodes)).Ascending(1)
	visits, regions := codec.Within("visits", 0, x.Trace.Span[l].Events), codec.Below("region", len(d.Regions))
	codec.List(c, &part.Paths, func(s *pathSum) {
		codec.Number(c, &s.Path, paths)
		codec.Number(c, &s.Count, visits)
		for _, time := range []*int64{&s.Inclusive, &s.Exclusive, &s.Critical, &s.met, &s.Shortest} {
			codec.Number(c, time)
		}
		codec.Optional(c, &s.calls, func(s *callSum) { s.code(c, rank) })
		codeCounters(c, d, &s.Counters)
		if c.Reading() && c.Err() == nil && s.calls != nil && !x.p.isMPI(x.Trace.Tree.Nodes[s.Path].Region) {
			c.Refuse("call path %d has durations of calls and is of no MPI function", s.Path)
		}
	})
	codec.List(c, &part.regions, func(r *regionTime) {
		codec.Number(c, &r.region, regions)
		codec.Number(c, &r.time)
		r.rank = rank
	})
	if c.Reading() {
		part.Locations = []locationTime{{Location: l}}
	}
	of := &part.Locations[0]
	for _, time := range []*int64{&of.Useful, &of.waited, &of.Gap, &of.Span,
		&of.Paused[0].since, &of.Paused[0].Critical, &of.Paused[1].since, &of.Paused[1].Critical} {
		codec.Number(c, time)
	}
	codeCounters(c, d, &of.counters)
	codec.Flag(c, &part.Changed)
	model.Findings(c, &part.Findings)
}

// code codes the durations of calls, all of which are of one rank.
func (s *callSum) code(c *codec.Coder, rank uint32) {
	codec.Number(c, &s.min)
	codec.Number(c, &s.max)
	s.minRank, s.maxRank = rank, rank
	buckets := codec.Below("bucket", numbers.AllBuckets).Ascending(1)
	codec.List(c, &s.buckets, func(b *numbers.BucketCount) {
		codec.Number(c, &b.Bucket, buckets)
		codec.Number(c, &b.Count)
	})
}

// codeCounters codes the sums of all counters, nil if nothing was sampled: those of which something
// was.
func codeCounters(c *codec.Coder, d *trace.Defs, sums *[]counterSum) {
	there := *sums != nil
	if codec.Flag(c, &there); !there || c.Err() != nil {
		return
	}
	sampled := make(map[trace.MetricMemberID]counterSum)
	for i, s := range *sums {
		if s.samples > 0 {
			sampled[trace.MetricMemberID(i)] = s
		}
	}
	members := codec.Below("counter", len(d.MetricMembers))
	model.Map(c, &sampled, cmp.Compare, func(member *trace.MetricMemberID, s *counterSum) {
		codec.Number(c, member, members)
		codec.Number(c, &s.samples)
		codec.Number(c, &s.high)
		codec.Number(c, &s.low)
		codec.Real(c, &s.real)
		codec.Real(c, &s.min)
		codec.Real(c, &s.max)
		codec.Number(c, &s.time)
	})
	if c.Reading() && c.Err() == nil {
		*sums = make([]counterSum, len(d.MetricMembers))
		for member, s := range sampled {
			(*sums)[member] = s
		}
	}
}
