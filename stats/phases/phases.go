// Package phases finds the iterations of a program: the call site whose visits cut the run into
// the most equal intervals (DEFINITIONS 2.15).
package phases

import (
	"context"
	"maps"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// Phases are the intervals between the visits of a call path.
//
//	all ranks have equally many Visits
type Phases struct {
	Path   trace.PathID                  // of the call that begins a phase
	Stride int                           // which visit of it does
	Visits map[trace.LocationID][]uint32 // of each rank that is in the trace: its rows in Trace.Calls, ascending
	visits int
}

// Count returns the number of phases.
func (p *Phases) Count() int { return p.visits - 1 }

// What can be a marker: so many visits of each rank, over such a part of the time between the
// first rank's first call and its last, that cut it into intervals of such a coefficient of
// variation. Of the call paths the first so many are looked at.
const (
	leastVisits  = 4
	mostVisits   = 1 << 14
	leastSpan    = 0.5
	mostSpread   = 0.5
	mostStride   = 64
	leastStrided = 8 // phases of several visits: there are many ways to have a few
	mostPaths    = 512
)

// Find returns the phases of a run, nil if it has none: no call path that all ranks visit equally
// often cuts the run into equal intervals. Markers are calls that communicate; of those that cut
// the run equally well the one that is first in the call tree.
func Find(ctx context.Context, t *trace.Trace, jobs int) (*Phases, error) {
	var masters []trace.LocationID
	missing := t.Missing()
	for r, l := range t.World {
		if !missing[r] && int(l) < len(t.Calls) {
			masters = append(masters, l)
		}
	}
	if len(masters) == 0 {
		return nil, nil
	}
	counts, err := engine.Map(ctx, jobs, len(masters), func(_ context.Context, i int) (map[trace.PathID]int, error) {
		return countsOf(t, masters[i]), nil
	})
	if err != nil {
		return nil, err
	}
	common := counts[0]
	for path, n := range common {
		if slices.ContainsFunc(counts[1:], func(other map[trace.PathID]int) bool { return other[path] != n }) {
			delete(common, path)
		}
	}
	m, ok := mostEqual(t, masters[0], common)
	if !ok {
		return nil, nil
	}
	visits, err := engine.Map(ctx, jobs, len(masters), func(_ context.Context, i int) ([]uint32, error) {
		return visitsOf(t, masters[i], m), nil
	})
	if err != nil {
		return nil, err
	}
	p := &Phases{Path: m.path, Stride: m.stride, Visits: make(map[trace.LocationID][]uint32), visits: len(visits[0])}
	for i, l := range masters {
		p.Visits[l] = visits[i]
	}
	return p, nil
}

// countsOf returns how often a location visits the paths that may be markers.
func countsOf(t *trace.Trace, l trace.LocationID) map[trace.PathID]int {
	counts := make(map[trace.PathID]int)
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			counts[rows[i].Path]++
		}
	}
	for path, n := range counts {
		if n < leastVisits || n > mostVisits || path == trace.None {
			delete(counts, path)
		}
	}
	return counts
}

// visitsOf returns the visits that begin a phase, and the last one's end.
func visitsOf(t *trace.Trace, l trace.LocationID, m marker) (visits []uint32) {
	n := 0
	for first, rows := range t.Calls[l].Rows {
		for i := range rows {
			if rows[i].Path != m.path {
				continue
			}
			if n%m.stride == 0 {
				visits = append(visits, uint32(first+i))
			}
			n++
		}
	}
	return visits
}

// A marker is a path of which every stride-th visit begins a phase.
type marker struct {
	path   trace.PathID
	stride int
	spread float64 // coefficient of variation of the intervals
}

// score is the spread as if the visits between those that count had been independent: so many of
// them, taken together, vary that much less.
func (m marker) score() float64 { return m.spread * math.Sqrt(float64(m.stride)) }

// mostEqual returns the path among some, and how many of its visits make a phase, that cut the run
// of a location into the most equal intervals; ok is false if none are equal.
func mostEqual(t *trace.Trace, l trace.LocationID, paths map[trace.PathID]int) (best marker, ok bool) {
	chosen := slices.Sorted(maps.Keys(paths))
	chosen = chosen[:min(len(chosen), mostPaths)]
	times := make(map[trace.PathID][]int64, len(chosen))
	for _, path := range chosen {
		times[path] = make([]int64, 0, paths[path])
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			c := &rows[i]
			if c.Class != trace.ClassInit && c.Class != trace.ClassFinalize {
				first, last = min(first, c.Enter), max(last, c.Enter)
			}
			if at, ok := times[c.Path]; ok {
				times[c.Path] = append(at, c.Enter)
			}
		}
	}
	best = marker{stride: 1, spread: math.Inf(1)}
	for _, path := range chosen {
		at := times[path]
		if float64(at[len(at)-1]-at[0]) < leastSpan*float64(last-first) {
			continue
		}
		if m := fewest(path, at); m.score() < best.score() {
			best = m
		}
	}
	return best, best.spread <= mostSpread
}

// fewest returns the fewest visits of a path that make phases of nearly equal length.
func fewest(path trace.PathID, at []int64) marker {
	for stride := 1; stride <= mostStride; stride++ {
		if n := (len(at) - 1) / stride; n < leastVisits-1 || stride > 1 && n < leastStrided {
			break
		}
		if m := (marker{path, stride, spread(at, stride)}); m.spread <= mostSpread {
			return m
		}
	}
	return marker{path, 1, math.Inf(1)}
}

// spread returns the coefficient of variation of the intervals from each stride-th instant to the
// next; infinite if they have no length.
func spread(at []int64, stride int) float64 {
	var n, mean, square float64 // by Welford's method
	for i := stride; i < len(at); i += stride {
		n++
		x := float64(at[i] - at[i-stride])
		d := x - mean
		mean += d / n
		square += d * (x - mean)
	}
	if mean <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(square/n) / mean
}

// Outliers tells which of some durations are far from the others: by more than three times the
// median absolute deviation, scaled as that of a normal law, and by a tenth of the median.
func Outliers(durations []int64) []bool {
	middle := Median(durations)
	deviations := make([]int64, len(durations))
	for i, d := range durations {
		deviations[i] = max(d-middle, middle-d)
	}
	const normal = 1.4826
	limit := max(3*normal*float64(Median(deviations)), float64(middle)/10)
	out := make([]bool, len(durations))
	for i, d := range deviations {
		out[i] = float64(d) > limit
	}
	return out
}

// Median returns the middle one of some values, the lower of two; 0 of none.
func Median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
