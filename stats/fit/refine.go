package fit

import "math"

// The ways in which the parameters of a law are estimated.
const (
	byLikelihood = "likelihood" // maximum likelihood
	byAbsolute   = "absolute"   // least Σ|f_k - p_k(λ)|: the paper's refinement, for its two families
	byChiSquare  = "chi-square" // least χ²
)

// An Estimate is one way's parameters and how well they fit.
type Estimate struct {
	By     string // "likelihood", "absolute" or "chi-square"
	Params []Param
	Test   Test

	law law
}

// estimates returns the maximum-likelihood law and its refinements: Σ|f_k - p_k(λ)|
// minimised over λ > 0 (f_k are relative frequencies), for Poisson and
// exponential where the paper's choice is asked for, and χ² minimised over all parameters,
// with the pools of the maximum-likelihood law. The Poisson offset stays. The last one has
// the least χ².
func (b binned) estimates(e estimate, o Options) []Estimate {
	made := func(by string, l law) Estimate {
		return Estimate{by, l.params(b.h.axis()), b.test(l, o.Alpha), l}
	}
	out := []Estimate{made(byLikelihood, e.law)}
	if with, at, ok := lambda(e.law); ok && o.SmallestChi2 {
		// The sum is flat enough to leave the estimate within a factor of two.
		c := b.cells()
		best := minimiseLine(at-math.Ln2, at+math.Ln2, func(x float64) float64 { return c.misfit(absolute, with(x)) })
		out = append(out, made(byAbsolute, with(best)))
	}
	if least := made(byChiSquare, b.leastChiSquare(e)); least.Test.Chi2 < out[0].Test.Chi2 {
		return append(out, least)
	}
	// Pools that change with the law can undo what was gained.
	return append(out, made(byChiSquare, e.law))
}

// lambda returns the laws that differ from l in λ only, as a function of ln λ.
func lambda(l law) (with func(x float64) law, at float64, ok bool) {
	switch l := l.(type) {
	case exponential:
		return func(x float64) law { return exponential{math.Exp(x)} }, math.Log(l.rate), true
	case poisson:
		return func(x float64) law { return poisson{math.Exp(x), l.offset} }, math.Log(l.rate), true
	}
	return nil, 0, false
}

// leastChiSquare minimises χ² near the maximum-likelihood law, over λ alone if lambda knows it.
func (b binned) leastChiSquare(e estimate) law {
	pools := b.pools(e.law)
	if len(pools) <= e.fitted()+1 {
		return e.law
	}
	at, build := e.at, e.build
	if with, x, ok := lambda(e.law); ok {
		at, build = []float64{x}, func(at []float64) law { return with(at[0]) }
	}
	best, _ := cellsOf(pools, b.h.N).search(halfChiSquare, build, at)
	return build(best)
}
