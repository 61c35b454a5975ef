package fit

import "math"

// DefaultAlpha is the error rate of the χ² test if none is asked for.
const DefaultAlpha = 0.05

// Options say how a sample is taken, fitted and judged. The zero value is ready
// for use: every zero field stands for its default.
type Options struct {
	// Quantile of the law at which t_max lies, 0.8 ≤ q ≤ 1 (values outside are
	// moved to the nearest end); default 0.99. 1 means the largest call of the body.
	Quantile float64

	// Alpha is the error rate of the χ² test, default 0.05.
	Alpha float64

	// Resolution of the timer in ns, default 1. No window is smaller.
	Resolution int64

	// Window is the width of a class in ns; 0 asks for the rule of [Sample.Histogram],
	// which in the body way is applied to the body.
	Window int64

	// Paper takes the whole sample, as the paper does with a benchmark run. Without
	// it the law is fitted to the body below a robust cut; calls above are counted.
	Paper bool

	// SmallestChi2 chooses as the paper does: the smallest χ² among all accepted estimates, whose t_max it takes. Without it the largest
	// p-value decides among the families, which is fair to unequal ν; t_max is from the maximum-likelihood law, the most precise one.
	SmallestChi2 bool

	// Brief leaves out what decides nothing: the least χ² of a law that is rejected at the
	// maximum of the likelihood.
	Brief bool

	// Families in the contest; nil means DefaultFamilies.
	Families []Family

	// Draw fits this many calls of a larger sample, drawn at random by Seed, as the paper does. If no law is accepted others are drawn,
	// mostDraws times in all. 0: all calls.
	Draw int
	Seed uint64
}

// The ways in which a Result may come to its t_max.
const (
	FromLaw       = "law"       // quantile of an accepted law
	FromEmpirical = "empirical" // no model accepted: quantile of the calls below the cut
	FromEqual     = "equal"     // the calls below the cut are all in one class: nothing to fit
	FromNothing   = "none"      // no calls
)

// A Result is all that Fit found out about one key.
type Result struct {
	Histogram Histogram // of the whole sample
	Quantile  float64   // at which TMax lies, after defaults
	Alpha     float64
	Cut       int64 // ns; calls at or above it are not modelled; 0 if there is no cut
	Calls     int64 // all
	Tail      int64 // calls at or above Cut
	Models    []Model
	Chosen    int    // index into Models, -1 for none
	Estimate  int    // index into the chosen model's Estimates that TMax is from; 0 but with SmallestChi2
	From      string // how TMax came about: one of the From constants
	TMin      int64  // ns
	TMax      int64  // ns: where necessary time ends
	Over      int64  // calls longer than TMax
	Overhead  int64  // ns: Σ max(0, t - TMax)
	Draws     int    // how often calls were drawn; 0: all calls were fitted

	// Unreliable says that TMax cannot be trusted: it is far above TMin, with fewer than 200 calls or no accepted law behind it.
	// Far is more than 100 times TMin, or the timer's resolution if that is more.
	Unreliable bool
}

// What makes a t_max that is far from t_min reliable.
const (
	reliableCalls = 200
	farFromMin    = 100
)

// Fit fits the families to the sample and chooses t_max. A key without calls, with
// one call, or with equal calls has a defined result: see From. If no model is
// accepted, Chosen is -1 and TMax is the empirical quantile of the body.
//
// In the body way the cut already separates body and slow tail: the mixture takes part only if no other law is accepted. Its tail must be
// slow: fewer than half of the calls, in the mean beyond the body's quantile. In either way its body must lie in four classes or more: less
// is no body but a peak. If it is accepted, t_max is the quantile of its body. A mixture of two parts that overlap is no separation; the
// empirical quantile then is the more honest answer.
func Fit(s *Sample, o Options) Result {
	o = o.defaults()
	if o.Draw > 0 && s.Len() > int64(o.Draw) {
		return fitDrawn(s, o)
	}
	r := Result{Quantile: o.Quantile, Alpha: o.Alpha, Calls: s.Len(), TMin: s.Min(), Chosen: -1, From: FromNothing}
	r.Histogram = s.Histogram(o.Window, o.Resolution)
	if r.Calls == 0 {
		return r
	}
	b := binned{r.Histogram, noCut}
	if !o.Paper {
		if o.Window <= 0 {
			r.Histogram = s.Histogram(s.bodyWindow(r.Histogram), o.Resolution)
		}
		b.h, b.cut = r.Histogram, r.Histogram.cutClass()
		b.h, r.Tail = r.Histogram.below(b.cut)
		r.Cut = r.Histogram.Origin + b.cut*r.Histogram.Window
	}
	r.Models = contest(b, o)
	r.choose(o)
	r.setTMax(s, b, o)
	r.Over, r.Overhead = s.Above(r.TMax)
	r.Unreliable = (r.Calls < reliableCalls || r.From != FromLaw) && r.TMax/farFromMin >= max(r.TMin, o.Resolution) &&
		r.TMax > farFromMin*max(r.TMin, o.Resolution)
	return r
}

