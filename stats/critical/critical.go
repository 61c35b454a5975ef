package critical

import (
	"context"
	"sort"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Finder walks backwards over the waits of a trace: from the latest last event on
// its location, until a call is met that waits; there it goes on at the location of the
// call that ends the wait, at the instant at which it ends. What is walked over is the
// path; waits are not on it, so that the pieces follow each other without gaps and sum to
// the run time.
//
//	now never grows, bound[l] (the calls of l that may still be met) shrinks with each
//	jump from l, so that the walk ends whatever the data
type Finder struct {
	t     *trace.Trace
	waits waits.ByCall
	scope *scope.Scope
	bound []int
	stand []trace.LocationID // by location: see profile.MasterOf
	begun []bool             // locations whose first event was passed
	at    trace.LocationID
	now   int64

	Pieces    []*spill.Table[profile.PathPiece]      // by location, the last first
	Segments  *spill.Table[document.CriticalSegment] // all, the last first
	open      document.CriticalSegment               // in ticks: not yet in segments
	missing   int64                                  // ticks before the first event of the path
	outside   int64                                  // ticks on locations that are not selected
	overtaken int64                                  // ticks that receives behind one that waits could have passed while it did
}

// NewFinder returns what finds the path of a trace, of whose calls it is known how long they wait.
func NewFinder(t *trace.Trace, s *scope.Scope, waits waits.ByCall) *Finder {
	c := &Finder{t: t, waits: waits, scope: s, begun: make([]bool, len(t.Calls)), stand: profile.MasterOf(t),
		Pieces:   make([]*spill.Table[profile.PathPiece], len(t.Calls)),
		Segments: spill.NewTable[document.CriticalSegment](t.Store)}
	for _, calls := range t.Calls {
		c.bound = append(c.bound, calls.Len())
	}
	return c
}

// Run walks the path of the whole run.
func (c *Finder) Run(ctx context.Context) error {
	first, last := scope.Run(c.t)
	c.at, c.now = c.end(), last
	if c.at == trace.None {
		return nil
	}
	for jumps := 0; c.step(); jumps++ {
		if jumps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	c.missing = c.scope.Clip(first, max(first, c.now))
	c.flush()
	return nil
}

// end returns the location with the latest last event of any rank, of several the first in trace.Trace.Order. If
// the ranks have no events, it is the latest location of all.
func (c *Finder) end() trace.LocationID {
	at, order := trace.LocationID(trace.None), c.t.Order()
	later := func(l trace.LocationID, s trace.Span) bool {
		if at == trace.None || c.ranked(l) != c.ranked(at) {
			return at == trace.None || c.ranked(l)
		}
		return s.Last > c.t.Span[at].Last || s.Last == c.t.Span[at].Last && order[l] < order[at]
	}
	for l, s := range c.t.Span {
		if s.Events > 0 && !c.scope.Aside[l] && later(trace.LocationID(l), s) {
			at = trace.LocationID(l)
		}
	}
	return at
}

// ranked reports whether a location belongs to a rank.
func (c *Finder) ranked(l trace.LocationID) bool { return c.t.Rank[l] != trace.None }

// step walks to the next call that waits and jumps to the cause of its wait, or to the
// master thread where a worker does nothing and at its first event; it reports false at the begin of the path.
func (c *Finder) step() bool {
	l := c.at
	if c.stand[l] != trace.None && c.idle(c.bound[l]) {
		return true
	}
	for i := c.bound[l] - 1; i >= 0; i-- {
		wait := c.waits[l].Of(i)
		if wait == nil || wait.From >= c.now {
			if c.stand[l] != trace.None && c.idle(i) {
				return true
			}
			continue
		}
		c.overtake(i, wait)
		c.bound[l] = i
		c.walkTo(min(wait.From+wait.Time, c.now))
		c.jump(wait.Location, wait.Call)
		return true
	}
	c.bound[l], c.begun[l] = 0, true
	c.walkTo(min(c.t.Span[l].First, c.now))
	if master := c.master(l); master != trace.None && !c.begun[master] {
		c.jump(master, trace.None)
		return true
	}
	return false
}

// idle jumps from a worker to the master that stands for it: behind a call, or before it if the path is in it. Where the call is in no
// region, the worker does nothing there.
func (c *Finder) idle(i int) bool {
	l := c.at
	if i >= c.t.Calls[l].Len() {
		return false
	}
	call := c.t.Calls[l].Ptr(i)
	if c.t.Tree.Nodes[call.Path].Parent != trace.None {
		return false
	}
	if call.Leave < c.now {
		i++
	} else {
		c.walkTo(call.Enter)
	}
	c.bound[l] = min(c.bound[l], i)
	c.jump(c.stand[l], trace.None)
	return true
}

// overtake adds what the path passes in receives from the same call path as call i, which waits
// for a message, directly behind it, and outside calls behind each of them, as far as theirs was
// sent before that one.
func (c *Finder) overtake(i int, wait *waits.Wait) {
	if wait.Kind != waitstate.LateSender || wait.Awaits(trace.None) {
		return
	}
	calls, recvs := c.t.Calls[c.at], c.t.Recvs[c.at]
	sent := func(r *trace.Recv) int64 { return c.t.Sends[r.SendLoc].Ptr(int(r.Send)).Time }
	late, known := int64(0), false
	for k := i + 1; k < c.bound[c.at]; k++ {
		next := calls.Ptr(k)
		if next.Path != wait.Path {
			return
		}
		n := int(next.FirstRecv)
		if n >= recvs.Len() {
			continue
		}
		if r := recvs.Ptr(n); int(r.Call) == k && r.State == trace.Matched {
			if !known { // mostly no call is of the same path, and nothing need be looked up
				late, known = sent(recvs.Ptr(int(c.waits[c.at].Message(wait)))), true
			}
			until := next.Leave
			if k+1 < c.bound[c.at] {
				until = calls.Ptr(k + 1).Enter
			}
			c.overtaken += max(0, min(until-next.Enter, late-sent(r)))
		}
	}
}

// master returns the location of the master thread of a location's rank, None if there is
// none or if it has no events.
func (c *Finder) master(l trace.LocationID) trace.LocationID {
	r := c.t.Rank[l]
	if int(r) >= len(c.t.World) || int(c.t.World[r]) >= len(c.t.Span) || c.t.Span[c.t.World[r]].Events == 0 {
		return trace.None
	}
	return c.t.World[r]
}

// jump goes on at another location with the calls before the given one.
func (c *Finder) jump(l trace.LocationID, call uint32) {
	before := int(call)
	if call == trace.None {
		calls := c.t.Calls[l]
		before = sort.Search(calls.Len(), func(i int) bool { return calls.At(i).Enter >= c.now })
	}
	c.at, c.bound[l] = l, min(c.bound[l], before)
}

// walkTo makes the time since t at the present location part of the path.
func (c *Finder) walkTo(t int64) {
	if t >= c.now {
		return
	}
	spill.Ensure(c.t.Store, &c.Pieces[c.at]).Append(profile.PathPiece{From: t, To: c.now})
	if !c.scope.Has(c.at) {
		c.outside = numbers.Plus(c.outside, c.scope.Clip(t, c.now))
	}
	if c.open.ToNs == c.open.FromNs || c.open.Location != uint32(c.at) {
		c.flush()
		c.open = document.CriticalSegment{Location: uint32(c.at), Rank: field.Rank(c.t.Rank[c.at]), ToNs: c.now}
	}
	c.open.FromNs, c.now = t, t
}

// flush adds the open segment to the path.
func (c *Finder) flush() {
	s := c.open
	if s.FromNs == s.ToNs {
		return
	}
	x := scope.NewAxis(c.t)
	s.FromNs, s.ToNs = x.Instant(s.FromNs), x.Instant(s.ToNs)
	c.Segments.Append(s)
}
