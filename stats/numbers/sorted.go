package numbers

// SortRuns sorts a list that consists of few ascending runs, such as those of several threads, and keeps the order of equal
// elements. It returns the list or one that takes its place.
func SortRuns[T any](list []T, before func(a, b *T) bool) []T {
	var ends []int
	for i := 1; i <= len(list); i++ {
		if i == len(list) || before(&list[i], &list[i-1]) {
			ends = append(ends, i)
		}
	}
	if len(ends) < 2 {
		return list
	}
	other := make([]T, len(list))
	for len(ends) > 1 {
		merged, first := ends[:0], 0
		for k := 0; k < len(ends); k += 2 {
			middle := ends[k]
			last := ends[min(k+1, len(ends)-1)]
			i, j := first, middle
			for at := first; at < last; at++ {
				if i < middle && (j == last || !before(&list[j], &list[i])) {
					other[at] = list[i]
					i++
				} else {
					other[at] = list[j]
					j++
				}
			}
			merged, first = append(merged, last), last
		}
		ends, list, other = merged, other, list
	}
	return list
}

// Seek returns the first place in a sorted list whose element is not below what is sought, len(list) if there is none. It takes
// the logarithm of how far that is from the place near, which lies in the list or at its end.
func Seek[T any](list []T, near int, below func(*T) bool) int {
	low, high := near, near // what is before low is below, what begins with high is not
	for step := 1; low > 0 && !below(&list[low-1]); step *= 2 {
		low, high = max(0, low-step), low-1
	}
	for step := 1; high < len(list) && below(&list[high]); step *= 2 {
		low, high = high+1, min(len(list), high+step)
	}
	for low < high {
		if mid := int(uint(low+high) >> 1); below(&list[mid]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
