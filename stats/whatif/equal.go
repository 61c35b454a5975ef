package whatif

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// BalanceOn is Balance on some ranks: others keep their times, which count in the means.
func BalanceOn(place Place, ranks ...uint32) Change {
	return Change{kind: balance, place: place, ranks: ranks}
}

// equalPlaces is how many regions, those with most time, are balanced each on its own; all others are together.
const equalPlaces = 12

// equalRanks is how many ranks, those with most time of their own, have a slowdown.
const equalRanks = 64

// Equal says how much slower a run is because its ranks are unequal (DEFINITIONS 2.19); a share of them are the slowest.
func (m *Model) Equal(ctx context.Context, a *analysis.Result, share float64) (*training.Unequal, error) {
	size := len(m.t.World)
	if size < 2 {
		return nil, errors.New("the trace has a single rank, which no other can be compared with")
	}
	names, places := m.equalPlaces(a)
	lists := [][]Change{balanced(places)}
	ranks := m.busiest()
	for _, r := range ranks {
		var others []uint32
		for k := range uint32(size) {
			if k != r {
				others = append(others, k)
			}
		}
		lists = append(lists, balanced(places, others...))
	}
	for i := range names {
		lists = append(lists, slices.Delete(balanced(places), i, i+1))
	}
	all, err := m.PredictAll(ctx, lists)
	if err != nil {
		return nil, err
	}
	equal := all[0].RunTime
	doc := &training.Unequal{RuntimeNs: all[0].Baseline, EqualNs: equal, Slowdown: slowdown(all[0].Baseline, equal)}
	for i, r := range ranks {
		doc.ByRank = append(doc.ByRank, training.RankSlow{Rank: field.Rank(r), Slowdown: slowdown(all[1+i].RunTime, equal)})
	}
	slices.SortStableFunc(doc.ByRank, func(a, b training.RankSlow) int {
		return cmp.Or(cmp.Compare(b.Slowdown, a.Slowdown), cmp.Compare(a.Rank, b.Rank))
	})
	for i, n := range names {
		doc.ByPlace = append(doc.ByPlace, training.PlaceSlow{Place: n, Slowdown: slowdown(all[1+len(ranks)+i].RunTime, equal)})
	}
	slices.SortStableFunc(doc.ByPlace, func(a, b training.PlaceSlow) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	slowest := make([]uint32, 0, size)
	for _, r := range doc.ByRank[:min(len(doc.ByRank), stragglers.Slowest(size, share))] {
		doc.Slowest, slowest = append(doc.Slowest, r.Rank), append(slowest, uint32(r.Rank))
	}
	p, err := m.Predict(ctx, balanced(places, slowest...)...)
	if err == nil {
		doc.MW = numbers.Ratio(doc.RuntimeNs-p.RunTime, doc.RuntimeNs-equal)
	}
	return doc, err
}

// Equalized are the changes by which all ranks, or some, take the means at all places.
func (m *Model) Equalized(a *analysis.Result, ranks ...uint32) []Change {
	_, places := m.equalPlaces(a)
	return balanced(places, ranks...)
}

// balanced are the changes by which all ranks, or some, take the means at places.
func balanced(places []Place, ranks ...uint32) (list []Change) {
	for _, p := range places {
		list = append(list, BalanceOn(p, ranks...))
	}
	return list
}

func slowdown(time, equal int64) float64 {
	if equal <= 0 {
		return 1
	}
	return float64(time) / float64(equal)
}

// equalPlaces returns the regions with most time, and the places that are balanced: each of these, and then all that is left.
func (m *Model) equalPlaces(a *analysis.Result) (names []string, places []Place) {
	rows := slices.Clone(a.Profile)
	slices.SortStableFunc(rows, func(a, b document.ProfileRow) int { return cmp.Compare(b.ExclusiveNs, a.ExclusiveNs) })
	for _, r := range rows {
		if place, err := m.Place(r.Region); err == nil && !slices.Contains(names, r.Region) && len(names) < equalPlaces {
			names, places = append(names, r.Region), append(places, place)
		}
	}
	named := slices.Clone(places)
	return names, append(places, func(p trace.PathID) bool {
		return !slices.ContainsFunc(named, func(of Place) bool { return of(p) })
	})
}

// busiest returns the ranks with most time of their own, in order of rank.
func (m *Model) busiest() []uint32 {
	times := make([]int64, len(m.t.World))
	slots := make([]bool, m.slots())
	for s := range slots {
		slots[s] = true
	}
	ranks := make([]uint32, len(times))
	for r, l := range m.t.World {
		ranks[r] = uint32(r)
		if int(l) < len(m.locations) {
			m.walk(l, slots, func(p passed) { times[r] += p.time }, func(uint32, int) {})
		}
	}
	slices.SortStableFunc(ranks, func(a, b uint32) int { return cmp.Compare(times[b], times[a]) })
	ranks = ranks[:min(len(ranks), equalRanks)]
	slices.Sort(ranks)
	return ranks
}
