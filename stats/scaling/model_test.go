package scaling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/stats/scaling"
)

// laws are planted growths, with the term that is to be found; nil: a constant.
var laws = []struct {
	name string
	at   func(p float64) float64
	term *scaling.Term
}{
	{"constant", func(float64) float64 { return 0 }, nil},
	{"log p", math.Log2, &scaling.Term{Num: 0, Den: 1, Log: 1}},
	{"log² p", func(p float64) float64 { return math.Pow(math.Log2(p), 2) }, &scaling.Term{Num: 0, Den: 1, Log: 2}},
	{"p^½", math.Sqrt, &scaling.Term{Num: 1, Den: 2}},
	{"p", func(p float64) float64 { return p }, &scaling.Term{Num: 1, Den: 1}},
	{"p log p", func(p float64) float64 { return p * math.Log2(p) }, &scaling.Term{Num: 1, Den: 1, Log: 1}},
	{"p^1½", func(p float64) float64 { return math.Pow(p, 1.5) }, &scaling.Term{Num: 3, Den: 2}},
	{"p²", func(p float64) float64 { return p * p }, &scaling.Term{Num: 2, Den: 1}},
	{"1/p", func(p float64) float64 { return 1 / p }, &scaling.Term{Num: -1, Den: 1}},
}

// TestPlantedLaws states that a law without noise is found as it is, from five sizes and from seven,
// and that its interval is no wider than rounding.
func TestPlantedLaws(t *testing.T) {
	for _, law := range laws {
		for _, sizes := range []int{5, 7} {
			var p, y []float64
			for k := range sizes {
				x := math.Pow(2, float64(k+1))
				p, y = append(p, x), append(y, 1000+500*law.at(x))
			}
			at := 2 * p[sizes-1]
			m := scaling.Fit(p, y, at)
			if law.term == nil {
				if len(m.Terms) != 0 || m.R2 != 1 {
					t.Errorf("%s, %d sizes: %s", law.name, sizes, m.Formula(1, ""))
				}
				continue
			}
			if len(m.Terms) != 1 || m.Terms[0].Num != law.term.Num || m.Terms[0].Den != law.term.Den || m.Terms[0].Log != law.term.Log {
				t.Errorf("%s, %d sizes: found %s", law.name, sizes, m.Formula(1, ""))
				continue
			}
			if want := 1000 + 500*law.at(at); math.Abs(m.At(at)-want) > 1e-6*want || math.Abs(m.Terms[0].Coefficient-500) > 1e-3 {
				t.Errorf("%s, %d sizes: %s, at %g %g, want %g", law.name, sizes, m.Formula(1, ""), at, m.At(at), want)
			}
			if low, high, ok := m.Interval(at); !ok || high-low > 1e-5*m.At(at) {
				t.Errorf("%s: interval %g to %g", law.name, low, high)
			}
		}
	}
}

// TestConstantsUnderNoise states that growth is seen in at most one of twenty series that have
// none, and that intervals hold what they promise when the form is right.
func TestConstantsUnderNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := []float64{2, 4, 8, 16, 32}
	grown, inside, asked := 0, 0, 0
	const series = 400
	for range series {
		y := make([]float64, len(p))
		for i := range y {
			y[i] = 1000 * (1 + 0.02*r.NormFloat64())
		}
		m := scaling.Fit(p, y, 64)
		if len(m.Terms) > 0 {
			grown++
			continue
		}
		low, high, ok := m.Interval(64)
		if !ok {
			t.Fatal("no interval")
		}
		asked++
		if v := 1000 * (1 + 0.02*r.NormFloat64()); v >= low && v <= high {
			inside++
		}
	}
	if grown > series/20 {
		t.Errorf("%d of %d constants seem to grow", grown, series)
	}
	if share := float64(inside) / float64(asked); share < 0.92 || share > 0.98 {
		t.Errorf("%.3f of new values lie in the interval of 95 %%", share)
	}
}

