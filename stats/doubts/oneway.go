package doubts

import (
	"cmp"
	"slices"

	"tracekit/document/doubt"
	"tracekit/spill"
	"tracekit/trace"
)

// Clocks that differ by a constant contradict nothing if data only go from the late clock to the early one: receivers seem to be in their
// calls long after the data were sent. No network is so slow that none of many small messages is faster.
const never = 5_000_000 // ns

// Data are small up to so many bytes; each takes at most so long beside that.
const (
	small   = 64 << 10
	perByte = 100 // ns: 10 MB/s
)

// waiting is how long a receiver waits, ns, that has nothing else to do.
const waiting = 1_000_000

// A way is what data take: messages between two ranks, or a collective.
type way struct {
	from, to uint32 // ranks; None: of a collective
	op       trace.CollectiveOp
}

// A passage is how data took a way: how often, the least time that they needed, all and beside that of their bytes, ns, and how often
// somebody waited for them.
type passage struct {
	doubt.Sign
	least int64
	waits int
}

type ways map[way]*passage

// add adds data of so many bytes that needed so long, and for which somebody waited so long after they were sent.
func (w ways) add(of way, bytes uint64, took, waited int64) {
	d := w[of]
	if d == nil {
		d = &passage{Sign: doubt.Sign{Kind: doubt.SlowData, FastNs: took}, least: took}
		w[of] = d
	}
	slowest := perByte * int64(bytes)
	d.Instances, d.FastNs, d.least = d.Instances+1, min(d.FastNs, took), min(d.least, took-slowest)
	if waited-slowest >= waiting {
		d.waits++
	}
}

// slowData looks for small messages, and collectives with a root, that never take less than a network can be blamed for. Messages may have
// been there long before their receiver; if it waits for more than one, they had not come.
func slowData(t *trace.Trace) *doubt.Sign {
	seen := make(ways)
	for l, recvs := range t.Recvs {
		sample([]*spill.Table[trace.Recv]{recvs}, max(1, looked/len(t.Recvs)), func(r *trace.Recv) {
			if r.State != trace.Matched || r.Bytes > small || r.Call == trace.None || t.Rank[l] == t.Rank[r.SendLoc] {
				return
			}
			call, sent := t.Calls[l].Ptr(int(r.Call)), t.Sends[r.SendLoc].Ptr(int(r.Send)).Time
			if call.Class != trace.ClassRecv { // others may wait for more than this message
				return
			}
			ns := t.Defs.Clock.Nanoseconds
			seen.add(way{from: t.Rank[r.SendLoc], to: t.Rank[l]}, r.Bytes, ns(r.Time-sent), ns(r.Time-max(sent, call.Enter)))
		})
	}
	sample([]*spill.Table[trace.Collective]{t.Collectives}, looked, func(c *trace.Collective) {
		if c.Count < 2 || c.Count < c.Size || c.Mismatch || !c.Op.Pattern().Rooted() {
			return
		}
		first := t.Members.At(int(c.First))
		last, left, bytes := first.Begin, first.End, uint64(0)
		for k := range c.Count {
			m := t.Members.Ptr(int(c.First + k))
			if m.Sent > small || m.Received > small || m.Call != m.Done { // which may end long after the data came
				return
			}
			last, left, bytes = max(last, m.Begin), max(left, m.End), max(bytes, m.Sent, m.Received)
		}
		took := t.Defs.Clock.Nanoseconds(left - last)
		seen.add(way{trace.None, trace.None, c.Op}, bytes, took, took)
	})
	var found []way
	for w, d := range seen {
		if d.Instances >= leastInstances && d.least >= never && d.waits > 1 {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return nil
	}
	w := slices.MinFunc(found, func(a, b way) int {
		return cmp.Or(cmp.Compare(seen[b].FastNs, seen[a].FastNs), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.op, b.op))
	})
	d := &seen[w].Sign
	if w.from == trace.None {
		d.Operation = "MPI_" + w.op.String()
	} else {
		d.From, d.Rank = &w.from, &w.to
	}
	return d
}
