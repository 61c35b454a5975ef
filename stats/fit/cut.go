package fit

import "math"

// The cut that separates body and tail is the 99 % quantile of the exponential
// law that runs through two low quantiles of the sample:
//
//	cut = Q(0.7) + (Q(0.7) - Q(0.4)) · ln(0.3/0.01) / ln(0.6/0.3)
//
// Both quantiles lie so low that slow calls, up to 30 % of all, cannot pull the
// cut with them; a tenth of slow calls moves it by a third. For an exponential law
// it leaves 1 % of clean calls above, for a normal law 10^-5, for a log-normal
// law with σ = 1 about 3 %. That clean calls are lost above it does not bias
// the fit, because the likelihood is that of the truncated law.
const (
	cutLow  = 0.4
	cutHigh = 0.7
	cutAt   = 0.99
)

// cutClass returns the first class that lies above the cut. Calls of the body
// are in the classes before it; class 0 always is.
func (h Histogram) cutClass() int64 {
	high := h.quantile(cutHigh)
	scale := (high - h.quantile(cutLow)) / math.Log((1-cutLow)/(1-cutHigh))
	return int64(high+scale*math.Log((1-cutHigh)/(1-cutAt))) + 1
}

// bodyWindow returns the width in ns that the rule of Freedman and Diaconis gives to the
// body alone, the calls below the cut of a histogram, if it is narrower than the
// histogram's. Slow calls widen the windows of the whole sample; a body in two or three
// classes would pass any test.
func (s *Sample) bodyWindow(h Histogram) int64 {
	body := &Sample{runs: s.body(h.Origin + h.cutClass()*h.Window), shift: s.shift, min: s.min, max: s.max}
	for _, r := range body.runs {
		body.n += r.n
	}
	return min(body.freedmanDiaconis(h.Step), h.Window)
}

// quantile returns the q-quantile in windows, as if the calls of a class were spread
// evenly over it: so it moves smoothly where a coarse timer makes ties.
func (h Histogram) quantile(q float64) float64 {
	need := q * float64(h.N)
	for _, c := range h.Classes {
		if need <= float64(c.N) {
			return float64(c.K) + need/float64(c.N)
		}
		need -= float64(c.N)
	}
	return 0
}
