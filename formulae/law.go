package formulae

import (
	"cmp"
	"math"
	"slices"

	"tracekit/formulae/partners"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
)

// Durations says what is kept of the durations in stat mode.
type Durations uint8

// What is kept of durations.
const (
	Means Durations = iota // the mean for each place in the program
	Laws                   // distributions too, where the most time goes
)

// String returns what is kept as the command line has it.
func (d Durations) String() string {
	if d == Laws {
		return "law"
	}
	return "mean"
}

// LongestLawful is the longest quantile of a law, in ticks: intervals with longer ones have means.
const LongestLawful = 1 << 40

// A law is one with the number and the time of the calls that have it.
type law struct {
	Law
	calls, time uint64
}

// LawLevels returns the levels of a law's quantiles, in 1/LevelUnit; the ends stand for the
// quantiles 0.001 and 0.999.
func LawLevels() []uint64 { return []uint64{0, 8, 16, 24, 32, 40, 48, 56, 60, 62, 63, 64} }

// LevelUnit is the number of units of LawLevels in 1.
const LevelUnit = 64

// Families of laws in a file: 0 is the sample itself, others those of lawFamilies.
const empirical = 0

// lawFamilies are the families that are tried: those that cost little.
func lawFamilies() []fit.Family { return []fit.Family{fit.Exponential, fit.Gamma, fit.LogNormal} }

// Bounds of laws.
const (
	sampleSize  = 256 // durations that are kept of an interval
	leastCalls  = 50  // of an interval, for a law
	lawsPerRank = 12  // intervals of a location that may have laws: those with the most time
)

// A reservoir is a random sample of a sequence of unknown length: each value is kept with
// the same chance.
type reservoir struct {
	values []int64
	state  uint64
}

// keep offers an interval to the sample.
func (s *intervals) keep(d uint64) {
	if s.sample == nil {
		s.sample = &reservoir{}
	}
	r := s.sample
	if len(r.values) < sampleSize {
		r.values = append(r.values, int64(min(d, math.MaxInt64)))
		return
	}
	r.state++
	if at := numbers.Mix(r.state) % s.count; at < sampleSize {
		r.values[at] = int64(min(d, math.MaxInt64))
	}
}

// fitLaws finds the laws of the intervals that take the most time, and lets the samples go.
func (t *CallTree) fitLaws() {
	type candidate struct {
		*intervals
		number int
	}
	var all []candidate
	number := 0
	for _, n := range t.nodes {
		for _, i := range n.items {
			for r := range partners.Regimes(i.kind) {
				if s := &i.intervals[r]; s.count >= leastCalls {
					all = append(all, candidate{s, number})
				}
				number++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.time, a.time) })
	all = all[:min(len(all), lawsPerRank)]
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.number, b.number) })
	for _, c := range all {
		if l, ok := lawOf(c.sample.values); ok {
			l.Interval, l.calls, l.time = uint64(c.number), c.count, c.time
			t.laws = append(t.laws, l)
		}
	}
	for _, n := range t.nodes {
		for _, i := range n.items {
			for r := range i.intervals {
				i.intervals[r].sample = nil
			}
		}
	}
}

// lawOf returns the law that fits a sample best, or the sample's own quantiles if the test
// accepts none. Durations that are all the same have no law.
func lawOf(values []int64) (law, bool) {
	s := &fit.Sample{}
	for _, v := range values {
		s.Add(v)
	}
	if s.Min() == s.Max() || s.Max() > LongestLawful {
		return law{}, false
	}
	l := law{Law: Law{Family: empirical}}
	quantile := s.Quantile
	if r := fit.Fit(s, fit.Options{Paper: true, Families: lawFamilies()}); r.Chosen >= 0 {
		m := r.Models[r.Chosen]
		l.Family = uint8(1 + slices.Index(lawFamilies(), m.Family))
		quantile = m.Quantile
	}
	last := uint64(0)
	for _, level := range LawLevels() {
		q := min(max(float64(level)/LevelUnit, 0.001), 0.999)
		now := uint64(min(max(quantile(q), 0), LongestLawful))
		l.Quantiles, last = append(l.Quantiles, now-last), now
	}
	return l, true
}
