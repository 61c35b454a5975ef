package headers

import (
	"context"
	"math/bits"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// inside is how long locations have been in calls of MPI before each call: by location and call.
type inside []*spill.Table[int64]

func (r *run) newInside(ctx context.Context) (in inside, err error) {
	for l, calls := range r.t.Calls {
		in = append(in, spill.NewZeros[int64](r.t.Store, calls.Len()))
		var sum int64
		for i := range r.calls(trace.LocationID(l)) {
			if i%4096 == 0 && ctx.Err() != nil {
				return in, ctx.Err()
			}
			in[l].Set(i, sum)
			c := calls.Ptr(i)
			sum += c.Leave - c.Enter
		}
	}
	return in, nil
}

func (in inside) release() {
	for _, t := range in {
		t.Release()
	}
}

// before returns how long a location has been in calls of MPI at a time, and the first call that is entered behind it.
func (r *run) before(l trace.LocationID, time int64) (sum int64, next int) {
	calls, n := r.t.Calls[l], r.calls(l)
	next = sort.Search(n, func(i int) bool { return calls.Ptr(i).Enter > time })
	if next == 0 {
		return 0, 0
	}
	c := calls.Ptr(next - 1)
	return r.inside[l].At(next-1) + min(time, c.Leave) - c.Enter, next
}

// outsideMPI returns how long a location is in no call of MPI between two times.
func (r *run) outsideMPI(l trace.LocationID, from, to int64) int64 {
	if from >= to {
		return 0
	}
	a, _ := r.before(l, from)
	b, _ := r.before(l, to)
	return max(0, to-from-(b-a))
}

// progress counts, by class of sizes, transfers that show whether messages go on while a rank is in no call of MPI: its sender when
// the receiver waits, or its receiver when a send waits.
//
//   - Free: the transfer ended while the rank was outside, and had been so since it left the call that posted the message.
//   - Held: the rank was outside for longer than such a transfer needs, and the message arrived only after its next call had begun.
type progress struct {
	free, held [65]uint64
}

// leastSeen is how many transfers show it: with even odds of either, fewer would be all alike in more than 5 of 100 cases.
const leastSeen = 5

// needs reports whether transfers of so many bytes need the rank in MPI, if enough of them show that. What small messages need,
// large ones do too.
func (p *progress) needs(bytes uint64) (needs, known bool) {
	class := bits.Len64(bytes)
	var free, held uint64
	for _, n := range p.free[class:] {
		free += n
	}
	for _, n := range p.held[:class+1] {
		held += n
	}
	needs = held >= leastSeen && free == 0
	return needs, needs || free >= leastSeen
}

func (p *progress) combine(q *progress) {
	for k := range p.free {
		p.free[k], p.held[k] = p.free[k]+q.free[k], p.held[k]+q.held[k]
	}
}

// progresses are those of both ends.
type progresses struct{ sender, receiver progress }

func (p *progresses) combine(q *progresses) *progresses {
	p.sender.combine(&q.sender)
	p.receiver.combine(&q.receiver)
	return p
}

// newProgress looks at all messages.
func (r *run) newProgress(ctx context.Context, jobs int) (*progresses, error) {
	return engine.Fold(ctx, jobs, len(r.t.Calls), func() *progresses { return &progresses{} }, func(p *progresses, l int) error {
		return r.look(ctx, p, trace.LocationID(l))
	}, (*progresses).combine)
}

// look looks at the messages that a location receives.
func (r *run) look(ctx context.Context, p *progresses, l trace.LocationID) error {
	calls, recvs := r.t.Calls[l], r.t.Recvs[l]
	for k := range recvs.Len() {
		if k%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m := recvs.Ptr(k)
		if m.State != trace.Matched || m.Call == trace.None || int(m.Call) >= r.calls(l) {
			continue
		}
		s := r.t.Sends[m.SendLoc].Ptr(int(m.Send))
		if s.Call == trace.None || int(s.Call) >= r.calls(m.SendLoc) {
			continue
		}
		posts, ends := r.t.Calls[m.SendLoc].Ptr(int(s.Call)), calls.Ptr(int(m.Call))
		wire, copying := r.costs.transfer(l, ends.Class, m.SendLoc, posts.Class, m.Bytes)
		class := bits.Len64(m.Bytes)
		if ends.Enter <= posts.Leave && ends.Leave > posts.Leave && r.completes(l, m.Call) == 1 {
			p.sender.see(class, r.next(m.SendLoc, int(s.Call)), posts.Leave, ends.Leave, wire+copying)
		}
		if m.Post == trace.None || s.Done == trace.None || int(m.Post) >= r.calls(l) || int(s.Done) >= r.calls(m.SendLoc) || m.Post == m.Call {
			continue
		}
		done, posted := r.t.Calls[m.SendLoc].Ptr(int(s.Done)), calls.Ptr(int(m.Post))
		if done.Class == trace.ClassSend && posted.Leave <= posts.Enter { // outside when the send begins, unless in a later call
			if _, next := r.before(l, posts.Enter); next > 0 && calls.Ptr(next-1).Leave <= posts.Enter {
				p.receiver.see(class, r.next(l, next-1), posts.Enter, done.Leave, wire+copying)
			}
		}
	}
	return nil
}

// next returns when a location enters the call behind one; it is the end of its records if there is none.
func (r *run) next(l trace.LocationID, call int) int64 {
	if call+1 < r.calls(l) {
		return r.t.Calls[l].Ptr(call + 1).Enter
	}
	return r.t.Span[l].Last
}

// completes returns how many receives a call completes.
func (r *run) completes(l trace.LocationID, call uint32) int {
	calls, end := r.t.Calls[l], r.t.Recvs[l].Len()
	if int(call)+1 < calls.Len() {
		end = int(calls.Ptr(int(call) + 1).FirstRecv)
	}
	return end - int(calls.Ptr(int(call)).FirstRecv)
}

// see counts a transfer that ends at a time, where the rank is outside MPI from one time until it enters its next call.
func (p *progress) see(class int, enters, outside, ends, needs int64) {
	switch {
	case ends < enters:
		p.free[class]++
	case enters-outside > needs:
		p.held[class]++
	}
}
