package merge

import (
	"context"
	"math"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A mark is a time at which something is known about the shift of a process's clock.
//
//	low <= forward <= shift <= high
type mark struct {
	time    int64
	forward int64 // what the forward pass made it
	shift   int64 // what it becomes
	low     int64 // less would make a violation
	high    int64 // more would make a violation; unbounded: there is none
}

const unbounded = math.MaxInt64

// backward spreads the jumps of the forward pass over what happened before them and makes
// the knots of each process; exact ones give every mark its very shift.
func (c *logicalClock) backward(ctx context.Context, exact bool) error {
	_, err := engine.Map(ctx, c.jobs, len(c.domains), func(_ context.Context, d int) (struct{}, error) {
		marks := c.marks(d)
		amortise(marks)
		bent := bend(c.trace.Store, marks, c.fade, c.base(d))
		marks.Release()
		knots := makeKnots(c.trace.Store, bent, exact)
		bent.Release()
		c.maps[c.domains[d][0]].Knots.Release() // those of the pass before
		for _, l := range c.domains[d] {
			c.maps[l].Knots = knots
		}
		return struct{}{}, nil
	})
	return err
}

// marks returns the points of a domain, those of one tick as one mark, and at least a mark
// for the first event.
func (c *logicalClock) marks(d int) *spill.Table[mark] {
	w, ends := c.walk(c.domains[d]), 0
	marks := spill.NewTable[mark](c.trace.Store)
	marks.Append(c.first(d))
	for at := w.peek(); at.kind != noPoint; at = w.peek() {
		m := mark{time: at.time, low: math.MinInt64, high: unbounded}
		switch at.kind {
		case sendPoint:
			m.forward, m.high = c.sendMark(at)
		case recvPoint:
			m.forward, m.low = c.recvMark(at)
		default:
			m.forward = c.ends[d].At(ends) - at.time
			ends++
			if high := c.meetMark(at); high != unbounded {
				m.high = max(m.forward, high)
			}
			if at.kind == leavePoint {
				m.low = m.forward
			}
		}
		addMark(marks, m)
		w.pass(at)
	}
	return marks
}

// first returns a mark for the first event of a domain.
func (c *logicalClock) first(d int) mark {
	start := int64(math.MaxInt64)
	for _, l := range c.domains[d] {
		if s := c.trace.Span[l]; s.Events > 0 {
			start = min(start, trace.CorrectOffset(c.maps[l].Offsets, s.First))
		}
	}
	base := c.base(d)(start)
	return free(start, base)
}

func addMark(marks *spill.Table[mark], m mark) {
	if last := marks.Ptr(marks.Len() - 1); last.time == m.time {
		last.forward = max(last.forward, m.forward)
		last.low = max(last.low, m.low)
		last.high = max(last.forward, min(last.high, m.high))
		return
	}
	marks.Append(m)
}

// promise is how much earlier than in the forward pass a receive may come in the end, if
// its send allows it: a little play makes for fewer knots.
func promise(received, sent, latency int64) int64 {
	return min(2, max(0, received-sent-latency))
}

func (c *logicalClock) sendMark(at point) (forward, high int64) {
	row := c.trace.Sends[at.loc].At(int(at.row))
	sent := c.sent[at.loc].At(int(at.row))
	received := c.recvd[row.RecvLoc].At(int(row.Recv))
	forward = sent - at.time
	return forward, max(forward, received-promise(received, sent, c.latency)-c.latency-at.time)
}

func (c *logicalClock) recvMark(at point) (forward, low int64) {
	row := c.trace.Recvs[at.loc].At(int(at.row))
	received := c.recvd[at.loc].At(int(at.row))
	sent := c.sent[row.SendLoc].At(int(row.Send))
	return received - at.time, received - promise(received, sent, c.latency) - at.time
}

// meetMark returns how far the entry into a collective may be moved.
func (c *logicalClock) meetMark(at point) (high int64) {
	p := c.parts[at.loc].At(int(at.row))
	leave := c.meets.At(int(p.collective)).leave
	if at.kind != enterPoint || leave == math.MaxInt64 ||
		!gives(c.trace.Collectives.Ptr(int(p.collective)), c.trace.Members.Ptr(int(p.member))) {
		return unbounded
	}
	return leave - c.latency - at.time
}
