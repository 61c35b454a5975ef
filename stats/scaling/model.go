package scaling

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Term is p^(Num/Den) · log2(p)^Log, times its coefficient.
type Term struct {
	Num         int     `json:"num"`
	Den         int     `json:"den"`
	Log         int     `json:"log"`
	Coefficient float64 `json:"coefficient"`
}

// shape is the term at p, its coefficient left out.
func (t Term) shape(p float64) float64 {
	return math.Pow(p, float64(t.Num)/float64(t.Den)) * math.Pow(math.Log2(p), float64(t.Log))
}

// String writes the term without its coefficient: p^(3/2)·log2(p)^2.
func (t Term) String() string {
	var parts []string
	switch r := big.NewRat(int64(t.Num), int64(t.Den)); {
	case t.Num == 0:
	case r.IsInt() && r.Num().Int64() == 1:
		parts = append(parts, "p")
	case r.IsInt():
		parts = append(parts, fmt.Sprintf("p^%d", r.Num()))
	default:
		parts = append(parts, fmt.Sprintf("p^(%d/%d)", r.Num(), r.Denom()))
	}
	switch t.Log {
	case 0:
	case 1:
		parts = append(parts, "log2(p)")
	default:
		parts = append(parts, fmt.Sprintf("log2(p)^%d", t.Log))
	}
	return strings.Join(parts, "·")
}

