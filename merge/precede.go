package merge

import "tracekit/trace"

// Which members of a collective must have entered before which others can leave is decided
// by its pattern. Only what data must have done is required: members without data to send
// are waited for by nobody, and those without data to receive wait for nobody, but in a
// barrier. Of operations in which not all pairs need to exchange data nothing is required.

// An attendance is a member of a collective with its times.
type attendance struct {
	trace.Member
	enter, leave int64 // of the calls that begin and complete its part
	gives, takes bool  // others may have to wait for it; it may have to wait
}

// A timing corrects the time of a location's row.
type timing func(l trace.LocationID, t int64) int64

func asRecorded(_ trace.LocationID, t int64) int64 { return t }

// binding reports whether a collective says anything about the order of events.
func binding(c trace.Collective) bool {
	return (c.Op.Pattern() != trace.PatternNone && c.Op.Pattern() != trace.PatternSparse) && !c.Mismatch && c.Count > 1
}

// attend returns the members of a collective with their times, none if these say nothing
// about the order of events. The memory of buf is used if it suffices.
func attend(t *trace.Trace, c trace.Collective, at timing, buf []attendance) []attendance {
	buf = buf[:0]
	if !binding(c) {
		return buf
	}
	for i := range int(c.Count) {
		a := attendance{Member: t.Members.At(int(c.First) + i)}
		if a.gives = gives(c, a.Member); a.gives {
			a.enter = at(a.Location, t.Calls[a.Location].Ptr(int(a.Call)).Enter)
		}
		if a.takes = takes(c, a.Member); a.takes {
			a.leave = at(a.Location, t.Calls[a.Location].Ptr(int(a.Done)).Leave)
		}
		buf = append(buf, a)
	}
	return buf
}

// gives reports whether other members may have to wait for a member to enter.
func gives(c trace.Collective, m trace.Member) bool {
	if m.Call == trace.None || m.Sent == 0 && c.Op != trace.CollBarrier {
		return false
	}
	switch c.Op.Pattern() {
	case trace.PatternOneToAll:
		return m.Rank == c.Root
	case trace.PatternAllToOne:
		return m.Rank != c.Root
	}
	return true
}

// takes reports whether a member may have to wait for others before it leaves.
func takes(c trace.Collective, m trace.Member) bool {
	if m.Done == trace.None || m.Received == 0 && c.Op != trace.CollBarrier {
		return false
	}
	switch c.Op.Pattern() {
	case trace.PatternOneToAll:
		return m.Rank != c.Root
	case trace.PatternAllToOne:
		return m.Rank == c.Root
	}
	return true
}

// backwards returns the largest time by which a member leaves before another that must
// have entered first, 0 if none does.
func backwards(c trace.Collective, members []attendance) (worst int64) {
	latest, any := int64(0), false
	inOrder := c.Op.Pattern() == trace.PatternScan
	for pass := range 2 {
		for _, m := range members {
			if m.takes && any && (inOrder || pass == 1) {
				worst = max(worst, latest-m.leave)
			}
			if m.gives && pass == 0 && (!any || m.enter > latest) {
				latest, any = m.enter, true
			}
		}
		if inOrder {
			break
		}
	}
	return worst
}
