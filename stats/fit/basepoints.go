package fit

// maxBytes is the largest base point of a profile, 4 MB.
const maxBytes = 4000000

// BaseBytes returns the base points over bytes: 0, 1, 10, 20, …, 100, 200, …, 1000,
// 2000, …, up to 4 MB.
func BaseBytes() []int64 {
	points := []int64{0, 1}
	for decade := int64(10); decade <= maxBytes; decade *= 10 {
		for b := decade; b < 10*decade && b <= maxBytes; b += decade {
			points = append(points, b)
		}
	}
	return points
}

// BaseProcesses returns the base points over processes, 2^n and 1.5·2^n, up to most:
// 1, 2, 3, 4, 6, 8, 12, ….
func BaseProcesses(most int) []int {
	var points []int
	for p := 1; p <= most; p *= 2 {
		points = append(points, p)
		if p > 1 && p+p/2 <= most {
			points = append(points, p+p/2)
		}
	}
	return points
}

// SizeClass returns the size class of a number of bytes, named by its smallest
// member: the largest base point that does not exceed it.
func SizeClass(bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	if bytes >= maxBytes {
		return maxBytes
	}
	if bytes < 10 {
		return 1
	}
	decade := int64(10)
	for bytes >= 10*decade {
		decade *= 10
	}
	return bytes / decade * decade
}
