package fit

// A StabilityRow is t_max as the first N calls of a sample give it, and how well the law
// behind it fits. If no law is accepted, it is the one that comes nearest: of the largest
// p-value or, where that decides, the smallest χ².
type StabilityRow struct {
	N      int
	TMin   int64  // ns
	TMax   int64  // ns
	From   string // as Result.From
	Law    Family // whose Test this is; empty if the calls determine none
	Test   Test
	Within bool // TMax is within 5 % of the whole sample's t_max - t_min
}

// stabilitySizes returns the sizes that Stability uses by default: 50, 60, … up to
// 500, then about a tenth more each time, and n itself. It is empty for n < 1.
func stabilitySizes(n int) []int {
	var sizes []int
	for size := 50; size < n; size += max(10, size/500*50) {
		sizes = append(sizes, size)
	}
	if n > 0 {
		sizes = append(sizes, n)
	}
	return sizes
}

// Stability returns t_max against the number of calls, for the durations (ns) in the
// order in which they were measured: one row for each size up to their number, nil
// meaning stabilitySizes. The paper found that about 200 calls are enough.
func Stability(durations []int64, sizes []int, o Options) []StabilityRow {
	if sizes == nil {
		sizes = stabilitySizes(len(durations))
	}
	var whole Sample
	for _, t := range durations {
		whole.Add(t)
	}
	all := Fit(&whole, o)
	var rows []StabilityRow
	var s Sample
	for _, n := range sizes {
		if n < int(s.Len()) || n > len(durations) {
			continue
		}
		for _, t := range durations[s.Len():n] {
			s.Add(t)
		}
		r := Fit(&s, o)
		row := StabilityRow{N: n, TMin: r.TMin, TMax: r.TMax, From: r.From}
		if m, e := r.nearest(o); m >= 0 {
			row.Law, row.Test = r.Models[m].Family, r.Models[m].TestOf(e)
		}
		row.Within = 20*max(r.TMax-all.TMax, all.TMax-r.TMax) <= all.TMax-all.TMin
		rows = append(rows, row)
	}
	return rows
}
