package compare

import (
	"cmp"
	"math"
	"slices"

	"tracekit/document/field"
)

// A PlaceSummary is what a place takes in the runs of a baseline, sums over ranks in ns: means, and the standard deviations of runs
// from them.
type PlaceSummary struct {
	field.Site
	OwnNs      float64  `json:"own_ns"`
	OwnSpread  *float64 `json:"own_spread"` // of the mean; nil: one run, or the mean is 0
	WaitNs     float64  `json:"wait_ns"`
	WaitSpread *float64 `json:"wait_spread"`
}

// Places summarizes the places of a baseline, those with the most time first.
func (b *Baseline) Places() []PlaceSummary {
	var out []PlaceSummary
	for _, p := range join(b.Samples(), nil) {
		s := PlaceSummary{Site: p.site}
		s.OwnNs, s.OwnSpread = spread(sums(p.values(0, KindTime)))
		s.WaitNs, s.WaitSpread = spread(sums(p.values(0, KindWait)))
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(x, y PlaceSummary) int { return cmp.Compare(y.OwnNs+y.WaitNs, x.OwnNs+x.WaitNs) })
	return out
}

// RankTimeNs returns the time of all ranks of each run.
func (b *Baseline) RankTimeNs() []float64 {
	out := make([]float64, len(b.Runs))
	for i := range b.Runs {
		for k := range b.Runs[i].Places {
			out[i] += float64(b.Runs[i].Places[k].OwnNs) + float64(b.Runs[i].Places[k].WaitNs)
		}
	}
	return out
}

func spread(x []float64) (mean float64, relative *float64) {
	mean = sumOf(x) / float64(len(x))
	if len(x) < 2 || mean == 0 {
		return mean, nil
	}
	square := 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	r := math.Sqrt(square/float64(len(x)-1)) / mean
	return mean, &r
}
