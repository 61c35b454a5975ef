package fit

import "math"

// A Model is one family fitted by maximum likelihood.
type Model struct {
	Family    Family
	Params    []Param    // by maximum likelihood
	Estimates []Estimate // the first is by likelihood, the last, but for a Brief fit, by least χ²

	// Test decides whether the family is accepted: the test at the least χ²,
	// tightened by the one at the maximum of the likelihood. See decide.
	Test Test

	TMax int64 // ns, at the quantile asked for
	// relative standard error of the rate 1 - q of calls above TMax, from Fisher's information; at most 2; 0 if the family is rejected
	TailError float64

	fit  law
	axis axis
}

// An axis turns class numbers into ns.
type axis struct{ origin, window, step int64 }

func (h Histogram) axis() axis { return axis{h.Origin, h.Window, h.Step} }

// ns returns the largest duration below x: x is a class edge for a discrete law,
// and durations lie on whole steps; for a continuous law it is rounded up.
func (a axis) ns(x float64, discrete bool) int64 {
	t, step := x*float64(a.window), float64(a.step)
	if discrete {
		t = (math.Ceil(t/step-1e-9) - 1) * step
	}
	if t > math.MaxInt64/2-float64(a.origin) {
		return math.MaxInt64 / 2
	}
	return a.origin + max(int64(math.Ceil(t-1e-6)), 0)
}

// x returns the axis value at the far end of duration t, so that the tails there
// tell the share of calls that are no longer than t.
func (a axis) x(t int64) float64 {
	return (float64(t) - float64(a.origin) + float64(a.step)) / float64(a.window)
}

// Quantile returns the duration in ns that a share q of the law's calls do not
// exceed. q must lie strictly between 0 and 1. Laws whose tail is so heavy that
// the quantile leaves the range of time give 2^62.
func (m Model) Quantile(q float64) int64 {
	_, e := m.fit.(exponential)
	_, p := m.fit.(poisson)
	return m.axis.ns(m.fit.quantile(q), e || p)
}

// TestOf returns the test of an estimate: for the first one, by likelihood, that which
// decides about the family.
func (m Model) TestOf(estimate int) Test {
	if estimate == 0 {
		return m.Test
	}
	return m.Estimates[estimate].Test
}

// As returns the model with the law of one of its estimates.
func (m Model) As(estimate int) Model {
	m.Params, m.fit = m.Estimates[estimate].Params, m.Estimates[estimate].law
	return m
}

// CDF returns the share of the law's calls that take t ns or less.
func (m Model) CDF(t int64) float64 {
	lower, _ := m.fit.tails(m.axis.x(t))
	return lower
}

// Between returns the law's probability of the histogram's classes from lo up to, but not including, hi; it is not divided by that of the
// body. Its cost does not depend on their number.
func (m Model) Between(lo, hi int64) float64 { return mass(m.fit, float64(lo), float64(hi)) }

// contest fits the families asked for, the mixture last.
func contest(b binned, o Options) []Model {
	var models []Model
	accepted := false
	for _, f := range Families() {
		if !asked(f, o.Families) || f == Mixture && accepted && !o.Paper {
			continue
		}
		e, ok := fitLaw(f, b)
		if !ok {
			continue
		}
		if m, mixed := e.law.(mixture); mixed && (!m.identified(b.h, o.Quantile) || !o.Paper && !m.slow(o.Quantile, b.end())) {
			continue
		}
		m := newModel(f, e, b, o)
		models = append(models, m)
		accepted = accepted || m.Test.Accepted
	}
	return models
}

func asked(f Family, families []Family) bool {
	for _, g := range families {
		if f == g {
			return true
		}
	}
	return false
}

// newModel tests a fitted law and fills in what is reported about it.
func newModel(f Family, e estimate, b binned, o Options) Model {
	l := e.law
	m := Model{
		Family: f, Params: l.params(b.h.axis()),
		Estimates: b.estimates(e, o),
		fit:       l, axis: b.h.axis(),
	}
	m.Test = decide(m.Estimates, o.Alpha)
	m.TMax = m.tMax(l, o)
	if m.Test.Accepted {
		m.TailError = b.tailError(e, func(l law) float64 {
			_, upper := necessary(l, o).tails(m.axis.x(m.TMax))
			return upper
		})
	}
	return m
}

// necessary returns the law whose quantile is t_max: l itself, but in the body way
// only the body of a mixture.
func necessary(l law, o Options) law {
	if m, ok := l.(mixture); ok && !o.Paper {
		return m.body
	}
	return l
}

// tMax returns the quantile of law l on the model's axis.
func (m Model) tMax(l law, o Options) int64 {
	m.fit = necessary(l, o)
	return m.Quantile(min(o.Quantile, 1-1e-12))
}

// maxTailError stands for a rate about which the sample says next to nothing.
const maxTailError = 2

// tailError returns the standard error of ln rate(law) at the estimate, by the delta
// method: √(gᵀ I⁻¹ g) with the gradient g of ln rate and Fisher's information I of the
// classes, both in the coordinates of the search. Where the sample says nothing in
// some direction, the error is its bound.
func (b binned) tailError(e estimate, rate func(law) float64) float64 {
	c := b.cells()
	x := c.expectation(len(e.at))
	c.expect(e.law, x)
	s := c.system(unlikelihood, x)
	const h = 1e-4
	for j := range e.at {
		p := append([]float64(nil), e.at...)
		p[j] += h
		up := math.Log(max(rate(e.build(p)), tiny))
		p[j] -= 2 * h
		s.gradient[j] = (up - math.Log(max(rate(e.build(p)), tiny))) / (2 * h)
	}
	step, ok := s.step(0)
	if variance := step.dot(s.gradient); ok && variance < maxTailError*maxTailError {
		return math.Sqrt(variance)
	}
	return maxTailError
}
