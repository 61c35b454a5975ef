package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// located is a continuous law on [0, ∞) moved to a location at or below t_min:
// shifted gamma, Weibull and log-normal share it. Its three parameters are
// shape and scale of the family and the location, in windows.
type located struct {
	shape
	size float64 // from the location to the middle
	at   float64 // location ≤ 0
	tied bool    // the location is as far off as it may be, and moves with the spread
}

// A shape is a family with two parameters on [0, ∞).
type shape interface {
	// below returns P(X < x) and P(X ≥ x) for x > 0.
	below(x float64) (lower, upper float64)
	// divide fills in the parts between edges, which increase from 0 on.
	divide(edges []float64, into []part)
	// inverse returns the q-quantile for 0 < q < 1.
	inverse(q float64) float64
	// named returns the parameters, with times in ns.
	named(window float64) []Param
}

// A part is what a shape has between two edges: its share, and that share's derivatives by
// the logarithms of size and spread, and by the edges if both move to the right.
type part struct{ share, size, spread, shift float64 }

// plus returns p + w·q.
func (p part) plus(q part, w float64) part {
	return part{p.share + w*q.share, p.size + w*q.size, p.spread + w*q.spread, p.shift + w*q.shift}
}

func (l located) tails(x float64) (lower, upper float64) {
	if x <= l.at {
		return 0, 1
	}
	return l.below(x - l.at)
}

// shares has the coordinates of fitLocated.
func (l located) shares(edges []float64, e *expectation) {
	e.divide(l, edges)
	for j, p := range e.parts {
		e.calls[j] = p.share
		for i, slope := range l.slopes(p) {
			if i < len(e.slopes) {
				e.slopes[i][j] = slope
			}
		}
	}
}

// divide fills in the parts of a shape between edges, which it sees from its location on.
func (e *expectation) divide(l located, edges []float64) {
	if e.own == nil {
		e.own, e.parts = make([]float64, len(edges)), make([]part, len(edges)-1)
	}
	for j, x := range edges {
		e.own[j] = max(x-l.at, 0)
	}
	l.divide(e.own, e.parts)
}

// slopes are the derivatives by the logarithms of middle, spread and distance of the location.
func (l located) slopes(p part) [3]float64 {
	off := -l.at / l.size
	middle, spread, away := p.size*(1-off), p.spread, p.size*off-p.shift*l.at
	if l.tied {
		return [3]float64{middle, spread + away, 0}
	}
	return [3]float64{middle, spread, away}
}

func (l located) quantile(q float64) float64 { return l.at + l.inverse(q) }

func (l located) params(a axis) []Param {
	window := float64(a.window)
	return append(l.named(window), Param{"location_ns", float64(a.origin) + l.at*window})
}

// fitted leaves out a location that stands at its bound: nothing was adapted there.
func (l located) fitted() int {
	if l.at == 0 {
		return 2
	}
	return 3
}

// A former makes the shape that reaches size from its location to its middle and
// has the given spread around it, both in windows.
type former func(size, spread float64) shape

// fitLocated maximises the likelihood of a shifted family. start guesses size
// and spread from mean and standard deviation of what exceeds the location.
//
// The search is over the logarithms of the middle as seen from t_min, of the
// spread, and of the distance from the location to t_min. So laws that differ
// little lie near each other: however far the location goes, the law
// with the same middle and spread tends to a limit (a normal law, or Gumbel's).
//
// The location is bounded by t_min, and a law that falls from the start (shape
// below one) has its best location at that bound. So both the bound, without the third
// coordinate, and its inside are searched, and the better law stands.
func fitLocated(b binned, form former, start func(mean, sigma float64) (size, spread float64)) estimate {
	mean, sigma, skew := b.h.moments()
	size, spread := start(mean, sigma)
	away := startDistance(mean, sigma, skew)
	further, wider := start(mean+away, sigma)
	middle := max(further-away, 0.1*mean)
	best := b.mostLikely(form.build,
		[]float64{math.Log(size), math.Log(spread)},
		[]float64{math.Log(middle), math.Log(wider), math.Log(away)})
	if p := best.at; len(p) == 3 && p[2] > p[1]+math.Log(0.99*maxAway) {
		// Back to where the law still varies with the location.
		p[2] = p[1] + math.Log(0.99*maxAway)
		best.law = form.build(p)
	}
	return best
}

// build returns the law at a point of the search.
func (form former) build(at []float64) law {
	away := 0.0
	if len(at) == 3 {
		away = math.Exp(at[2])
	}
	return form.at(math.Exp(at[0]), math.Exp(at[1]), away)
}

// at returns the law whose middle lies above t_min by middle, and its location below
// it by away.
func (form former) at(middle, spread, away float64) located {
	tied := away > maxAway*spread
	if tied {
		away = maxAway * spread
	}
	return located{form(middle+away, spread), middle + away, -away, tied}
}

// maxAway is the distance of a location, in spreads, from which on a law is not told
// from its limit.
const maxAway = 400

