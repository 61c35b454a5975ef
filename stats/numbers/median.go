package numbers

import "slices"

// Median returns the median of values, none of which is NaN, and puts them into another order; 0 of none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	at := len(v) / 2
	upper := pick(v, at)
	if len(v)%2 > 0 {
		return upper
	}
	return (slices.Max(v[:at]) + upper) / 2
}

// pick returns the value at a place in the order of values. It leaves those before the place that are not greater. (Hoare's quickselect.)
func pick(v []float64, at int) float64 {
	for rounds := 0; ; rounds++ {
		if len(v) < 16 || rounds == 64 { // so many rounds are those of values that were made to be slow
			slices.Sort(v)
			return v[at]
		}
		low, high := v[0], v[len(v)-1]
		pivot := max(min(low, high), min(v[len(v)/2], max(low, high)))
		i, j := 0, len(v)-1
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch { // v[:j+1] ≤ pivot, v[i:] ≥ pivot, what is between them equals it
		case at <= j:
			v = v[:j+1]
		case at >= i:
			v, at = v[i:], at-i
		default:
			return pivot
		}
	}
}
