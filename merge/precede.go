package merge

import "tracekit/trace"

// The parts of which members of a collective must have begun before those of which others
// can end is decided by its pattern. Only what data must have done is required: members without data to send
// are waited for by nobody, and those without data to receive wait for nobody, but in a
// barrier. Of operations in which not all pairs need to exchange data nothing is required.

// A timing corrects the time of a location's row.
type timing func(l trace.LocationID, t int64) int64

func asRecorded(_ trace.LocationID, t int64) int64 { return t }

// binding reports whether a collective says anything about the order of events. Fences do not: programs may assert that nobody waits.
func binding(c *trace.Collective) bool {
	switch c.Op.Pattern() {
	case trace.PatternNone, trace.PatternSparse, trace.PatternFence:
		return false
	}
	return !c.Mismatch && c.Count > 1
}

// gives reports whether other members may have to wait for the part of a member to begin.
func gives(c *trace.Collective, m *trace.Member) bool {
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
func takes(c *trace.Collective, m *trace.Member) bool {
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

// backwards returns the largest time by which, with corrected times, the part of a member ends too
// early: before that of another has begun that must come first, or less than the least latency
// behind it. It is 0 if none does, or the collective says nothing about the order of events.
func backwards(t *trace.Trace, c *trace.Collective, at timing, latency int64) (worst int64) {
	if !binding(c) {
		return 0
	}
	var latest, soonest int64 // begin and end so far
	begun, ended, inOrder := false, false, c.Op.Pattern() == trace.PatternScan
	for i, n := int(c.First), int(c.First)+int(c.Count); i < n; {
		members := t.Members.From(i)
		members = members[:min(len(members), n-i)]
		for k := range members {
			m := &members[k]
			if takes(c, m) {
				end := at(m.Location, m.End)
				if inOrder && begun {
					worst = max(worst, latest+latency-end)
				}
				if !ended || end < soonest {
					soonest, ended = end, true
				}
			}
			if gives(c, m) {
				if begin := at(m.Location, m.Begin); !begun || begin > latest {
					latest, begun = begin, true
				}
			}
		}
		i += len(members)
	}
	if !inOrder && begun && ended {
		worst = max(0, latest+latency-soonest)
	}
	return worst
}