// TestFitEdges states what has no model, and that times below zero are never foretold.
func TestFitEdges(t *testing.T) {
	if m := scaling.Fit([]float64{2, 4}, []float64{1, 2}); m != nil {
		t.Errorf("a model of two sizes: %s", m.Formula(1, ""))
	}
	if m := scaling.Fit([]float64{2, 2, 4, 4}, []float64{1, 1, 2, 2}); m != nil {
		t.Errorf("a model of two sizes that repeat: %s", m.Formula(1, ""))
	}
	for _, y := range [][]float64{{100, 50, 25, 12, 6}, {0, 0, 0, 0, 0}, {100, 90, 70, 30, 1}, {0, 0, 0, 0, 7}} {
		m := scaling.Fit([]float64{1, 2, 4, 8, 16}, y, 1024)
		if v := m.At(1024); v < 0 || math.IsNaN(v) {
			t.Errorf("%v: %s is %g at 1024", y, m.Formula(1, ""), v)
		}
	}
}

// TestTwoTerms states that work which is shared out and a cost that grows are told apart.
func TestTwoTerms(t *testing.T) {
	var p, y []float64
	for k := range 7 {
		x := math.Pow(2, float64(k))
		p, y = append(p, x), append(y, 50+6400/x+20*math.Log2(x))
	}
	m := scaling.Fit(p, y, 128)
	if got := m.Formula(1, ""); got != "50 + 6400·p^-1 + 20·log2(p)" {
		t.Errorf("found %s", got)
	}
}

// TestIntervalsUnderNoise states what models of noisy series are worth, whether deviations have one size or grow with the value: 95 %
// intervals hold about that, at twice and four times the largest size; laws are found where noise is small; terms below 0 are rare.
func TestIntervalsUnderNoise(t *testing.T) {
	const series, first = 30, 4.0
	for _, noise := range []float64{0.01, 0.03} {
		for _, relative := range []bool{true, false} {
			inside, asked, found, negative, fits := 0, 0, 0, 0, 0
			for _, law := range laws {
				if law.name == "log² p" || law.name == "p^1½" || law.name == "p²" {
					continue
				}
				r := rand.New(rand.NewPCG(1, 2))
				for k := range series {
					sizes := 5 + k%3
					largest := first * math.Pow(2, float64(sizes-1))
					value := func(p float64) float64 {
						if law.term == nil {
							return 1000
						}
						return 1000 * (1 + 4*law.at(p)/max(law.at(first), law.at(largest)))
					}
					measured := func(p float64) float64 {
						size := noise * value(p)
						if !relative {
							size = noise * (value(first) + value(largest)) / 2
						}
						return value(p) + size*r.NormFloat64()
					}
					var p, y []float64
					for i := range sizes {
						x := first * math.Pow(2, float64(i))
						p, y = append(p, x), append(y, measured(x))
					}
					m := scaling.Fit(p, y, 2*largest, 4*largest)
					for _, at := range []float64{2 * largest, 4 * largest} {
						low, high, ok := m.Interval(at)
						if v := measured(at); ok && v >= low && v <= high {
							inside++
						}
						asked++
					}
					fits++
					if len(m.Terms) == 0 && law.term == nil || law.term != nil && len(m.Terms) == 1 && m.Terms[0].Num == law.term.Num &&
						m.Terms[0].Den == law.term.Den && m.Terms[0].Log == law.term.Log {
						found++
					}
					for _, x := range m.Terms {
						if x.Coefficient < 0 {
							negative++
						}
					}
				}
			}
			t.Logf("noise %g, relative %v: %.3f of %d new values in their intervals, %.2f of %d laws found, %d terms below 0", noise, relative,
				float64(inside)/float64(asked), asked, float64(found)/float64(fits), fits, negative)
			if share := float64(inside) / float64(asked); share < 0.91 || share > 0.99 {
				t.Errorf("noise %g, relative %v: %.3f of new values lie in their intervals", noise, relative, share)
			}
			if share := float64(found) / float64(fits); share < 0.75 || noise == 0.01 && share < 0.9 {
				t.Errorf("noise %g, relative %v: %.2f of the laws are found", noise, relative, share)
			}
			if 50*negative > fits {
				t.Errorf("noise %g, relative %v: %d of %d models have a term below 0", noise, relative, negative, fits)
			}
		}
	}
}
