package sampling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"tracekit/document/sample"
)

// method returns that of a configuration.
func (c *Config) method() sample.Method {
	switch c.Strategy {
	case Random:
		return sample.HorvitzThompson
	case Counter:
		return sample.Counted
	case Original, Unprofiled:
		return sample.Nothing
	}
	return sample.Naive
}

// confidence is that of intervals.
const confidence = 0.95

// An estimate is of a total, with the bounds of its interval: NaN if there is none.
type estimate struct{ value, low, high float64 }

// none is what is estimated from nothing.
var none = estimate{math.NaN(), math.NaN(), math.NaN()}

// most skew of a sample for an interval: that of 9 equal values, or of many unequal ones.
const mostSkew = 1.0 / 3

// A weighing is how the samples of each stream count.
type weighing struct {
	config  *Config
	counted bool // of random sampling: ranks count their sends, and samples stand for equal parts of these
	streams []*stream
	k       int       // of the configuration
	weights []float64 // by stream
	samples uint64    // matched or not
}

// weigh finds the weights of a configuration's samples.
func weigh(r *run, k int) *weighing { return newWeighing(r, k, false) }

// weighCounted finds those of random sampling if ranks count their sends.
func weighCounted(r *run, k int) *weighing { return newWeighing(r, k, true) }

func newWeighing(r *run, k int, counted bool) *weighing {
	w := &weighing{config: &r.configs[k], counted: counted, streams: r.streams, k: k, weights: make([]float64, len(r.streams))}
	missed := uint64(0) // sends of streams without a sample
	for _, s := range r.streams {
		n, all := s.sampled(k), s.eligible()
		if w.samples += n; n == 0 {
			missed += all
		}
	}
	for i, s := range r.streams {
		n := s.sampled(k)
		switch {
		case w.random() && w.config.Threshold > 0:
			w.weights[i] = 1 / w.config.Threshold
		case n > 0: // those of the streams without any are spread over all
			w.weights[i] = float64(s.eligible())/float64(n) + float64(missed)/float64(w.samples)
		}
	}
	return w
}

// random reports whether samples weigh one over their probability.
func (w *weighing) random() bool { return w.config.Strategy == Random && !w.counted }

// sampled returns how many sends of a stream a configuration has sampled, matched or not.
func (s *stream) sampled(k int) uint64 { return s.sums[k].Messages + s.sums[k].Unmatched }

// eligible returns how many sends of a stream could have been sampled.
func (s *stream) eligible() uint64 { return s.sampled(len(s.samplers)) }

// total estimates a total over the population of what moments were taken of.
func (w *weighing) total(of func(*Sums) moments) estimate {
	if w.samples == 0 && (!w.random() || w.config.Threshold == 0) {
		return none
	}
	e := estimate{0, math.NaN(), math.NaN()}
	for i, s := range w.streams {
		e.value += w.weights[i] * float64(of(&s.sums[w.k]).sum)
	}
	switch {
	case w.random():
		e.low, e.high = w.randomBounds(e.value, of)
	case w.counted || w.config.Strategy == Counter && w.config.Variance > 0:
		e.low, e.high = w.countedBounds(e.value, of)
	}
	return e
}

// sum adds moments of the samples of all streams up.
func (w *weighing) sum(of func(*Sums) moments) (sum moments) {
	for _, s := range w.streams {
		m := of(&s.sums[w.k])
		sum.merge(&m)
	}
	return sum
}

// randomBounds are those of a Horvitz–Thompson estimate under Poisson sampling: its variance is
// (1-T)/T² Σy² over the sample. Since values are skewed (latencies have long tails), the quantiles
// of the studentized estimate are those of its Cornish–Fisher expansion to the third moment.
func (w *weighing) randomBounds(value float64, of func(*Sums) moments) (low, high float64) {
	return drawnBounds(value, w.sum(of), w.config.Threshold)
}

