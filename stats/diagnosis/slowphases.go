package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// lookedRanks is how many ranks, evenly over all, show what they do in long phases.
const lookedRanks = 16

// leastRegular is how many long phases show that they come at equal distances.
const leastRegular = 3

// inPhases is what a rank computes, ns.
type inPhases struct {
	compute []int64              // by phase
	at      map[field.Site]int64 // by place: what long phases have more than as many others
}

// slowPhases judges phases that are longer than others since all ranks compute longer in them: nobody waits for anybody then.
func (f *finder) slowPhases() []candidate {
	p := f.a.Phases
	if p == nil || f.a.Selection != nil || len(f.a.Devices) > 0 {
		return nil
	}
	far := max(1, int64(slightly*float64(p.Period.Max-p.Period.P50)))
	var long []int
	for k, row := range p.Rows {
		if row.Outlier && row.DurationNs-p.Period.P50 >= far {
			long = append(long, k)
		}
	}
	if len(long) == 0 || len(long) == len(p.Rows) {
		return nil
	}
	common, places := slices.Repeat([]int64{p.Period.Max}, len(long)), make(map[field.Site]int64)
	for i := range min(lookedRanks, len(f.ranks)) {
		x := f.inPhases(f.ranks[i*len(f.ranks)/min(lookedRanks, len(f.ranks))], long)
		usual := usualOf(x.compute, long)
		for n, k := range long {
			common[n] = min(common[n], max(0, x.compute[k]-usual))
		}
		for at, ns := range x.at {
			places[at] += ns
		}
	}
	gain, sum, all := int64(0), int64(0), long
	long = nil
	for n, k := range all {
		if row := p.Rows[k]; 2*common[n] >= row.DurationNs-p.Period.P50 { // else ranks wait, or one of them is late
			long, gain, sum = append(long, k), gain+common[n], sum+row.DurationNs
		}
	}
	if gain < f.least() || len(places) == 0 {
		return nil
	}
	most := slices.MaxFunc(slices.Collect(maps.Keys(places)), func(a, b field.Site) int {
		return cmp.Or(cmp.Compare(places[a], places[b]), cmp.Compare(b.Region, a.Region), cmp.Compare(b.File, a.File),
			cmp.Compare(b.Line, a.Line))
	})
	mean := float64(sum) / float64(len(long))
	c := candidate{cause: cause.Cause{Kind: cause.SlowPhases, SourceLine: most.SourceLine, Ranks: []uint32{}}, bound: gain, gain: gain}
	c.cause.Evidence = map[string]float64{"long_phases": float64(len(long)), "phases": float64(len(p.Rows)), "mean_ns": mean,
		"median_ns": float64(p.Period.P50), "first_phase": float64(p.Rows[long[0]].Phase)}
	c.cause.Headline = fmt.Sprintf("%d of %d iterations are slow on all ranks", len(long), len(p.Rows))
	first := p.Rows[long[0]]
	c.text = fmt.Sprintf("They take %s in the mean, the median is %s (%s). All ranks compute longer in them, mostly in %s. The first is "+
		"iteration %d, from %s on. ", words.Time(int64(mean)), words.Time(p.Period.P50), factor(mean/float64(max(1, p.Period.P50))),
		words.Sentence(most.SourceLine), first.Phase, words.Time(first.FromNs))
	if len(long) == 1 {
		c.cause.Headline = fmt.Sprintf("1 of %d iterations is slow on all ranks", len(p.Rows))
		c.text = fmt.Sprintf("Iteration %d takes %s, the median is %s (%s). All ranks compute longer in it, mostly in %s. It begins at %s. ",
			first.Phase, words.Time(int64(mean)), words.Time(p.Period.P50), factor(mean/float64(max(1, p.Period.P50))),
			words.Sentence(most.SourceLine), words.Time(first.FromNs))
	}
	if every := long[1%len(long)] - long[0]; len(long) >= leastRegular && regular(long, every) {
		c.text += fmt.Sprintf("One comes every %d iterations. ", every)
	}
	c.mended = "If they took as long as other iterations"
	return []candidate{c}
}

// regular reports whether each is so many behind the one before.
func regular(long []int, every int) bool {
	for i, k := range long[1:] {
		if k-long[i] != every {
			return false
		}
	}
	return every > 1
}

// usualOf returns the mean of all phases but the long ones.
func usualOf(compute []int64, long []int) int64 {
	sum, n := int64(0), int64(len(compute)-len(long))
	for _, ns := range compute {
		sum += ns
	}
	for _, k := range long {
		sum -= compute[k]
	}
	return sum / max(1, n)
}

// inPhases sums what a rank computes by phase: of what it does between two calls those phases have it in which the first of them is left.
func (f *finder) inPhases(rank uint32, long []int) inPhases {
	rows, l := f.a.Phases.Rows, f.t.World[rank]
	x := inPhases{make([]int64, len(rows)), make(map[field.Site]int64)}
	isLong := make([]bool, len(rows))
	for _, k := range long {
		isLong[k] = true
	}
	less := float64(len(long)) / float64(len(rows)-len(long)) // of a phase that is not long
	more := make(map[field.Site]float64)
	axis, calls, k := scope.NewAxis(f.t), f.t.Calls[l], -1
	for of, s := range f.a.Segments[l].All() {
		if of != trace.None {
			at := axis.Instant(calls.Ptr(int(of)).Leave)
			for k+1 < len(rows) && rows[k+1].FromNs <= at {
				k++
			}
			if k == len(rows)-1 && at >= rows[k].ToNs {
				break
			}
			continue
		}
		if k < 0 || int(s.Path) >= len(f.places) && s.Path != profile.PathOutside {
			continue
		}
		place := field.Site{SourceLine: field.SourceLine{Region: field.OutsideRegions}}
		if int(s.Path) < len(f.places) {
			if place = f.places[s.Path]; place.Operation != "" {
				continue
			}
		}
		ns := f.t.Defs.Clock.Nanoseconds(s.Time)
		if x.compute[k] += ns; isLong[k] {
			more[place] += float64(ns)
		} else {
			more[place] -= float64(ns) * less
		}
	}
	for place, ns := range more {
		x.at[place] = int64(ns)
	}
	return x
}
