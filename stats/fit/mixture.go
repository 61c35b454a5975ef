package fit

import "math"

// mixture is a body, a shifted gamma law, of weight 1-w, and a slow tail of weight
// w, an exponential law of mean b that starts where the body does.
type mixture struct {
	body located
	w, b float64
}

// fitMixture searches over the body's coordinates, logit w and ln of the ratio of
// the tail's mean to the body's, less 1. It starts from the body without the
// slowest calls, and the tail from those: a tenth, and a third.
//
// Since the tail begins at the location too, the location mostly stands at t_min, its bound,
// as that of an exponential law does. Both the bound and its inside are searched.
func fitMixture(b binned) estimate {
	at := func(p []float64) law { return newMixture(p[0], p[1], math.Exp(p[2]), p[3], p[4]) }
	bound := func(p []float64) law { return newMixture(p[0], p[1], 0, p[2], p[3]) }
	var starts []candidate
	for _, share := range []float64{0.1, 0.33} {
		body, _ := b.h.below(b.h.classAt(1 - share))
		mean, sigma, skew := body.moments()
		away := startDistance(mean, sigma, skew)
		slow := max((b.h.mean()+0.5-(1-share)*mean)/share, mean)
		middle, spread, weight := math.Log(mean), math.Log(sigma), math.Log(share/(1-share))
		ratio := func(away float64) float64 { return math.Log(max((slow+away)/(mean+away)-1, 0.5)) }
		starts = append(starts,
			candidate{bound, []float64{middle, spread, weight, ratio(0)}},
			candidate{at, []float64{middle, spread, math.Log(away), weight, ratio(away)}})
	}
	return b.mostLikely(starts...)
}

func newMixture(middle, spread, away, weight, ratio float64) mixture {
	body := former(newGamma).at(math.Exp(middle), math.Exp(spread), away)
	return mixture{body, 1 / (1 + math.Exp(-weight)), (math.Exp(middle) - body.at) * (1 + math.Exp(ratio))}
}

// classAt returns the class that holds the q-quantile, plus one.
func (h Histogram) classAt(q float64) int64 {
	var seen int64
	for _, c := range h.Classes {
		if seen += c.N; seen >= rank(q, h.N) {
			return c.K + 1
		}
	}
	return 0
}

func (m mixture) tails(x float64) (lower, upper float64) {
	if x <= m.body.at {
		return 0, 1
	}
	z := (x - m.body.at) / m.b
	lower, upper = m.body.tails(x)
	return (1-m.w)*lower - m.w*math.Expm1(-z), (1-m.w)*upper + m.w*math.Exp(-z)
}

// quantile bisects: there is no closed form.
func (m mixture) quantile(q float64) float64 {
	reach := max(m.body.quantile(q)-m.body.at, -m.b*math.Log1p(-q))
	return solve(m.body.at, m.body.at+reach*1.000001+1e-9, func(x float64) float64 {
		_, upper := m.tails(x)
		return (1 - q) - upper
	})
}

func (m mixture) params(a axis) []Param {
	return append(m.body.params(a), Param{"tail_weight", m.w}, Param{"tail_mean_ns", m.b * float64(a.window)})
}

// slow tells whether the tail is what its name says: fewer than half of the calls
// before the end of the axis, which in the mean take longer than the body's q-quantile.
func (m mixture) slow(q, end float64) bool {
	before, _ := m.tails(end)
	tail := -m.w * math.Expm1((m.body.at-end)/m.b)
	return tail < before/2 && m.body.at+m.b > m.body.quantile(min(q, 1-1e-12))
}

func (m mixture) fitted() int { return m.body.fitted() + 2 }
