package waits

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// An exchange is what calls that send and receive show, of what they send of a size: whether such a call waits for its receiver depends on
// the MPI library, and its record does not tell. It begins when it is entered, or the last of those that send to it has entered.
//
//	ready is how long the shortest goes on behind its begin whose receiver has posted by then
//	behind[k], before[k] count those whose receivers post from 2^(k-1) until 2^k ticks after their begin: that end behind it, and before
type exchange struct {
	ready          int64
	behind, before [65]uint64
}

// When calls show whether they wait for receivers: a receiver is late if it posts so many times as long after the begin as a call takes
// whose receiver is there; so many calls at least must end behind that, and so many times as many as end before.
const (
	lateAfter    = 8
	leastBehind  = 4
	mostlyBehind = 4
)

// Of the calls of a location that send and receive, the first are looked at, and of those after them one in some.
const (
	lookedAt = 1024
	oneIn    = 16
)

type exchanges map[uint64]*exchange // by class of size

// exchanging returns the size from which on calls that send and receive wait for the receivers of what they send (DEFINITIONS 2.1);
// MaxUint64 if nothing shows that they do.
func (w *Finder) exchanging(ctx context.Context) (uint64, error) {
	if !w.called(trace.ClassSendrecv) {
		return math.MaxUint64, nil
	}
	all, err := engine.Fold(ctx, w.Jobs, len(w.T.Calls), func() exchanges { return make(exchanges) }, func(x exchanges, l int) error {
		x.look(w.T, trace.LocationID(l))
		return ctx.Err()
	}, exchanges.combine)
	return all.divide(), err
}

// called reports whether a region of a class is in the call tree.
func (w *Finder) called(class trace.CallClass) bool {
	visited := w.T.Tree.Visited(len(w.T.Defs.Regions))
	for region, f := range w.T.Defs.MPIFunctions() {
		if visited[region] && f.Class == class {
			return true
		}
	}
	return false
}

// look looks at the calls of a location.
func (x exchanges) look(t *trace.Trace, l trace.LocationID) {
	looked := 0
	calls, recvs := t.Calls[l], t.Recvs[l]
	for _, rows := range t.Sends[l].Rows {
		for i := range rows {
			s := &rows[i]
			if s.State != trace.Matched || s.Call == trace.None {
				continue
			}
			c := calls.Ptr(int(s.Call))
			if c.Class != trace.ClassSendrecv {
				continue
			}
			if looked++; looked > lookedAt && looked%oneIn > 0 {
				continue
			}
			r := t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
			if r.Post == trace.None {
				continue
			}
			begin := c.Enter
			for k := int(c.FirstRecv); k < recvs.Len() && recvs.Ptr(k).Call == s.Call; k++ {
				if from := recvs.Ptr(k); from.State == trace.Matched {
					if sent := t.Sends[from.SendLoc].Ptr(int(from.Send)); sent.Call != trace.None {
						begin = max(begin, t.Calls[from.SendLoc].Ptr(int(sent.Call)).Enter)
					}
				}
			}
			x.of(s.Bytes).note(begin, c.Leave, t.Calls[s.RecvLoc].Ptr(int(r.Post)).Enter)
		}
	}
}

// of returns the row of a size: of a class of sizes that agree in their first five bits.
func (x exchanges) of(bytes uint64) *exchange {
	class := sizeClass(bytes)
	if x[class] == nil {
		x[class] = &exchange{ready: math.MaxInt64}
	}
	return x[class]
}

// sizeClass returns the smallest size of those that agree in their first five bits.
func sizeClass(bytes uint64) uint64 {
	shift := max(0, bits.Len64(bytes)-5)
	return bytes >> shift << shift
}

// note takes note of a call.
func (x *exchange) note(begin, leave, post int64) {
	switch {
	case leave < begin: // clocks disagree
	case post <= begin:
		x.ready = min(x.ready, leave-begin)
	case post <= leave:
		x.behind[bits.Len64(uint64(post-begin))]++
	default:
		x.before[bits.Len64(uint64(post-begin))]++
	}
}

func (x exchanges) combine(o exchanges) exchanges {
	for size, from := range o {
		to := x.of(size)
		to.ready = min(to.ready, from.ready)
		for k := range to.behind {
			to.behind[k], to.before[k] = to.behind[k]+from.behind[k], to.before[k]+from.before[k]
		}
	}
	return x
}

// divide returns the size that divides best calls that wait for their receivers from those that go on before, of several the largest.
func (x exchanges) divide() uint64 {
	type count struct{ waited, passed uint64 }
	counts := make(map[uint64]count)
	var sizes []uint64
	for size, e := range x {
		sizes = append(sizes, size)
		var c count
		for k := 1; k < len(e.behind); k++ {
			if e.ready < math.MaxInt64/lateAfter && uint64(1)<<(k-1) > uint64(lateAfter*max(e.ready, 1)) {
				c.waited, c.passed = c.waited+e.behind[k], c.passed+mostlyBehind*e.before[k]
			}
		}
		counts[size] = c
	}
	slices.Sort(sizes)
	best, at := uint64(0), uint64(math.MaxUint64)
	var waited, passed uint64
	for _, size := range slices.Backward(sizes) {
		waited, passed = waited+counts[size].waited, passed+counts[size].passed
		if waited >= leastBehind && waited > passed && waited-passed > best {
			best, at = waited-passed, size
		}
	}
	return at
}
