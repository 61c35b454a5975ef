package fit

import (
	"math"
	"slices"
)

// The ways in which the parameters of a law are estimated.
const (
	ByLikelihood = "likelihood" // maximum likelihood
	ByAbsolute   = "absolute"   // least Σ|f_k - p_k(λ)|: equation 10 of the paper, for its two families
	ByChiSquare  = "chi-square" // least χ²
)

// An Estimate is one way's parameters and how well they fit.
type Estimate struct {
	By     string // one of the By constants
	Params []Param
	Test   Test

	law law
}

// estimates returns the maximum-likelihood law and its refinements: Σ|f_k - p_k(λ)|
// minimised over λ > 0 (f_k are relative frequencies), for Poisson and
// exponential where the paper's choice is asked for, and χ² minimised over all parameters,
// with the pools of the law where the search starts. The Poisson offset stays. The last one has
// the least χ²; a Brief fit may lack it.
func (b binned) estimates(e estimate, o Options) []Estimate {
	made := func(by string, l law) Estimate {
		return Estimate{by, l.params(b.h.axis()), b.test(l, o.Alpha), l}
	}
	out := []Estimate{made(ByLikelihood, e.law)}
	if t := out[0].Test; o.Brief && t.Chi2 > chiSquareCritical(t.Classes-1, o.Alpha) {
		return out // see decide
	}
	starts := []estimate{e}
	if family, ok := lambda(e.law); ok && o.SmallestChi2 {
		l := b.leastAbsolute(family)
		out = append(out, made(ByAbsolute, l))
		starts = append(starts, estimate{law: l})
	}
	least := out[len(out)-1]
	offer := func(found Estimate) {
		if found.Test.Chi2 < least.Test.Chi2 {
			least = found
		}
	}
	offer(out[0]) // pools that change with the law can undo what was gained
	for _, start := range starts {
		offer(made(ByChiSquare, b.leastChiSquare(start)))
	}
	least.By = ByChiSquare
	return append(out, least)
}

// manyLambdas is the number of λ from which the least Σ|f - p| is sought.
const manyLambdas = 64

// leastAbsolute returns the law of the least Σ|f_k - p_k(λ)|. That has several valleys, and a
// few slow calls draw the mean far away from the deepest: besides the given λ those are tried whose mean
// is a quantile of the sample, and the neighbourhood of the best is searched.
func (b binned) leastAbsolute(family oneParameter) law {
	c := b.cells()
	misfit := func(x float64) float64 { return c.misfit(absolute, family.with(x)) }
	tried := []float64{family.at}
	for j := range manyLambdas {
		q := (float64(j) + 0.5) / manyLambdas
		tried = append(tried, family.of(max(b.h.quantile(q), 1e-3)))
	}
	slices.Sort(tried)
	tried = slices.Compact(tried)
	best, least := 0, math.Inf(1)
	for j, x := range tried {
		if v := misfit(x); v < least {
			best, least = j, v
		}
	}
	lo, hi := tried[best]-math.Ln2, tried[best]+math.Ln2
	if best > 0 {
		lo = tried[best-1]
	}
	if best < len(tried)-1 {
		hi = tried[best+1]
	}
	x := minimiseLine(lo, hi, misfit)
	if misfit(x) > least {
		x = tried[best]
	}
	return family.with(x)
}

// oneParameter is the laws that differ from one at ln λ = at in λ only.
type oneParameter struct {
	at   float64
	with func(x float64) law
	of   func(mean float64) float64 // ln λ of the law of that mean class number
}

func lambda(l law) (oneParameter, bool) {
	switch l := l.(type) {
	case exponential:
		return oneParameter{math.Log(l.rate), func(x float64) law { return exponential{math.Exp(x)} },
			func(mean float64) float64 { return math.Log(math.Log1p(1 / mean)) }}, true
	case poisson:
		return oneParameter{math.Log(l.rate), func(x float64) law { return poisson{math.Exp(x), l.offset, l.located} },
			func(mean float64) float64 { return math.Log(mean + l.offset) }}, true
	}
	return oneParameter{}, false
}

// leastChiSquare minimises χ² near the maximum-likelihood law, over λ alone if lambda knows it.
func (b binned) leastChiSquare(e estimate) law {
	pools := b.pools(e.law)
	if len(pools) <= e.fitted()+1 {
		return e.law
	}
	at, build := e.at, e.build
	if family, ok := lambda(e.law); ok {
		at, build = []float64{family.at}, func(at []float64) law { return family.with(at[0]) }
	}
	best, _ := cellsOf(pools, b.h.N).search(halfChiSquare, build, at)
	return build(best)
}
