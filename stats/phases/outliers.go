package phases

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// What an outlier is.
const (
	falseAlarms = 0.05 // the share of runs of equal phases in which chance makes one
	mostShare   = 4    // at most a fourth of the phases are outliers, one at least
	leastFar    = 0.1  // of the median: what is nearer to it matters to nobody
)

// Outliers tells which of some durations are far from the others: by the generalized extreme
// Studentized deviate test (Rosner 1983), which holds for few values as well, and by a tenth of
// the median.
func Outliers(durations []int64) []bool {
	out := make([]bool, len(durations))
	n := len(durations)
	if n < 3 {
		return out
	}
	order := make([]int, n) // by duration
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		switch {
		case durations[i] < durations[k]:
			return -1
		case durations[i] > durations[k]:
			return 1
		}
		return 0
	})
	middle := Median(durations)
	at := func(k int) float64 { return float64(durations[order[k]] - middle) } // less is lost of large ones
	var sum, square float64
	for k := range order {
		sum, square = sum+at(k), square+at(k)*at(k)
	}
	low, high, found := 0, n-1, 0
	var removed []int
	tests := max(1, n/mostShare)
	least, most := critical(float64(n-tests+1)), critical(float64(n)) // it grows with the number of values
	for i := range tests {
		left := float64(n - i)
		mean := sum / left
		deviation := math.Sqrt(max(0, square-sum*mean) / (left - 1))
		far, k := at(high)-mean, high
		if mean-at(low) > far {
			far, k = mean-at(low), low
		}
		removed = append(removed, order[k])
		if far > least*deviation && (far > most*deviation || far > critical(left)*deviation) {
			found = i + 1
		}
		sum, square = sum-at(k), square-at(k)*at(k)
		if k == low {
			low++
		} else {
			high--
		}
	}
	for _, i := range removed[:found] {
		out[i] = math.Abs(float64(durations[i]-middle)) > leastFar*float64(middle)
	}
	return out
}

// critical returns how many standard deviations the farthest of n values lies from their mean at
// most, but for falseAlarms.
func critical(n float64) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 2}.Quantile(1 - falseAlarms/(2*n))
	return (n - 1) * t / math.Sqrt((n-2+t*t)*n)
}

// Median returns the middle one of some values, the lower of two; 0 of none.
func Median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
