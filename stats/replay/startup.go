package replay

import (
	"math"

	"tracekit/document"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
)

// withoutStartup computes the ratios of the part between MPI_Init and MPI_Finalize, from where the
// first rank begins it to where the last rank ends it. It returns nil if no rank calls either.
func withoutStartup(p *profile.Profiler, parts []profile.Startup, replayed *Replay) *document.Ratios {
	t := runTimes{ideal: -1}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	idealFirst, idealLast := first, last
	found := false
	for _, s := range parts {
		found = found || s.Init || s.Finalize
		if p.Scope.EndsEarly(s.Rank) {
			t.early = append(t.early, earlyRank{s.Rank, s.To - s.From, s.Useful})
			continue
		}
		t.ranks = append(t.ranks, s.Rank)
		t.useful = append(t.useful, s.Useful)
		first, last = min(first, s.From), max(last, s.To)
		if replayed != nil {
			from, to := replayed.bounds(s, p.Useful)
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
	out := t.ratios(numbers.Rate{Resolution: p.T.Defs.Clock.Resolution})
	return &out
}

// bounds returns the ideal times at which that part begins and ends on a rank.
func (r *Replay) bounds(s profile.Startup, useful []int64) (from, to int64) {
	state := &r.state[s.Location]
	from = state.start
	if s.Init && r.isActive(s.Location, uint32(state.bounds[0])) { // else it takes no time in the selection
		from = state.init
	}
	to = useful[s.Location] + r.schedule.Shift(s.Location)
	if s.Finalize {
		to = state.fini
	}
	return from, to
}
