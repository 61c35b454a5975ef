package fit

import "math"

// mixture is a body, a shifted gamma law, of weight 1-w, and a slow tail of weight
// w, an exponential law of mean b that starts where the body does.
type mixture struct {
	body located
	w, b float64
}

// fitMixture searches over the body's middle and spread, logit w, ln of the ratio of
// the tail's mean to the body's, less 1, and the location. It starts from the body without the
// slowest calls, and the tail from those: a third, and a tenth.
//
// Since the tail begins at the location too, the location mostly stands at t_min, its bound,
// as that of an exponential law does. Both the bound and its inside are searched.
func fitMixture(b binned) estimate {
	var starts [][]float64
	for _, share := range []float64{0.33, 0.1} {
		body, _ := b.h.below(b.h.classAt(1 - share))
		mean, sigma, skew := body.moments()
		away := startDistance(mean, sigma, skew)
		slow := max((b.h.mean()+0.5-(1-share)*mean)/share, mean)
		start := func(away float64) []float64 {
			ratio := math.Log(max((slow+away)/(mean+away)-1, 0.5))
			return []float64{math.Log(mean), math.Log(sigma), math.Log(share / (1 - share)), ratio}
		}
		starts = append(starts, start(0), append(start(away), math.Log(away)))
	}
	return b.mostLikely(newMixture, starts...)
}

func newMixture(at []float64) law {
	away := 0.0
	if len(at) == 5 {
		away = math.Exp(at[4])
	}
	body := former(newGamma).at(math.Exp(at[0]), math.Exp(at[1]), away)
	return mixture{body, 1 / (1 + math.Exp(-at[2])), body.size * (1 + math.Exp(at[3]))}
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

// shares has the coordinates of fitMixture.
func (m mixture) shares(edges []float64, e *expectation) {
	e.divide(m.body, edges)
	steep := 1 - m.body.size/m.b // ∂ ln b by the ratio's coordinate
	before := part{share: -1}
	for j, body := range e.parts {
		tail := m.beyond(e.own[j+1])
		before, tail = tail, tail.plus(before, -1)
		both := part{}.plus(body, 1-m.w).plus(tail, m.w)
		e.calls[j] = both.share
		at := m.body.slopes(both)
		for i, slope := range [maxCoordinates]float64{at[0], at[1], m.w * (1 - m.w) * (tail.share - body.share), m.w * tail.size * steep, at[2]} {
			if i < len(e.slopes) {
				e.slopes[i][j] = slope
			}
		}
	}
}

// beyond returns the tail from x on, taken as negative.
func (m mixture) beyond(x float64) part {
	z := x / m.b
	upper := math.Exp(-z)
	if upper == 0 {
		return part{}
	}
	return part{-upper, -z * upper, 0, upper / m.b}
}

// quantile searches: there is no closed form.
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

// bodyClasses is the least number of occupied classes that a body must lie in: as many as a
// gamma law by itself needs (see fitLaw). Fewer say nothing of its three parameters.
const bodyClasses = 4

// identified tells whether the classes determine the body: enough of them are occupied below its
// q-quantile.
func (m mixture) identified(h Histogram, q float64) bool {
	within, _ := h.below(int64(min(math.Ceil(m.body.quantile(min(q, 1-1e-12))), farthest)))
	return len(within.Classes) >= bodyClasses
}

// slow tells whether the tail is what its name says: fewer than half of the calls
// before the end of the axis, which in the mean take longer than the body's q-quantile.
func (m mixture) slow(q, end float64) bool {
	before, _ := m.tails(end)
	tail := -m.w * math.Expm1((m.body.at-end)/m.b)
	return tail < before/2 && m.body.at+m.b > m.body.quantile(min(q, 1-1e-12))
}

func (m mixture) fitted() int { return m.body.fitted() + 2 }
