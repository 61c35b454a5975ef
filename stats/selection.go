package stats

import (
	"fmt"
	"math"
	"slices"
	"time"

	"tracekit/document"
	"tracekit/trace"
)

// A Scope is the part of the trace that is analysed.
//
// Wait states, the critical path and the matching are those of the whole run, so that a
// partner outside the selection still explains a wait inside it. What is summed is clipped:
// times to [from, to], rows to the selected ranks. A message counts if both its calls
// overlap the selection. The critical path is the run's, cut to [from, to]; what it does
// on other ranks is charged to "(outside the selection)". The ideal-network replay knows
// only calls that begin inside; what comes from outside costs nothing.
type Scope struct {
	from, to int64  // corrected ticks
	timed    bool   // [from, to] is less than the run
	chosen   []bool // by world rank; nil: all ranks and all locations outside MPI
	missing  []bool // by world rank: it is not in the trace
	aside    []bool // by location: see Aside
	rank     []uint32
	whole    bool // nothing is left out and nothing is aside
}

// A Selection is a part of a run: some ranks, from one instant to another. The zero value is the whole run.
type Selection struct {
	Ranks    []uint32 // world ranks, in any order; empty: all, and the locations outside MPI
	From, To Instant
}

// NewScope returns the part of a trace that is selected, or an error if the selection makes no sense.
func NewScope(t *trace.Trace, part Selection) (Scope, error) {
	first, last := Run(t)
	s := Scope{from: first, to: last, rank: t.Rank, missing: t.Missing(), aside: Aside(t)}
	r := rate{t.Defs.Clock.Resolution}
	if part.From.Kind != Unset {
		s.from = part.From.resolve(r, first, last)
	}
	if part.To.Kind != Unset {
		s.to = part.To.resolve(r, first, last)
	}
	if length := r.ns(last - first); part.From.Kind == AfterNs && part.From.Ns > length {
		return s, fmt.Errorf("selecting a part of the run: it begins after %v, the run ends after %v", time.Duration(part.From.Ns), time.Duration(length))
	}
	if s.to < s.from {
		return s, fmt.Errorf("selecting a part of the run: its end lies before its begin")
	}
	s.timed = s.from != first || s.to != last
	err := s.choose(part.Ranks, len(t.World))
	s.whole = s.all() && !slices.Contains(s.aside, true)
	return s, err
}

func (s *Scope) choose(ranks []uint32, world int) error {
	if len(ranks) == 0 {
		return nil
	}
	s.chosen = make([]bool, world)
	for _, r := range ranks {
		if int(r) >= world {
			return fmt.Errorf("selecting ranks: there is no rank %d, the trace has %d", r, world)
		}
		s.chosen[r] = true
	}
	return nil
}

// resolve returns the tick of an instant, which lies in [first, last].
func (i Instant) resolve(r rate, first, last int64) int64 {
	at := first
	switch i.Kind {
	case AfterNs:
		at = first + min(r.ticks(i.Ns), last-first)
	case Fraction:
		at = first + int64(math.Round(min(max(i.Share, 0), 1)*float64(last-first)))
	}
	return min(at, last)
}

// Aside tells the locations that are no part of the run: neither they nor their groups are of
// a known kind. There, profilers note what they do themselves, before, around and after the
// program. If no others have events, there are none.
func Aside(t *trace.Trace) []bool {
	d, out, known := t.Defs, make([]bool, len(t.Span)), false
	for l, loc := range d.Locations {
		out[l] = loc.Kind == trace.LocationUnknown && int(loc.Group) < len(d.LocationGroups) && d.LocationGroups[loc.Group].Kind == 0
		known = known || !out[l] && t.Span[l].Events > 0
	}
	if !known {
		clear(out)
	}
	return out
}

// Run returns the corrected times of the first and the last event of any location that is not
// aside, 0 and 0 if there are none.
func Run(t *trace.Trace) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	aside := Aside(t)
	for l, s := range t.Span {
		if s.Events > 0 && !aside[l] {
			first, last = min(first, s.First), max(last, s.Last)
		}
	}
	if first > last {
		return 0, 0
	}
	return first, last
}

// all reports whether nothing is left out.
func (s *Scope) all() bool { return !s.timed && s.chosen == nil }

// has reports whether a location is selected.
func (s *Scope) has(l trace.LocationID) bool {
	return !s.aside[l] && (s.chosen == nil || s.hasRank(s.rank[l]))
}

// hasRank reports whether a rank is selected and in the trace.
func (s *Scope) hasRank(r uint32) bool {
	return int(r) < len(s.missing) && !s.missing[r] && (s.chosen == nil || s.chosen[r])
}

// Overlaps reports whether a call of a location counts: it is selected and neither ends
// before the window nor begins after it.
func (s *Scope) Overlaps(l trace.LocationID, enter, leave int64) bool {
	return s.whole || s.overlapsPart(l, enter, leave)
}

// overlapsPart is overlaps for a scope that leaves something out.
func (s *Scope) overlapsPart(l trace.LocationID, enter, leave int64) bool {
	return s.has(l) && (!s.timed || leave >= s.from && enter <= s.to)
}

// clip returns the length of the part of [from, to] that is selected.
func (s *Scope) clip(from, to int64) int64 {
	if !s.timed {
		return to - from
	}
	return max(0, min(to, s.to)-max(from, s.from))
}

// clamp returns the instant of the window that is nearest to t.
func (s *Scope) clamp(t int64) int64 { return min(max(t, s.from), s.to) }

// ranks returns the number of ranks that are selected and in the trace.
func (s *Scope) ranks(t *trace.Trace) (n int) {
	for r := range t.World {
		if s.hasRank(uint32(r)) {
			n++
		}
	}
	return n
}

// Block returns the block that says what was selected, nil for the whole trace.
func (s *Scope) Block(t *trace.Trace) *document.Selection {
	if s.all() {
		return nil
	}
	x := newAxis(t)
	sel := &document.Selection{Ranks: []uint32{}, FromNs: x.instant(s.from), ToNs: x.instant(s.to)}
	for r, c := range s.chosen {
		if c {
			sel.Ranks = append(sel.Ranks, uint32(r))
		}
	}
	slices.Sort(sel.Ranks)
	return sel
}

// An axis makes instants of the document of corrected ticks: nanoseconds after the
// clock's global offset.
type axis struct {
	rate
	zero int64
}

func newAxis(t *trace.Trace) axis {
	return axis{rate{t.Defs.Clock.Resolution}, t.Defs.Clock.GlobalOffset}
}

func (a axis) instant(t int64) int64 { return a.ns(t - a.zero) }

// Window returns the corrected ticks of a part of a run, or an error if the selection makes no sense.
func Window(t *trace.Trace, part Selection) (from, to int64, err error) {
	s, err := NewScope(t, part)
	return s.from, s.to, err
}

// At returns the instant in ns after the first event of a run of the given length, or
// unset if the instant is.
func (i Instant) At(length, unset int64) int64 {
	switch i.Kind {
	case AfterNs:
		return i.Ns
	case Fraction:
		return int64(min(max(i.Share, 0), 1) * float64(length))
	}
	return unset
}