// drawnBounds are those of an estimate from messages that were drawn with probability t, with the moments of what they have.
func drawnBounds(value float64, sum moments, t float64) (low, high float64) {
	if t == 1 {
		return value, value
	}
	sigma := math.Sqrt((1-t)*sum.sq) / t
	third := sum.cube * (1 - t) / (t * t * t) // of the weighted sample
	return bounds(value, sigma, third*(1-2*t), third*(1-t), sum.cube/math.Pow(sum.sq, 1.5), standard)
}

// bounds are those of an estimate with a standard deviation sigma, its third central moment
// and its covariance with the estimate of its variance. skew is that of the sample; if it is
// large, or none because all values are equal, the sample does not tell how large others may be.
func bounds(value, sigma, third, covariance, skew float64, quantile func(p float64) float64) (low, high float64) {
	if !(sigma > 0 && math.Abs(skew) <= mostSkew) {
		return math.NaN(), math.NaN()
	}
	third, covariance = third/(sigma*sigma*sigma), covariance/(sigma*sigma*sigma)
	at := func(p float64) float64 {
		z := quantile(p)
		return z - covariance/2 + (third-3*covariance)*(z*z-1)/6
	}
	return value - sigma*at((1+confidence)/2), value - sigma*at((1-confidence)/2)
}

func standard(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// countedBounds are those of a sum of means by stream, as if the samples of each had been drawn
// without putting back: what a counter with a variance samples is as good as that unless its
// intervals resonate with the order of the messages.
func (w *weighing) countedBounds(value float64, of func(*Sums) moments) (low, high float64) {
	mean := float64(w.sum(of).sum) / float64(w.samples)
	variance, third, sq, cube, degrees := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, s := range w.streams {
		n := float64(s.sampled(w.k))
		if n == 0 {
			continue
		}
		m, centre, correction := of(&s.sums[w.k]), mean, 1.0
		if n > 1 {
			centre, correction = float64(m.sum)/n, n/(n-1)
			degrees += n - 1
		}
		// Moments about the centre.
		e2 := m.sq - 2*centre*float64(m.sum) + n*centre*centre
		e3 := m.cube - 3*centre*m.sq + 3*centre*centre*float64(m.sum) - n*centre*centre*centre
		rest := max(0, 1-1/w.weights[i]) // what was not sampled
		weight := w.weights[i]
		variance += weight * weight * rest * correction * max(0, e2)
		third += weight * weight * weight * rest * e3
		sq, cube = sq+weight*weight*max(0, e2), cube+weight*weight*weight*e3
	}
	if degrees < 1 || variance <= value*value*1e-24 { // but for rounding all values are equal
		return math.NaN(), math.NaN()
	}
	return bounds(value, math.Sqrt(variance), third, third, cube/math.Pow(sq, 1.5), distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile)
}

// messages estimates the number of messages. Of random sampling the interval is the score
// interval of a binomial law, which also holds where few or none were sampled. A counter
// knows the number of sends; if all that it sampled were received, that is the number.
func (w *weighing) messages() estimate {
	e := w.total(func(s *Sums) moments {
		n := float64(s.Messages)
		return moments{int64(s.Messages), n, n}
	})
	received := w.sum(func(s *Sums) moments { return moments{sum: int64(s.Messages)} })
	if w.config.Strategy == Counter && received.sum > 0 && uint64(received.sum) == w.samples {
		e.low, e.high = e.value, e.value
	}
	if t := w.config.Threshold; w.config.Strategy == Random && t > 0 && t < 1 {
		n, z := e.value*t, standard((1+confidence)/2)
		middle, half := n+z*z*(1-t)/2, z*math.Sqrt((1-t)*(n+z*z*(1-t)/4))
		e.low, e.high = max(n, (middle-half)/t), (middle+half)/t // there are at least those that were sampled
	}
	return e
}

func (w *weighing) bytes() estimate { return w.total(func(s *Sums) moments { return s.Bytes }) }

func (w *weighing) latency() estimate { return w.total(func(s *Sums) moments { return s.Latency }) }
