package reconstruct

import (
	"math"
	"slices"

	"tracekit/plots"
	"tracekit/trace"
)

// joins take what joins the bars; see plots.Timeline.
type joins interface {
	Message(plots.Message)
	Collective(plots.Collective)
}

// join draws what joins the bars.
func (d *diagram) join() {
	if d.opts.Messages != plots.NoMessages {
		d.messages()
		d.collectives()
	}
}

// messages draws the messages between drawn ranks, from send record to receive record.
func (d *diagram) messages() {
	for l, recvs := range d.t.Recvs {
		to := d.rowOf(trace.LocationID(l))
		if to < 0 {
			continue
		}
		for i := range recvs.Len() {
			r := recvs.At(i)
			if r.State != trace.Matched {
				continue
			}
			from := d.rowOf(r.SendLoc)
			if from < 0 {
				continue
			}
			s := d.t.Sends[r.SendLoc].At(int(r.Send))
			d.joins.Message(plots.Message{From: from, To: to, Sent: d.ns(s.Time), Done: d.ns(r.Time),
				Bytes: int64(min(r.Bytes, math.MaxInt64))})
		}
	}
}

// A part is what a row of the diagram has in a collective.
type part struct {
	row        int
	begin, end int64
}

// collectives draws the collectives of two drawn ranks or more.
func (d *diagram) collectives() {
	var parts []part
	var c plots.Collective
	for i := range d.t.Collectives.Len() {
		coll := d.t.Collectives.At(i)
		parts = parts[:0]
		for k := range coll.Count {
			if p, ok := d.part(d.t.Members.At(int(coll.First + k))); ok {
				parts = append(parts, p)
			}
		}
		slices.SortFunc(parts, func(a, b part) int { return a.row - b.row })
		c = plots.Collective{Ranks: c.Ranks[:0], Begin: c.Begin[:0], End: c.End[:0]}
		for _, p := range parts {
			c.Ranks, c.Begin, c.End = append(c.Ranks, p.row), append(c.Begin, p.begin), append(c.End, p.end)
		}
		d.joins.Collective(c)
	}
}

// part returns a member's part, from entering its call to leaving the one that completes
// it; ok is false if the rank is not drawn or a call is not recorded.
func (d *diagram) part(m trace.Member) (p part, ok bool) {
	row := d.rowOf(m.Location)
	if row < 0 || m.Call == trace.None || m.Done == trace.None {
		return p, false
	}
	calls := d.t.Calls[m.Location]
	return part{row, d.ns(calls.At(int(m.Call)).Enter), d.ns(calls.At(int(m.Done)).Leave)}, true
}
