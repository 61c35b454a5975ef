package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestPrior states that the prior of places whose variances follow one is found again, and that few
// places have none.
func TestPrior(t *testing.T) {
	src := rand.NewPCG(5, 6)
	variance := func(freedom float64) float64 { // a variance of 1 as it is estimated
		return distuv.ChiSquared{K: freedom, Src: src}.Rand() / freedom
	}
	for _, want := range []prior{{1, 4}, {3, 10}, {0.5, math.Inf(1)}} {
		for _, freedom := range []float64{1, 2, 5} {
			var places []estimate
			for k := range 20_000 {
				spread := float64(k + 1)
				real := want.scale * spread
				if !math.IsInf(want.freedom, 1) {
					real /= variance(want.freedom)
				}
				places = append(places, estimate{blocks: deviation{spread, 31}, runs: deviation{real * variance(freedom), freedom}})
			}
			got := priorOf(places)
			if math.Abs(got.scale/want.scale-1) > 0.1 || !math.IsInf(want.freedom, 1) && math.Abs(got.freedom/want.freedom-1) > 0.4 ||
				math.IsInf(want.freedom, 1) && got.freedom < 50 {
				t.Errorf("with %g degrees of freedom the prior is %v, want %v", freedom, got, want)
			}
			if few := priorOf(places[:leastPlaces-1]); few != (prior{}) {
				t.Errorf("few places have the prior %v", few)
			}
		}
	}
}

// TestModerate states how a prior of 3 degrees of freedom and scale 2 moderates a variance of 50 with
// one: (3·2·10 + 50) / 4; and that it is no surer than the blocks, nor without them.
func TestModerate(t *testing.T) {
	for _, c := range []struct {
		prior  prior
		blocks deviation
		want   deviation
	}{
		{prior{2, 3}, deviation{10, 31}, deviation{27.5, 4}},
		{prior{2, math.Inf(1)}, deviation{10, 4}, deviation{26, 5}},
		{prior{2, 3}, deviation{}, deviation{50, 1}},
		{prior{}, deviation{10, 31}, deviation{50, 1}},
	} {
		if got := c.prior.moderate(estimate{blocks: c.blocks, runs: deviation{50, 1}}); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.prior, c.blocks, got, c.want)
		}
	}
}
