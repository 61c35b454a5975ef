package merge

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// A census counts what runs backwards in time.
type census struct {
	messages, collectives       uint64
	worstMessage, worstTogether int64
	message                     trace.Place // the first: of a receive
	together                    uint32      // row of the first collective
}

func (c *census) total() uint64 { return c.messages + c.collectives }

// addMessage counts a message whose receive, at the given place, comes late ticks too early
// after its send, if that is more than 0.
func (c *census) addMessage(at trace.Place, late int64) {
	if late > 0 {
		c.backwards(at, late)
	}
}

func (c *census) backwards(at trace.Place, late int64) {
	if c.messages == 0 || before(at, c.message) {
		c.message = at
	}
	c.messages++
	c.worstMessage = max(c.worstMessage, late)
}

func before(a, b trace.Place) bool {
	return a.Location < b.Location || a.Location == b.Location && a.Seq < b.Seq
}

// addTogether counts the collective in a row that ends for a member so many ticks too early,
// if that is more than 0.
func (c *census) addTogether(row uint32, early int64) {
	if early <= 0 {
		return
	}
	if c.collectives == 0 || row < c.together {
		c.together = row
	}
	c.collectives++
	c.worstTogether = max(c.worstTogether, early)
}

// merge adds another census.
func (c *census) merge(o *census) {
	if o.messages > 0 && (c.messages == 0 || before(o.message, c.message)) {
		c.message = o.message
	}
	if o.collectives > 0 && (c.collectives == 0 || o.together < c.together) {
		c.together = o.together
	}
	c.messages, c.collectives = c.messages+o.messages, c.collectives+o.collectives
	c.worstMessage, c.worstTogether = max(c.worstMessage, o.worstMessage), max(c.worstTogether, o.worstTogether)
}

// first returns the place of the first message or else collective.
func (c *census) first(t *trace.Trace) trace.Place {
	switch {
	case c.messages > 0:
		return c.message
	case c.collectives > 0:
		m := t.Members.At(int(t.Collectives.Ptr(int(c.together)).First))
		return trace.Place{Location: m.Location, Seq: t.Calls[m.Location].Ptr(int(m.Call)).Seq(), Offset: -1}
	}
	return trace.Nowhere()
}

// violations counts the messages and collectives of a trace that run backwards, or take
// less than a least latency, in the given timing of its rows, but for those in doubt.
func violations(ctx context.Context, t *trace.Trace, at timing, latency int64, jobs int, d *doubts) (census, error) {
	start := func() *census { return new(census) }
	add := func(a, b *census) *census { a.merge(b); return a }
	sum, err := engine.Fold(ctx, jobs, len(t.Recvs), start, func(n *census, l int) error {
		for _, rows := range t.Recvs[l].Rows {
			for i := range rows {
				if v := &rows[i]; v.State == trace.Matched {
					s := t.Sends[v.SendLoc].Ptr(int(v.Send))
					if d.message(v.SendLoc, trace.LocationID(l), s, v) {
						continue
					}
					sent := at(v.SendLoc, s.Time)
					n.addMessage(trace.Place{Location: trace.LocationID(l), Seq: v.Seq(), Offset: -1}, sent+latency-at(trace.LocationID(l), v.Time))
				}
			}
		}
		return ctx.Err()
	}, add)
	if err != nil {
		return *sum, err
	}
	together, err := engine.Fold(ctx, jobs, chunks(t.Collectives.Len()), start, func(n *census, k int) error {
		for i := k * chunk; i < min((k+1)*chunk, t.Collectives.Len()); i++ {
			if d.collective(uint32(i)) {
				continue
			}
			n.addTogether(uint32(i), backwards(t, t.Collectives.Ptr(i), at, latency))
		}
		return nil
	}, add)
	sum.merge(together)
	return *sum, err
}

// chunk is the number of collectives that are an item of a stage.
const chunk = 512

func chunks(n int) int { return (n + chunk - 1) / chunk }
