package merge

import (
	"context"
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// A process is a domain in the forward pass.
type process struct {
	id   int
	walk *walker
	base func(int64) int64 // the shift of the passes before, by time
	fading
}

// fading is a shift that a jump has caused and that becomes smaller since then.
type fading struct {
	since, amount int64
}

// at returns what is left at time t.
func (f fading) at(t, fade int64) int64 { return f.amount - (t-f.since)/fade }

// absurd is a shift that no clock needs: times this far apart are damage.
const absurd = 1 << 60

// forward visits all points in causal order: a process goes on until it comes to a
// receive whose send, or an end of a collective whose entries, have not been visited. If
// that is so for all, the trace contradicts itself, and one goes on without waiting.
func (c *logicalClock) forward(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	processes := make([]*process, len(c.domains))
	for i, locs := range c.domains {
		processes[i] = &process{id: i, walk: c.walk(locs), base: c.base(i), fading: fading{amount: -absurd}}
		c.ready = append(c.ready, i)
	}
	for first := 0; first < len(processes); {
		for len(c.ready) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			i := c.ready[0]
			c.ready = c.ready[1:]
			c.advance(processes[i], false)
		}
		for first < len(processes) && processes[first].walk.peek().kind == noPoint {
			first++
		}
		if first < len(processes) {
			c.advance(processes[first], true)
		}
	}
	return nil
}

// base returns the shift of the passes before, for a domain.
func (c *logicalClock) base(domain int) func(int64) int64 {
	knots := trace.ClockMap{Knots: c.maps[c.domains[domain][0]].Knots}
	return func(t int64) int64 { return knots.At(t) - t }
}

// advance visits the points of a process until it must wait or is through. With force,
// the first one is visited without waiting.
func (c *logicalClock) advance(p *process, force bool) {
	for {
		at := p.walk.peek()
		if at.kind == noPoint || !c.reached(at, p.id, force) {
			return
		}
		c.visit(p, at)
		p.walk.pass(at)
		force = false
	}
}

// reached reports whether everything that must come before a point has been visited. If
// not, the process is noted to be woken when that may have changed, unless it is forced.
func (c *logicalClock) reached(at point, process int, force bool) bool {
	switch at.kind {
	case recvPoint:
		row := c.trace.Recvs[at.loc].At(int(at.row))
		if force || c.sent[row.SendLoc].Len() > int(row.Send) {
			return true
		}
		c.heirs[row.SendLoc] = append(c.heirs[row.SendLoc], process)
		return false
	case leavePoint:
		p := c.parts[at.loc].At(int(at.row))
		if force || c.assembled(p) {
			return true
		}
		c.queues[p.collective] = append(c.queues[p.collective], process)
		return false
	}
	return true
}

// assembled reports whether all that a part's end must wait for have entered.
func (c *logicalClock) assembled(p part) bool {
	row := c.trace.Collectives.Ptr(int(p.collective))
	if !takes(row, c.trace.Members.Ptr(int(p.member))) {
		return true
	}
	if row.Op.Pattern() != trace.PatternScan {
		return c.meets.At(int(p.collective)).missing == 0
	}
	for m := row.First; m < p.member; m++ {
		if _, ok := c.entered[m]; !ok && gives(row, c.trace.Members.Ptr(int(m))) {
			return false
		}
	}
	return true
}

// visit gives a point its time and tells those that wait for it.
func (c *logicalClock) visit(p *process, at point) {
	base := p.base(at.time)
	shift := max(base, p.fading.at(at.time, c.fade))
	if earliest, bound := c.earliest(at); bound {
		if need := earliest + c.latency - at.time; need > shift && need < absurd {
			shift = need
			p.fading = fading{since: at.time, amount: shift}
		}
	}
	if shift == base {
		p.fading = fading{since: at.time, amount: base}
	}
	c.happen(p.id, at, at.time+shift)
}

// earliest returns the time that a point may not precede; ok is false if there is none.
func (c *logicalClock) earliest(at point) (t int64, ok bool) {
	switch at.kind {
	case recvPoint:
		row := c.trace.Recvs[at.loc].At(int(at.row))
		if c.sent[row.SendLoc].Len() <= int(row.Send) {
			return 0, false // forced
		}
		return c.sent[row.SendLoc].At(int(row.Send)), true
	case leavePoint:
		return c.summoned(c.parts[at.loc].At(int(at.row)))
	}
	return 0, false
}

// summoned returns the latest entry that the end of a part waits for.
func (c *logicalClock) summoned(p part) (t int64, ok bool) {
	row := c.trace.Collectives.Ptr(int(p.collective))
	if !takes(row, c.trace.Members.Ptr(int(p.member))) {
		return 0, false
	}
	t = math.MinInt64
	if row.Op.Pattern() == trace.PatternScan {
		for m := row.First; m < p.member; m++ {
			if enter, ok := c.entered[m]; ok {
				t = max(t, enter)
			}
		}
	} else {
		t = c.meets.At(int(p.collective)).enter
	}
	return t, t != math.MinInt64
}

// happen notes when a point happens.
func (c *logicalClock) happen(domain int, at point, t int64) {
	switch at.kind {
	case sendPoint:
		setRow(spill.Ensure(c.trace.Store, &c.sent[at.loc]), at.row, t)
		c.ready = append(c.ready, c.heirs[at.loc]...)
		c.heirs[at.loc] = c.heirs[at.loc][:0]
		return
	case recvPoint:
		setRow(spill.Ensure(c.trace.Store, &c.recvd[at.loc]), at.row, t)
		return
	}
	spill.Ensure(c.trace.Store, &c.ends[domain]).Append(t)
	p := c.parts[at.loc].At(int(at.row))
	row, member := c.trace.Collectives.Ptr(int(p.collective)), c.trace.Members.Ptr(int(p.member))
	m := c.meets.Ptr(int(p.collective))
	switch {
	case at.kind == leavePoint && takes(row, member):
		m.leave = min(m.leave, t)
	case at.kind == enterPoint && gives(row, member):
		m.missing--
		m.enter = max(m.enter, t)
		if row.Op.Pattern() == trace.PatternScan {
			c.entered[p.member] = t
		}
		c.ready = append(c.ready, c.queues[p.collective]...)
		delete(c.queues, p.collective)
	}
}

// setRow appends a value as the given row; rows that are passed over have none.
func setRow(t *spill.Table[int64], row uint32, value int64) {
	for t.Len() < int(row) {
		t.Append(math.MinInt64)
	}
	t.Append(value)
}
