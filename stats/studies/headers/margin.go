package headers

import (
	"math"

	"tracekit/document/waitstate"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// own returns the summary of a rank that waited as the rival of the one that dominates, without the call itself.
func (p *replay) own(l trace.LocationID, c *call, parts *legTimes) *rival {
	s, r := &p.ranks[l], &rival{lead: c.waitingTime}
	for i, tag := range s.summary.Tags {
		r.gains[tag] += s.summary.Margins[i]
	}
	for tag, time := range s.gathered {
		if tag < len(parts) {
			time -= parts[tag]
		}
		r.gains[tag] += uint64(max(0, time))
	}
	return r
}

// margin returns by how much a summary that dominates led those of who sent another of the messages that the call completes, or who was
// the next to arrive at the collective.
func (p *replay) margin(l trace.LocationID, c *call, w waits.Wait, from *snapshot) int64 {
	switch {
	case p.waits[l].Message(&w) == trace.None && w.Kind == waitstate.EarlyReduce && c.Coll != trace.None:
		return p.second(c.Coll)
	case p.waits[l].Message(&w) == trace.None:
		return from.next
	case w.Kind == waitstate.LateSender:
		if latest, ok := p.latest(l, c, p.waits[l].Message(&w)); ok {
			return max(0, p.t.Calls[w.Location].Ptr(int(w.Call)).Enter-latest)
		}
	}
	return math.MaxInt64
}

// leads returns by how much the summary of a rank that did not wait led those that it could have waited for.
func (p *replay) leads(l trace.LocationID, c *call) int64 {
	margin := int64(math.MaxInt64)
	if m := p.marks[l].At(int(c.row)); m > 0 {
		margin = p.snapshots.Ptr(int(m - 1)).next
	}
	if latest, ok := p.latest(l, c, trace.None); ok {
		margin = min(margin, max(0, c.Enter-latest))
	}
	return margin
}

// latest returns when the last of the messages that a call completes was sent, but for one.
func (p *replay) latest(l trace.LocationID, c *call, but uint32) (latest int64, ok bool) {
	for k := c.firstRecv; k < c.endRecv; k++ {
		if m := p.t.Recvs[l].Ptr(k); m.Call == c.row && uint32(k) != but {
			if enter, known := p.posted(m); known && (!ok || enter > latest) {
				latest, ok = enter, true
			}
		}
	}
	return latest, ok
}

// second returns by how much the last to begin a collective was later than the one before.
func (p *replay) second(coll uint32) int64 {
	first, second := int64(math.MinInt64), int64(math.MinInt64)
	x := p.t.Collectives.Ptr(int(coll))
	for k := range int(x.Count) {
		switch begin := p.t.Members.Ptr(int(x.First) + k).Begin; {
		case begin > first:
			first, second = begin, first
		case begin > second:
			second = begin
		}
	}
	if second == math.MinInt64 {
		return math.MaxInt64
	}
	return first - second
}
