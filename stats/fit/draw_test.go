package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDrawn states that calls are drawn without bias and again only after a rejection, the same ones by the same seed; and that a sample no
// larger than that is fitted whole.
func TestDrawn(t *testing.T) {
	r, s := rand.New(rand.NewPCG(4, 4)), new(Sample)
	const all, drawn = 20_000, 200
	for range all {
		s.Add(5000 + int64(700*r.ExpFloat64()))
	}
	mean, runs, accepted := 0.0, 100, 0
	for seed := range runs {
		some := s.draw(drawn, rand.New(rand.NewPCG(uint64(seed), 1)))
		some.settle()
		mean += float64(some.sum) / drawn / float64(runs)
		o := strict
		o.Draw, o.Seed = drawn, uint64(seed)
		res := Fit(s, o)
		if again := Fit(s, o); again.TMax != res.TMax || again.Draws != res.Draws {
			t.Fatalf("seed %d: %d after %d draws, then %d after %d", seed, res.TMax, res.Draws, again.TMax, again.Draws)
		}
		if res.Calls != drawn || res.From != FromLaw || res.Draws < 1 {
			t.Errorf("seed %d: %d calls, %s after %d draws", seed, res.Calls, res.From, res.Draws)
		}
		if over, overhead := s.Above(res.TMax); over != res.Over || overhead != res.Overhead {
			t.Errorf("seed %d: %d calls over t_max, want %d", seed, res.Over, over)
		}
		if res.Draws == 1 {
			accepted++
		}
	}
	if want := float64(s.sum) / all; math.Abs(mean-want) > 4*700/math.Sqrt(drawn*float64(runs)) {
		t.Errorf("mean of what is drawn %g, want %g", mean, want)
	}
	if accepted < 85 || accepted == 100 {
		t.Errorf("%d of 100 first draws of an exponential sample are accepted", accepted)
	}

	peaks := new(Sample)
	for i := range all {
		peaks.Add([]int64{100, 140, 900, 1500}[i%4])
	}
	o := strict
	o.Draw = drawn
	if res := Fit(peaks, o); res.From != FromEmpirical || res.Draws != mostDraws {
		t.Errorf("four peaks: %s after %d draws, want %d", res.From, res.Draws, mostDraws)
	}
	few := s.draw(150, rand.New(rand.NewPCG(1, 1)))
	if res := Fit(few, o); res.Draws != 0 || res.Calls != 150 {
		t.Errorf("150 calls: %d drawn %d times", res.Calls, res.Draws)
	}
}
