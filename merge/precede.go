package merge

import "tracekit/trace"

// The parts of which members of a collective must have begun before those of which others
// can end is decided by its pattern. Only what data must have done is required: members without data to send
// are waited for by nobody, and those without data to receive wait for nobody, but in a
// barrier. Of operations in which not all pairs need to exchange data nothing is required.

// An attendance is a member of a collective with corrected times.
type attendance struct {
	trace.Member
	gives, takes bool // others may have to wait for it; it may have to wait
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
			a.Begin = at(a.Location, a.Begin)
		}
		if a.takes = takes(c, a.Member); a.takes {
			a.End = at(a.Location, a.End)
		}
		buf = append(buf, a)
	}
	return buf
}

// gives reports whether other members may have to wait for the part of a member to begin.
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

// takes reports whether a member may have to wait for others before its part ends.
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

// backwards returns the largest time by which the part of a member ends too early: before
// that of another has begun that must come first, or less than the least latency behind it.
// It is 0 if none does.
func backwards(c trace.Collective, members []attendance, latency int64) (worst int64) {
	latest, any := int64(0), false
	inOrder := c.Op.Pattern() == trace.PatternScan
	for pass := range 2 {
		for _, m := range members {
			if m.takes && any && (inOrder || pass == 1) {
				worst = max(worst, latest+latency-m.End)
			}
			if m.gives && pass == 0 && (!any || m.Begin > latest) {
				latest, any = m.Begin, true
			}
		}
		if inOrder {
			break
		}
	}
	return worst
}
