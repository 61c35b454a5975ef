package fit

import "math"

// cells divide the whole axis, so that the calls counted in each can be compared
// with those that a law expects there. The first one begins at -∞, the last
// one ends at the cut of a truncated law or at +∞.
type cells struct {
	edges    []float64 // around the cells, increasing; one more than cells
	observed []float64 // calls in each
	n        float64   // calls in all
}

// cells returns the occupied classes as cells, and what lies between, before and
// behind them as others.
func (b binned) cells() cells {
	c := cells{edges: []float64{math.Inf(-1)}, n: float64(b.h.N)}
	to := func(x, observed float64) {
		if x > c.edges[len(c.edges)-1] {
			c.edges, c.observed = append(c.edges, x), append(c.observed, observed)
		}
	}
	for _, k := range b.h.Classes {
		to(float64(k.K), 0)
		to(float64(k.K+1), float64(k.N))
	}
	to(b.end(), 0)
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
	c := cells{edges: []float64{math.Inf(-1)}, n: float64(n)}
	for _, p := range pools {
		c.edges, c.observed = append(c.edges, p.hi), append(c.observed, p.observed)
	}
	return c
}

// An expectation is what a law expects in each cell.
type expectation struct {
	calls  []float64   // or, from a law, the share of all calls
	slopes [][]float64 // their derivatives: a row for each of the law's coordinates
	own    []float64   // edges and parts as a located law sees them
	parts  []part
}

// expectation returns room for what a law of so many coordinates expects.
func (c cells) expectation(coordinates int) *expectation {
	n := len(c.observed)
	all := make([]float64, (coordinates+1)*n)
	e := &expectation{calls: all[:n], slopes: make([][]float64, coordinates)}
	for j := range e.slopes {
		e.slopes[j] = all[(j+1)*n : (j+2)*n]
	}
	return e
}

// expect fills in the calls that a law expects in each cell, given that they lie
// before the end, and as many rows of slopes as there is room for.
func (c cells) expect(l law, e *expectation) {
	l.shares(c.edges, e)
	within := max(sum(e.calls), tiny)
	scale := c.n / within
	for _, row := range e.slopes {
		growth := sum(row) / within
		for j := range row {
			row[j] = scale * (row[j] - growth*e.calls[j])
		}
	}
	for j := range e.calls {
		e.calls[j] *= scale
	}
}

func sum(values []float64) float64 {
	var out float64
	for _, v := range values {
		out += v
	}
	return out
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
	// absolute is Σ|o - e|, which has no use for slopes.
	absolute = misfit{term: func(o, e float64) float64 { return math.Abs(o - e) }}
)

// misfit returns the sum over the cells, for a law.
func (c cells) misfit(d misfit, l law) float64 {
	e := c.expectation(0)
	c.expect(l, e)
	return c.total(d, e.calls)
}

// total sums a misfit.
func (c cells) total(d misfit, expected []float64) float64 {
	var sum float64
	for j, e := range expected {
		sum += d.term(c.observed[j], e)
	}
	return sum
}
