package headers

import (
	"context"
	"math"
	"math/bits"

	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// replay is the full profile: every message, collective and acknowledgement carries the summary
// of who sends it. Only those that somebody waits for are kept, for others change nothing.
//
//	elapsed of a location = all that was added to it since the begin of the run
//	host[l] + gathered[l] = elapsed
type replay struct {
	*run
	exact   bool   // transfers take what the trace says, not what the model says
	mask    uint64 // of metrics that are never shown
	self    int64  // ticks of the monitoring for each message
	counted []bool // by location: it is a selected rank's master thread
	merger  merger

	ranks     []rankState // by location
	marks     []*spill.Table[uint32]
	snapshots *spill.Table[snapshot]
	parts     *spill.Table[part]
	taken     []*spill.Table[int64] // by location and call: 1 + ticks of the transfer with which a summary dominated; 0: none did

	host     []int64 // by tag: what counted ranks did
	sizes    [65]sizeSums
	unmerged uint64 // waits that ended before their cause was met: they stay waits
}

// rankState is how far a location is.
type rankState struct {
	summary  Header
	gathered []int64  // by tag: since the last merge; nil until there is something
	underway int64    // of that, under wire: a host knows it as waiting
	beyond   legTimes // what paths have in place of the same time of that: overhead is below 0
	elapsed  int64
}

// A snapshot is the state of a location when it enters a call that somebody waits for.
type snapshot struct {
	summary Header // with what was gathered
	elapsed int64
	first   uint32 // of the parts gathered since the last merge
	end     uint32
	taken   bool
	next    int64 // by how much the next to arrive at a collective was earlier
}

// A part is time in one metric.
type part struct {
	time int64
	tag  uint8
}

// sizeSums adds up the messages of one class of sizes: how the hosts that complete them and the
// paths that lead to there have spent the time since the last merges before.
type sizeSums struct {
	messages      uint64
	host, message []int64 // by tag; nil: none
}

func newReplay(r *run, counted []bool) *replay {
	p := &replay{run: r, counted: counted, ranks: make([]rankState, len(r.t.Calls)), host: make([]int64, len(r.metrics.names)),
		snapshots: spill.NewTable[snapshot](r.t.Store), parts: spill.NewTable[part](r.t.Store)}
	for _, calls := range r.t.Calls {
		p.marks = append(p.marks, spill.NewZeros[uint32](r.t.Store, calls.Len()))
		p.taken = append(p.taken, spill.NewZeros[int64](r.t.Store, calls.Len()))
	}
	return p
}

// play replays the run.
func (p *replay) play(ctx context.Context) error {
	for l := range p.ranks {
		p.ranks[l].summary.Mask = p.mask
		if err := p.mark(ctx, trace.LocationID(l)); err != nil {
			return err
		}
	}
	if err := p.visit(ctx, p); err != nil {
		return err
	}
	for l := range p.ranks {
		p.end(trace.LocationID(l))
	}
	return nil
}

// mark makes room for the snapshots that the waits of a location need.
func (p *replay) mark(ctx context.Context, l trace.LocationID) error {
	for i := range p.calls(l) {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p.segments[l].Wait(uint32(i)) == 0 {
			continue
		}
		if w := p.waits[l].At(i); w.Call != trace.None && int(w.Call) < p.calls(w.Location) {
			if m := p.marks[w.Location].Ptr(int(w.Call)); *m == 0 {
				*m = uint32(p.snapshots.Append(snapshot{next: math.MaxInt64})) + 1
			}
			if p.waits[l].Message(&w) == trace.None {
				s := p.snapshots.Ptr(int(p.marks[w.Location].At(int(w.Call)) - 1))
				s.next = min(s.next, p.segments[l].Wait(uint32(i)))
			}
		}
	}
	return nil
}

// gather adds time to what a location gathers.
func (p *replay) gather(l trace.LocationID, tag uint8, time int64) {
	s := &p.ranks[l]
	if s.gathered == nil {
		s.gathered = make([]int64, len(p.metrics.names))
	}
	s.gathered[tag] += time
	s.elapsed += time
}

// between gathers what passes between two calls.
func (p *replay) between(l trace.LocationID, after, until uint32) {
	for s := range p.segments[l].Between(after, until) {
		p.gather(l, p.metrics.of(s.Path), s.Time)
	}
}

// Enter implements causal.Visitor.
func (p *replay) Enter(l trace.LocationID, row int) (needs int) {
	p.between(l, before(row), uint32(row))
	if m := p.marks[l].At(row); m > 0 {
		p.snap(l, p.snapshots.Ptr(int(m-1)))
	}
	p.schedule.Reach(l, row+1)
	if p.segments[l].Wait(uint32(row)) == 0 {
		return 0
	}
	return 1
}

// before returns the call before another one, None if that is the first.
func before(row int) uint32 {
	if row == 0 {
		return trace.None
	}
	return uint32(row - 1)
}

// snap keeps the state of a location.
func (p *replay) snap(l trace.LocationID, s *snapshot) {
	state := &p.ranks[l]
	s.summary, s.elapsed, s.taken = state.summary, state.elapsed, true
	p.merger.merge(&s.summary, state.gathered)
	s.first = uint32(p.parts.Len())
	for tag, time := range state.gathered {
		if tag < len(state.beyond) {
			time += state.beyond[tag]
		}
		if time > 0 {
			p.parts.Append(part{time, uint8(tag)})
		}
	}
	s.end = uint32(p.parts.Len())
}

// Need implements causal.Visitor: a call needs whom it waits for.
func (p *replay) Need(l trace.LocationID, row, _ int) (int64, bool) {
	w := p.waits[l].At(row)
	return 0, w.Call == trace.None || int(w.Call) >= p.calls(w.Location) || p.schedule.Entered(l, w.Location, w.Call)
}

// Leave implements causal.Visitor. All that the call needs was entered, unless calls wait for each other in a circle.
func (p *replay) Leave(l trace.LocationID, row int, _ int64) error {
	c := p.call(l, row)
	p.count(l, &c)
	class := p.class(l, &c)
	x := p.hosted(l, &c)
	var parts legTimes
	x.add(func(tag uint8, time int64) {
		p.gather(l, tag, time)
		parts[tag] += time
	})
	p.ranks[l].underway += x.underway
	p.beyond(l, &c, &x)
	w, known := p.cause(l, &c)
	var from *snapshot
	if known {
		from = p.snapshots.Ptr(int(p.marks[w.Location].At(int(w.Call)) - 1))
		if !from.taken || from.elapsed > p.ranks[l].elapsed {
			from = nil
			p.unmerged++
		}
	}
	switch {
	case from != nil:
		p.dominate(l, &c, w, from, class, &parts)
	case c.merges():
		p.stay(l, class)
		p.ranks[l].summary.limit(&rival{lead: p.leads(l, &c)}, &parts)
	}
	return nil
}

// stay merges: the local summary stays.
func (p *replay) stay(l trace.LocationID, class int) {
	s := &p.ranks[l]
	p.merger.merge(&s.summary, s.gathered)
	if p.counted[l] {
		s.addTo(p.host)
		if class >= 0 {
			sums := p.sums(class)
			s.addTo(sums.host)
			addTimes(sums.message, s.gathered)
			addTimes(sums.message, s.beyond[:])
		}
	}
	s.begin()
}

// beyond explains what a call that did not wait took beyond what it needs, for the paths alone: its host does not know.
func (p *replay) beyond(l trace.LocationID, c *call, x *own) {
	overhead := x.rest
	p.took(l, c, x, &p.ranks[l].beyond)
	p.ranks[l].beyond[x.tag] -= overhead - x.rest
}

// addTo adds what a host has done since the last merge.
func (s *rankState) addTo(host []int64) {
	addTimes(host, s.gathered)
	host[tagWire] -= s.underway
	host[tagWait] += s.underway
}

// begin begins anew after a merge.
func (s *rankState) begin() {
	clear(s.gathered)
	s.underway, s.beyond = 0, legTimes{}
}

// dominate merges: what is received replaces the local summary.
func (p *replay) dominate(l trace.LocationID, c *call, w waits.Wait, from *snapshot, class int, parts *legTimes) {
	s := &p.ranks[l]
	took := s.elapsed - from.elapsed
	p.taken[l].Set(int(c.row), 1+took)
	path, _ := p.path(l, c, w, took)
	if p.counted[l] {
		s.addTo(p.host)
		if class >= 0 {
			sums := p.sums(class)
			s.addTo(sums.host)
			for k := from.first; k < from.end; k++ {
				x := p.parts.Ptr(int(k))
				sums.message[x.tag] += x.time
			}
			addTimes(sums.message, path[:])
		}
	}
	own := p.own(l, c, parts)
	s.summary = from.summary
	s.summary.limit(own, &legTimes{})
	s.summary.limit(&rival{lead: p.margin(l, c, w, from)}, &legTimes{})
	s.summary.Hops++
	s.summary.Self += uint64(p.self)
	if !p.exact {
		path = p.model(l, c, w, took)
	}
	p.merger.merge(&s.summary, path[:])
	s.begin()
}

// A legTimes is time by tag between the call that was waited for and the end of the wait.
type legTimes [firstRegion]int64

// model returns what the headers have of a transfer: of messages, what the model says; of what
// it says nothing about, all that it took.
func (p *replay) model(l trace.LocationID, c *call, w waits.Wait, took int64) (x legTimes) {
	if took == 0 {
		return x
	}
	bytes, ok := p.message(l, w)
	if !ok {
		x[c.tag()] = took
		return x
	}
	partner := p.t.Calls[w.Location].Ptr(int(w.Call)).Class
	if w.Kind == waitstate.LateSender {
		x[tagWire], x[tagCopy] = p.costs.transfer(l, c.Class, w.Location, partner, bytes)
	} else {
		x[tagWire], x[tagCopy] = p.costs.transfer(w.Location, partner, l, c.Class, bytes)
	}
	return x
}

// path returns what a transfer was on the path, in as many ticks as it took, with what explains the time beyond the model.
func (p *replay) path(l trace.LocationID, c *call, w waits.Wait, took int64) (x legTimes, m missing) {
	x = p.model(l, c, w, took)
	for tag := range x {
		x[tag] = min(x[tag], took)
		took -= x[tag]
	}
	if took > 0 {
		m = p.transferred(l, c, w, took, &x)
	}
	return x, m
}

// class returns the class of sizes of the message that decides a merge: the one that was waited
// for or, if none was, the last that the call completes; -1 if there is none.
func (p *replay) class(l trace.LocationID, c *call) int {
	if w, known := p.cause(l, c); known {
		if bytes, ok := p.message(l, w); ok {
			return bits.Len64(bytes)
		}
		return -1
	}
	for k := c.endRecv - 1; k >= c.firstRecv; k-- {
		if m := p.t.Recvs[l].Ptr(k); m.State == trace.Matched {
			return bits.Len64(m.Bytes)
		}
	}
	return -1
}

// count counts the messages that a call completes.
func (p *replay) count(l trace.LocationID, c *call) {
	if !p.counted[l] || p.outside(c) {
		return
	}
	for k := c.firstRecv; k < c.endRecv; k++ {
		if m := p.t.Recvs[l].Ptr(k); m.State == trace.Matched {
			p.sizes[bits.Len64(m.Bytes)].messages++
		}
	}
}

// sums returns the sums of a class.
func (p *replay) sums(class int) *sizeSums {
	s := &p.sizes[class]
	if s.host == nil {
		s.host, s.message = make([]int64, len(p.metrics.names)), make([]int64, len(p.metrics.names))
	}
	return s
}

// end gathers what passes after the last call, and brings the summary up to date.
func (p *replay) end(l trace.LocationID) {
	calls := p.calls(l)
	if p.segments[l].Len() != p.t.Calls[l].Len() || calls == 0 && !p.counted[l] {
		return
	}
	p.between(l, before(calls), trace.None)
	p.stay(l, -1)
}

func addTimes(sum, times []int64) {
	for tag, time := range times {
		sum[tag] += time
	}
}

// An excess is what transfers and calls on a path took beyond what they need, by what explains it.
type excess struct {
	transfers, calls legTimes
	missing          missing
}

// composition returns the times by tag of the path that led to the end of a location: backward
// from there, over the merges at which a received summary dominated.
func (p *replay) composition(ctx context.Context, l trace.LocationID) (times []int64, e excess, err error) {
	times = make([]int64, len(p.metrics.names))
	row, until := p.calls(l), uint32(trace.None)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, e, ctx.Err()
		}
		for s := range p.segments[l].Between(before(row), until) {
			times[p.metrics.of(s.Path)] += s.Time
		}
		if row == 0 {
			return times, e, nil
		}
		row--
		until = uint32(row)
		c := p.call(l, row)
		if took := p.taken[l].At(row); took > 0 {
			w := p.waits[l].At(row)
			leg, m := p.path(l, &c, w, took-1)
			addTimes(times, leg[:])
			e.missing.node, e.missing.progress = e.missing.node+m.node, e.missing.progress+m.progress
			for tag := tagQueued; tag <= tagUnexplained; tag++ {
				e.transfers[tag] += leg[tag]
			}
			l, row, until = w.Location, int(w.Call), w.Call
			continue
		}
		x := p.hosted(l, &c)
		whole := x.rest
		var parts legTimes
		p.took(l, &c, &x, &parts)
		addTimes(times, parts[:])
		parts[tagUnexplained] = x.beyond - (whole - x.rest)
		addTimes(e.calls[:], parts[:])
		x.add(func(tag uint8, time int64) { times[tag] += time })
	}
}

// release gives the tables back.
func (p *replay) release() {
	for l := range p.marks {
		p.marks[l].Release()
		p.taken[l].Release()
	}
	p.snapshots.Release()
	p.parts.Release()
}
