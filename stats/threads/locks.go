package threads

import (
	"math"

	"tracekit/spill"
)

// A stay is the next time that a thread is in a region with a locked block: spans at to end of its timeline.
type stay struct {
	in, out     *spill.Table[Span]
	at, end     int
	from, until int64
}

// next goes on to the next stay, and keeps what lies before it; ok is false if there is none.
func (s *stay) next() (ok bool) {
	i := s.end
	for ; i < s.in.Len() && !s.in.Ptr(i).Locks; i++ {
		s.out.Append(s.in.At(i))
	}
	s.at = i
	for i < s.in.Len() && s.in.Ptr(i).Locks {
		i++
	}
	if s.end = i; s.at == s.end {
		return false
	}
	s.from, s.until = s.in.Ptr(s.at).From, math.MaxInt64
	if i < s.in.Len() {
		s.until = s.in.Ptr(i).From
	}
	return true
}

// keep keeps the stay, which has the lock from an instant on: it works then.
func (s *stay) keep(locked int64) {
	for i := s.at; i < s.end; i++ {
		span, until := s.in.At(i), s.until
		if i+1 < s.end {
			until = s.in.Ptr(i + 1).From
		}
		if span.Activity != Waiting || until <= locked {
			s.out.Append(span)
			continue
		}
		if span.From < locked {
			s.out.Append(span)
			span.From = locked
		}
		span.Activity = Useful
		s.out.Append(span)
	}
}

// Unlocked returns the timelines of a process, in which the locked blocks of critical sections are useful. Where a region has waiting and
// block, one thread at a time has the lock: the one that leaves next has it since the last one left.
func Unlocked(timelines []Timeline, store *spill.Store) []Timeline {
	locks := false
	for _, t := range timelines {
		for _, spans := range t.Spans.Rows {
			for i := range spans {
				locks = locks || spans[i].Locks
			}
		}
	}
	if !locks {
		return timelines
	}
	out, stays := make([]Timeline, len(timelines)), make([]*stay, 0, len(timelines))
	for i, t := range timelines {
		out[i] = Timeline{t.Location, spill.NewTable[Span](store)}
		if s := (&stay{in: t.Spans, out: out[i].Spans}); s.next() {
			stays = append(stays, s)
		}
	}
	for left := int64(math.MinInt64); len(stays) > 0; {
		first := 0
		for i, s := range stays {
			if s.until < stays[first].until {
				first = i
			}
		}
		s := stays[first]
		s.keep(max(s.from, left))
		if left = s.until; !s.next() {
			stays = append(stays[:first], stays[first+1:]...)
		}
	}
	return out
}
