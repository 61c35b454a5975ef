package partners

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Never is before all times.
const Never = math.MinInt64

// Releases hold for each MPI call of a trace when the last partner that it may wait for
// was ready: had sent the message, had entered the collective. Only what a replay of the
// formulae can wait for counts.
type Releases struct {
	trace *trace.Trace
	ranks *Ranks
	until []*spill.Table[int64] // by location and call; Never: it waits for nobody
	late  []lateness            // by location
	limit uint64                // events of a location that lateness is about
}

// A lateness sums what the calls of a location wait behind late senders (DEFINITIONS 2.1).
type lateness struct {
	sum  uint64 // ticks
	call uint32 // the last one, and for how long it waited so far
	wait uint64
}

// add adds a message that a call completes; messages come call by call.
func (s *lateness) add(call uint32, wait uint64) {
	if s.call != call {
		s.call, s.wait = call, 0
	}
	if wait > s.wait {
		s.sum += wait - s.wait
		s.wait = wait
	}
}

// Find looks at all matched messages and collectives. What calls wait behind late senders is summed for the first events of
// each location, up to a limit. An error is one of the store or of ctx.
func Find(ctx context.Context, t *trace.Trace, ranks *Ranks, limit uint64, jobs int) (*Releases, error) {
	r := &Releases{trace: t, ranks: ranks, late: slices.Repeat([]lateness{{call: trace.None}}, len(t.Calls)), limit: limit}
	var err error
	r.until, err = engine.Map(ctx, jobs, len(t.Calls), func(_ context.Context, l int) (*spill.Table[int64], error) {
		until := spill.NewTable[int64](t.Store)
		for range t.Calls[l].Len() {
			until.Append(Never)
		}
		return until, nil
	})
	if err == nil {
		err = r.messages(ctx, jobs)
	}
	if err == nil {
		err = r.collectives(ctx, jobs)
	}
	return r, err
}

// callsPerWindow is about how many calls are looked at before all locations have advanced
// to the same time, so that partners' rows are still at hand.
const callsPerWindow = 1 << 16

// messages walks over the receives of all locations, in windows of time.
func (r *Releases) messages(ctx context.Context, jobs int) error {
	var first, last int64
	calls, begun := 0, false
	for l, s := range r.trace.Span {
		calls += r.trace.Calls[l].Len()
		if s.Events > 0 {
			if !begun {
				first, last, begun = s.First, s.Last, true
			}
			first, last = min(first, s.First), max(last, s.Last)
		}
	}
	windows := calls/callsPerWindow + 1
	step := (last-first)/int64(windows) + 1
	at := make([]int, len(r.trace.Recvs))
	_, err := engine.Windows(ctx, jobs, engine.Windowed[struct{}]{
		Windows: windows, Items: len(r.trace.Recvs),
		Partial: func() (none struct{}) { return none },
		Visit: func(_ struct{}, w, l int) error {
			end := first + int64(w+1)*step
			for recvs := r.trace.Recvs[l]; at[l] < recvs.Len(); at[l]++ {
				m := recvs.Ptr(at[l])
				if m.Time >= end && w < windows-1 {
					break
				}
				r.message(trace.LocationID(l), m)
			}
			return nil
		},
		Combine: func(a, _ struct{}) struct{} { return a },
	})
	return err
}

// Late returns how long the calls of a location wait behind late senders, in ticks.
func (r *Releases) Late(l trace.LocationID) uint64 { return r.late[l].sum }

// Release gives the memory back.
func (r *Releases) Release() {
	for _, until := range r.until {
		until.Release()
	}
}

// message notes when the sender of a received message was ready.
func (r *Releases) message(l trace.LocationID, m *trace.Recv) {
	if m.State != trace.Matched || m.Call == trace.None {
		return
	}
	_, _, receives := r.ranks.Rank(l, uint32(m.Comm))
	_, _, sends := r.ranks.Rank(m.SendLoc, uint32(m.Comm))
	send := r.trace.Sends[m.SendLoc].Ptr(int(m.Send))
	if receives && sends {
		r.wait(l, m.Call, send.Time)
	}
	if call := r.trace.Calls[l].Ptr(int(m.Call)); call.Seq() < r.limit && send.Call != trace.None {
		begun := r.trace.Calls[m.SendLoc].At(int(send.Call)).Enter
		r.late[l].add(m.Call, uint64(max(min(begun, call.Leave)-call.Enter, 0)))
	}
}

