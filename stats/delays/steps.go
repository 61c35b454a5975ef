package delays

import (
	"slices"
	"sort"

	"tracekit/stats/numbers"
	"tracekit/trace"
)

// Steps are those of a training job. What makes ranks wait outside of them is summed apart, and what ranks that are not slow do in each.
type Steps struct {
	within [][2]int64 // ticks, by begin; ends are those of all up to there
	slow   []bool     // by rank
	equal  []float64  // by step: waits that ranks which are not slow cause, in ticks
}

// NewSteps returns steps that begin and end at these ticks, in any order, and in which these ranks are slow.
func NewSteps(t *trace.Trace, within [][2]int64, slow []uint32) *Steps {
	s := &Steps{within, make([]bool, len(t.World)), make([]float64, len(within))}
	slices.SortFunc(within, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	for i := 1; i < len(within); i++ {
		within[i][1] = max(within[i][1], within[i-1][1])
	}
	for _, r := range slow {
		if int(r) < len(s.slow) {
			s.slow[r] = true
		}
	}
	return s
}

// at returns where to sum what a rank costs that causes a wait which ends at an instant, nil if it is not asked for; outside tells that
// this is in none of the steps.
func (s *Steps) at(instant int64, rank uint32) (equal *float64, outside bool) {
	if s == nil {
		return nil, false
	}
	i := sort.Search(len(s.within), func(i int) bool { return s.within[i][1] >= instant })
	if i == len(s.within) || instant < s.within[i][0] {
		return nil, true
	}
	if int(rank) < len(s.slow) && s.slow[rank] {
		return nil, false
	}
	return &s.equal[i], false
}

// Equal returns what ranks that are not slow make others wait in their worst step, in ns. Outside is how many steps would fit into what
// no step has of a time.
func (s *Steps) Equal(t *trace.Trace, first, last int64) (worstNs int64, outside float64) {
	if s == nil || len(s.within) == 0 {
		return 0, 0
	}
	covered, end := 0.0, first
	for _, w := range s.within {
		covered += float64(max(0, min(last, w[1])-max(end, w[0])))
		end = max(end, w[1])
	}
	outside = max(0, float64(last-first)-covered) / max(1, covered) * float64(len(s.within))
	return numbers.Rate{Resolution: t.Defs.Clock.Resolution}.Ns(whole(slices.Max(s.equal))), outside
}
