package stats

import (
	"math"

	"tracekit/document"
	"tracekit/trace"
)

// A startup is the part of a rank's run between the end of MPI_Init and the begin of
// MPI_Finalize, clipped to the selection. Where the rank does not have one of them, or not
// in the selection, the part reaches to the end of the rank on that side.
type startup struct {
	rank           uint32
	location       trace.LocationID
	from, to       int64
	useful         int64 // in between
	init, finalize bool  // the bound is there
}

// startups finds the parts of the selected ranks. It must be called before the replay,
// which overwrites the useful times.
func (p *profiler) startups() []startup {
	var out []startup
	for r, l := range p.t.World {
		if !p.scope.hasRank(uint32(r)) || int(l) >= len(p.t.Span) || p.t.Span[l].Events == 0 {
			continue
		}
		out = append(out, p.startupOf(uint32(r), l, p.useful[l]))
	}
	return out
}

func (p *profiler) startupOf(rank uint32, l trace.LocationID, useful int64) startup {
	span := p.t.Span[l]
	s := startup{rank: rank, location: l, from: p.scope.clamp(span.First), to: p.scope.clamp(span.Last), useful: useful}
	calls := p.t.Calls[l]
	if i := FindStartup(calls, trace.ClassFinalize); i >= 0 {
		if c := calls.At(i); c.Enter <= p.scope.to {
			s.to, s.useful, s.finalize = p.scope.clamp(c.Enter), p.clocks[l].At(i), true
		}
	}
	if i := FindStartup(calls, trace.ClassInit); i >= 0 {
		if c := calls.At(i); c.Enter >= p.scope.from {
			s.from, s.useful, s.init = p.scope.clamp(c.Leave), s.useful-p.clocks[l].At(i), true
		}
	}
	return s
}

// withoutStartup computes the ratios of the run without MPI_Init and MPI_Finalize: its
// time is that from the first rank's begin of that part to the last rank's end. It is nil
// if no rank calls either.
func withoutStartup(p *profiler, parts []startup, replayed *replay) *document.Ratios {
	t := runTimes{ideal: -1}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	idealFirst, idealLast := first, last
	found := false
	for _, s := range parts {
		found = found || s.init || s.finalize
		t.ranks = append(t.ranks, s.rank)
		t.useful = append(t.useful, s.useful)
		first, last = min(first, s.from), max(last, s.to)
		if replayed != nil {
			from, to := replayed.bounds(s, p.useful)
			idealFirst, idealLast = min(idealFirst, from), max(idealLast, to)
		}
	}
	if !found || last <= first {
		return nil
	}
	t.runtime = last - first
	if replayed != nil {
		t.ideal = max(0, idealLast-idealFirst)
	}
	out := t.ratios(rate{p.t.Defs.Clock.Resolution})
	return &out
}

// bounds returns the ideal times at which a part of a rank begins and ends.
func (r *replay) bounds(s startup, useful []int64) (from, to int64) {
	state := &r.state[s.location]
	from = state.start
	if s.init {
		from = state.init
	}
	to = useful[s.location] + state.shift
	if s.finalize {
		to = state.fini
	}
	return from, to
}
