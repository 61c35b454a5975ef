package fit

import "math"

// A Model is one family fitted by maximum likelihood.
type Model struct {
	Family        Family
	Params        []Param    // by maximum likelihood
	LogLikelihood float64    // of the classes, truncated at the cut in the body way
	Estimates     []Estimate // all of them; the first is by likelihood, the last by least χ²
	Distance      Distance

	// Test decides whether the family is accepted: the test at the least χ²,
	// tightened by the one at the maximum of the likelihood. See decide.
	Test Test

	TMax      int64   // ns, at the quantile asked for
	TailError float64 // relative standard error of the rate 1 - q of calls above TMax, from Fisher's information; at most 2

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

// CDF returns the share of the law's calls that take t ns or less.
func (m Model) CDF(t int64) float64 {
	lower, _ := m.fit.tails(m.axis.x(t))
	return lower
}

// Probability returns the law's probability of class k of the histogram (not
// divided by that of the body).
func (m Model) Probability(k int64) float64 { return mass(m.fit, float64(k), float64(k+1)) }

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
		if m, mixed := e.law.(mixture); mixed && !o.Paper && !m.slow(o.Quantile, b.end()) {
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
		Family: f, Params: l.params(b.h.axis()), LogLikelihood: b.logLikelihood(l),
		Estimates: b.estimates(e, o.Alpha), Distance: b.distance(l),
		fit: l, axis: b.h.axis(),
	}
	m.Test = decide(m.Estimates, o.Alpha)
	m.TMax = m.tMax(l, o)
	m.TailError = b.tailError(e, func(l law) float64 {
		_, upper := necessary(l, o).tails(m.axis.x(m.TMax))
		return upper
	})
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
