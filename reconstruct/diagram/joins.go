package diagram

import (
	"context"
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
func (d *diagram) join(ctx context.Context) error {
	if d.opts.Messages == plots.NoMessages {
		return nil
	}
	for l := range d.t.Recvs {
		if err := d.messages(ctx, trace.LocationID(l)); err != nil {
			return err
		}
	}
	return d.collectives(ctx)
}

// rowsAtOnce is how many rows are drawn before the context is asked again.
const rowsAtOnce = 1 << 14

// messages draws the messages that a location gets from drawn ranks, from send record to
// receive record.
func (d *diagram) messages(ctx context.Context, l trace.LocationID) error {
	recvs, to := d.t.Recvs[l], d.rowOf(l)
	if to < 0 {
		return nil
	}
	for i := range recvs.Len() {
		if i%rowsAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
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
	return nil
}

// A part is what a row of the diagram has in a collective.
type part struct {
	row        int
	begin, end int64
}

// collectives draws the collectives of two drawn ranks or more.
func (d *diagram) collectives(ctx context.Context) error {
	var parts []part
	var c plots.Collective
	for i := range d.t.Collectives.Len() {
		if i%64 == 0 && ctx.Err() != nil { // each has as many members as there are ranks
			return ctx.Err()
		}
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
	return nil
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
