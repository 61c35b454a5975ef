package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// members are laws of every family, with the coordinates that they are built from: narrow and wide
// ones, such as fall from the start, and such as differ little from a normal law.
func members() map[string]estimate {
	out := map[string]estimate{}
	add := func(name string, build func(at []float64) law, at ...float64) {
		out[name] = estimate{build(at), at, build}
	}
	add("exponential", func(at []float64) law { return exponential{math.Exp(at[0])} }, -1.5)
	for _, offset := range []float64{0.5, 7, 90} {
		add(fmt.Sprint("poisson ", offset), func(at []float64) law { return poisson{math.Exp(at[0]), at[1], true} }, math.Log(offset+9), offset)
	}
	for name, form := range map[string]former{"gamma": newGamma, "weibull": newWeibull, "lognormal": newLogNormal} {
		for _, at := range [][]float64{{2, 1}, {2, 2.5}, {1, 3}, {2, -1}, {2, 1, 0}, {2, 2, -3}, {3, 1, 5}, {2.5, 1, 6.5}, {2.5, 1, 8},
			{2, 3.5, -9}} {
			add(fmt.Sprint(name, at), form.build, at...)
		}
	}
	for _, at := range [][]float64{{2, 1, -1, 0}, {2, 2.5, -1, 2}, {2, 1, 0, -3, 1}, {2, 2, -2, 1, -4}, {2, 1, -1, 3, 8}} {
		add(fmt.Sprint("mixture", at), newMixture, at...)
	}
	return out
}

// The shares of cells are differences of tails, in either tail accurate relative to themselves;
// slopes are differences of shares.
func TestShares(t *testing.T) {
	edges := []float64{math.Inf(-1), 0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 30, 31, 60, 61, 1000, math.Inf(1)}
	c := cells{edges: edges, observed: make([]float64, len(edges)-1)}
	for name, m := range members() {
		x, other := c.expectation(len(m.at)), c.expectation(0)
		m.shares(edges, x)
		for j, share := range x.calls {
			if want := mass(m.law, edges[j], edges[j+1]); !(math.Abs(share-want) <= 1e-13+1e-8*want) {
				t.Errorf("%s: share from %g is %g, want %g", name, edges[j], share, want)
			}
		}
		for i := range m.at {
			want := make([]float64, len(x.calls))
			for _, d := range []struct{ h, weight float64 }{{1e-3, 4.0 / 3}, {2e-3, -1.0 / 3}} {
				for _, h := range []float64{d.h, -d.h} {
					at := slices.Clone(m.at)
					at[i] += h
					m.build(at).shares(edges, other)
					for j, share := range other.calls {
						want[j] += d.weight * share / (2 * h)
					}
				}
			}
			for j, slope := range x.slopes[i] {
				if !(math.Abs(slope-want[j]) <= 1e-9+1e-6*math.Abs(want[j])) {
					t.Errorf("%s: from %g the slope by coordinate %d is %g, want %g", name, edges[j], i, slope, want[j])
				}
			}
		}
	}
}

// A law that is normal has its location at -∞. The fit stays where the
// likelihood still tells how far, so that the error of the tail's rate is that of a
// shape that may vary, not of one that is unknown.
func TestLimitOfShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := &Sample{}
	for range 4000 {
		s.Add(int64(100000 + 2000*r.NormFloat64() - 50*math.Pow(r.NormFloat64(), 2)))
	}
	for _, m := range Fit(s, Options{Paper: true, Families: []Family{Gamma, LogNormal}}).Models {
		if m.TailError <= 0 || m.TailError > 0.5 {
			t.Errorf("%s: relative error of the rate %g", m.Family, m.TailError)
		}
	}
}

// Slow calls widen the windows of the whole sample, not those of the body: a body in few
// classes would pass any test.
func TestWindowsSuitTheBody(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	law := gammaTruth("", 30000, 4, 5000)
	clean, slowed := &Sample{}, &Sample{}
	for j := range 1000 {
		d := law.duration(r)
		clean.Add(d)
		if j%10 < 3 {
			d += 20_000_000
		}
		slowed.Add(d)
	}
	narrow, wide := Fit(clean, Options{}).Histogram.Window, slowed.Histogram(0, 1).Window
	if got := Fit(slowed, Options{}).Histogram.Window; got > 2*narrow || wide < 100*narrow {
		t.Errorf("windows of %d ns, of %d in the clean sample, of %d in the whole", got, narrow, wide)
	}
}

// Only a mixture with a slow minority separates a body from a tail.
func TestSlowTail(t *testing.T) {
	body := located{shape: gamma{4, 1}} // 99 % of it below 10
	tests := []struct {
		w, b, end float64
		want      bool
	}{
		{0.1, 50, math.Inf(1), true},
		{0.6, 50, math.Inf(1), false}, // the majority
		{0.1, 5, math.Inf(1), false},  // no slower than the body's own slow calls
		{0.999, 1e5, 20, true},        // nearly all, but not before the cut
		{0.999, 100, 20, false},
	}
	for _, tt := range tests {
		if got := (mixture{body, tt.w, tt.b}).slow(0.99, tt.end); got != tt.want {
			t.Errorf("weight %g, mean %g, cut at %g: %v", tt.w, tt.b, tt.end, got)
		}
	}
}

// The root is found to rounding, and the nearer end stands where there is none.
func TestSolve(t *testing.T) {
	tests := []struct {
		name   string
		f      func(float64) float64
		lo, hi float64
		want   float64
	}{
		{"cubic", func(x float64) float64 { return x*x*x - 2 }, 0, 2, math.Cbrt(2)},
		{"jump", func(x float64) float64 { return math.Copysign(1, x-math.Pi) }, 0, 10, math.Pi},
		{"above", func(x float64) float64 { return x }, 1, 10, 1},
		{"below", func(x float64) float64 { return x - 11 }, 0, 10, 10},
	}
	for _, tt := range tests {
		if got := solve(tt.lo, tt.hi, tt.f); math.Abs(got-tt.want) > 1e-15*math.Abs(tt.want) {
			t.Errorf("%s: %.17g, want %.17g", tt.name, got, tt.want)
		}
	}
}
