package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The maximum does not depend on where the search begins, as long as the first law is wide
// enough to expect all that was observed.
func TestSearchForgetsItsStart(t *testing.T) {
	c := binned{skewed, noCut}.cells()
	build := func(p []float64) law {
		return former(newGamma).at(math.Exp(p[0]), math.Exp(p[1]), math.Exp(p[2]))
	}
	const shape, scale, away = 3.5532405334133, 1.96845975080081, 0.118651017570316 // see TestEstimatesAgainstReference
	want := []float64{shape*scale - away, math.Sqrt(shape) * scale, away}
	for _, start := range [][]float64{{1, 1, 0}, {3, 1, 1}, {2, 2, -4}, {1.5, 1.5, 2}} {
		at, _ := c.search(unlikelihood, build, start)
		for j, x := range c.polish(unlikelihood, build, at) {
			near(t, "coordinate", math.Exp(x), want[j])
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
	body := located{gamma{4, 1}, 0} // 99 % of it below 10
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
