package fit

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Overhead returns what a call of duration t has beyond t_max: max(0, t - tMax).
// The rest of t is necessary time.
func Overhead(t, tMax int64) int64 { return max(0, t-tMax) }

// binomialTail returns P(X ≥ k) for a binomial law of n trials with rate p: the
// p-value of finding k or more calls above a quantile that n calls exceed at rate p.
// It is 1 for k ≤ 0 and 0 for k > n.
func binomialTail(k, n int64, p float64) float64 {
	switch {
	case k <= 0 || p >= 1 && k <= n:
		return 1
	case k > n || p <= 0:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k)+1, p)
}

// PValue asks whether too many calls of s exceed t_max: the binomial tail of
// their number at the rate 1 - q. Sample s is the one that was fitted, or that of
// the same key with its wait states left in.
//
// The rate is itself estimated, so the tail is averaged over the rate's standard
// error, [Model.TailError]: without that, keys whose law reaches far beyond
// the cut would be called anomalous much too often.
//
// Several families may be accepted and disagree beyond the cut, where no test
// reaches. The p-value is the largest that any accepted law gives, so that a key is
// anomalous only if all of them say so. It is 1, no verdict, if no law was
// accepted, and for q = 1, which leaves no rate to compare with.
func (r Result) PValue(s *Sample) float64 {
	if r.Chosen < 0 || r.Quantile >= 1 {
		return 1
	}
	p := 0.0
	for _, m := range r.Models {
		if m.Test.Accepted {
			over, _ := s.Above(m.TMax)
			p = max(p, uncertainTail(over, s.Len(), 1-r.Quantile, m.TailError))
		}
	}
	return p
}

// uncertainTail averages binomialTail over a rate whose logarithm is normal
// around ln p with the given deviation: the trapezoidal rule over ±5 deviations,
// which for a normal weight is exact to many digits.
func uncertainTail(k, n int64, p, deviation float64) float64 {
	var sum, weights float64
	for z := -5.0; z <= 5; z += 0.25 {
		w := math.Exp(-z * z / 2)
		sum += w * binomialTail(k, n, min(p*math.Exp(z*deviation), 1))
		weights += w
	}
	return sum / weights
}

// TooMany asks whether too many of n calls exceed a t_max that was learned elsewhere, at
// quantile q: the binomial tail of their number at the rate 1 - q.
func TooMany(over, n int64, q float64) float64 { return binomialTail(over, n, 1-q) }

// Anomalous tells for which keys the p-value is small enough. Of the keys that it names, a share of at most rate (5 % is usual) is expected
// to be wrong. It is the procedure of Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995. Ties are treated
// alike.
func Anomalous(p []float64, rate float64) []bool {
	sorted := append([]float64(nil), p...)
	sort.Float64s(sorted)
	limit := -1.0
	for j, v := range sorted {
		if v <= rate*float64(j+1)/float64(len(sorted)) {
			limit = v
		}
	}
	out := make([]bool, len(p))
	for j, v := range p {
		out[j] = v <= limit
	}
	return out
}