// defaults replaces zero fields and moves the quantile into its range.
func (o Options) defaults() Options {
	if o.Quantile == 0 || math.IsNaN(o.Quantile) {
		o.Quantile = 0.99
	}
	o.Quantile = min(max(o.Quantile, 0.8), 1)
	if !(o.Alpha > 0 && o.Alpha < 1) {
		o.Alpha = DefaultAlpha
	}
	o.Resolution = max(o.Resolution, 1)
	if o.Families == nil {
		o.Families = DefaultFamilies()
	}
	return o
}

// choose picks among the accepted families by p-value, or among all accepted
// estimates by χ².
func (r *Result) choose(o Options) {
	r.Chosen, r.Estimate = r.best(o, func(t Test) bool { return t.Accepted })
}

// nearest returns the chosen model and estimate or, if none was accepted, those that would
// have been if all were; -1 if there is nothing to choose from.
func (r *Result) nearest(o Options) (model, estimate int) {
	if r.Chosen >= 0 {
		return r.Chosen, r.Estimate
	}
	return r.best(o, func(t Test) bool { return t.DOF >= 1 })
}

func (r *Result) best(o Options, counts func(Test) bool) (model, estimate int) {
	best := math.Inf(-1)
	model = -1
	offer := func(m, e int, t Test, merit float64) {
		if counts(t) && merit > best {
			best, model, estimate = merit, m, e
		}
	}
	for j, m := range r.Models {
		if !o.SmallestChi2 {
			offer(j, 0, m.Test, m.Test.P)
			continue
		}
		for k, e := range m.Estimates {
			offer(j, k, e.Test, -e.Test.Chi2)
		}
	}
	return model, estimate
}

// setTMax sets t_max from the chosen law, or from the body itself.
func (r *Result) setTMax(s *Sample, b binned, o Options) {
	body := s.body(r.Cut)
	var inBody int64
	for _, x := range body {
		inBody += x.n
	}
	switch {
	case len(b.h.Classes) < 2:
		// The body always holds the smallest call.
		r.From, r.TMax = FromEqual, s.clamp(body[len(body)-1].t)
	case r.Chosen < 0:
		r.From, r.TMax = FromEmpirical, s.clamp(quantileOf(body, inBody, r.Quantile))
	case r.Quantile == 1:
		r.From, r.TMax = FromLaw, s.clamp(body[len(body)-1].t)
	default:
		m := r.Models[r.Chosen]
		r.From, r.TMax = FromLaw, m.tMax(m.Estimates[r.Estimate].law, o)
	}
}

// body returns the runs below the cut, all of them if there is no cut.
func (s *Sample) body(cut int64) []run {
	s.settle()
	j := len(s.runs)
	for cut > 0 && j > 1 && s.runs[j-1].t >= cut {
		j--
	}
	return s.runs[:j]
}

// Threshold returns the duration in ns that none of n calls at once should exceed
// but with probability alpha: t_min + F⁻¹(1 - α/n) of the chosen law. It is TMax
// if there is no law, and for n < 1.
func (r Result) Threshold(n int64) int64 {
	if r.Chosen < 0 || n < 1 {
		return r.TMax
	}
	return r.Models[r.Chosen].As(r.Estimate).Quantile(min(1-r.Alpha/float64(n), 1-1e-15))
}

// A StabilityRow is t_max as the first N calls of a sample give it, and how well the law
// behind it fits. If no law is accepted, it is the one that comes nearest: of the largest
// p-value or, where that decides, the smallest χ².
type StabilityRow struct {
	N      int
	TMin   int64  // ns
	TMax   int64  // ns
	From   string // as Result.From
	Law    Family // whose Test this is; empty if the calls determine none
	Test   Test
	Within bool // TMax is within 5 % of the whole sample's t_max - t_min
}

// stabilitySizes returns the sizes that Stability uses by default: 50, 60, … up to
// 500, then about a tenth more each time, and n itself. It is empty for n < 1.
func stabilitySizes(n int) []int {
	var sizes []int
	for size := 50; size < n; size += max(10, size/500*50) {
		sizes = append(sizes, size)
	}
	if n > 0 {
		sizes = append(sizes, n)
	}
	return sizes
}

// Stability returns t_max against the number of calls, for the durations (ns) in the
// order in which they were measured: one row for each size up to their number, nil
// meaning stabilitySizes. The paper found that about 200 calls are enough.
func Stability(durations []int64, sizes []int, o Options) []StabilityRow {
	if sizes == nil {
		sizes = stabilitySizes(len(durations))
	}
	var whole Sample
	for _, t := range durations {
		whole.Add(t)
	}
	all := Fit(&whole, o)
	var rows []StabilityRow
	var s Sample
	for _, n := range sizes {
		if n < int(s.Len()) || n > len(durations) {
			continue
		}
		for _, t := range durations[s.Len():n] {
			s.Add(t)
		}
		r := Fit(&s, o)
		row := StabilityRow{N: n, TMin: r.TMin, TMax: r.TMax, From: r.From}
		if m, e := r.nearest(o); m >= 0 {
			row.Law, row.Test = r.Models[m].Family, r.Models[m].TestOf(e)
		}
		row.Within = 20*max(r.TMax-all.TMax, all.TMax-r.TMax) <= all.TMax-all.TMin
		rows = append(rows, row)
	}
	return rows
}
