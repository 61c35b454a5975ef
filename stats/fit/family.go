package fit

import "math"

// A Family names a family of laws.
type Family string

// The families, in the order in which they are tried and reported. All are
// fitted to class numbers; those with a location let it lie below the smallest
// call, since the minimum of a sample over-estimates the smallest possible time.
const (
	Exponential    Family = "exponential"     // λ; location is t_min; discretised
	Poisson        Family = "poisson"         // λ, the mean class number, as in the paper
	LocatedPoisson Family = "located-poisson" // λ and a whole number of classes as offset
	Gamma          Family = "gamma"           // shape, scale, location
	Weibull        Family = "weibull"         // shape, scale, location
	LogNormal      Family = "lognormal"       // μ and σ of the logarithm, location
	Mixture        Family = "mixture"         // a gamma body and a slow exponential tail
)

// Families returns all families, in order.
func Families() []Family {
	return []Family{Exponential, Poisson, LocatedPoisson, Gamma, Weibull, LogNormal, Mixture}
}

// DefaultFamilies returns those that are tried if none is asked for: all but the Poisson law without offset, which the located one
// contains.
func DefaultFamilies() []Family {
	return []Family{Exponential, LocatedPoisson, Gamma, Weibull, LogNormal, Mixture}
}

// A law is one member of a family. It lives on the axis of class numbers: x = k is
// the lower edge of class k, that is t = t_min + k·i.
type law interface {
	// tails returns P(X < x) and P(X ≥ x). The smaller of the two is
	// accurate relative to itself, so that classes far out in a tail
	// keep their probabilities.
	tails(x float64) (lower, upper float64)

	// shares fills in P(lo ≤ X < hi) for each cell between neighbouring edges, which
	// increase and may be infinite, and the derivatives by as many coordinates as
	// there are rows of slopes. Between the edges of classes, a share is accurate relative to itself.
	shares(edges []float64, e *expectation)

	// quantile returns the q-quantile for 0 < q < 1: for a continuous law the x
	// with P(X < x) = q, for a discrete one the upper edge of the smallest class
	// k with F(k) ≥ q.
	quantile(q float64) float64

	// params returns the fitted parameters, with times in ns.
	params(a axis) []Param

	// fitted is the number of parameters that were fitted.
	fitted() int
}

// A Param is a fitted parameter.
type Param struct {
	Name  string
	Value float64
}

// An estimate is the best law of a family and the way to its neighbours: law is
// build(at).
type estimate struct {
	law
	at    []float64
	build func(at []float64) law
}

// binned is what a family is fitted to: the classes, and where they are cut.
type binned struct {
	h   Histogram
	cut int64 // the law is truncated at the lower edge of this class; noCut if it is not
}

// noCut stands for a sample that is taken whole.
const noCut = math.MaxInt64

// fitLaw returns the maximum-likelihood member of the family, and false if
// the classes cannot determine its parameters.
func fitLaw(f Family, b binned) (estimate, bool) {
	need := map[Family]int{Exponential: 2, Poisson: 2, LocatedPoisson: 3, Gamma: 4, Weibull: 4, LogNormal: 4, Mixture: 6}
	if n, known := need[f]; !known || len(b.h.Classes) < n {
		return estimate{}, false
	}
	switch f {
	case Exponential:
		return fitExponential(b), true
	case Poisson:
		return b.poissonFit(b.poissonAt(poisson{}, 0)), true
	case LocatedPoisson:
		return b.poissonFit(b.poissonClimb()), true
	case Gamma:
		return fitGamma(b), true
	case Weibull:
		return fitWeibull(b), true
	case LogNormal:
		return fitLogNormal(b), true
	}
	return fitMixture(b), true
}

// mass returns P(lo ≤ X < hi) from whichever tail is smaller at lo.
func mass(l law, lo, hi float64) float64 {
	l1, u1 := l.tails(lo)
	l2, u2 := l.tails(hi)
	return between(l1, u1, l2, u2)
}

// between is mass for tails already computed.
func between(l1, u1, l2, u2 float64) float64 {
	if l1 > 0.5 {
		return max(u1-u2, 0)
	}
	return max(l2-l1, 0)
}

// tiny stands for what a law holds impossible. It keeps the likelihood finite; no
// law with such a class is ever the best.
const tiny = 1e-300
