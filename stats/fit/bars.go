package fit

import "math"

// Bars are equal parts of the time from the shortest call to a little beyond the last that
// matters, each of whole classes of a histogram: what a result is drawn in.
type Bars struct {
	Origin, Width int64 // ns; bar k holds the calls from Origin + k·Width to the next
	N             int

	classes int64 // of a bar
}

// Bars returns at most so many bars, which reach beyond a time in ns and beyond the cut.
func (r *Result) Bars(last int64, most int) Bars {
	h := &r.Histogram
	last = max(last, r.Cut, h.Origin)
	classes := int64(min(float64(last-h.Origin)*1.15, 1<<62)/float64(h.Window)) + 2
	// No bar is narrower than the numbers of its edges can tell.
	finest := int64(math.Nextafter(float64(last), math.Inf(1)) - float64(last))
	join := max((classes+int64(most)-1)/int64(most), 2*finest/h.Window)
	return Bars{Origin: h.Origin, Width: join * h.Window, N: int((classes + join - 1) / join), classes: join}
}

// At returns the bar that holds a call, N if it takes longer than all.
func (b Bars) At(t int64) int { return int(min(max(t-b.Origin, 0)/b.Width, int64(b.N))) }

// Counts returns how many calls of the result's sample lie in each bar, and how many beyond.
func (r *Result) Counts(b Bars) (counts []int64, beyond int64) {
	counts = make([]int64, b.N)
	for _, c := range r.Histogram.Classes {
		if k := c.K / b.classes; k < int64(b.N) {
			counts[k] += c.N
		} else {
			beyond += c.N
		}
	}
	return counts, beyond
}

// Expected returns how many calls an estimate of model i expects in each bar: its share of
// the calls below the cut, to which it was fitted.
func (r *Result) Expected(i, estimate int, b Bars) []float64 {
	m := r.Models[i].As(estimate)
	body := 1.0
	if r.Cut > 0 {
		body = m.CDF(r.Cut - 1)
	}
	out := make([]float64, b.N)
	if !(body > 0) {
		return out
	}
	for k := range out {
		if e := float64(r.Calls-r.Tail) / body * m.Between(int64(k)*b.classes, int64(k+1)*b.classes); !math.IsNaN(e) && e > 0 {
			out[k] = e
		}
	}
	return out
}
