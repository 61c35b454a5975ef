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

// A Model is f(p) = Constant + Σ Terms, fitted by least squares to one value for each number of
// processes.
type Model struct {
	Constant float64
	Terms    []Term  // ascending by growth; none: it does not depend on p
	Points   int     // numbers of processes that it is fitted to
	R2       float64 // share of the variance that it explains; 1 of a constant that fits exactly, else 0 of a constant
	SMAPE    float64 // leave-one-out: mean of 2|f-y|/(|f|+|y|), each value predicted from the others; 0 … 2
	P        float64 // of a gain like that of the last term, or a better one, by chance; 1 of a constant

	deviation float64      // residual standard deviation
	inverse   [most]vector // (XᵀX)⁻¹
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
)

// Fit finds the model of the values y at the numbers of processes p, both of one length, y
// finite. It is the hypothesis of the smallest leave-one-out SMAPE among those with one term, if
// that term gains more than chance would (F test, 1 %; fewer than five sizes: if it explains 90 % of
// the variance); one with two if there are six sizes and the second gains as much again and halves
// the SMAPE; else a constant. No model is below 0 at a number in p or in at. It is nil with fewer than three sizes.
func Fit(p, y []float64, at ...float64) *Model {
	if distinct := slices.Compact(slices.Sorted(slices.Values(p))); len(distinct) < leastSizes || distinct[0] <= 0 {
		return nil
	}
	f := newFitter(p, y, at)
	best := f.fit()
	one := f.best()
	if one == nil || !f.gains(one, best) {
		return best
	}
	best = one
	if len(p) >= pairSizes {
		if two := f.bestPair(best); two != nil && f.gains(two, one) && two.SMAPE < one.SMAPE/2 {
			best = two
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
	at []float64
}

func newFitter(p, y, at []float64) *fitter {
	f := &fitter{y: y}
	for _, t := range shapes(len(p)) {
		b := basis{Term: t}
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

// gains judges the last term of a model by what is left without it.
func (f *fitter) gains(m, without *Model) bool {
	freedom := float64(len(f.y) - 1 - len(m.Terms))
	left, before := m.deviation*m.deviation*freedom, without.deviation*without.deviation*float64(len(f.y)-1-len(without.Terms))
	if before <= f.rounding() {
		return false
	}
	m.P = 0
	if left > f.rounding() {
		m.P = distuv.F{D1: 1, D2: freedom}.Survival((before - left) / (left / freedom))
	}
	if len(f.y) < trustedSizes {
		return m.R2 >= acceptR2
	}
	return m.P <= accept
}

// rounding is a sum of squares that is none: values are no more exact than this.
func (f *fitter) rounding() float64 {
	var sum float64
	for _, y := range f.y {
		sum += y * y
	}
	return 1e-18 * sum
}

// best returns the best hypothesis with one term, nil if there is none.
func (f *fitter) best() *Model {
	var best *Model
	for _, t := range f.with {
		if m := f.fit(t); m != nil && (best == nil || m.betterThan(best)) {
			best = m
		}
	}
	return best
}

// betterThan compares by cross-validation; what differs by rounding is equal.
func (m *Model) betterThan(o *Model) bool { return m.SMAPE < o.SMAPE*(1-1e-9)-1e-12 }

// bestPair returns the best hypothesis with two terms that is no worse than a model of one.
func (f *fitter) bestPair(one *Model) *Model {
	var best *Model
	for i, a := range f.with {
		for _, b := range f.with[i+1:] {
			if m := f.fit(a, b); m != nil && m.SMAPE < one.SMAPE && (best == nil || m.betterThan(best)) {
				best = m
			}
		}
	}
	return best
}

// most is the number of coefficients of a model at most.
const most = 3

// A vector has one number for each coefficient; those behind the last are 0.
type vector [most]float64

// fit fits the coefficients of the terms and cross-validates; nil if the values do not
// determine them, also with one size left out, or if they make a time below 0.
func (f *fitter) fit(terms ...basis) *Model {
	slices.SortFunc(terms, func(a, b basis) int { return cmp.Or(a.Num*b.Den-b.Num*a.Den, a.Log-b.Log) })
	n := len(terms) + 1
	c, inverse, ok := f.solve(terms)
	if !ok || f.below(terms, c) {
		return nil
	}
	m := &Model{Constant: c[0], Points: len(f.y), P: 1, inverse: inverse}
	for k, t := range terms {
		t.Coefficient = c[k+1]
		m.Terms = append(m.Terms, t.Term)
	}
	mean, rest, all := 0.0, 0.0, 0.0
	for _, y := range f.y {
		mean += y / float64(len(f.y))
	}
	for i, y := range f.y {
		x := rowAt(terms, i)
		d := y - dot(c, x)
		rest, all = rest+d*d, all+(y-mean)*(y-mean)
		// What the others foretell of a value: its residual grows by 1/(1-h) if it is left out,
		// with h its own weight in the fit.
		own := 1.0
		for k := range n {
			own -= x[k] * dot(inverse[k], x)
		}
		if own < 1e-9 {
			return nil // the others do not determine the coefficients
		}
		if guess := y - d/own; math.Abs(guess)+math.Abs(y) > 0 {
			m.SMAPE += 2 * math.Abs(guess-y) / (math.Abs(guess) + math.Abs(y)) / float64(len(f.y))
		}
	}
	if freedom := len(f.y) - n; freedom > 0 {
		m.deviation = math.Sqrt(rest / float64(freedom))
	}
	switch {
	case all > f.rounding():
		m.R2 = 1 - rest/all
	case rest <= f.rounding():
		m.R2 = 1
	}
	return m
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
func row(terms []Term, p float64) (x vector) {
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

// solve returns the least-squares coefficients of a model with terms, and (xᵀx)⁻¹ with x the rows
// of all sizes. Columns are scaled to one length first: powers of p are far apart.
func (f *fitter) solve(terms []basis) (c vector, inverse [most]vector, ok bool) {
	n := len(terms) + 1
	var scale vector
	for i := range f.y {
		for k, v := range rowAt(terms, i) {
			scale[k] += v * v
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
				a[k][j] += x[k] / scale[k] * (x[j] / scale[j])
			}
			a[k][2*most] += x[k] / scale[k] * f.y[i]
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

// Interval returns bounds within which a value measured with p processes lies with the
// probability Confidence if the model's form is right and deviations are normal; ok is false if
// there are no more values than coefficients. Values are no less than 0.
func (m *Model) Interval(p float64) (low, high float64, ok bool) {
	freedom := m.Points - 1 - len(m.Terms)
	if freedom < 1 {
		return 0, 0, false
	}
	x := row(m.Terms, p)
	spread := 1.0
	for k := range x {
		spread += x[k] * dot(m.inverse[k], x)
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile((1+confidence)/2) * m.deviation * math.Sqrt(max(1, spread))
	return max(0, m.At(p)-half), m.At(p) + half, true
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
