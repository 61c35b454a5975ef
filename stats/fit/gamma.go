package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// gamma is the law with density x^(a-1) e^(-x/b) / (b^a Γ(a)).
type gamma struct{ a, b float64 }

// fitGamma takes mean and standard deviation for size and spread.
func fitGamma(b binned) estimate {
	return fitLocated(b, newGamma, func(mean, sigma float64) (size, spread float64) { return mean, sigma })
}

func newGamma(size, spread float64) shape {
	return gamma{size * size / (spread * spread), spread * spread / size}
}

func (g gamma) below(x float64) (lower, upper float64) { return incomplete(g.a, x/g.b, false) }

func (g gamma) inverse(q float64) float64 {
	if q > 0.5 {
		return g.b * mathext.GammaIncRegCompInv(g.a, 1-q)
	}
	return g.b * mathext.GammaIncRegInv(g.a, q)
}

func (g gamma) named(window float64) []Param {
	return []Param{{"shape", g.a}, {"scale_ns", g.b * window}}
}

// divide integrates the density over each part: where parts are as narrow as classes are, that
// costs little more than the density's value in the middle.
func (g gamma) divide(edges []float64, into []part) {
	d := newDensity(g.a)
	rest := part{share: 1}
	lo := edges[0] / g.b
	for j := range into {
		hi := edges[j+1] / g.b
		if math.IsInf(hi, 1) {
			rest.share = max(rest.share, 0)
			into[j] = rest
			return
		}
		i := d.integrate(lo, hi)
		p := part{i.share, 2*g.a*i.byShape + i.byScale, -2 * (g.a*i.byShape + i.byScale), i.rise / g.b}
		into[j] = p
		rest = rest.plus(p, -1)
		lo = hi
	}
}

// incomplete returns the regularised incomplete gamma functions (Q, P) if
// complement is set, else (P, Q), of a > 0 at x ≥ 0, the smaller one accurate.
func incomplete(a, x float64, complement bool) (first, second float64) {
	var p, q float64
	// Below 1 the upper one is not small, and its series is slow.
	if x < max(a, 1) {
		p = mathext.GammaIncReg(a, x)
		q = 1 - p
	} else {
		q = mathext.GammaIncRegComp(a, x)
		p = 1 - q
	}
	if complement {
		return q, p
	}
	return p, q
}

// A density is that of the gamma law of scale 1, f(t) = t^(a-1) e^(-t) / Γ(a).
type density struct {
	a, root float64 // the shape and its square root
	peak    float64 // ln(a f(a))
	gain    float64 // ln a - ψ(a+1)
}

func newDensity(a float64) density {
	d := density{a: a, root: math.Sqrt(a)}
	// Stirling's series leaves less than 1e-16 from 12 on; steps of one lead there.
	large, steps, product := a, 0.0, 1.0
	for ; large < 12; large++ {
		product *= large
		steps += 1 / (large + 1)
	}
	y := 1 / (large * large)
	gamma := (1.0/12 - y*(1.0/360-y*(1.0/1260-y*(1.0/1680-y*(1.0/1188-y*691.0/360360))))) / large
	d.peak = math.Log(large/(2*math.Pi))/2 - gamma
	d.gain = steps - 1/(2*large) + y*(1.0/12-y*(1.0/120-y*(1.0/252-y*(1.0/240-y*(1.0/132-y*691.0/32760)))))
	if large > a {
		d.peak += math.Log(product) + large - a + a*math.Log(a) - large*math.Log(large)
		d.gain -= math.Log(large / a)
	}
	return d
}

// ratio returns ln(t/a), and t/a - 1.
func (d density) ratio(t float64) (ln, above float64) {
	above = (t - d.a) / d.a
	if math.Abs(above) < 0.5 {
		return math.Log1p(above), above
	}
	return math.Log(t / d.a), above
}

// at returns f(t) for t > 0, and ln(t/a).
func (d density) at(t float64) (f, ln float64) {
	ln, above := d.ratio(t)
	return math.Exp(d.peak+d.a*(ln-above)) / t, ln
}

// log returns ln f(t) for t > 0.
func (d density) log(t float64) float64 {
	ln, above := d.ratio(t)
	return d.peak + d.a*(ln-above) - math.Log(t)
}

// An integral is that of the density from lo to hi.
type integral struct {
	share   float64
	byShape float64 // its derivative by a
	byScale float64 // less its derivative by ln of the scale: t f(t), at hi less at lo
	rise    float64 // f(hi) - f(lo)
}

