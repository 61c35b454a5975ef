package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// poisson is the law P(class k) = λ^(k+d) e^(-λ) / (k+d)!: the d classes below
// t_min exist, but none of their calls was seen.
type poisson struct {
	rate   float64
	offset float64 // whole in every fit; its neighbours need not be
}

// maxOffset bounds the search for the offset.
const maxOffset = 1 << 30

// fitPoisson climbs over the offsets, from the one at which mean and variance
// agree, in steps that halve; λ is the best one for each offset.
func fitPoisson(b binned) estimate {
	p := b.poissonClimb()
	at := []float64{math.Log(p.rate), p.offset}
	if p.offset == 0 {
		at = at[:1] // it cannot vary around its bound
	}
	return estimate{p, at, func(at []float64) law {
		p.rate = math.Exp(at[0])
		if len(at) > 1 {
			p.offset = at[1]
		}
		return p
	}}
}

func (b binned) poissonClimb() poisson {
	mean, sigma, _ := b.h.moments()
	offset := min(max(math.Round(sigma*sigma-mean+0.5), 0), maxOffset)
	best := b.poissonAt(offset)
	likelihood := b.logLikelihood(best)
	step := 1.0
	for step < offset/2 {
		step *= 2
	}
	for step >= 1 {
		moved := false
		for _, d := range []float64{best.offset - step, best.offset + step} {
			if d < 0 || d > maxOffset {
				continue
			}
			if p := b.poissonAt(d); b.logLikelihood(p) > likelihood {
				best, likelihood, moved = p, b.logLikelihood(p), true
				break
			}
		}
		if !moved {
			step /= 2
		}
	}
	return best
}

// poissonAt returns the maximum-likelihood λ for a given offset.
func (b binned) poissonAt(offset float64) poisson {
	mean := b.h.mean() + offset
	if b.cut == noCut {
		return poisson{mean, offset}
	}
	// The mean of a law truncated below n is λ P(X < n-1)/P(X < n).
	n := float64(b.cut) + offset
	rate := solve(mean/2, 2*n+10, func(rate float64) float64 {
		return rate*poissonBelow(n-1, rate)/max(poissonBelow(n, rate), tiny) - mean
	})
	return poisson{rate, offset}
}

// poissonBelow returns P(X < n) for whole n.
func poissonBelow(n, rate float64) float64 {
	if n <= 0 {
		return 0
	}
	return mathext.GammaIncRegComp(n, rate)
}

func (p poisson) tails(x float64) (lower, upper float64) {
	n := math.Floor(x) + p.offset
	if n <= 0 {
		return 0, 1
	}
	return incomplete(n, p.rate, true)
}

func (p poisson) quantile(q float64) float64 {
	return wholeQuantile(p, q, p.rate-p.offset)
}

func (p poisson) params(axis) []Param {
	return []Param{{"lambda", p.rate}, {"offset_classes", p.offset}}
}

// fitted leaves out an offset that stands at its bound.
func (p poisson) fitted() int {
	if p.offset == 0 {
		return 1
	}
	return 2
}

// farthest is the last class edge that searches look at: beyond it whole numbers
// and floating-point numbers part, and no histogram of durations gets there.
const farthest = 1 << 52

// wholeQuantile finds the smallest whole x ≥ 1 with P(X < x) ≥ q by doubling
// steps from a first guess and bisection.
func wholeQuantile(l law, q, guess float64) float64 {
	reached := func(x float64) bool {
		lower, _ := l.tails(x)
		return lower >= q
	}
	lo, step := 0.0, 1.0
	hi := max(math.Round(guess), 1)
	for ; !reached(hi) && hi < farthest; step *= 2 {
		lo, hi = hi, hi+step
	}
	for hi-lo > 1 {
		if mid := math.Floor((lo + hi) / 2); reached(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// incomplete returns the regularised incomplete gamma functions (Q, P) if
// complement is set, else (P, Q), of a > 0 at x ≥ 0, the smaller one accurate.
func incomplete(a, x float64, complement bool) (first, second float64) {
	var p, q float64
	// Below 1 the upper one is not small, and its series is slow.
	if x < max(a, 1) {
		p = mathext.GammaIncReg(a, x)
		q = 1 - p
	} else {
		q = mathext.GammaIncRegComp(a, x)
		p = 1 - q
	}
	if complement {
		return q, p
	}
	return p, q
}
