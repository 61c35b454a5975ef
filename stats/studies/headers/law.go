package headers

import (
	"math"
	"slices"

	"tracekit/stats/fit"
)

// A law is the least time of transfers over their bytes: a line, or two of them where the F-test says so with errorRate. Then small
// messages are sent at once (eager), and large ones when their receiver is ready (rendezvous).
type law struct {
	low  fit.Line // the only one, unless a bend is accepted
	bend *bend    // nil: too few classes of sizes
}

// A bend is the place where a law may change: above one size that was seen, from the next one on.
type bend struct {
	fit.Bend
	above, from uint64
	accepted    bool
}

// law fits one through the smallest times, piecewise where there are fit.LeastBent classes of sizes.
func (s *smallest) law() (w law, count uint64) {
	x, y, weight, count := s.points()
	w.low = fit.FitLine(x, y, weight)
	for _, v := range [][]float64{x, y, weight} {
		slices.Reverse(v)
	}
	if b, ok := fit.FitBend(x, y, weight); ok {
		w.bend = &bend{b, whole(x[b.At-1]), whole(x[b.At]), b.P <= errorRate}
	}
	return w, count
}

// at returns what transfers of so many bytes need: at any size, and beyond that for their bytes.
func (w *law) at(bytes uint64) (base, grows float64) {
	line := w.low
	if b := w.bend; b != nil && b.accepted {
		if line = b.Low; bytes >= b.from {
			line = b.High
		}
	}
	return max(0, line.Intercept), max(0, line.Slope) * float64(bytes)
}

// whole returns bytes that a float holds; the largest sizes are not exact in it.
func whole(bytes float64) uint64 {
	if bytes >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(bytes)
}
