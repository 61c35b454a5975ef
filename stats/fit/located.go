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

// fitLocated maximises the likelihood of a shifted family. build makes the law
// from two unbounded parameters; start guesses them from the moments of what
// exceeds the location.
//
// The location is bounded by t_min, and a law that falls from the start (shape
// below one) has its best location at that bound. So both the bound and its inside
// are searched, and the better law stands.
func fitLocated(b binned, build func(u, v float64) shape, start func(mean, variance float64) (u, v float64)) estimate {
	mean, variance, skew := b.h.moments()
	at := func(p []float64) law { return located{build(p[0], p[1]), -math.Exp(p[2])} }
	bound := func(p []float64) law { return located{build(p[0], p[1]), 0} }
	u, v := start(mean, variance)
	best, least := b.maximise(bound, []float64{u, v})
	for _, away := range startDistances(mean, variance, skew) {
		u, v := start(mean+away, variance)
		if l, value := b.maximise(at, []float64{u, v, math.Log(away)}); value < least-1e-9 {
			best, least = l, value
		}
	}
	return best
}

// startDistances guesses how far below t_min the location may lie: the distance
// that a gamma law with the sample's moments would have (mean - 2σ/skewness),
// kept between a tenth of a standard deviation and four.
func startDistances(mean, variance, skew float64) []float64 {
	sigma := math.Sqrt(max(variance, 1e-6))
	away := 4 * sigma
	if skew > 0 {
		away = 2*sigma/skew - mean
	}
	return []float64{min(max(away, 0.1*sigma), 4*sigma)}
}

// maximise returns the law of largest likelihood and its negative logarithm.
func (b binned) maximise(build func(p []float64) law, start []float64) (estimate, float64) {
	p, value := minimise(start, func(p []float64) float64 {
		if outside(p) {
			return unbounded
		}
		return -b.logLikelihood(build(p))
	})
	return estimate{build(p), p, build}, value
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
	// maxParam bounds the unbounded parameters, which are logarithms: e^±25
	// windows, and shapes where a law has long become a normal one.
	maxParam = 25
	// unbounded is the value of the objective outside; finite, for the
	// arithmetic of the search.
	unbounded = 1e300
)
