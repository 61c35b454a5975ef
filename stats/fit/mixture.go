package fit

import "math"

// mixture is a body, a shifted gamma law, of weight 1-w, and a slow tail of weight
// w, an exponential law of mean b that starts where the body does.
type mixture struct {
	body located
	w, b float64
}

// fitMixture searches over the body's three parameters, logit w and ln of the
// ratio of the tail's mean to the body's. It starts from the body without the
// slowest tenth of the calls, and the tail from that tenth.
func fitMixture(b binned) estimate {
	build := func(p []float64) law {
		g := newGamma(p[0], p[1]).(gamma)
		w := 1 / (1 + math.Exp(-p[3]))
		return mixture{located{g, -math.Exp(p[2])}, w, g.a * g.b * (1 + math.Exp(p[4]))}
	}
	body, _ := b.h.below(b.h.classAt(0.9))
	mean, variance, skew := body.moments()
	away := startDistances(mean, variance, skew)[0]
	shape := math.Log((mean + away) * (mean + away) / max(variance, 1e-6))
	all := b.h.mean()
	slow := math.Log(max((all-0.9*mean)/0.1/(mean+away)-1, 0.5))
	l, _ := b.maximise(build, []float64{math.Log(mean + away), shape, math.Log(away), -2.2, slow})
	return l
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

func (m mixture) fitted() int { return m.body.fitted() + 2 }
