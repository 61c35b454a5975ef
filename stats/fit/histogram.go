package fit

import (
	"math"
	"sort"
)

const (
	// maxLattice is the largest number of timer steps, from the smallest duration
	// to the 99 % quantile, that are taken as classes of their own.
	maxLattice = 128
	// maxOccupied bounds the occupied classes, and so the cost of a fit.
	maxOccupied = 4096
)

// A Histogram counts t_err = t - Origin in classes of equal width; class k
// holds the durations in [Origin + k·Window, Origin + (k+1)·Window).
type Histogram struct {
	Origin  int64   // t_min in ns (rounded down to the cells of a sample that is not exact)
	Window  int64   // width of a class in ns, > 0
	Step    int64   // ns; all durations are whole numbers of steps above Origin; ≥ 1, divides Window if Window was chosen by the default rule
	Classes []Class // occupied classes only, in increasing order
	N       int64   // calls in all classes
}

// A Class is one occupied class of a histogram.
type Class struct {
	K int64 // number of the class, ≥ 0
	N int64 // calls in it, > 0
}

// Histogram counts the sample in classes of the given window (ns). A window
// of zero or less asks for the default rule:
//
//   - where the calls from the smallest to the 99 % quantile span at most 128
//     steps (a step is the common divisor of all differences: a coarse timer,
//     or a law that is discrete by itself), one step;
//   - else the rule of Freedman and Diaconis, 2·IQR/∛N, rounded down to whole
//     steps.
//
// Whoever chose it, a window is at least resolution (ns, the timer's) and a multiple of the sample's Error + 1. It is widened until at most
// 4096 classes are occupied.
func (s *Sample) Histogram(window, resolution int64) Histogram {
	s.settle()
	step := max(s.step(), 1)
	least := max(resolution, s.Error()+1, 1)
	if window <= 0 {
		window = s.defaultWindow(step)
	}
	if window < least {
		window = (least + step - 1) / step * step
	}
	cell := s.Error() + 1
	window = (window + cell - 1) / cell * cell // or cells would straddle classes
	h := Histogram{Origin: s.origin(), Step: step}
	for h.fill(s.runs, window); len(h.Classes) > maxOccupied; {
		h.fill(s.runs, 2*h.Window)
	}
	return h
}

// defaultWindow is the rule of Histogram before its lower bounds.
func (s *Sample) defaultWindow(step int64) int64 {
	if (s.Quantile(0.99)-s.min)/step <= maxLattice {
		return step
	}
	return s.freedmanDiaconis(step)
}

// freedmanDiaconis returns 2·IQR/∛N in whole steps, at least one.
func (s *Sample) freedmanDiaconis(step int64) int64 {
	iqr := float64(s.Quantile(0.75) - s.Quantile(0.25))
	w := 2 * iqr / math.Cbrt(float64(s.n))
	return max(int64(w)/step*step, step)
}

// fill counts the runs in classes of the given window.
func (h *Histogram) fill(runs []run, window int64) {
	h.Window, h.Classes, h.N = window, nil, 0
	for _, r := range runs {
		k := max(r.t-h.Origin, 0) / window
		h.N += r.n
		if last := len(h.Classes) - 1; last >= 0 && h.Classes[last].K == k {
			h.Classes[last].N += r.n
			continue
		}
		h.Classes = append(h.Classes, Class{k, r.n})
	}
}

// below returns the part of h in classes before k, and the calls left out.
func (h Histogram) below(k int64) (Histogram, int64) {
	j := sort.Search(len(h.Classes), func(j int) bool { return h.Classes[j].K >= k })
	part := h
	part.Classes, part.N = h.Classes[:j], 0
	for _, c := range part.Classes {
		part.N += c.N
	}
	return part, h.N - part.N
}

// mean returns the mean of the class numbers; 0 for an empty histogram.
func (h Histogram) mean() float64 {
	var sum float64
	for _, c := range h.Classes {
		sum += float64(c.K) * float64(c.N)
	}
	return ratio(sum, float64(h.N))
}

// moments returns mean, standard deviation and skewness of the class centres, in
// windows; a deviation of zero counts as 0.001.
func (h Histogram) moments() (mean, sigma, skew float64) {
	mean = h.mean() + 0.5
	var variance, third float64
	for _, c := range h.Classes {
		d := float64(c.K) + 0.5 - mean
		variance += d * d * float64(c.N)
		third += d * d * d * float64(c.N)
	}
	sigma = max(math.Sqrt(ratio(variance, float64(h.N))), 1e-3)
	return mean, sigma, ratio(third, float64(h.N)) / (sigma * sigma * sigma)
}

// ratio is a/b, and 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// rank returns the number of calls that a share q of n makes, at least one and
// at most n. The small allowance keeps 0.99·100 from becoming 100.
func rank(q float64, n int64) int64 {
	need := int64(math.Ceil(q*float64(n) - 1e-9*float64(n)))
	return min(max(need, 1), n)
}

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

// Bars are equal parts of the time from the shortest call to a little beyond the last that matters. Each has whole classes of a histogram:
// what a result is drawn in.
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
