package pattern

import (
	"context"
	"sync/atomic"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// The boundaries of a division say where it may be cut. What lies between two boundaries can
// be left out, on all ranks, if nothing tells the two apart: then the messages that are under
// way at the first, whose receives are left out, find those of the messages that are under
// way at the second, whose sends are left out, in the same channels and of the same sizes.
// No message loses an end.
//
//	state[k]  hash of the messages under way at boundary k, by channel and size, and of all
//	          locations' call paths there
//	bad[k]    not 0: boundary k lies across what cannot be parted: a message whose receive lies
//	          before it and whose send behind it, a request that is open, a collective
//
// Boundary k is where the k-th intervals begin; boundary n where the last ones end.
type boundaries struct {
	state, bad *spill.Table[uint64]
}

func (b *boundaries) release() {
	b.state.Release()
	b.bad.Release()
}

// boundaries finds them from the tables of the reconciled trace.
func (f *finder) boundaries(ctx context.Context, d *division) (*boundaries, error) {
	out := &boundaries{state: spill.NewZeros[uint64](f.t.Store, d.n+2), bad: spill.NewZeros[uint64](f.t.Store, d.n+2)}
	_, err := engine.Map(ctx, f.opts.Jobs, len(d.starts), func(_ context.Context, l int) (struct{}, error) {
		out.location(f.t, d, trace.LocationID(l))
		return struct{}{}, nil
	})
	if err != nil {
		return out, err
	}
	out.collectives(f.t, d)
	for _, t := range []*spill.Table[uint64]{out.state, out.bad} {
		sum := uint64(0)
		for _, rows := range t.Rows {
			for i := range rows {
				sum += rows[i]
				rows[i] = sum
			}
		}
	}
	for l, s := range d.starts {
		for k := 0; s != nil && k <= d.n; k++ {
			*out.state.Ptr(k) += mix(uint64(l)+1, s.Ptr(k).stack)
		}
	}
	return out, nil
}

// across adds what begins in interval i and ends in interval k to the boundaries between
// them, as a difference to the boundary before. Sums do not depend on who adds first.
func across(t *spill.Table[uint64], i, k int, what uint64) {
	if i > k {
		i, k = k, i
	}
	if i < k {
		atomic.AddUint64(t.Ptr(i+1), what)
		atomic.AddUint64(t.Ptr(k+1), -what)
	}
}

// location adds the messages that a location sends, and its open requests.
func (b *boundaries) location(t *trace.Trace, d *division, l trace.LocationID) {
	at := cursor{starts: d.starts[l], n: d.n}
	for _, rows := range t.Sends[l].Rows {
		for _, s := range rows {
			i := at.interval(s.Seq())
			if s.Done != trace.None && s.Done != s.Call {
				across(b.bad, i, d.interval(l, t.Calls[l].Ptr(int(s.Done)).Seq(), i), 1)
			}
			if s.State != trace.Matched {
				continue
			}
			k := d.interval(s.RecvLoc, t.Recvs[s.RecvLoc].Ptr(int(s.Recv)).Seq(), i)
			if k < i {
				across(b.bad, i, k, 1)
			} else {
				across(b.state, i, k, mix(mix(mix(mix(uint64(s.Comm)+1, uint64(l)), uint64(s.RecvLoc)), uint64(s.Tag)), s.Bytes))
			}
		}
	}
	at = cursor{starts: d.starts[l], n: d.n}
	for _, rows := range t.Recvs[l].Rows {
		for _, r := range rows {
			if i := at.interval(r.Seq()); r.PostSeq != r.Seq() {
				across(b.bad, i, d.interval(l, r.PostSeq, i), 1)
			}
		}
	}
}

// collectives adds the instances: members take part in the same interval, or it cannot be cut.
func (b *boundaries) collectives(t *trace.Trace, d *division) {
	for _, rows := range t.Collectives.Rows {
		for _, c := range rows {
			least, most := d.n, -1
			for m := c.First; m < c.First+c.Count; m++ {
				p := t.Members.Ptr(int(m))
				for k, call := range [2]uint32{p.Call, p.Done} {
					if call != trace.None && (k == 0 || call != p.Call) {
						i := d.interval(p.Location, t.Calls[p.Location].Ptr(int(call)).Seq(), most)
						least, most = min(least, i), max(most, i)
					}
				}
			}
			across(b.bad, least, most, 1)
		}
	}
}

// A cursor finds the intervals of records that come in order.
type cursor struct {
	starts *spill.Table[start]
	n      int
	next   int // boundary
}

func (c *cursor) interval(seq uint64) int {
	for c.starts != nil && c.next <= c.n && c.starts.Ptr(c.next).first <= seq {
		c.next++
	}
	return c.next - 1
}
