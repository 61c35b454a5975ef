package whatif

import (
	"context"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// Slack says how much later calls could have been entered without a later end of the run. Calls
// without slack lie on the critical path; through one with slack leads a path that is so much
// shorter.
type Slack struct {
	Calls []*spill.Table[int64] // by location and call, in ticks; they lie in the trace's Store
	Least []int64               // by location: at its end or any call, in ticks

	// Next are the shortest slacks above 0, in ticks and ascending, each with a call that has
	// it: the lengths by which the next paths are shorter than the critical one.
	Next []NextPath
}

// A NextPath is a path shorter than the critical one: by Slack ticks. It leads through a call.
type NextPath struct {
	Slack    int64
	Location trace.LocationID
	Call     uint32
}

// Slack replays the run unchanged and goes back over it (DEFINITIONS 2.11). A call may be late until
// the end of the run, or until a call that waits for it must begin its own time. Slack keeps at
// most paths next paths.
func (m *Model) Slack(ctx context.Context, paths int) (*Slack, error) {
	in, err := m.change(ctx, nil, false)
	defer in.release()
	if err != nil {
		return nil, err
	}
	r := m.newReplay(in)
	r.order = spill.NewTable[passedRow](m.t.Store)
	defer r.order.Release()
	if err := r.runAll(ctx); err != nil {
		return nil, err
	}
	b := &backward{replay: r, at: make([]backPosition, len(m.locations)), out: &Slack{Least: make([]int64, len(m.locations))}, paths: paths,
		latest: spill.NewZeros[latest](m.t.Store, m.instances.Len()), behind: spill.NewZeros[latest](m.t.Store, m.members.Len())}
	defer b.latest.Release()
	defer b.behind.Release()
	for l := range m.locations {
		calls := m.t.Calls[l].Len()
		b.out.Calls = append(b.out.Calls, spill.NewZeros[int64](m.t.Store, calls))
		slack := max(0, m.last-m.t.Span[l].Last)
		b.at[l], b.out.Least[l] = backPosition{call: calls, slack: slack}, slack
	}
	for i := r.order.Len() - 1; i >= 0; i-- {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.row(r.order.At(i))
	}
	for l := range m.locations {
		b.until(trace.LocationID(l), 0)
	}
	return b.out, m.t.Store.Err()
}

// A passedRow is a row that a replay has passed.
type passedRow struct {
	location trace.LocationID
	row      uint32
}

// backward goes back over the rows that a replay has passed, the last first. So what needs a call
// is met before that call.
//
//	out.Calls[l].At(i) is, of calls that were not reached yet, 0 or 1 + what calls that need them
//	leave
type backward struct {
	*replay
	latest *spill.Table[latest] // by instance: when the last must arrive
	behind *spill.Table[latest] // by member that follows others: when the last of them must arrive
	at     []backPosition
	out    *Slack
	paths  int
}

// latest is the latest time, if it is known.
type latest struct {
	time  int64
	known bool
	ahead uint32 // of an instance: its last members whose times in behind include those of the members after them
}

// lower says that the time is at most another one.
func (x *latest) lower(time int64) {
	if !x.known || time < x.time {
		x.time, x.known = time, true
	}
}

// backPosition is how far back a location is: the calls from call on have their slack, the call
// before them may end slack ticks later. That call's parts are parts to end-1.
type backPosition struct {
	call       int
	slack      int64
	parts, end uint32
}

// limit notes that a call must not be entered more than slack later.
func (b *backward) limit(l trace.LocationID, call uint32, slack int64) {
	x := b.out.Calls[l].Ptr(int(call))
	if slack = max(0, slack); *x == 0 || slack+1 < *x {
		*x = slack + 1
	}
}

// until finds the slack of a location's calls back to one.
func (b *backward) until(l trace.LocationID, call int) {
	at := &b.at[l]
	for at.call > call {
		at.call--
		b.arrived(l, at.call)
		x := b.out.Calls[l].Ptr(at.call)
		if *x > 0 {
			at.slack = min(at.slack, *x-1)
		}
		*x = at.slack
		if at.slack < b.out.Least[l] {
			b.out.Least[l] = at.slack
		}
		b.next(at.slack, l, uint32(at.call))
	}
}

// next keeps a slack if it is among the shortest.
func (b *backward) next(slack int64, l trace.LocationID, call uint32) {
	n := b.out.Next
	if slack == 0 || len(n) == b.paths && (b.paths == 0 || slack >= n[b.paths-1].Slack) {
		return
	}
	i, known := slices.BinarySearchFunc(n, slack, func(p NextPath, s int64) int { return int(min(max(p.Slack-s, -1), 1)) })
	if known {
		return
	}
	n = slices.Insert(n, i, NextPath{slack, l, call})
	b.out.Next = n[:min(len(n), b.paths)]
}

// row passes a call backwards, from its Leave to its Enter. Its wait is slack of the call, and of the
// calls that it needs.
func (b *backward) row(p passedRow) {
	l, x := p.location, &b.in.locations[p.location]
	r, after := x.rows.At(int(p.row)), x.rowAfter(int(p.row))
	b.until(l, int(r.call)+1)
	own := b.in.clocks[l].At(int(r.call)) + r.wait + b.at[l].slack // when its own time must begin
	for k := r.needs; k < after.needs; k++ {
		n := x.needs.Ptr(int(k))
		b.limit(n.location, n.call, own-b.in.flights[n.flight].lag-b.in.clocks[n.location].At(int(n.call)))
	}
	for k := r.parts; k < after.parts; k++ {
		part := x.parts.Ptr(int(k))
		switch until := own + part.head - b.in.flights[part.flight].lag; {
		case part.does&awaits != 0:
			b.latest.Ptr(int(part.instance)).lower(until)
		case part.does&follows != 0:
			b.behind.Ptr(int(part.member)).lower(until)
		}
	}
	b.at[l].slack += r.wait
	b.at[l].parts, b.at[l].end = r.parts, after.parts
}

// arrived limits the entering of a call by the instances at which its parts arrive. All that wait
// there have been passed: nobody does so before the call is entered.
func (b *backward) arrived(l trace.LocationID, call int) {
	at := &b.at[l]
	for ; at.parts < at.end; at.parts++ {
		part := b.in.locations[l].parts.Ptr(int(at.parts))
		a := b.latest.Ptr(int(part.instance))
		if part.does&follows != 0 {
			a = b.following(part, a)
		}
		if part.does&arrives != 0 && a.known {
			b.limit(l, uint32(call), a.time-part.head-b.in.clocks[l].At(call))
		}
	}
}

// following returns when a member of an instance must arrive for the members after it.
func (b *backward) following(p *part, instance *latest) *latest {
	c := b.t.Collectives.Ptr(int(p.instance))
	end := c.First + c.Count
	for ; end-instance.ahead > p.member+1; instance.ahead++ {
		k := int(end - instance.ahead - 1)
		if instance.ahead == 0 {
			continue
		}
		if after := b.behind.Ptr(k + 1); after.known {
			b.behind.Ptr(k).lower(after.time)
		}
	}
	if p.member+1 == end {
		return new(latest)
	}
	return b.behind.Ptr(int(p.member + 1))
}
