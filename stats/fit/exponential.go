package fit

import "math"

// exponential is the discretised exponential law p_k = e^(-λk)(1 - e^(-λ)) with λ
// per window. It starts at t_min: unlike the other families it loses nothing
// by that, since what exceeds the minimum of an exponential sample is
// exponential again.
type exponential struct{ rate float64 }

// fitExponential uses the closed form λ = ln(1 + 1/k̄); a truncated law has none.
func fitExponential(b binned) estimate {
	at := []float64{math.Log(b.exponentialRate())}
	return estimate{exponential{math.Exp(at[0])}, at, func(at []float64) law { return exponential{math.Exp(at[0])} }}
}

func (b binned) exponentialRate() float64 {
	mean := b.h.mean()
	if b.cut == noCut {
		return math.Log1p(1 / mean)
	}
	// The mean of the truncated law falls with λ; it equals the sample's at
	// the maximum. If the sample does not decay at all, the smallest λ stands.
	n := float64(b.cut)
	return solve(1e-9/n, 700, func(rate float64) float64 {
		return mean - 1/math.Expm1(rate) + n/math.Expm1(rate*n)
	})
}

func (e exponential) tails(x float64) (lower, upper float64) {
	x = max(math.Floor(x), 0)
	return -math.Expm1(-e.rate * x), math.Exp(-e.rate * x)
}

func (e exponential) quantile(q float64) float64 {
	// The guard takes back what rounding adds where q is the mass of whole classes.
	return max(math.Ceil(-math.Log1p(-q)/e.rate-1e-9), 1)
}

func (e exponential) params(a axis) []Param {
	return []Param{{"lambda_per_ns", e.rate / float64(a.window)}}
}

func (e exponential) fitted() int { return 1 }