// startDistance guesses how far below t_min the location may lie: the distance
// that a gamma law with the sample's moments would have (mean - 2σ/skewness),
// kept between a tenth of a standard deviation and four.
func startDistance(mean, sigma, skew float64) float64 {
	away := 4 * sigma
	if skew > 0 {
		away = 2*sigma/skew - mean
	}
	return min(max(away, 0.1*sigma), 4*sigma)
}

// mostLikely searches for the maximum of the likelihood from each start. A later
// one wins only if it is better by more than rounding.
func (b binned) mostLikely(build func(at []float64) law, starts ...[]float64) estimate {
	c := b.cells()
	var best []float64
	least := math.Inf(1)
	for _, start := range starts {
		if at, value := c.search(unlikelihood, build, start); value < least-1e-9 {
			best, least = at, value
		}
	}
	best = c.polish(unlikelihood, build, best)
	return estimate{build(best), best, build}
}

// weibull is the law with P(X ≥ x) = e^(-(x/b)^a).
type weibull struct{ a, b float64 }

// fitWeibull takes b for the size and b/a for the spread. The first guess of the
// shape is the usual power of the coefficient of variation, a ≈ (σ/μ)^-1.086.
func fitWeibull(b binned) estimate {
	return fitLocated(b, newWeibull, func(mean, sigma float64) (size, spread float64) {
		a := math.Pow(sigma/mean, -1.086)
		size = mean / math.Gamma(1+1/a)
		return size, size / a
	})
}

func newWeibull(size, spread float64) shape { return weibull{size / spread, size} }

func (w weibull) below(x float64) (lower, upper float64) {
	z := math.Pow(x/w.b, w.a)
	return -math.Expm1(-z), math.Exp(-z)
}

func (w weibull) divide(edges []float64, into []part) {
	divideAt(edges, into, func(x float64) (lower, upper float64, slopes part) {
		ln := w.a * math.Log(x/w.b)
		z := math.Exp(ln)
		if z < 0.5 {
			lower = -math.Expm1(-z)
			upper = 1 - lower
		} else {
			upper = math.Exp(-z)
			lower = 1 - upper
		}
		f := z * upper
		return lower, upper, part{0, f * (ln - w.a), -f * ln, f * w.a / x}
	})
}

func (w weibull) inverse(q float64) float64 { return w.b * math.Pow(-math.Log1p(-q), 1/w.a) }

func (w weibull) named(window float64) []Param {
	return []Param{{"shape", w.a}, {"scale_ns", w.b * window}}
}

// logNormal is the law whose logarithm is normal with mean m and deviation s.
type logNormal struct{ m, s float64 }

// fitLogNormal takes the median for the size and s times the median for the spread.
func fitLogNormal(b binned) estimate {
	return fitLocated(b, newLogNormal, func(mean, sigma float64) (size, spread float64) {
		s2 := math.Log1p(sigma * sigma / (mean * mean))
		size = mean * math.Exp(-s2/2)
		return size, math.Sqrt(s2) * size
	})
}

func newLogNormal(size, spread float64) shape { return logNormal{math.Log(size), spread / size} }

func (l logNormal) below(x float64) (lower, upper float64) {
	z := (math.Log(x) - l.m) / l.s / math.Sqrt2
	return math.Erfc(-z) / 2, math.Erfc(z) / 2
}

func (l logNormal) divide(edges []float64, into []part) {
	divideAt(edges, into, func(x float64) (lower, upper float64, slopes part) {
		z := (math.Log(x) - l.m) / l.s
		if lower = math.Erfc(math.Abs(z)/math.Sqrt2) / 2; z > 0 {
			lower, upper = 1-lower, lower
		} else {
			upper = 1 - lower
		}
		f := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		return lower, upper, part{0, f * (z - 1/l.s), -f * z, f / (l.s * x)}
	})
}

func (l logNormal) inverse(q float64) float64 {
	return math.Exp(min(l.m+l.s*mathext.NormalQuantile(q), 700))
}

func (l logNormal) named(window float64) []Param {
	return []Param{{"mu_ln_ns", l.m + math.Log(window)}, {"sigma", l.s}}
}

// divideAt fills in the parts of a shape that is known at a single edge: the tails, and the slopes
// of the lower one.
func divideAt(edges []float64, into []part, at func(x float64) (lower, upper float64, slopes part)) {
	lower, upper, slopes := 0.0, 1.0, part{}
	for j := range into {
		l, u, s := 0.0, 1.0, part{}
		switch x := edges[j+1]; {
		case math.IsInf(x, 1):
			l, u = 1, 0
		case x > 0:
			if l, u, s = at(x); !(math.Abs(s.size)+math.Abs(s.spread)+math.Abs(s.shift) < unbounded) {
				s = part{} // of a tail that has vanished
			}
		}
		into[j] = s.plus(slopes, -1)
		into[j].share = between(lower, upper, l, u)
		lower, upper, slopes = l, u, s
	}
}
