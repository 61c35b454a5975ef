package merge

import (
	"context"

	"tracekit/trace"
)

// A census counts what runs backwards in time.
type census struct {
	messages, collectives       uint64
	worstMessage, worstTogether int64
	first                       trace.Place // of a receive, or else of the first member of a collective
}

func (c *census) total() uint64 { return c.messages + c.collectives }

// message counts a message whose receive, at the given place, comes late ticks before its
// send, if that is more than 0.
func (c *census) message(at trace.Place, late int64) {
	if late <= 0 {
		return
	}
	if c.messages == 0 || at.Location < c.first.Location || at.Location == c.first.Location && at.Seq < c.first.Seq {
		c.first = at
	}
	c.messages++
	c.worstMessage = max(c.worstMessage, late)
}

// violations counts the messages and collectives of a trace that run backwards in the
// given timing of its rows.
func violations(ctx context.Context, t *trace.Trace, at timing) (census, error) {
	c := census{first: trace.Nowhere()}
	for l := range t.Recvs {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		for i := range t.Recvs[l].Len() {
			v := t.Recvs[l].At(i)
			if v.State != trace.Matched {
				continue
			}
			sent := at(v.SendLoc, t.Sends[v.SendLoc].Ptr(int(v.Send)).Time)
			place := trace.Place{Location: trace.LocationID(l), Seq: v.Seq, Offset: -1}
			c.message(place, sent-at(trace.LocationID(l), v.Time))
		}
	}
	c.countCollectives(t, at)
	return c, ctx.Err()
}

func (c *census) countCollectives(t *trace.Trace, at timing) {
	var buf []attendance
	for i := range t.Collectives.Len() {
		buf = c.collective(t, t.Collectives.At(i), at, buf)
	}
}

// collective counts a collective if it runs backwards. buf is memory for its members,
// which is returned to be used again.
func (c *census) collective(t *trace.Trace, row trace.Collective, at timing, buf []attendance) []attendance {
	members := attend(t, row, at, buf)
	if members == nil {
		return buf
	}
	worst := backwards(row, members)
	if worst <= 0 {
		return members
	}
	c.collectives++
	c.worstTogether = max(c.worstTogether, worst)
	if c.first.Location == trace.None {
		m := members[0]
		c.first = trace.Place{Location: m.Location, Seq: t.Calls[m.Location].Ptr(int(m.Call)).Seq, Offset: -1}
	}
	return members
}
