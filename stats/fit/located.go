package fit

import "math"

// located is a continuous law on [0, ∞) moved to a location at or below t_min:
// shifted gamma, Weibull and log-normal share it. Its three parameters are
// shape and scale of the family and the location, in windows.
type located struct {
	shape
	at float64 // location ≤ 0
}

// A shape is a family with two parameters on [0, ∞).
type shape interface {
	// below returns P(X < x) and P(X ≥ x) for x > 0.
	below(x float64) (lower, upper float64)
	// inverse returns the q-quantile for 0 < q < 1.
	inverse(q float64) float64
	// named returns the parameters, with times in ns.
	named(window float64) []Param
}

func (l located) tails(x float64) (lower, upper float64) {
	if x <= l.at {
		return 0, 1
	}
	return l.below(x - l.at)
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
// below one) has its best location at that bound. So both the bound and its inside
// are searched, and the better law stands.
func fitLocated(b binned, form former, start func(mean, sigma float64) (size, spread float64)) estimate {
	mean, sigma, skew := b.h.moments()
	at := func(p []float64) law { return form.at(math.Exp(p[0]), math.Exp(p[1]), math.Exp(p[2])) }
	bound := func(p []float64) law { return form.at(math.Exp(p[0]), math.Exp(p[1]), 0) }
	size, spread := start(mean, sigma)
	away := startDistance(mean, sigma, skew)
	further, wider := start(mean+away, sigma)
	middle := max(further-away, 0.1*mean)
	best := b.mostLikely(
		candidate{bound, []float64{math.Log(size), math.Log(spread)}},
		candidate{at, []float64{math.Log(middle), math.Log(wider), math.Log(away)}})
	if p := best.at; len(p) == 3 && p[2] > p[1]+math.Log(0.99*maxAway) {
		// Back to where the law still varies with the location.
		p[2] = p[1] + math.Log(0.99*maxAway)
		best.law = at(p)
	}
	return best
}

// at returns the law whose middle lies above t_min by middle, and its location below
// it by away.
func (form former) at(middle, spread, away float64) located {
	away = min(away, maxAway*spread)
	return located{form(middle+away, spread), -away}
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

// A candidate is a family, or a part of it, and where to start in it.
type candidate struct {
	build func(at []float64) law
	start []float64
}

// mostLikely searches for the maximum of the likelihood from each candidate. A later
// one wins only if it is better by more than rounding.
func (b binned) mostLikely(candidates ...candidate) estimate {
	c := b.cells()
	best, least := candidates[0], math.Inf(1)
	for _, k := range candidates {
		if at, value := c.search(unlikelihood, k.build, k.start); value < least-1e-9 {
			best, least = candidate{k.build, at}, value
		}
	}
	at := c.polish(unlikelihood, best.build, best.start)
	return estimate{best.build(at), at, best.build}
}

// outside tells whether the search has left all laws that make sense.
func outside(p []float64) bool {
	for _, v := range p {
		if !(math.Abs(v) <= maxParam) {
			return true
		}
	}
	return false
}

const (
	// maxParam bounds the coordinates of a search, which are logarithms of windows.
	maxParam = 25
	// unbounded is the value of the objective outside; finite, for the
	// arithmetic of the search.
	unbounded = 1e300
)
