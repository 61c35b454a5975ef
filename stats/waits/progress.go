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
//	after is how long the shortest goes on behind the partner's call, of those that waited eight times as long for that
//	behind[k] are those that end just behind the partner's next call is entered, which was from 2^(k-1) until 2^k ticks later
//	before is the time of those that end before that
type progress struct {
	ready  int64
	after  int64
	behind [65]struct {
		calls uint64
		time  int64
	}
	before int64
}

// justBehind is how many times as long a call waits for its partner at least as it goes on behind that.
const justBehind = 2

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
		for i := 0; i < sends.Len() && ctx.Err() == nil; i++ {
			if h.look(w.T, trace.LocationID(l), sends.Ptr(i)); i >= lookedAt {
				i += oneIn - 1
			}
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
			to.ready, to.after, to.before = min(to.ready, from.ready), min(to.after, from.after), numbers.Plus(to.before, from.before)
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
		x = &progress{ready: math.MaxInt64, after: math.MaxInt64}
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
		h.of(receives, s.Bytes).see(t, c, t.Calls[l].Ptr(int(s.Call)), l)
	}
	if s.Done == trace.None {
		return
	}
	if c := t.Calls[l].Ptr(int(s.Done)); completes(c) {
		h.of(sends, s.Bytes).see(t, c, t.Calls[s.RecvLoc].Ptr(int(r.Post)), s.RecvLoc)
	}
}

// completes reports whether a call waits for messages.
func completes(c *trace.Call) bool {
	return c.Class == trace.ClassSend || c.Class == trace.ClassRecv || c.Class == trace.ClassSendrecv || c.Class == trace.ClassWait
}

// see takes note of a call that completes a message, of which a call of the partner posts the other end.
func (x *progress) see(t *trace.Trace, c, posts *trace.Call, partner trace.LocationID) {
	begin := lacks(c, posts)
	switch _, enter, outside := outsideMPI(t, partner, begin); {
	case !outside || begin >= c.Leave:
		if both := max(c.Enter, posts.Enter); both < c.Leave {
			x.ready = min(x.ready, c.Leave-both)
		}
	case enter > c.Leave:
		x.before = numbers.Plus(x.before, c.Leave-begin)
	case enter-begin >= justBehind*(c.Leave-enter):
		if enter-begin >= lateAfter*(c.Leave-enter) {
			x.after = min(x.after, c.Leave-enter)
		}
		b := &x.behind[bits.Len64(uint64(enter-begin))]
		b.calls, b.time = b.calls+1, numbers.Plus(b.time, enter-begin)
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

// outsideMPI returns which call a location enters next and when; ok is false if it is in a call at that time, or enters none any more.
func outsideMPI(t *trace.Trace, l trace.LocationID, time int64) (call uint32, enter int64, ok bool) {
	calls := t.Calls[l]
	next := sort.Search(calls.Len(), func(i int) bool { return calls.Ptr(i).Enter > time })
	if next == calls.Len() || next > 0 && calls.Ptr(next-1).Leave > time {
		return trace.None, 0, false
	}
	return uint32(next), calls.Ptr(next).Enter, true
}

// long returns how long a partner must be away so that it is missed.
func (x *progress) long() int64 {
	needs := x.ready
	if needs == math.MaxInt64 {
		needs = x.after
	}
	return lateAfter * min(needs, math.MaxInt64/lateAfter)
}

// dividing returns the size from which on calls wait for their partners to be in MPI: that divides best those from calls that go on
// without them. It is MaxUint64 if too few show it.
func dividing(shown map[uint64]*progress) uint64 {
	best, at := int64(0), uint64(math.MaxUint64)
	waited, passed, calls := int64(0), int64(0), uint64(0)
	for _, size := range slices.Backward(slices.Sorted(maps.Keys(shown))) {
		x := shown[size]
		for k, b := range x.behind {
			if k > 0 && k < 64 && int64(1)<<(k-1) > x.long() {
				waited, calls = numbers.Plus(waited, b.time), calls+b.calls
			}
		}
		passed = numbers.Plus(passed, mostlyBehind*x.before)
		if calls >= leastBehind && waited-passed > best {
			best, at = waited-passed, size
		}
	}
	return at
}

// waits returns how long a call waits for a partner to enter MPI, and for which call; time 0: it does not.
func (h *held) waits(t *trace.Trace, end int, bytes uint64, c, posts *trace.Call, partner trace.LocationID) (w partnerWait) {
	if bytes < h[end].from {
		return w
	}
	x, begin := h[end].shown[sizeClass(bytes)], lacks(c, posts)
	if x == nil || begin >= c.Leave {
		return w
	}
	long := x.long()
	if c.Leave-begin <= long {
		return w
	}
	call, enter, outside := outsideMPI(t, partner, begin)
	if !outside || enter >= c.Leave || enter-begin <= long || enter-begin < justBehind*(c.Leave-enter) {
		return w
	}
	return partnerWait{enter - c.Enter, partner, call, trace.None}
}
