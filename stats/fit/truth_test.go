package fit

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// A truth is a law with known parameters, written without any code of the
// package, from which the tests draw.
type truth struct {
	name   string
	family Family
	params map[string]float64
	coarse float64 // timer resolution in ns
	draw   func(r *rand.Rand) float64
	cdf    func(t float64) float64 // P(T < t) for t in ns
}

// truths are on the scales of real calls: tens of microseconds over a fixed cost.
// The heavy ones and the coarse one show where the method ends.
func truths() []truth {
	return []truth{
		exponentialTruth("exponential", 50000, 20000, 1),
		poissonTruth("poisson 20", 20),
		gammaTruth("gamma 4", 30000, 4, 5000),
		weibullTruth("weibull 2.5", 30000, 2.5, 20000),
		logNormalTruth("lognormal 0.6", 30000, 10000, 0.6),
		mixtureTruth("mixture", 30000, 6, 2000, 0.15, 40000),
		exponentialTruth("exponential 1us", 0, 2000, 1000),
		logNormalTruth("lognormal 1.0", 30000, 10000, 1),
		weibullTruth("weibull 0.7", 30000, 0.7, 20000),
		gammaTruth("gamma 25", 30000, 25, 1000),
	}
}

func exponentialTruth(name string, at, mean, coarse float64) truth {
	return truth{name, Exponential, map[string]float64{"lambda_per_ns": 1 / mean}, coarse,
		func(r *rand.Rand) float64 { return at + mean*r.ExpFloat64() },
		func(t float64) float64 { return -math.Expm1(-max(t-at, 0) / mean) }}
}

func poissonTruth(name string, lambda float64) truth {
	draw := func(r *rand.Rand) float64 {
		k, p := 0, r.Float64()
		for floor := math.Exp(-lambda); p > floor; k++ {
			p *= r.Float64()
		}
		return float64(5000 + k)
	}
	return truth{name, LocatedPoisson, map[string]float64{"lambda": lambda}, 1, draw, func(t float64) float64 {
		var sum float64
		term := math.Exp(-lambda)
		for k := 0.0; k < min(math.Ceil(t)-5000, 10*lambda+100); k++ {
			sum += term
			term *= lambda / (k + 1)
		}
		return sum
	}}
}

func gammaTruth(name string, at, shape, scale float64) truth {
	return truth{name, Gamma, map[string]float64{"shape": shape, "scale_ns": scale, "location_ns": at}, 1,
		func(r *rand.Rand) float64 { return at + scale*drawGamma(r, shape) },
		func(t float64) float64 { return mathext.GammaIncReg(shape, max(t-at, 0)/scale) }}
}

// drawGamma sums exponentials: shapes here are whole numbers.
func drawGamma(r *rand.Rand, shape float64) float64 {
	var sum float64
	for range int(shape) {
		sum += r.ExpFloat64()
	}
	return sum
}

func weibullTruth(name string, at, shape, scale float64) truth {
	return truth{name, Weibull, map[string]float64{"shape": shape, "scale_ns": scale, "location_ns": at}, 1,
		func(r *rand.Rand) float64 { return at + scale*math.Pow(r.ExpFloat64(), 1/shape) },
		func(t float64) float64 { return -math.Expm1(-math.Pow(max(t-at, 0)/scale, shape)) }}
}

func logNormalTruth(name string, at, median, sigma float64) truth {
	return truth{name, LogNormal, map[string]float64{"mu_ln_ns": math.Log(median), "sigma": sigma, "location_ns": at}, 1,
		func(r *rand.Rand) float64 { return at + median*math.Exp(sigma*r.NormFloat64()) },
		func(t float64) float64 {
			return math.Erfc(-math.Log(max(t-at, 1e-9)/median)/sigma/math.Sqrt2) / 2
		}}
}

func mixtureTruth(name string, at, shape, scale, weight, tail float64) truth {
	body := gammaTruth("", at, shape, scale)
	params := map[string]float64{"shape": shape, "scale_ns": scale, "location_ns": at, "tail_weight": weight, "tail_mean_ns": tail}
	draw := func(r *rand.Rand) float64 {
		if r.Float64() < weight {
			return at + tail*r.ExpFloat64()
		}
		return body.draw(r)
	}
	return truth{name, Mixture, params, 1, draw, func(t float64) float64 {
		return (1-weight)*body.cdf(t) - weight*math.Expm1(-max(t-at, 0)/tail)
	}}
}

// duration draws one duration as the timer would record it.
func (tr truth) duration(r *rand.Rand) int64 {
	return int64(math.Floor(tr.draw(r)/tr.coarse) * tr.coarse)
}

// sample draws n durations.
func (tr truth) sample(r *rand.Rand, n int) *Sample {
	s := &Sample{}
	for range n {
		s.Add(tr.duration(r))
	}
	return s
}

// coverage is the true share of calls that take t or less as recorded.
func (tr truth) coverage(t int64) float64 {
	return tr.cdf(math.Floor(float64(t)/tr.coarse)*tr.coarse + tr.coarse)
}

// quantile is the true t_max: the smallest recorded duration of coverage ≥ q.
func (tr truth) quantile(q float64) int64 {
	lo, hi := int64(-1), int64(1)<<40
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; tr.coverage(mid) >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
