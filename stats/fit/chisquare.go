package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// minExpected is the least expected number of calls in a class of the χ² test.
const minExpected = 5

// A Test is the χ² test of one law against the classes it was fitted to:
//
//	χ² = Σ (B_k - E_k)²/E_k,   ν = classes - 1 - fitted parameters
//
// Neighbouring classes are pooled, from the left, until E_k ≥ 5. The first pool holds all that the law puts below t_min. The last one holds
// all above (up to the cut of a truncated law): no tail is dropped.
type Test struct {
	Chi2     float64
	Classes  int     // after pooling
	DOF      int     // ν; below 1 it is not testable: P is 0, Critical is 0, Accepted is false
	P        float64 // P(χ²_ν ≥ Chi2)
	Critical float64 // chiSquareCritical(DOF, α)
	Accepted bool    // Chi2 ≤ Critical
}

// Testable reports whether there are classes enough to judge the law: if not, it is neither accepted nor rejected.
func (t Test) Testable() bool { return t.DOF >= 1 }

// chiSquareCritical returns the value that a χ² variable of ν degrees of freedom
// exceeds with probability alpha. Up to ν = 30 it is exact; above, it is the
// approximation of Wilson and Hilferty (1931), as in the paper:
//
//	ν (1 - 2/(9ν) + z_α √(2/(9ν)))³
//
// It returns 0 for ν < 1. Alpha must lie between 0 and 1.
func chiSquareCritical(nu int, alpha float64) float64 {
	if nu < 1 {
		return 0
	}
	v := float64(nu)
	if nu <= 30 {
		return 2 * mathext.GammaIncRegCompInv(v/2, alpha)
	}
	c := 2 / (9 * v)
	return v * math.Pow(1-c-mathext.NormalQuantile(alpha)*math.Sqrt(c), 3)
}

// chiSquareP returns P(χ²_ν ≥ x).
func chiSquareP(x float64, nu int) float64 {
	return distuv.ChiSquared{K: float64(nu)}.Survival(x)
}

// A pool is a class of the test: classes of the histogram before edge hi and
// not before the pool to its left.
type pool struct {
	hi       float64 // +Inf for the last pool of a law that is not truncated
	expected float64
	observed float64
}

// test pools the classes by the law's expectations and computes χ².
func (b binned) test(l law, alpha float64) Test {
	pools := b.pools(l)
	t := Test{Classes: len(pools), DOF: len(pools) - 1 - l.fitted(), Chi2: chiSquare(pools)}
	if t.DOF < 1 {
		return t
	}
	t.P = chiSquareP(t.Chi2, t.DOF)
	t.Critical = chiSquareCritical(t.DOF, alpha)
	t.Accepted = t.Chi2 <= t.Critical
	return t
}

func chiSquare(pools []pool) float64 {
	var sum float64
	for _, p := range pools {
		d := p.observed - p.expected
		sum += d * d / max(p.expected, tiny)
	}
	return min(sum, math.MaxFloat64)
}

// pools cuts the axis into pools with E ≥ 5 and counts what fell into each.
func (b binned) pools(l law) []pool {
	w := b.walk(l)
	var out []pool
	for {
		hi, more := w.next()
		out = append(out, w.take(hi))
		if !more {
			break
		}
	}
	j := 0
	for _, c := range b.h.Classes {
		for float64(c.K) >= out[j].hi {
			j++
		}
		out[j].observed += float64(c.N)
	}
	return out
}

// A walker walks along the axis from edge to edge.
type walker struct {
	l                  law
	n                  float64 // expected calls for a probability of 1: N / P(X < cut)
	edge               float64 // where it stands
	lower, upper       float64 // the tails there; at first 0 and 1, left of everything
	end                float64 // the edge where the last pool ends: the cut or +Inf
	endLower, endUpper float64 // the tails there

	asked                  float64 // the edge that was asked for last; at first the end
	askedLower, askedUpper float64 // the tails there
}

// walk returns a walker that stands left of everything.
func (b binned) walk(l law) *walker {
	w := &walker{l: l, upper: 1, end: math.Inf(1), endLower: 1}
	if b.cut != noCut {
		w.end = float64(b.cut)
		w.endLower, w.endUpper = l.tails(w.end)
	}
	w.n = float64(b.h.N) / max(w.endLower, tiny)
	w.asked, w.askedLower, w.askedUpper = w.end, w.endLower, w.endUpper
	return w
}

// tails returns the law's at x. An edge that closes a pool is asked for several times behind each other.
func (w *walker) tails(x float64) (lower, upper float64) {
	if x != w.asked {
		w.asked = x
		w.askedLower, w.askedUpper = w.l.tails(x)
	}
	return w.askedLower, w.askedUpper
}

// expected returns N·P(edge ≤ X < x | X < cut) and the same from x up to the cut.
func (w *walker) expected(x float64) (here, rest float64) {
	lower, upper := w.tails(x)
	return w.n * between(w.lower, w.upper, lower, upper), w.n * between(lower, upper, w.endLower, w.endUpper)
}

// next finds the first edge that closes a pool and leaves enough for another one.
// Steps double until the pool is full and a bisection takes back the excess: the
// classes of a far tail are not visited one by one.
func (w *walker) next() (hi float64, more bool) {
	lo, step := w.edge, 1.0
	for hi = lo + 1; ; hi += step {
		here, rest := w.expected(hi)
		if rest < minExpected || hi > farthest {
			// Not enough beyond hi, but there may be between lo and hi.
			if hi, more = w.between(lo, hi); more {
				return hi, true
			}
			return w.end, false
		}
		if here >= minExpected {
			hi, _ = w.between(lo, hi)
			return hi, true
		}
		lo, step = hi, 2*step
	}
}

// between returns the smallest edge in (lo, hi] with a full pool before it, and
// whether enough is left beyond.
func (w *walker) between(lo, hi float64) (float64, bool) {
	for hi-lo > 1 {
		mid := math.Floor((lo + hi) / 2)
		if here, _ := w.expected(mid); here >= minExpected {
			hi = mid
		} else {
			lo = mid
		}
	}
	here, rest := w.expected(hi)
	return hi, here >= minExpected && rest >= minExpected
}

// take closes a pool at hi and stands there.
func (w *walker) take(hi float64) pool {
	lower, upper := w.endLower, w.endUpper
	if hi != w.end {
		lower, upper = w.tails(hi)
	}
	p := pool{hi: hi, expected: w.n * between(w.lower, w.upper, lower, upper)}
	w.edge, w.lower, w.upper = hi, lower, upper
	return p
}

// decide returns the test by which a family is accepted, from those of its
// maximum-likelihood and its least-χ² law.
//
// ν = classes - 1 - fitted is right for the least χ² only. At the maximum of
// the likelihood χ² is larger and follows a law between those of ν and ν + fitted
// (H. Chernoff, E. L. Lehmann, Annals of Mathematical Statistics 25, 1954): tested
// there with ν, a true law of three parameters is rejected up to three times
// as often as alpha says. But a family whose best member fits is of no use if the
// likelihood leads elsewhere. So the first must pass with ν and the second with
// ν + fitted, and P is the smaller of both p-values.
func decide(estimates []Estimate, alpha float64) Test {
	t := estimates[len(estimates)-1].Test
	if t.DOF < 1 {
		return t
	}
	likely := estimates[0].Test
	nu := max(likely.Classes-1, 1)
	t.P = min(t.P, chiSquareP(likely.Chi2, nu))
	t.Accepted = t.Accepted && likely.Chi2 <= chiSquareCritical(nu, alpha)
	return t
}
