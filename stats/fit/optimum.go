package fit

import "math"

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
