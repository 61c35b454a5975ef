package fit

import "math"

// cells divide the whole axis, so that the calls counted in each can be compared
// with those that a law expects there. The first one reaches from -∞, the last
// one to the cut of a truncated law or to +∞.
type cells struct {
	edges    []float64 // between the cells, increasing
	end      float64   // of the last cell
	observed []float64 // calls in each; one more than edges
	n        float64   // calls in all
}

// cells returns the occupied classes as cells, and what lies between, before and
// behind them as others.
func (b binned) cells() cells {
	c := cells{end: b.end(), n: float64(b.h.N)}
	edge := func(x, before float64) {
		c.edges, c.observed = append(c.edges, x), append(c.observed, before)
	}
	for _, k := range b.h.Classes {
		lo, hi := float64(k.K), float64(k.K+1)
		if last := len(c.edges) - 1; last < 0 || c.edges[last] < lo {
			edge(lo, 0)
		}
		if hi == c.end {
			c.observed = append(c.observed, float64(k.N))
			return c
		}
		edge(hi, float64(k.N))
	}
	c.observed = append(c.observed, 0)
	return c
}

// end is the right end of the axis: the cut of a truncated law, or +∞.
func (b binned) end() float64 {
	if b.cut == noCut {
		return math.Inf(1)
	}
	return float64(b.cut)
}

// cellsOf returns pools as cells.
func cellsOf(pools []pool, n int64) cells {
	c := cells{n: float64(n)}
	for _, p := range pools {
		c.edges, c.observed = append(c.edges, p.hi), append(c.observed, p.observed)
	}
	last := len(pools) - 1
	c.edges, c.end = c.edges[:last], c.edges[last]
	return c
}

// expect fills in the calls that a law expects in each cell, given that they lie
// before the end.
func (c cells) expect(l law, into []float64) {
	endLower, endUpper := 1.0, 0.0
	if !math.IsInf(c.end, 1) {
		endLower, endUpper = l.tails(c.end)
	}
	n := c.n / max(endLower, tiny)
	lower, upper := 0.0, 1.0
	for j, x := range c.edges {
		l1, u1 := l.tails(x)
		into[j] = n * between(lower, upper, l1, u1)
		lower, upper = l1, u1
	}
	into[len(c.edges)] = n * between(lower, upper, endLower, endUpper)
}

// A misfit of the observed to the expected calls is a sum over cells, to be
// made least: term is what a cell adds, slope the term's derivative by expected.
// Both have the same curvature where law and sample agree, Fisher's information.
type misfit struct {
	term, slope func(observed, expected float64) float64
}

var (
	// unlikelihood is the negative log-likelihood, up to a constant.
	unlikelihood = misfit{
		func(o, e float64) float64 {
			if o == 0 {
				return 0
			}
			return -o * math.Log(max(e, tiny))
		},
		func(o, e float64) float64 { return -o / max(e, tiny) },
	}
	// halfChiSquare is χ²/2.
	halfChiSquare = misfit{
		func(o, e float64) float64 { return (o - e) * (o - e) / max(e, tiny) / 2 },
		func(o, e float64) float64 { r := o / max(e, tiny); return (1 - r*r) / 2 },
	}
)

// total sums a misfit.
func (c cells) total(d misfit, expected []float64) float64 {
	var sum float64
	for j, e := range expected {
		sum += d.term(c.observed[j], e)
	}
	return sum
}

// logLikelihood returns Σ B_k ln P(class k | X < cut).
func (b binned) logLikelihood(l law) float64 {
	c := b.cells()
	expected := make([]float64, len(c.observed))
	c.expect(l, expected)
	return -c.total(unlikelihood, expected) - c.n*math.Log(c.n)
}
