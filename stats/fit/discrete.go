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

// shares has one coordinate, ln λ.
func (e exponential) shares(edges []float64, x *expectation) {
	lower, upper := e.tails(edges[0])
	before := 0.0
	for j, edge := range edges[1:] {
		l, u := e.tails(edge)
		x.calls[j] = between(lower, upper, l, u)
		lower, upper = l, u
		if len(x.slopes) > 0 {
			slope := 0.0 // of the lower tail
			if u > 0 {
				slope = e.rate * max(math.Floor(edge), 0) * u
			}
			x.slopes[0][j] = slope - before
			before = slope
		}
	}
}

func (e exponential) quantile(q float64) float64 {
	// The guard takes back what rounding adds where q is the mass of whole classes.
	return max(math.Ceil(-math.Log1p(-q)/e.rate-1e-9), 1)
}

func (e exponential) params(a axis) []Param {
	return []Param{{"lambda_per_ns", e.rate / float64(a.window)}}
}

func (e exponential) fitted() int { return 1 }

// poisson is the law P(class k) = λ^(k+d) e^(-λ) / (k+d)!: the d classes below
// t_min exist, but none of their calls was seen.
type poisson struct {
	rate   float64
	offset float64 // whole in every fit; its neighbours need not be

	located bool // the offset was chosen
}

// maxOffset bounds the search for the offset.
const maxOffset = 1 << 30

// poissonFit returns a law with the way to its neighbours.
func (b binned) poissonFit(p poisson) estimate {
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

// poissonClimb climbs over the offsets, from the one at which mean and variance
// agree, in steps that halve; λ is the best one for each offset.
func (b binned) poissonClimb() poisson {
	mean, sigma, _ := b.h.moments()
	offset := min(max(math.Round(sigma*sigma-mean+0.5), 0), maxOffset)
	best := b.poissonAt(poisson{offset: offset, located: true}, offset)
	likelihood := b.poissonLikelihood(best)
	step := 1.0
	for step < offset/16 {
		step *= 2
	}
	for longer := true; step >= 1; {
		moved := false
		for _, d := range []float64{best.offset - step, best.offset + step} {
			if d < 0 || d > maxOffset {
				continue
			}
			p := b.poissonAt(best, d)
			if l := b.poissonLikelihood(p); l > likelihood {
				best, likelihood, moved = p, l, true
				break
			}
		}
		switch {
		case !moved:
			step, longer = step/2, false
		case longer:
			step *= 2
		}
	}
	return best
}

// poissonAt returns the maximum-likelihood law for a given offset, by Newton's method from
// that for another one.
func (b binned) poissonAt(other poisson, offset float64) poisson {
	mean := b.h.mean() + offset
	if b.cut == noCut {
		return poisson{mean, offset, other.located}
	}
	// The mean of a law truncated below n is λ (1 - r), r = P(X = n-1)/P(X < n). It is a concave function
	// of λ: after the first step, all lead up.
	n := float64(b.cut) + offset
	d := newDensity(n)
	rate := max(other.rate+offset-other.offset, mean)
	for range 50 {
		below, _ := incomplete(n, rate, true)
		f, _ := d.at(rate)
		r := f / max(below, tiny)
		step := (mean - rate*(1-r)) / (1 - r - r*(n-1-rate) - rate*r*r)
		rate = min(max(rate+step, mean), 2*n+10)
		if !(math.Abs(step) > 1e-9*rate) {
			break
		}
	}
	return poisson{rate, offset, other.located}
}

// poissonLikelihood returns Σ B_k ln P(class k | X < cut).
func (b binned) poissonLikelihood(p poisson) float64 {
	below, _ := p.tails(b.end())
	sum := -float64(b.h.N) * math.Log(max(below, tiny))
	for _, c := range b.h.Classes {
		sum += float64(c.N) * newDensity(float64(c.K)+p.offset+1).log(p.rate)
	}
	return sum
}

func (p poisson) tails(x float64) (lower, upper float64) {
	n := math.Floor(x) + p.offset
	switch {
	case n <= 0:
		return 0, 1
	case math.IsInf(n, 1):
		return 1, 0
	}
	return incomplete(n, p.rate, true)
}

// shares has the coordinates ln λ and, mostly not wanted, the offset.
func (p poisson) shares(edges []float64, e *expectation) {
	if len(e.slopes) > 1 {
		p.offsetSlopes(edges, e)
	}
	whole := p.offset == math.Floor(p.offset)
	before, at, slope := edges[0], 0.0, 0.0
	for j, x := range edges[1:] {
		if e.calls[j] = at; !whole || x > before+1 {
			e.calls[j] = mass(p, before, x)
		}
		at = p.probability(x, before, at)
		if len(e.slopes) > 0 {
			steep := 0.0 // less the slope of the lower tail
			if at > 0 {
				steep = (x + p.offset) * at
			}
			e.slopes[0][j] = slope - steep
			slope = steep
		}
		before = x
	}
}

// probability returns λ^n e^(-λ) / Γ(n+1), where n = x + d, given that of an edge before.
func (p poisson) probability(x, before, at float64) float64 {
	n := x + p.offset
	switch {
	case n < 0 || math.IsInf(n, 1):
		return 0
	case x == before+1 && at > tiny:
		return at * p.rate / n
	}
	f, _ := newDensity(n + 1).at(p.rate)
	return f
}

// offsetSlopes fills in the derivatives by the offset, which are differences.
func (p poisson) offsetSlopes(edges []float64, e *expectation) {
	const h = 1e-4
	row := e.slopes[1]
	poisson{p.rate, p.offset - h, true}.shares(edges, &expectation{calls: e.calls})
	copy(row, e.calls)
	poisson{p.rate, p.offset + h, true}.shares(edges, &expectation{calls: e.calls})
	for j := range row {
		row[j] = (e.calls[j] - row[j]) / (2 * h)
	}
}

func (p poisson) quantile(q float64) float64 {
	return wholeQuantile(p, q, p.rate-p.offset)
}

func (p poisson) params(axis) []Param {
	if !p.located {
		return []Param{{"lambda", p.rate}}
	}
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