// wait notes that a call waits until a time. What a call waits for may be found out by
// several goroutines at a time.
func (r *Releases) wait(l trace.LocationID, call uint32, until int64) {
	p := r.until[l].Ptr(int(call))
	for old := atomic.LoadInt64(p); until > old && !atomic.CompareAndSwapInt64(p, old, until); {
		old = atomic.LoadInt64(p)
	}
}

// collectives walks over the instances whose members are all known, some at a time.
func (r *Releases) collectives(ctx context.Context, jobs int) error {
	const some = 1024
	n := r.trace.Collectives.Len()
	_, err := engine.Map(ctx, jobs, (n+some-1)/some, func(_ context.Context, k int) (none struct{}, err error) {
		var enters []int64
		for i := k * some; i < min((k+1)*some, n); i++ {
			enters = r.collective(r.trace.Collectives.Ptr(i), enters[:0])
		}
		return none, nil
	})
	return err
}

// collective notes how long the members of an instance wait. The memory of enters is used.
func (r *Releases) collective(c *trace.Collective, enters []int64) []int64 {
	if c.Mismatch || c.Count != c.Size {
		return enters
	}
	latest := int64(Never)
	for k := range c.Count {
		m := r.trace.Members.Ptr(int(c.First + k))
		if _, _, ok := r.ranks.Rank(m.Location, uint32(c.Comm)); !ok || m.Call == trace.None || m.Call != m.Done {
			return enters
		}
		enters = append(enters, r.trace.Calls[m.Location].Ptr(int(m.Call)).Enter)
		latest = max(latest, enters[k])
	}
	prefix := int64(Never)
	for k := range c.Count {
		m := r.trace.Members.Ptr(int(c.First + k))
		prefix = max(prefix, enters[k])
		switch WaitsFor(c.Op, m.Rank, c.Root) {
		case ForAll:
			r.wait(m.Location, m.Call, latest)
		case ForRoot:
			if c.Root < c.Count {
				r.wait(m.Location, m.Call, enters[c.Root])
			}
		case ForLower:
			r.wait(m.Location, m.Call, prefix)
		}
	}
	return enters
}

// Others says whom a member of a collective waits for.
type Others uint8

// Whom a member may wait for.
const (
	ForNobody Others = iota
	ForAll
	ForRoot
	ForLower // members of lower rank
)

// WaitsFor returns whom a member of an operation waits for (DEFINITIONS 2.2).
func WaitsFor(op trace.CollectiveOp, rank, root uint32) Others {
	switch op.Pattern() {
	case trace.PatternBarrier, trace.PatternAllToAll, trace.PatternSparse:
		return ForAll
	case trace.PatternOneToAll:
		if rank != root {
			return ForRoot
		}
	case trace.PatternAllToOne:
		if rank == root {
			return ForAll
		}
	case trace.PatternScan:
		return ForLower
	}
	return ForNobody
}

// A Cursor looks the releases of a location up in the order of calls.
type Cursor struct {
	calls *spill.Table[trace.Call]
	until *spill.Table[int64]
	next  int // row to be read
}

// Cursor returns a cursor of a location.
func (r *Releases) Cursor(l trace.LocationID) *Cursor {
	return &Cursor{calls: r.trace.Calls[l], until: r.until[l]}
}

// Of returns the release of the call that was entered by an event, in corrected time; ok is false if that is no call. A
// call that waits for nobody has one before all times. Events are asked for in order.
func (c *Cursor) Of(seq uint64) (until int64, ok bool) {
	for ; c.next < c.calls.Len(); c.next++ {
		switch found := c.calls.Ptr(c.next).Seq(); {
		case found == seq:
			return c.until.At(c.next), true
		case found > seq:
			return Never, false
		}
	}
	return Never, false
}
