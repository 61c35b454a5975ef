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

// A way is what data take: messages between two ranks, or a collective.
type way struct {
	from, to uint32 // ranks; None: of a collective
	op       trace.CollectiveOp
}

// ways keep how often data took a way, and the least time once all that need it are in their calls, ns.
type ways map[way]*doubt.Sign

func (w ways) add(of way, ns int64) {
	d := w[of]
	if d == nil {
		d = &doubt.Sign{Kind: doubt.SlowData, FastNs: ns}
		w[of] = d
	}
	d.Instances, d.FastNs = d.Instances+1, min(d.FastNs, ns)
}

// slowData looks for small messages, and collectives with a root, that never take less than a network can be blamed for.
func slowData(t *trace.Trace) *doubt.Sign {
	seen := make(ways)
	for l, recvs := range t.Recvs {
		sample([]*spill.Table[trace.Recv]{recvs}, max(1, looked/len(t.Recvs)), func(r *trace.Recv) {
			if r.State != trace.Matched || r.Bytes > tiny || r.Call == trace.None || t.Rank[l] == t.Rank[r.SendLoc] {
				return
			}
			call, sent := t.Calls[l].Ptr(int(r.Call)), t.Sends[r.SendLoc].Ptr(int(r.Send)).Time
			if call.Class != trace.ClassRecv { // others may wait for more than this message
				return
			}
			seen.add(way{from: t.Rank[r.SendLoc], to: t.Rank[l]}, t.Defs.Clock.Nanoseconds(r.Time-max(sent, call.Enter)))
		})
	}
	sample([]*spill.Table[trace.Collective]{t.Collectives}, looked, func(c *trace.Collective) {
		if c.Count < 2 || c.Count < c.Size || c.Mismatch || !c.Op.Pattern().Rooted() {
			return
		}
		first := t.Members.At(int(c.First))
		last, left := first.Begin, first.End
		for k := range c.Count {
			m := t.Members.Ptr(int(c.First + k))
			if m.Sent > tiny || m.Received > tiny || m.Call != m.Done { // which may end long after the data came
				return
			}
			last, left = max(last, m.Begin), max(left, m.End)
		}
		seen.add(way{trace.None, trace.None, c.Op}, t.Defs.Clock.Nanoseconds(left-last))
	})
	var found []way
	for w, d := range seen {
		if d.Instances >= leastInstances && d.FastNs >= never {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return nil
	}
	w := slices.MinFunc(found, func(a, b way) int {
		return cmp.Or(cmp.Compare(seen[b].FastNs, seen[a].FastNs), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.op, b.op))
	})
	d := seen[w]
	if w.from == trace.None {
		d.Operation = "MPI_" + w.op.String()
	} else {
		d.From, d.Rank = &w.from, &w.to
	}
	return d
}
