package sampling

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A representation compares how often categories are in a sample with how often they are in the
// population.
type representation struct {
	statistic float64 // χ²
	dof       int
}

// leastExpected is the expected count below which categories are pooled for the test.
const leastExpected = 5

// represented tests whether a sample could be a random one of all messages: χ² of the counts of
// the categories, where rare ones are pooled, with the correction for drawing without putting back.
// ok is false where there is nothing to test: too few samples, or all messages.
func represented(population, sampled []uint64) (x representation, ok bool) {
	var all, n uint64
	order := make([]int, len(population))
	for i := range population {
		all, n, order[i] = all+population[i], n+sampled[i], i
	}
	if n == 0 || n >= all {
		return x, false
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(population[a], population[b]) })
	share := float64(n) / float64(all)
	var expected, observed float64
	classes, last := 0, [2]float64{}
	end := func() {
		x.statistic += square(observed-expected) / expected
		last = [2]float64{expected, observed}
		classes++
		expected, observed = 0, 0
	}
	for _, i := range order { // ascending, so that the rest is in the largest class
		expected += share * float64(population[i])
		observed += float64(sampled[i])
		if expected >= leastExpected {
			end()
		}
	}
	if expected > 0 && classes > 0 {
		x.statistic -= square(last[1]-last[0]) / last[0]
		classes--
		expected, observed = expected+last[0], observed+last[1]
		end()
	}
	x.dof = classes - 1
	x.statistic *= float64(all-1) / float64(all-n)
	return x, x.dof > 0
}

func square(x float64) float64 { return x * x }

// p returns how probable at least so large a statistic is of a random sample.
func (x representation) p() float64 {
	return distuv.ChiSquared{K: float64(x.dof)}.Survival(x.statistic)
}

// biasedBelow is the p-value below which a sample is called biased.
const biasedBelow = 0.001

// relative returns (a-b)/b, NaN if b is 0.
func relative(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return (a - b) / b
}
