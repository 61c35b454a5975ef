package devices

import (
	"cmp"
	"context"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// An arrival says of a collective when its members come.
type arrival struct {
	first, last int64  // begins
	who         uint32 // member that begins last, of several the first
	waits       int64  // sum over the others
}

// arrivals holds the arrivals of all collectives; of none if no stream of a device has part in one.
type arrivals struct {
	t     *trace.Trace
	table *spill.Table[arrival]
}

func (a *arrivals) release() {
	if a.table != nil {
		a.table.Release()
	}
}

// chunk is how many collectives are looked at together.
const chunk = 1 << 12

// lastArrivals finds the arrivals.
func lastArrivals(ctx context.Context, t *trace.Trace, kinds []kind, jobs int) (*arrivals, error) {
	a := &arrivals{t: t}
	if !slices.ContainsFunc(kinds, func(k kind) bool { return k == stream }) || t.Collectives.Len() == 0 {
		return a, nil
	}
	n := t.Collectives.Len()
	a.table = spill.NewZeros[arrival](t.Store, n)
	_, err := engine.Map(ctx, jobs, (n+chunk-1)/chunk, func(_ context.Context, i int) (struct{}, error) {
		for c := i * chunk; c < min(n, (i+1)*chunk); c++ {
			a.find(c)
		}
		return struct{}{}, nil
	})
	return a, err
}

func (a *arrivals) find(c int) {
	row := a.t.Collectives.At(c)
	x := a.table.Ptr(c)
	for i := range row.Count {
		m := a.t.Members.Ptr(int(row.First + i))
		if i == 0 || m.Begin < x.first {
			x.first = m.Begin
		}
		if i == 0 || m.Begin > x.last {
			x.last, x.who = m.Begin, row.First+i
		}
	}
	for i := range row.Count {
		x.waits += waitOf(x, a.t.Members.Ptr(int(row.First+i)))
	}
}

// waitOf returns how long a member waits for the last one: at most until it leaves.
func waitOf(x *arrival, m *trace.Member) int64 { return max(0, min(x.last, m.End)-m.Begin) }

// A collectiveKey is what collectives of a device are summed by.
type collectiveKey struct {
	op      trace.CollectiveOp
	size    uint32
	bytes   uint64
	waiting bool
}

type collectiveSum struct {
	count uint64
	time  int64
}

// collectiveSums is what a device does in collectives.
type collectiveSums struct {
	c         *collector
	sums      map[collectiveKey]*collectiveSum
	straggler struct {
		count, waits, last, notAll uint64
		wait, caused, late         int64
	}
	queues []*part // by stream: the times in which it waits for the last member, as kernels
}

// sizeLimit bounds the keys of the collectives of a device; further ones count as of no size.
const sizeLimit = 1 << 16

func newCollectiveSums(c *collector, d *device, last *arrivals) collectiveSums {
	s := collectiveSums{c: c, sums: make(map[collectiveKey]*collectiveSum)}
	if last.table == nil {
		return s
	}
	for _, p := range d.streams {
		queue := &part{location: p.location, kernels: spill.NewTable[kernel](c.t.Store)}
		s.queues = append(s.queues, queue)
		for _, parts := range c.t.Parts[p.location].Rows {
			for _, part := range parts {
				s.add(part, last, queue)
			}
		}
	}
	return s
}

func (s *collectiveSums) release() {
	for _, l := range s.queues {
		l.release()
	}
}

func (s *collectiveSums) add(part trace.Part, last *arrivals, queue *part) {
	t := s.c.t
	row, m, x := t.Collectives.At(int(part.Collective)), t.Members.At(int(part.Member)), last.table.Ptr(int(part.Collective))
	from, to := s.c.clip(m.Begin), s.c.clip(m.End)
	if to == from && m.End > m.Begin {
		return
	}
	key := collectiveKey{op: row.Op, size: row.Size, bytes: max(m.Sent, m.Received), waiting: row.Count < row.Size || row.Count < 2}
	if len(s.sums) >= sizeLimit && s.sums[key] == nil {
		key.bytes = 0
	}
	sum := s.sums[key]
	if sum == nil {
		sum = new(collectiveSum)
		s.sums[key] = sum
	}
	sum.count++
	if key.waiting {
		sum.time += m.End - m.Begin
	} else {
		sum.time += max(0, m.End-max(m.Begin, x.last))
	}
	g := &s.straggler
	if row.Count < row.Size {
		g.notAll++
	}
	if row.Count < 2 {
		return
	}
	g.count++
	g.late += m.Begin - x.first
	if x.who == part.Member {
		g.last++
		g.caused += x.waits
	}
	if w := waitOf(x, &m); w > 0 {
		g.waits++
		g.wait += w
		if a, b := s.c.clip(m.Begin), s.c.clip(m.Begin+w); b > a {
			queue.kernels.Append(kernel{start: a, end: b, queue: uint32(queue.location)})
		}
	}
}

// waits goes over the times in which streams wait, in order.
func (s *collectiveSums) waits() *merger { return merge(s.queues, false) }

// busFactor returns by what the bytes of a collective are multiplied for the bandwidth that its
// links see, as NCCL's tests do.
func busFactor(op trace.CollectiveOp, members uint32) float64 {
	n := float64(members)
	switch op {
	case trace.CollAllreduce:
		return 2 * (n - 1) / n
	case trace.CollAllgather, trace.CollAllgatherv, trace.CollReduceScatter, trace.CollReduceScatterBlock, trace.CollAlltoall,
		trace.CollAlltoallv:
		return (n - 1) / n
	}
	return 1
}

// rows returns the rows of the document, the most time first.
func (s *collectiveSums) rows() ([]accelerator.Collective, *accelerator.Straggler) {
	var out []accelerator.Collective
	for key, sum := range s.sums {
		row := accelerator.Collective{Operation: key.op.String(), Members: key.size, Bytes: key.bytes, Count: sum.count,
			TimeNs: s.c.ns(sum.time), WithWaiting: key.waiting}
		if key.bytes > 0 && row.TimeNs > 0 && key.size > 1 {
			b := busFactor(key.op, key.size) * float64(key.bytes) * float64(sum.count) / (float64(row.TimeNs) / 1e9)
			row.BusBandwidth = &b
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b accelerator.Collective) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(a.Members, b.Members), cmp.Compare(a.Count, b.Count))
	})
	g := &s.straggler
	if g.count == 0 {
		return out, nil
	}
	return out, &accelerator.Straggler{Count: g.count, WaitNs: s.c.ns(g.wait), WaitCount: g.waits, ComesLast: g.last,
		CausedNs: s.c.ns(g.caused), NotAll: g.notAll, LateMeanNs: s.c.ns(g.late / int64(g.count))}
}
