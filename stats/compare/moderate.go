package compare

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A prior is what all places say together of how much runs differ: by scale times the variance
// that blocks tell, and so surely as if that had been seen with so many degrees of freedom; 0:
// nothing.
type prior struct{ scale, freedom float64 }

// leastPlaces is the number of places below which they say nothing together.
const leastPlaces = 5

// priorOf fits a prior to the ratios of both variances in several places (Smyth 2004, section
// 6.2): they are distributed as scale times F with the runs' degrees of freedom and the prior's.
func priorOf(estimates []estimate) prior {
	var logs []float64
	freedom := 0.0
	for _, e := range estimates {
		if e.runs.freedom > 0 && e.runs.variance > 0 && e.blocks.variance > 0 {
			freedom = e.runs.freedom
			logs = append(logs, math.Log(e.runs.variance/e.blocks.variance))
		}
	}
	n := float64(len(logs))
	if n < leastPlaces {
		return prior{}
	}
	mean, square := sumOf(logs)/n, 0.0
	for _, x := range logs {
		square += (x - mean) * (x - mean)
	}
	logScale := mean - logBias(freedom)
	excess := square/(n-1) - trigamma(freedom/2)
	if excess <= 0 { // places differ by no more than chance
		return prior{math.Exp(logScale), math.Inf(1)}
	}
	d := 2 * inverseTrigamma(excess)
	return prior{math.Exp(logScale + logBias(d)), d}
}

// logBias is the mean of the logarithm of a variance of 1 that is estimated.
func logBias(freedom float64) float64 { return mathext.Digamma(freedom/2) - math.Log(freedom/2) }

// trigamma is the second derivative of the logarithm of the gamma function.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma returns where the falling trigamma is y, by bisection.
func inverseTrigamma(y float64) float64 {
	low, high := math.Log(1e-8), math.Log(1e8)
	for range 64 {
		if middle := (low + high) / 2; trigamma(math.Exp(middle)) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// moderate returns the deviation by runs in a place, the prior taken into account. That rests on
// what blocks say there, and is no surer.
func (p prior) moderate(e estimate) deviation {
	before := min(p.freedom, e.blocks.freedom)
	if before == 0 || e.blocks.variance == 0 {
		return e.runs
	}
	sum := before + e.runs.freedom
	return deviation{(before*p.scale*e.blocks.variance + e.runs.freedom*e.runs.variance) / sum, sum}
}