// plus returns i + w·j.
func (i integral) plus(j integral, w float64) integral {
	return integral{i.share + w*j.share, i.byShape + w*j.byShape, i.byScale + w*j.byScale, i.rise + w*j.rise}
}

// integrate returns the integral from lo ≥ 0 to hi. A wide piece is taken apart: near 0 a
// series serves, and from the mode outwards it is narrow pieces as long as they matter.
func (d density) integrate(lo, hi float64) (sum integral) {
	if c := (lo + hi) / 2; hi <= lo {
		return sum
	} else if hi-lo <= 2*d.reach(c) {
		return d.narrow(c, (hi-lo)/2)
	}
	if low := (d.a + 1) / 2; lo < low {
		top := min(hi, low)
		sum = d.series(top).plus(d.series(lo), -1)
		lo = top
	}
	mode := max(d.a-1, lo)
	for x, more := mode, true; more && x < hi; {
		to := min(hi, x+2*d.reach(x))
		i := d.narrow((x+to)/2, (to-x)/2)
		sum, more = sum.plus(i, 1), i.share > 1e-17*sum.share && to > x
		x = to
	}
	for x, more := min(hi, mode), true; more && x > lo; {
		to := max(lo, x-2*d.reach(x))
		i := d.narrow((x+to)/2, (x-to)/2)
		sum, more = sum.plus(i, 1), i.share > 1e-17*sum.share && to < x
		x = to
	}
	return sum
}

// reach is how far around c the series of narrow is good: less than f's own scale there, and
// well away from 0.
func (d density) reach(c float64) float64 { return c / (2 + d.root/2 + math.Abs(c-d.a)/4) }

// narrow integrates Taylor's series of f around c over ±h. From t f' = (a-1-t) f follows, for
// f(c+hv) = f(c) Σ q_k v^k,
//
//	(k+1) q_(k+1) = h/c (a-1-c-k) q_k - h²/c q_(k-1),
//
// and its derivative by a for that of q_k.
func (d density) narrow(c, h float64) integral {
	f, ln := d.at(c)
	if f == 0 {
		return integral{}
	}
	near := h / c
	fall := h * near
	alpha := near * (d.a - c - 1)
	q, q1 := 1.0, 0.0 // q_k, q_(k-1)
	r, r1 := 0.0, 0.0 // their derivatives
	var even, odd, rise, byShape float64
	for k := 0; k < len(reciprocal)-3; k += 2 {
		even += q * reciprocal[k+1]
		byShape += r * reciprocal[k+1]
		q1, r1, q, r = q, r, (alpha*q-fall*q1)*reciprocal[k+1], (alpha*r-fall*r1+near*q)*reciprocal[k+1]
		alpha -= near
		odd += q * reciprocal[k+3]
		rise += q
		q1, r1, q, r = q, r, (alpha*q-fall*q1)*reciprocal[k+2], (alpha*r-fall*r1+near*q)*reciprocal[k+2]
		alpha -= near
		if math.Abs(q)+math.Abs(q1) < 1e-17*even && math.Abs(r)+math.Abs(r1) < 1e-17 {
			break
		}
	}
	share := 2 * h * f * even
	return integral{
		share:   share,
		byShape: 2*h*f*byShape + share*(ln+d.gain+1/d.a),
		byScale: share*(d.a-c) - 2*h*h*f*odd,
		rise:    2 * f * rise,
	}
}

// reciprocal holds 1/k.
var reciprocal = func() (out [80]float64) {
	for k := range out {
		out[k] = 1 / float64(k)
	}
	return out
}()

// series integrates from 0: ∫f = t f(t)/a Σ t^n / ((a+1)…(a+n)). It is good for t below a/2 + 1.
func (d density) series(t float64) integral {
	if t == 0 {
		return integral{}
	}
	f, ln := d.at(t)
	if f == 0 {
		return integral{}
	}
	term, sum, harmonic, byShape := 1.0, 1.0, 0.0, 0.0
	for n := 1.0; n < 200 && term > 1e-18*sum; n++ {
		term *= t / (d.a + n)
		harmonic += 1 / (d.a + n)
		sum += term
		byShape += term * harmonic
	}
	scale := t * f / d.a
	return integral{scale * sum, scale * (sum*(ln+d.gain) - byShape), t * f, f}
}
