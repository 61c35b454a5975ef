package formulae

import (
	"context"
	"sync"

	"tracekit/spill"
	"tracekit/trace"
)

// releases hold for each MPI call of a trace when the last partner that it may wait for
// was ready: had sent the message, had entered the collective. Only what a replay of the
// formulae can wait for counts. Cursors may be used concurrently.
type releases struct {
	mu    sync.Mutex // the tables of a pool are for one goroutine at a time
	trace *trace.Trace
	until []*spill.Table[int64] // by location and call; never: it waits for nobody
}

// findReleases looks at all matched messages and collectives.
func findReleases(ctx context.Context, t *trace.Trace, f *frame) (*releases, error) {
	r := &releases{trace: t}
	for _, calls := range t.Calls {
		until := spill.NewTable[int64](t.Store)
		for range calls.Len() {
			*until.Next() = never
		}
		r.until = append(r.until, until)
	}
	if err := r.messages(ctx, f); err != nil {
		return nil, err
	}
	if err := r.collectives(ctx, f); err != nil {
		return nil, err
	}
	return r, t.Store.Err()
}

// callsPerWindow is about how many calls are looked at before all locations have advanced
// to the same time, so that partners' rows are still at hand.
const callsPerWindow = 1 << 16

// messages walks over the receives of all locations, in windows of time.
func (r *releases) messages(ctx context.Context, f *frame) error {
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
	windows := int64(calls/callsPerWindow + 1)
	step := (last-first)/windows + 1
	at := make([]int, len(r.trace.Recvs))
	for w := range windows {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := first + (w+1)*step
		for l, recvs := range r.trace.Recvs {
			for at[l] < recvs.Len() {
				m := recvs.At(at[l])
				if m.Time >= end && w < windows-1 {
					break
				}
				at[l]++
				r.message(f, trace.LocationID(l), &m)
			}
		}
	}
	return nil
}

// message notes when the sender of a received message was ready.
func (r *releases) message(f *frame, l trace.LocationID, m *trace.Recv) {
	if m.State != trace.Matched || m.Call == trace.None {
		return
	}
	_, _, receives := f.self(l, uint32(m.Comm))
	_, _, sends := f.self(m.SendLoc, uint32(m.Comm))
	if receives && sends {
		r.wait(l, m.Call, r.trace.Sends[m.SendLoc].Ptr(int(m.Send)).Time)
	}
}

// wait notes that a call waits until a time.
func (r *releases) wait(l trace.LocationID, call uint32, until int64) {
	if p := r.until[l].Ptr(int(call)); until > *p {
		*p = until
	}
}

// collectives walks over the instances whose members are all known.
func (r *releases) collectives(ctx context.Context, f *frame) error {
	var enters []int64
	for i := range r.trace.Collectives.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := r.trace.Collectives.At(i)
		if c.Mismatch || c.Count != c.Size {
			continue
		}
		enters = enters[:0]
		latest, usable := int64(never), true
		for k := range c.Count {
			m := r.trace.Members.At(int(c.First + k))
			_, _, ok := f.self(m.Location, uint32(c.Comm))
			if usable = ok && m.Call != trace.None && m.Call == m.Done; !usable {
				break
			}
			enters = append(enters, r.trace.Calls[m.Location].Ptr(int(m.Call)).Enter)
			latest = max(latest, enters[k])
		}
		if !usable {
			continue
		}
		prefix := int64(never)
		for k := range c.Count {
			m := r.trace.Members.At(int(c.First + k))
			prefix = max(prefix, enters[k])
			switch waitsFor(c.Op, m.Rank, c.Root) {
			case forAll:
				r.wait(m.Location, m.Call, latest)
			case forRoot:
				if c.Root < c.Count {
					r.wait(m.Location, m.Call, enters[c.Root])
				}
			case forLower:
				r.wait(m.Location, m.Call, prefix)
			}
		}
	}
	return nil
}

// Whom a member of a collective waits for.
type others uint8

const (
	forNobody others = iota
	forAll
	forRoot
	forLower // members of lower rank
)

// waitsFor returns whom a member of an operation waits for (DEFINITIONS 2.2).
func waitsFor(op trace.CollectiveOp, rank, root uint32) others {
	switch op {
	case trace.CollBarrier, trace.CollAllgather, trace.CollAllgatherv, trace.CollAlltoall, trace.CollAlltoallv,
		trace.CollAlltoallw, trace.CollAllreduce, trace.CollReduceScatter, trace.CollReduceScatterBlock:
		return forAll
	case trace.CollBcast, trace.CollScatter, trace.CollScatterv:
		if rank != root {
			return forRoot
		}
	case trace.CollGather, trace.CollGatherv, trace.CollReduce:
		if rank == root {
			return forAll
		}
	case trace.CollScan, trace.CollExscan:
		return forLower
	}
	return forNobody
}

// A releaseCursor looks releases up in the order of calls.
type releaseCursor struct {
	*releases
	location trace.LocationID
	next     int // row to be read
	calls    []trace.Call
	until    []int64
}

// releaseRows is the number of rows that a cursor reads at once.
const releaseRows = 256

func (r *releases) cursor(l trace.LocationID) *releaseCursor {
	return &releaseCursor{releases: r, location: l}
}

// of returns the release of the call that was entered by an event. Events are asked for in
// order.
func (c *releaseCursor) of(seq uint64) int64 {
	for {
		if len(c.calls) == 0 && !c.read() {
			return never
		}
		found, until := c.calls[0].Seq, c.until[0]
		if found > seq {
			return never
		}
		c.calls, c.until = c.calls[1:], c.until[1:]
		if found == seq {
			return until
		}
	}
}

// read reads the next rows.
func (c *releaseCursor) read() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(releaseRows, c.trace.Calls[c.location].Len()-c.next)
	if n == 0 {
		return false
	}
	c.calls, c.until = make([]trace.Call, n), make([]int64, n)
	c.trace.Calls[c.location].Copy(c.calls, c.next)
	c.releases.until[c.location].Copy(c.until, c.next)
	c.next += n
	return true
}