// shapes lists the terms that a model of so many sizes may have, simple ones first, as ties are
// broken: the exponents and logarithms that Extra-P tries by default; and, as work that is shared
// out shrinks with every process, powers below zero. Fewer than five sizes cannot tell near shapes
// apart, and the steepest would win by chance: they get five that are far apart.
func shapes(sizes int) []Term {
	if sizes < trustedSizes {
		return []Term{{0, 1, 1, 0}, {1, 1, 0, 0}, {-1, 1, 0, 0}, {1, 2, 0, 0}, {-1, 2, 0, 0}}
	}
	out := []Term{{0, 1, 1, 0}, {1, 1, 0, 0}, {-1, 1, 0, 0}, {1, 2, 0, 0}, {2, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 2, 0}, {3, 1, 0, 0},
		{-1, 2, 0, 0}, {-2, 1, 0, 0}}
	fractions := [][2]int{{1, 4}, {1, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 1}, {5, 4}, {4, 3}, {3, 2}, {5, 3}, {7, 4}, {2, 1}, {9, 4},
		{7, 3}, {5, 2}, {8, 3}, {11, 4}, {3, 1}}
	for _, logs := range [][]int{{0}, {1}, {2}} {
		for _, f := range fractions {
			x := float64(f[0]) / float64(f[1])
			// Extra-P tries logarithms beside the lower powers and halves only.
			if logs[0] == 1 && x > 1.5 && x != 2 && x != 2.5 && x != 3 || logs[0] == 2 && x > 1 && x != 1.5 && x != 2 && x != 2.5 || logs[0] > 0 &&
				f == [2]int{4, 5} {
				continue
			}
			if t := (Term{f[0], f[1], logs[0], 0}); !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	for _, f := range [][2]int{{1, 4}, {1, 3}, {2, 3}, {3, 4}, {3, 2}} {
		out = append(out, Term{-f[0], f[1], 0, 0})
	}
	return append(out, Term{-1, 1, 1, 0})
}

// A Model is f(p) = Constant + Σ Terms, fitted to one value for each number of processes.
type Model struct {
	Constant float64
	Terms    []Term  // ascending by growth; none: it does not depend on p
	Points   int     // numbers of processes that it is fitted to
	R2       float64 // share of the variance that it explains; 1 of a constant that fits exactly, else 0 of a constant
	SMAPE    float64 // leave-one-out: mean of 2|f-y|/(|f|+|y|), each value predicted from the others; 0 … 2
	P        float64 // of a gain like that of the last term, or a better one, by chance; 1 of a constant

	likely []*hypothesis // that intervals are of
}

// confidence is the probability that an interval of a prediction is meant to have.
const confidence = 0.95

// Least numbers of processes.
const (
	leastSizes   = 3 // for a model: with two, every term fits
	trustedSizes = 5 // that Extra-P asks for
	pairSizes    = 6 // for two terms
)

// The conditions under which a term is believed.
const (
	accept   = 0.01 // largest probability of a term's gain by chance
	acceptR2 = 0.9  // with fewer than five sizes, where that test has hardly any power: least share of the variance
	unlikely = 1e-3 // times as likely as the best: hypotheses that do not count
	rare     = 0.1  // prior likelihood of a shape that is not among the simple ones, and of a term below 0
	simple   = 7    // shapes, the first in their list
	usual    = 1.5  // logarithm of how much likelier deviations in proportion to the value are than others
)

// Fit finds the model of the values y at the numbers of processes p, both of one length, y
// finite. Hypotheses have one term, or none, and deviations of one size or in proportion to the value; they are weighed by
// AICc, simple shapes first (DEFINITIONS 2.13). The most likely one is the model if its term gains more than chance would (F test, 1 %;
// fewer than five sizes: if it explains 90 % of the variance), with two terms if there are six sizes and the second gains as much again;
// else a constant. No hypothesis is below 0 at a number in p or in at. It is nil with fewer than three sizes.
func Fit(p, y []float64, at ...float64) *Model {
	if distinct := slices.Compact(slices.Sorted(slices.Values(p))); len(distinct) < leastSizes || distinct[0] <= 0 {
		return nil
	}
	f := newFitter(p, y, at)
	constants := f.fit(nil)
	if len(constants) == 1 { // each scheme has a constant
		constants = append(constants, constants[0])
	}
	best, chance, all := mostLikely(constants), 1.0, constants
	var growing []*hypothesis
	for _, t := range f.with {
		growing = append(growing, f.fit([]basis{t})...)
	}
	if one := mostLikely(growing); one != nil {
		p := one.chance(constants[one.scheme()])
		switch {
		case len(y) < trustedSizes && one.r2 >= acceptR2, len(y) >= trustedSizes && p <= accept:
			best, chance, all = one, p, growing
		case len(y) >= trustedSizes:
			all = append(all, growing...)
		}
	}
	if len(y) >= pairSizes && len(best.terms) > 0 {
		if two, p := f.pair(best); two != nil {
			best, chance, all = two, p, append(all, two)
		}
	}
	m := &Model{Constant: best.c[0], Points: len(y), R2: best.r2, SMAPE: best.smape, P: chance}
	for k, t := range best.terms {
		t.Coefficient = best.c[k+1]
		m.Terms = append(m.Terms, t.Term)
	}
	least := mostLikely(all).score + math.Log(unlikely)
	for _, h := range all {
		if h.score >= least {
			m.likely = append(m.likely, h)
		}
	}
	return m
}

// A hypothesis is a form of the model with the coefficients that fit best, and how likely it is.
type hypothesis struct {
	terms     []basis
	relative  bool         // deviations are in proportion to the value
	c         vector       // coefficients
	inverse   [most]vector // (XᵀWX)⁻¹
	rest      float64      // weighted sum of squares that is left
	exact     float64      // what of that is rounding
	freedom   int
	score     float64 // logarithm of its likelihood, up to a number that all share
	r2, smape float64
}

// scheme is the place of a constant with deviations like these in what fit returns.
func (h *hypothesis) scheme() int {
	if h.relative {
		return 1
	}
	return 0
}

// chance is the probability that a term which means nothing leaves as little of what is left without it.
func (h *hypothesis) chance(without *hypothesis) float64 {
	switch gain := without.rest - h.rest; {
	case gain <= 0 || without.rest <= without.exact || h.freedom < 1:
		return 1
	case h.rest <= h.exact:
		return 0
	default:
		return distuv.F{D1: 1, D2: float64(h.freedom)}.Survival(gain / (h.rest / float64(h.freedom)))
	}
}

// mostLikely returns the most likely hypothesis, of equals the first.
func mostLikely(of []*hypothesis) (best *hypothesis) {
	for _, h := range of {
		if best == nil || h.score > best.score+1e-9 {
			best = h
		}
	}
	return best
}

// A fitter fits hypotheses to one set of values.
type fitter struct {
	y    []float64 // by size
	with []basis   // the terms to choose from, simple ones first
}

// A basis is a term with its shape's values at all sizes and, behind them, where a model is asked for.
type basis struct {
	Term
	at    []float64
	prior float64 // logarithm of how likely the shape is before anything is measured
}

func newFitter(p, y, at []float64) *fitter {
	f := &fitter{y: y}
	for i, t := range shapes(len(p)) {
		b := basis{Term: t}
		if i >= simple {
			b.prior = math.Log(rare)
		}
		for _, x := range slices.Concat(p, at) {
			b.at = append(b.at, t.shape(x))
		}
		f.with = append(f.with, b)
	}
	return f
}

// rowAt is what the coefficients are multiplied by at a size, or behind them.
func rowAt(terms []basis, i int) (x vector) {
	x[0] = 1
	for k := range terms {
		x[k+1] = terms[k].at[i]
	}
	return x
}

// pair returns the most likely hypothesis with two terms, none of them below 0, and the probability of what the second gains by chance;
// nil if that is no better than a hypothesis with one.
func (f *fitter) pair(one *hypothesis) (best *hypothesis, chance float64) {
	weights := one.weights(f)
	for i := range f.with {
		for k := i + 1; k < len(f.with); k++ {
			h := f.weighted([]basis{f.with[i], f.with[k]}, weights, one.relative)
			if h != nil && h.c[1] >= 0 && h.c[2] >= 0 && (best == nil || h.score > best.score+1e-9) {
				best = h
			}
		}
	}
	if best == nil || best.score <= one.score {
		return nil, 1
	}
	for _, t := range best.terms {
		if h := f.weighted([]basis{t}, weights, one.relative); h != nil {
			chance = max(chance, best.chance(h))
		}
	}
	if chance > accept {
		return nil, 1
	}
	return best, chance
}

// most is the number of coefficients of a model at most.
const most = 3

// A vector has one number for each coefficient; those behind the last are 0.
type vector [most]float64

// fit fits a form with deviations of one size and, if no value is 0, with such in proportion to the value.
func (f *fitter) fit(terms []basis) (out []*hypothesis) {
	weights := make([]float64, len(f.y))
	for i := range weights {
		weights[i] = 1
	}
	h := f.weighted(terms, weights, false)
	if h != nil {
		out = append(out, h)
	}
	if slices.Min(f.y) <= 0 {
		return out
	}
	for i, y := range f.y {
		weights[i] = 1 / (y * y)
	}
	if h = f.weighted(terms, weights, true); h != nil { // the weights are those of the values, then those of what is fitted
		h = f.weighted(terms, h.weights(f), true)
	}
	if h != nil {
		out = append(out, h)
	}
	return out
}

// weights are those of deviations as the hypothesis has them.
func (h *hypothesis) weights(f *fitter) []float64 {
	out := make([]float64, len(f.y))
	for i := range out {
		out[i] = 1
		if v := dot(h.c, rowAt(h.terms, i)); h.relative && v > 0 {
			out[i] = 1 / (v * v)
		}
	}
	return out
}

// weighted fits the coefficients of the terms and cross-validates; nil if the values do not
// determine them, also with one size left out, or if they make a time below 0.
func (f *fitter) weighted(terms []basis, weights []float64, relative bool) *hypothesis {
	slices.SortFunc(terms, func(a, b basis) int { return cmp.Or(a.Num*b.Den-b.Num*a.Den, a.Log-b.Log) })
	n, size := len(terms)+1, float64(len(f.y))
	h := &hypothesis{terms: terms, relative: relative, freedom: len(f.y) - n}
	var ok bool
	if h.c, h.inverse, ok = f.solve(terms, weights); !ok || f.below(terms, h.c) {
		return nil
	}
	mean, all, squares := 0.0, 0.0, 0.0
	for _, y := range f.y {
		mean += y / size
	}
	plain := 0.0
	for i, y := range f.y {
		x, w := rowAt(terms, i), weights[i]
		d := y - dot(h.c, x)
		h.rest += w * d * d
		plain, all, squares = plain+d*d, all+(y-mean)*(y-mean), squares+y*y
		h.exact += 1e-18 * w * y * y
		h.score += 0.5 * math.Log(w)
		// What the others foretell of a value: its residual grows by 1/(1-h) if it is left out,
		// with h its own weight in the fit.
		own := 1.0
		for k := range n {
			own -= w * x[k] * dot(h.inverse[k], x)
		}
		if own < 1e-9 {
			return nil // the others do not determine the coefficients
		}
		if guess := y - d/own; math.Abs(guess)+math.Abs(y) > 0 {
			h.smape += 2 * math.Abs(guess-y) / (math.Abs(guess) + math.Abs(y)) / size
		}
	}
	switch {
	case all > 1e-18*squares:
		h.r2 = 1 - plain/all
	case plain <= 1e-18*squares:
		h.r2 = 1
	}
	if h.rest > h.exact || h.exact > 0 {
		h.score -= 0.5 * size * math.Log(max(h.rest, h.exact)/size)
	}
	parameters := float64(n + 1) // with the size of deviations
	if len(f.y) >= trustedSizes {
		h.score -= parameters + parameters*(parameters+1)/max(size-parameters-1, 0.5)
	}
	if relative {
		h.score += usual
	}
	for k, t := range terms {
		if h.score += t.prior; h.c[k+1] < 0 {
			h.score += math.Log(rare)
		}
	}
	return h
}

// below reports whether terms with coefficients make a time below 0 somewhere.
func (f *fitter) below(terms []basis, c vector) bool {
	for i := range len(f.with[0].at) {
		if len(terms) > 0 && dot(c, rowAt(terms, i)) < 0 {
			return true
		}
	}
	return false
}

// row is what the coefficients of a model are multiplied by at p.
func row(terms []basis, p float64) (x vector) {
	x[0] = 1
	for k, t := range terms {
		x[k+1] = t.shape(p)
	}
	return x
}

func dot(a, b vector) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve returns the least-squares coefficients of a model with terms, and (xᵀwx)⁻¹ with x the rows
// of all sizes and w their weights. Columns are scaled to one length first: powers of p are far apart.
func (f *fitter) solve(terms []basis, weights []float64) (c vector, inverse [most]vector, ok bool) {
	n := len(terms) + 1
	var scale vector
	for i := range f.y {
		for k, v := range rowAt(terms, i) {
			scale[k] += weights[i] * v * v
		}
	}
	for k := range n {
		if scale[k] = math.Sqrt(scale[k]); scale[k] == 0 {
			return c, inverse, false
		}
	}
	// The normal equations beside the unit matrix, and the right side.
	var a [most][2*most + 1]float64
	for k := range n {
		a[k][most+k] = 1
	}
	for i := range f.y {
		x := rowAt(terms, i)
		for k := range n {
			for j := range n {
				a[k][j] += weights[i] * (x[k] / scale[k]) * (x[j] / scale[j])
			}
			a[k][2*most] += weights[i] * (x[k] / scale[k]) * f.y[i]
		}
	}
	const singular = 1e-12
	for k := range n {
		pivot := k
		for j := k + 1; j < n; j++ {
			if math.Abs(a[j][k]) > math.Abs(a[pivot][k]) {
				pivot = j
			}
		}
		if a[k], a[pivot] = a[pivot], a[k]; math.Abs(a[k][k]) < singular {
			return c, inverse, false
		}
		for j := range n {
			if factor := a[j][k] / a[k][k]; j != k {
				for i := range a[j] {
					a[j][i] -= factor * a[k][i]
				}
			}
		}
	}
	for k := range n {
		c[k] = a[k][2*most] / a[k][k] / scale[k]
		for j := range n {
			inverse[k][j] = a[k][most+j] / a[k][k] / scale[k] / scale[j]
		}
	}
	return c, inverse, true
}

// At returns the model's value for p processes.
func (m *Model) At(p float64) float64 {
	sum := m.Constant
	for _, t := range m.Terms {
		sum += t.Coefficient * t.shape(p)
	}
	return sum
}

// Interval returns bounds within which a value measured with p processes lies with the probability Confidence. They are over all hypotheses
// by how likely they are, each with Student's t about its prediction. Ok is false if there are no more values than coefficients. Values are
// no less than 0.
func (m *Model) Interval(p float64) (low, high float64, ok bool) {
	type prediction struct {
		distuv.StudentsT
		weight float64
	}
	var of []prediction
	top, sum := math.Inf(-1), 0.0
	for _, h := range m.likely {
		top = max(top, h.score)
	}
	for _, h := range m.likely {
		if h.freedom < 1 {
			continue
		}
		x := row(h.terms, p)
		mu, spread := dot(h.c, x), 1.0
		if h.relative {
			spread = mu * mu
		}
		for k := range x {
			spread += x[k] * dot(h.inverse[k], x)
		}
		sigma := math.Sqrt(max(h.rest, h.exact) / float64(h.freedom) * max(0, spread))
		w := math.Exp(h.score - top)
		of, sum = append(of, prediction{distuv.StudentsT{Mu: mu, Sigma: max(sigma, 1e-300), Nu: float64(h.freedom)}, w}), sum+w
	}
	if len(of) == 0 {
		return 0, 0, false
	}
	quantile := func(q float64) float64 {
		a, b := math.Inf(1), math.Inf(-1)
		for _, d := range of {
			x := d.Quantile(q)
			a, b = min(a, x), max(b, x)
		}
		for range 60 {
			x, below := a+(b-a)/2, 0.0
			for _, d := range of {
				below += d.weight / sum * d.CDF(x)
			}
			if below < q {
				a = x
			} else {
				b = x
			}
		}
		return a + (b-a)/2
	}
	return max(0, quantile((1-confidence)/2)), max(0, quantile((1+confidence)/2)), true
}

// Formula writes the model with coefficients of four digits, in units of so many of the values',
// such as 1.25 s + 0.31 s·p·log2(p).
func (m *Model) Formula(unit float64, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.4g%s", m.Constant/unit, name)
	for _, t := range m.Terms {
		sign := " + "
		if t.Coefficient < 0 {
			sign = " - "
		}
		fmt.Fprintf(&b, "%s%.4g%s·%s", sign, math.Abs(t.Coefficient)/unit, name, t)
	}
	return b.String()
}

// growth writes how the model grows for many processes, in O notation.
func (m *Model) growth() string {
	for _, t := range slices.Backward(m.Terms) {
		if t.Num > 0 || t.Num == 0 && t.Log > 0 {
			return t.String()
		}
	}
	if m.Constant == 0 && len(m.Terms) > 0 {
		return m.Terms[len(m.Terms)-1].String()
	}
	return "1"
}
