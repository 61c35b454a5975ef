package scope

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tracekit/document"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A Scope is the part of the trace that is analyzed.
//
// Wait states, the critical path and the matching are those of the whole run: a partner outside the selection still explains a wait inside
// it. What is summed is clipped: times to [from, to], rows to the selected ranks. A message counts if both its calls overlap the selection.
// The critical path is the run's, cut to [from, to]; what it does on other ranks is charged to "(outside the selection)". The ideal-network
// replay knows only calls that begin inside; what comes from outside costs nothing.
type Scope struct {
	From, To int64  // corrected ticks
	Timed    bool   // [from, to] is less than the run
	chosen   []bool // by world rank; nil: all ranks and all locations outside MPI
	Missing  []bool // by world rank: it is not in the trace
	early    []bool // by world rank: see EndsEarly
	Aside    []bool // by location: see Aside
	rank     []uint32
	Whole    bool // nothing is left out and nothing is aside
}

// A Selection is a part of a run: some ranks, from one instant to another. The zero value is the whole run.
type Selection struct {
	Ranks    []uint32 // world ranks, in any order; empty: all, and the locations outside MPI
	From, To Instant
}

// ErrEmpty says that nothing is selected.
var ErrEmpty = errors.New("the selection ends before it begins; check --from and --to")

// New returns the part of a trace that is selected, or an error if the selection makes no sense.
func New(t *trace.Trace, part Selection) (Scope, error) {
	first, last := Run(t)
	s := Scope{From: first, To: last, rank: t.Rank, Missing: t.Missing(), Aside: Aside(t)}
	r := numbers.Rate{Resolution: t.Defs.Clock.Resolution}
	if part.From.Kind != Unset {
		s.From = part.From.Resolve(r, first, last)
	}
	if part.To.Kind != Unset {
		s.To = part.To.Resolve(r, first, last)
	}
	if length := r.Ns(last - first); part.From.Kind == AfterNs && part.From.Ns > length {
		return s, fmt.Errorf("the selection begins at %v, but the run ends at %v", time.Duration(part.From.Ns),
			time.Duration(length))
	}
	if s.To < s.From {
		return s, ErrEmpty
	}
	s.Timed = s.From != first || s.To != last
	s.early = EndEarly(t, s.To)
	err := s.choose(part.Ranks, len(t.World))
	s.Whole = s.All() && !slices.Contains(s.Aside, true)
	return s, err
}

func (s *Scope) choose(ranks []uint32, world int) error {
	if len(ranks) == 0 {
		return nil
	}
	s.chosen = make([]bool, world)
	for _, r := range ranks {
		if int(r) >= world {
			return fmt.Errorf("selecting ranks: %w", trace.NoRank(int(r), world))
		}
		s.chosen[r] = true
	}
	return nil
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

// Run returns the corrected times of the first and the last event of any location that is not aside; 0 and 0 if there are none.
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

// EndEarly tells, by world rank, which ranks have records that end before the ranks do, and before a time.
func EndEarly(t *trace.Trace, to int64) []bool {
	early := t.EndEarly()
	for r := range early {
		early[r] = early[r] && t.Span[t.World[r]].Last < to
	}
	return early
}

// All reports whether nothing is left out.
func (s *Scope) All() bool { return !s.Timed && s.chosen == nil }

// Has reports whether a location is selected.
func (s *Scope) Has(l trace.LocationID) bool {
	return !s.Aside[l] && (s.chosen == nil || s.HasRank(s.rank[l]))
}

// HasRank reports whether a rank is selected and in the trace.
func (s *Scope) HasRank(r uint32) bool {
	return int(r) < len(s.Missing) && !s.Missing[r] && (s.chosen == nil || s.chosen[r])
}

// EndsEarly reports whether the records of a rank end before the rank does, and before the window does: what it did from then on is not
// known.
func (s *Scope) EndsEarly(r uint32) bool { return int(r) < len(s.early) && s.early[r] }

// Counts reports whether a rank counts in means and ratios over ranks, and is compared with others: it is selected and in the trace
// until the window ends.
func (s *Scope) Counts(r uint32) bool { return s.HasRank(r) && !s.EndsEarly(r) }

// Overlaps reports whether a call of a location counts: it is selected and neither ends
// before the window nor begins after it.
func (s *Scope) Overlaps(l trace.LocationID, enter, leave int64) bool {
	return s.Whole || s.overlapsPart(l, enter, leave)
}

// overlapsPart is overlaps for a scope that leaves something out.
func (s *Scope) overlapsPart(l trace.LocationID, enter, leave int64) bool {
	return s.Has(l) && (!s.Timed || leave >= s.From && enter <= s.To)
}

// Clip returns the length of the part of [from, to] that is selected.
func (s *Scope) Clip(from, to int64) int64 {
	if !s.Timed {
		return to - from
	}
	return max(0, min(to, s.To)-max(from, s.From))
}

// Clamp returns the instant of the window that is nearest to t.
func (s *Scope) Clamp(t int64) int64 { return min(max(t, s.From), s.To) }

// Ranks returns the number of ranks that count.
func (s *Scope) Ranks(t *trace.Trace) (n int) {
	for r := range t.World {
		if s.Counts(uint32(r)) {
			n++
		}
	}
	return n
}

// RankTime returns the time of the ranks that are selected and in the trace, in ticks: of each all of the window, or of one that ends
// early what of that is recorded.
func (s *Scope) RankTime(t *trace.Trace) (sum int64) {
	for r, l := range t.World {
		switch {
		case s.Counts(uint32(r)):
			sum = numbers.Plus(sum, s.To-s.From)
		case s.HasRank(uint32(r)):
			sum = numbers.Plus(sum, max(0, t.Span[l].Last-s.From))
		}
	}
	return sum
}

// Block returns the block that says what was selected, nil for the whole trace.
func (s *Scope) Block(t *trace.Trace) *document.Selection {
	if s.All() {
		return nil
	}
	x := NewAxis(t)
	sel := &document.Selection{Ranks: []uint32{}, FromNs: x.Instant(s.From), ToNs: x.Instant(s.To)}
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
	numbers.Rate
	zero int64
}

// NewAxis returns the axis of a trace.
func NewAxis(t *trace.Trace) axis {
	return axis{numbers.Rate{Resolution: t.Defs.Clock.Resolution}, t.Defs.Clock.GlobalOffset}
}

func (a axis) Instant(t int64) int64 { return a.Ns(t - a.zero) }

// Window returns the corrected ticks of a part of a run, or an error if the selection makes no sense.
func Window(t *trace.Trace, part Selection) (from, to int64, err error) {
	s, err := New(t, part)
	return s.From, s.To, err
}
