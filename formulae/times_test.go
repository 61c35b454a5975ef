package formulae

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// lawful learns a trace in text form, with laws.
func lawful(t *testing.T, text string) *Program {
	t.Helper()
	p, err := Learn(t.Context(), tracetest.MustParse(t, text), Options{Durations: Laws, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// calls are calls of f that last so long, one tick apart.
func calls(durations []int) string {
	var b strings.Builder
	b.WriteString("location 0 rank=0\n")
	at := 0
	for _, d := range durations {
		fmt.Fprintf(&b, " %d Enter f ; %d Leave f\n", at, at+d)
		at += d + 1
	}
	return b.String()
}

// A time that has a code comes back within half of its last bit, longer ones have larger codes, and what comes back has the same code.
func TestCodesOfOutliers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	times := []uint64{0, 1, 1<<codeBits - 1, 1 << codeBits, 1<<63 - 1, 1 << 63, math.MaxUint64}
	for range 5000 {
		times = append(times, r.Uint64()>>r.IntN(64))
	}
	slices.Sort(times)
	last := uint64(0)
	for _, d := range times {
		code := codeOutlier(d)
		back := OutlierTime(code)
		if far := max(back, d) - min(back, d); far > d>>codeBits || codeOutlier(back) != code || code < last || code > largestOutlier(codeBits) {
			t.Errorf("%d has the code %d after %d and comes back as %d", d, code, last, back)
		}
		last = code
	}
	if last != largestOutlier(codeBits) {
		t.Errorf("the largest code is %d, want %d", last, largestOutlier(codeBits))
	}
}

// Calls that are far from the mean are found, the farthest first; kept, they are no part of it.
func TestOutliersAreTheFarthest(t *testing.T) {
	t.Parallel()
	durations := slices.Repeat([]int{10}, 100)
	durations[20], durations[70], durations[50] = 3000, 900, 7000
	l := &lawful(t, calls(durations)).Locations[0]
	if len(l.Far) < 3 || l.Far[0].Seq != 2*50+1 || l.Far[1].Seq != 2*20+1 || l.Far[2].Seq != 2*70+1 || l.Far[0].Time != 7000 {
		t.Fatalf("far are %v", l.Far)
	}
	for _, law := range l.Times.Laws {
		if law.Interval == uint64(l.Far[0].Interval) { // without them all are the same
			t.Errorf("law %+v", law)
		}
	}
	plain := slices.Clone(l.Times.Means)
	for n := range 4 {
		l.Keep(n)
		if err := l.Times.Check(l.Tree); err != nil || len(l.Times.Outliers) != n {
			t.Errorf("%d outliers of %d: %v", len(l.Times.Outliers), n, err)
		}
		sum := Sum{100, 97*10 + 10900}
		for _, f := range l.Far[:n] {
			sum.Count, sum.Time = sum.Count-1, sum.Time-f.Time
		}
		if got := l.Times.Means[l.Far[0].Interval]; got != Mean(sum.Time, sum.Count) {
			t.Errorf("without %d outliers the mean is %d/16, want %d/16", n, got, Mean(sum.Time, sum.Count))
		}
	}
	if l.Keep(0); !slices.Equal(l.Times.Means, plain) {
		t.Errorf("without outliers the means are %v, want %v", l.Times.Means, plain)
	}
	l.Keep(len(l.Far) + 7)
	if len(l.Times.Outliers) != len(l.Far) {
		t.Errorf("%d outliers of %d", len(l.Times.Outliers), len(l.Far))
	}
}

// All locations together have so many outliers, each at least a few and at most many.
func TestOutliersOfLocations(t *testing.T) {
	t.Parallel()
	for locations, want := range map[int]int{0: MostOutliers, 1: MostOutliers, 8: MostOutliers, 64: 1024, 1024: LeastOutliers,
		1 << 20: LeastOutliers} {
		if got := outliersOf(locations); got != want {
			t.Errorf("%d locations: %d outliers each, want %d", locations, got, want)
		}
	}
}

// Of many regions, those that take the most time have laws, in the order of the tree, if they were called often and not always alike.
func TestLawsAreOfWhatTakesTime(t *testing.T) {
	t.Parallel()
	const regions = lawsPerRank + 8
	var b strings.Builder
	b.WriteString("location 0 rank=0\n")
	at, r := 0, rand.New(rand.NewPCG(3, 4))
	order := r.Perm(regions)
	for i := range 100 {
		for k, rank := range order {
			if k == 0 && i >= leastCalls-1 { // called too seldom
				continue
			}
			d := 1000 * (rank + 1)
			if k != 1 { // which is always the same
				d += r.IntN(d)
			}
			fmt.Fprintf(&b, " %d Enter f%d ; %d Leave f%d\n", at, k, at+d, k)
			at += d
		}
	}
	l := &lawful(t, b.String()).Locations[0]
	if err := l.Times.Check(l.Tree); err != nil {
		t.Error(err)
	}
	var times []uint64
	for k, n := range l.Tree.Nodes[1:] {
		if k >= 2 && n.Visits == 100 {
			times = append(times, l.Times.Spent[k+1])
		}
	}
	slices.Sort(times)
	least := times[len(times)-(lawsPerRank-1)] // of those two, one may take much: then it takes a place, and gets no law
	if n := len(l.Times.Laws); n > lawsPerRank || n < lawsPerRank-1 {
		t.Errorf("%d laws, want %d", n, lawsPerRank)
	}
	for _, law := range l.Times.Laws {
		s := l.Sums[law.Interval]
		if s.Count != 100 || Mean(s.Time, s.Count) < times[len(times)-lawsPerRank] && least > 0 {
			t.Errorf("a law of %+v, others take %v/16", s, times)
		}
		sum := uint64(0)
		for _, q := range law.Quantiles {
			sum += q
		}
		if mean := s.Time / s.Count; sum < mean || law.Quantiles[0] > mean {
			t.Errorf("quantiles %v around the mean %d", law.Quantiles, mean)
		}
	}
}

// A law is of the family of its sample, with quantiles that ascend; times beyond all that is lawful have none.
func TestFamiliesOfLaws(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for name, next := range map[string]func() float64{
		"exponential": func() float64 { return 1e6 * r.ExpFloat64() },
		"lognormal":   func() float64 { return 1e6 * math.Exp(r.NormFloat64()) },
		"two values":  func() float64 { return 10 + 1e6*float64(r.IntN(2)) },
	} {
		values := make([]int64, 4000)
		for i := range values {
			values[i] = int64(next())
		}
		l, ok := lawOf(values)
		if !ok || (l.Family == empirical) != (name == "two values") || len(l.Quantiles) != len(LawLevels()) {
			t.Errorf("%s: a law of family %d (%v), %v", name, l.Family, ok, l.Quantiles)
		}
		slices.Sort(values)
		sum := uint64(0)
		for i, level := range LawLevels() {
			sum += l.Quantiles[i]
			if level == 32 && name != "two values" && math.Abs(float64(sum)/float64(values[2000])-1) > 0.1 {
				t.Errorf("%s: the median is %d, want about %d", name, sum, values[2000])
			}
		}
		values[0] = LongestLawful + 1
		if _, ok := lawOf(values); ok {
			t.Errorf("%s: a law of times beyond all", name)
		}
	}
	if _, ok := lawOf(nil); ok {
		t.Error("a law of nothing")
	}
}

// What counters grow by is a difference, of numbers or of bits of a float64; what is no number does not count.
func TestGrowth(t *testing.T) {
	t.Parallel()
	const whole, double = trace.TypeUint64, trace.TypeDouble
	bits, infinite := math.Float64bits, math.Float64bits(math.Inf(1))
	for name, c := range map[string]struct {
		typ    trace.ValueType
		values []uint64
		growth []uint64
		mean   uint64 // of the growth
	}{
		"upwards":      {whole, []uint64{100, 103, 103, 110}, []uint64{0, 3, 0, 7}, 10 * MeanUnit / 4},
		"downwards":    {whole, []uint64{5, 4, 2}, []uint64{0, math.MaxUint64, math.MaxUint64 - 1}, math.MaxUint64 - MeanUnit + 1},
		"around":       {whole, []uint64{math.MaxUint64, 1}, []uint64{0, 2}, MeanUnit},
		"nothing":      {whole, nil, nil, 0},
		"real numbers": {double, []uint64{bits(1), bits(1.5), bits(0.5)}, []uint64{0, bits(0.5), bits(-1)}, bits(-0.5 / 3)},
		"no numbers":   {double, []uint64{bits(1), infinite, bits(2)}, []uint64{0, 0, 0}, 0},
	} {
		var m meters
		var sum counter
		for i, v := range c.values {
			got := m.grow(7, 1, c.typ, v)
			if m.grow(7, 0, c.typ, uint64(i)) > 1 { // another member counts on its own
				t.Errorf("%s: members disturb each other", name)
			}
			if got != c.growth[i] {
				t.Errorf("%s: value %d has grown by %d, want %d", name, i, got, c.growth[i])
			}
			sum.add(c.typ, got)
		}
		if got := sum.mean(c.typ); got != c.mean {
			t.Errorf("%s: the mean is %d, want %d", name, got, c.mean)
		}
	}
}
