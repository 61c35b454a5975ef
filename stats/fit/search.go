package fit

import "math"

const (
	// maxSteps ends searches in valleys that lead nowhere: those of laws that do
	// not fit at all.
	maxSteps = 40
	// maxStride is the longest step in any coordinate. They are logarithms, mostly.
	maxStride = 1.5
	// maxDamping marks a point that no step leads down from.
	maxDamping = 1e8
	// small is the length of a step from which on values differ by rounding only.
	small = 1e-6
	// flat is a gain not worth a long step: of the likelihood's logarithm, or of χ²/2.
	flat = 1e-6
	// maxParam bounds the coordinates of a search, which are logarithms of windows.
	maxParam = 25
	// unbounded is the value of the objective outside; finite, for the
	// arithmetic of the search.
	unbounded = 1e300
)

// search returns where a misfit is least, near start, and its value there. It
// is R. A. Fisher's method of scoring: Newton's steps with the expected information
// for the second derivatives, which needs first derivatives only and is never
// negative, damped where they lead up (D. W. Marquardt, SIAM Journal on Applied
// Mathematics 11, 1963). The first law must be wide enough to expect all that was
// observed, or its information misleads. The value is right to rounding, coordinates to about
// six digits.
func (c cells) search(d misfit, build func(at []float64) law, start []float64) (at []float64, value float64) {
	at = start
	if outside(at) {
		return at, unbounded
	}
	here, next := c.expectation(len(at)), c.expectation(len(at))
	c.expect(build(at), here)
	value = c.total(d, here.calls)
	damping := 1e-3
	for range maxSteps {
		s := c.system(d, here)
		moved := false
		for ; !moved; damping = max(10*damping, 1e-4) {
			step, ok := s.step(damping)
			size := step.size()
			if damping > maxDamping || ok && (size < small || size > 1000*small && step.dot(s.gradient) < 2*flat) {
				return at, value
			}
			if !ok {
				continue
			}
			to := along(at, step, min(1, maxStride/size))
			if outside(to) {
				continue
			}
			c.expect(build(to), next)
			if v := c.total(d, next.calls); v < value {
				at, value, here, next, moved = to, v, next, here, true
			}
		}
		if damping /= 100; damping < 1e-6 {
			damping = 0
		}
	}
	return at, value
}

// polish settles the coordinates that a search found to about ten digits. Values
// do not tell one point from another there; steps are trusted as long as
// they shrink, which they do, by a large factor each, where the law fits.
func (c cells) polish(d misfit, build func(at []float64) law, at []float64) []float64 {
	e := c.expectation(len(at))
	for last := 1000 * small; last > 1e-11; {
		c.expect(build(at), e)
		s := c.system(d, e)
		step, ok := s.step(0)
		size := step.size()
		if !ok || size > last/2 {
			break
		}
		at, last = along(at, step, 1), size
	}
	return at
}

// outside tells whether the search has left all laws that make sense.
func outside(p []float64) bool {
	for _, v := range p {
		if !(math.Abs(v) <= maxParam) {
			return true
		}
	}
	return false
}

// maxCoordinates is the number of those of a mixture.
const maxCoordinates = 5

// A vector has a value for each coordinate of a search, and zeros beyond.
type vector [maxCoordinates]float64

func (v vector) size() float64 {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	return most
}

func (v vector) dot(w vector) float64 {
	var sum float64
	for j := range v {
		sum += v[j] * w[j]
	}
	return sum
}

// along returns the point that part of a step leads to.
func along(at []float64, step vector, part float64) []float64 {
	to := make([]float64, len(at))
	for j := range to {
		to[j] = at[j] - part*step[j]
	}
	return to
}

// A system holds the equations of one step: information · step = gradient.
type system struct {
	coordinates int
	gradient    vector                 // the misfit's derivatives
	information [maxCoordinates]vector // Fisher's, Σ ∂E ∂E'/E over the cells; its lower half
}

// system returns the equations at a point.
func (c cells) system(d misfit, e *expectation) (s system) {
	s.coordinates = len(e.slopes)
	for k, expected := range e.calls {
		by := d.slope(c.observed[k], expected)
		var slopes vector
		for j, row := range e.slopes {
			slopes[j] = row[k]
			s.gradient[j] += by * row[k]
		}
		if expected > tiny {
			for j, slope := range slopes[:s.coordinates] {
				for i, other := range slopes[:j+1] {
					s.information[j][i] += slope * other / expected
				}
			}
		}
	}
	return s
}

// step solves (I + damping·diag I) step = gradient by Cholesky's decomposition. A direction in
// which the sample says nothing gets a share of the largest information, or there would
// be no bound to the step. It returns false if the equations have no solution.
func (s *system) step(damping float64) (step vector, ok bool) {
	var most float64
	for j := range s.coordinates {
		most = max(most, s.information[j][j])
	}
	var root [maxCoordinates]vector
	for j := range s.coordinates {
		for i := range j + 1 {
			v := s.information[j][i]
			if i == j {
				v += damping * (v + 1e-9*most)
			}
			left := v
			for k := range i {
				left -= root[j][k] * root[i][k]
			}
			switch {
			case i < j:
				root[j][i] = left / root[i][i]
			case left > 1e-15*v && left < unbounded:
				root[j][j] = math.Sqrt(left)
			default:
				return vector{}, false
			}
		}
	}
	for j := range s.coordinates {
		step[j] = s.gradient[j]
		for k := range j {
			step[j] -= root[j][k] * step[k]
		}
		step[j] /= root[j][j]
	}
	for j := s.coordinates - 1; j >= 0; j-- {
		for k := j + 1; k < s.coordinates; k++ {
			step[j] -= root[k][j] * step[k]
		}
		step[j] /= root[j][j]
	}
	return step, step.size() < unbounded
}

// solve returns the root of an increasing function by bisection, and the nearer
// end if there is none between lo and hi. It ends at neighbouring numbers.
func solve(lo, hi float64, f func(float64) float64) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if f(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// minimiseLine returns where f is least between lo and hi: a grid finds the
// valley, golden sections narrow it down to rounding.
func minimiseLine(lo, hi float64, f func(float64) float64) float64 {
	const points = 16
	best, least := lo, math.Inf(1)
	for j := range points + 1 {
		x := lo + (hi-lo)*float64(j)/points
		if v := f(x); v < least {
			best, least = x, v
		}
	}
	golden := (math.Sqrt(5) - 1) / 2
	lo, hi = max(lo, best-(hi-lo)/points), min(hi, best+(hi-lo)/points)
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range 50 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return lo + (hi-lo)/2
}
