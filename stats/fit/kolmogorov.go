package fit

import "math"

// A Distance is the Kolmogorov-Smirnov statistic beside the χ²: the largest
// distance between the sample's and the law's share of calls below a class edge.
//
// P is Kolmogorov's limit law with Stephens' correction for finite samples
// (Journal of the Royal Statistical Society B 32, 1970). Because the
// parameters were fitted and the classes are wide, it is too large: a small P
// speaks against the law, a large one says little. It takes no part in acceptance.
type Distance struct {
	D float64
	P float64
}

// distance computes the statistic at the edges of the occupied classes, where alone
// it can be largest.
func (b binned) distance(l law) Distance {
	n, within := float64(b.h.N), max(b.within(l), tiny)
	var seen, d float64
	for _, c := range b.h.Classes {
		before, _ := l.tails(float64(c.K))
		after, _ := l.tails(float64(c.K + 1))
		d = max(d, math.Abs(before/within-seen/n))
		seen += float64(c.N)
		d = max(d, math.Abs(after/within-seen/n))
	}
	root := math.Sqrt(n)
	return Distance{D: d, P: kolmogorovP((root + 0.12 + 0.11/root) * d)}
}

// kolmogorovP returns 2 Σ (-1)^(j-1) e^(-2j²x²), the probability that the
// limit law exceeds x.
func kolmogorovP(x float64) float64 {
	if x < 0.2 {
		return 1 // less than 1e-13 is missing, and the series converges badly
	}
	var sum float64
	for j := 1.0; j <= 40; j++ {
		sum += 2 * (1 - 2*math.Mod(j-1, 2)) * math.Exp(-2*j*j*x*x)
	}
	return min(max(sum, 0), 1)
}
