package formulae

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"tracekit/formulae/partners"
	"tracekit/stats/numbers"
)

// An Outlier is the time before a single event, where it is far from the mean of its item. What one rank is
// late by once makes others wait; a mean spreads it, a law moves it.
type Outlier struct {
	Seq  uint64 // number of the event in its location
	Code uint64 // of the time: see OutlierTime
}

// Bounds of outliers: how many of a location are found, and how many at least are kept.
const (
	MostOutliers  = 1 << 13
	LeastOutliers = 1 << 6
	allOutliers   = 1 << 16 // of all locations together, if there are not too many
)

// outliersOf returns how many outliers each of so many locations may have.
func outliersOf(locations int) int {
	return min(max(allOutliers/max(locations, 1), LeastOutliers), MostOutliers)
}

// A Far is an interval that may become an Outlier.
type Far struct {
	Seq, Time uint64
	Interval  uint32 // index into Times.Means
}

// A Sum is the number and the time of the intervals of a mean, in ticks.
type Sum struct{ Count, Time uint64 }

// Keep makes the n intervals that are farthest from their means outliers, and leaves them out of the means.
func (l *Location) Keep(n int) {
	sums := slices.Clone(l.Sums)
	l.Times.Outliers = nil
	for _, f := range l.Far[:min(n, len(l.Far))] {
		l.Times.Outliers = append(l.Times.Outliers, Outlier{f.Seq, codeOutlier(f.Time)})
		if s := &sums[f.Interval]; s.Count > 1 { // else it is the mean
			s.Count, s.Time = s.Count-1, s.Time-f.Time
		}
	}
	slices.SortFunc(l.Times.Outliers, func(a, b Outlier) int { return cmp.Compare(a.Seq, b.Seq) })
	at := 0
	for k := range l.Tree.Nodes {
		for i := range l.Tree.Nodes[k].Items {
			regimes := partners.Regimes(l.Tree.Nodes[k].Items[i].Kind)
			setMeans(l.Times.Means[at:at+regimes], sums[at:at+regimes])
			at += regimes
		}
	}
}

// setMeans sets the means of an item, regime by regime. Where a regime never came
// up, that of the other stands in: who never waited may do so when events are rebuilt.
func setMeans(means []uint64, sums []Sum) {
	for r, s := range sums {
		means[r] = Mean(s.Time, s.Count)
	}
	if len(sums) > 1 {
		switch {
		case sums[partners.Free].Count == 0:
			means[partners.Free] = means[partners.Blocked]
		case sums[partners.Blocked].Count == 0:
			means[partners.Blocked] = means[partners.Free]
		}
	}
}

// How many leading bits of a time its code has, with which it is within 0.002 %: waits are differences of such times. Formerly 0.05 %.
const (
	codeBits       = 16
	formerCodeBits = 11
)

// codeOutlier returns the code of a time in ticks: its leading bits and their place.
func codeOutlier(d uint64) uint64 {
	if d < 1<<codeBits {
		return d
	}
	e := uint64(bits.Len64(d) - codeBits)
	return e<<(codeBits-1) + d>>e
}

// largestOutlier returns the largest code of so many bits.
func largestOutlier(bits uint64) uint64 { return (64-bits)<<(bits-1) + 1<<bits - 1 }

// OutlierTime returns the time in ticks that a code stands for: the middle of those that have it.
func OutlierTime(code uint64) uint64 { return timeOf(code, codeBits) }

func timeOf(code, bits uint64) uint64 {
	if code < 1<<bits {
		return code
	}
	e := code>>(bits-1) - 1
	return (code-e<<(bits-1))<<e + 1<<(e-1)
}

// Recode makes codes of files before version 8 those of today.
func (t *Times) Recode() error {
	for i := range t.Outliers {
		o := &t.Outliers[i]
		if o.Code > largestOutlier(formerCodeBits) {
			return errOutlier
		}
		o.Code = codeOutlier(timeOf(o.Code, formerCodeBits))
	}
	return nil
}

var errOutlier = errors.New("an outlier of no event")

// outliers are the intervals of a location that were farthest from what was the mean by then.
type outliers struct{ numbers.Largest[outlier] }

// newOutliers returns those of most intervals; 0: none are looked for.
func newOutliers(most int) outliers {
	return outliers{numbers.Largest[outlier]{Most: most, Less: func(a, b *outlier) bool {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.seq, a.seq)) < 0
	}}}
}

// An outlier is one that may become an Outlier.
type outlier struct {
	of    *intervals
	seq   uint64
	time  uint64
	score uint64 // distance from the mean, in ticks
}

// offer considers an interval that is not counted yet.
func (o *outliers) offer(of *intervals, seq, d uint64) {
	if o.Most > 0 {
		o.Offer(outlier{of, seq, d, of.distance(d)})
	}
}

// distance returns how far a time is from the mean, in ticks.
func (s *intervals) distance(d uint64) uint64 {
	if s.count == 0 {
		return d
	}
	mean := s.time / s.count
	return max(d, mean) - min(d, mean)
}

// rank returns the intervals, the farthest first, of each event the first one. The first ones are taken out of
// samples.
func (o *outliers) rank() (out []outlier) {
	for i := range o.Kept {
		o.Kept[i].score = o.Kept[i].of.distance(o.Kept[i].time)
	}
	slices.SortFunc(o.Kept, func(a, b outlier) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq))
	})
	known := make(map[uint64]bool)
	for _, x := range o.Kept {
		if x.score == 0 || known[x.seq] {
			continue
		}
		known[x.seq] = true
		if out = append(out, x); len(out) <= LeastOutliers {
			x.of.exclude(x.time)
		}
	}
	o.Kept = nil
	return out
}

// exclude takes a time out of the sample.
func (s *intervals) exclude(d uint64) {
	if s.sample != nil {
		if i := slices.Index(s.sample.values, int64(d)); i >= 0 {
			s.sample.values = slices.Delete(s.sample.values, i, i+1)
		}
	}
}
