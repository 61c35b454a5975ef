package waits

import (
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"

	"tracekit/engine"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A progress is what calls show that complete messages of a size while the partner, who has posted the other end or is to do so, is in no
// call of MPI. Whether the messages go on without it depends on the MPI library, and no record tells.
//
//	ready is how long the shortest such call goes on whose partner is in MPI
//	behind[k] are those that end just behind the partner's next call is entered, which was from 2^(k-1) until 2^k ticks later
//	before is the time of those that end before that
//	long is for how long those go on behind it that end later
//	flight is how long the shortest message is on its way, from its send until the call that completes its receive is left
type progress struct {
	ready  int64
	behind [65]struct {
		calls uint64
		time  int64
	}
	before int64
	long   int64
	flight int64
}

// justBehind is how many times as long a call waits for its partner at least as it goes on behind that.
const justBehind = 2

// messagesSeen is about how many sends of a location are looked at, at most: to look at all takes as long as to find waits.
const messagesSeen = 512

// held says which messages go on only while both ranks are in MPI: those of a size or more, as the calls show that complete their receives,
// and those that complete their sends.
type held [2]struct {
	shown map[uint64]*progress // by class of size
	from  uint64
}

// What a call completes: the index in held.
const (
	receives = iota
	sends
)

// findHeld finds which messages need their partners in MPI (DEFINITIONS 2.1).
func (w *Finder) findHeld(ctx context.Context) (*held, error) {
	all, err := engine.Fold(ctx, w.Jobs, len(w.T.Sends), newHeld, func(h *held, l int) error {
		sends := w.T.Sends[l]
		step := sends.Len()/messagesSeen | 1 // programs send to an even number of ranks
		for i := l % step; i < sends.Len() && ctx.Err() == nil; i += step {
			h.look(w.T, trace.LocationID(l), sends.Ptr(i))
		}
		return ctx.Err()
	}, (*held).combine)
	for end := range all {
		all[end].from = dividing(all[end].shown)
	}
	return all, err
}

func newHeld() *held {
	h := new(held)
	for end := range h {
		h[end].shown = make(map[uint64]*progress)
	}
	return h
}

func (h *held) combine(o *held) *held {
	for end := range h {
		for size, from := range o[end].shown {
			to := h.of(end, size)
			to.ready, to.flight = min(to.ready, from.ready), min(to.flight, from.flight)
			to.before, to.long = numbers.Plus(to.before, from.before), numbers.Plus(to.long, from.long)
			for k := range to.behind {
				to.behind[k].calls += from.behind[k].calls
				to.behind[k].time = numbers.Plus(to.behind[k].time, from.behind[k].time)
			}
		}
	}
	return h
}

// of returns the row of a size: of a class of sizes that agree in their first five bits.
func (h *held) of(end int, bytes uint64) *progress {
	x := h[end].shown[sizeClass(bytes)]
	if x == nil {
		x = &progress{ready: math.MaxInt64, flight: math.MaxInt64}
		h[end].shown[sizeClass(bytes)] = x
	}
	return x
}

// look looks at both ends of a message that a location sends.
func (h *held) look(t *trace.Trace, l trace.LocationID, s *trace.Send) {
	if s.State != trace.Matched || s.Call == trace.None {
		return
	}
	r := t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
	if r.Post == trace.None || r.Call == trace.None {
		return
	}
	if c := t.Calls[s.RecvLoc].Ptr(int(r.Call)); completes(c) {
		x := h.of(receives, s.Bytes)
		x.flight = min(x.flight, max(0, c.Leave-s.Time))
		x.see(t, c, l, s.Call)
	}
	if s.Done == trace.None {
		return
	}
	if c := t.Calls[l].Ptr(int(s.Done)); completes(c) {
		h.of(sends, s.Bytes).see(t, c, s.RecvLoc, r.Post)
	}
}

// completes reports whether a call waits for messages.
func completes(c *trace.Call) bool {
	return c.Class == trace.ClassSend || c.Class == trace.ClassRecv || c.Class == trace.ClassSendrecv || c.Class == trace.ClassWait
}

// see takes note of a call that completes a message, of which a call of the partner posts the other end.
func (x *progress) see(t *trace.Trace, c *trace.Call, partner trace.LocationID, post uint32) {
	posts := t.Calls[partner].Ptr(int(post))
	begin, enter, outside := lacks(c, posts), int64(0), false
	if begin < c.Leave {
		_, enter, outside = outsideMPI(t, partner, post, begin)
	}
	switch {
	case !outside:
		if both := max(c.Enter, posts.Enter); both < c.Leave {
			x.ready = min(x.ready, c.Leave-both)
		}
	case enter > c.Leave:
		x.before = numbers.Plus(x.before, c.Leave-begin)
	case enter-begin >= justBehind*(c.Leave-enter):
		b := &x.behind[bits.Len64(uint64(enter-begin))]
		b.calls, b.time = b.calls+1, numbers.Plus(b.time, enter-begin)
	default:
		x.long = numbers.Plus(x.long, c.Leave-enter)
	}
}

// lacks returns from when on a call can lack nothing but that the partner is in MPI: the partner has left the call that posts the other end
// of the message, if that begins before the call is left.
func lacks(c, posts *trace.Call) int64 {
	if posts.Enter < c.Leave {
		return max(c.Enter, posts.Leave)
	}
	return c.Enter
}

// outsideMPI returns which call a location enters next after a time, and when; near is one of its calls at about that time. ok is false if
// it is in a call then, or enters none any more.
func outsideMPI(t *trace.Trace, l trace.LocationID, near uint32, time int64) (call uint32, enter int64, ok bool) {
	calls := t.Calls[l]
	low, high := 0, int(near) // of the next one
	if calls.Ptr(high).Enter <= time {
		for low, high = high+1, high+2; high < calls.Len() && calls.Ptr(high).Enter <= time; {
			low, high = high+1, 2*high-low+2
		}
		high = min(high, calls.Len())
	}
	next := low + sort.Search(high-low, func(i int) bool { return calls.Ptr(low+i).Enter > time })
	if next == calls.Len() || next > 0 && calls.Ptr(next-1).Leave > time {
		return trace.None, 0, false
	}
	return uint32(next), calls.Ptr(next).Enter, true
}

// least returns how long a partner must be away so that it is missed.
func (x *progress) least() int64 {
	return lateAfter * min(x.ready, math.MaxInt64/lateAfter)
}

// dividing returns the size from which on calls wait for their partners to be in MPI: that divides best those from calls that go on
// without them. It is MaxUint64 if too few show it.
func dividing(shown map[uint64]*progress) uint64 {
	best, at := int64(0), uint64(math.MaxUint64)
	waited, passed, calls := int64(0), int64(0), uint64(0)
	for _, size := range slices.Backward(slices.Sorted(maps.Keys(shown))) {
		x := shown[size]
		for k, b := range x.behind {
			if k > 0 && k < 64 && int64(1)<<(k-1) > x.least() {
				waited, calls = numbers.Plus(waited, b.time), calls+b.calls
			}
		}
		passed = numbers.Plus(passed, numbers.Plus(mostlyBehind*min(x.before, math.MaxInt64/mostlyBehind), x.long))
		if calls >= leastBehind && waited-passed > best {
			best, at = waited-passed, size
		}
	}
	return at
}

// waits returns how long a call that completes an end of a message waits for the partner to enter MPI, and for which call; time 0: it does
// not. What the message takes on its way is no such wait.
func (h *held) waits(t *trace.Trace, end int, c *trace.Call, s *trace.Send, r *trace.Recv) (w partnerWait) {
	if s.Call == trace.None || r.Post == trace.None {
		return w
	}
	x, way := h[end].shown[sizeClass(s.Bytes)], h[receives].shown[sizeClass(s.Bytes)]
	if x == nil || way == nil {
		return w
	}
	posts, other, partner, post := t.Calls[s.RecvLoc].Ptr(int(r.Post)), t.Calls[r.SendLoc].Ptr(int(s.Call)), s.RecvLoc, r.Post
	if end == receives {
		posts, other, partner, post = other, posts, r.SendLoc, s.Call
	}
	begin, long := lacks(c, posts), x.least()
	if c.Leave-begin <= long {
		return w
	}
	call, enter, outside := outsideMPI(t, partner, post, begin)
	if !outside || enter >= c.Leave || enter-begin <= long || enter-begin < justBehind*(c.Leave-enter) {
		return w
	}
	if beyond := c.Leave - max(posts.Enter, other.Enter) - way.flight; 2*beyond < enter-begin {
		return w
	}
	return partnerWait{enter - c.Enter, partner, call, trace.None}
}
