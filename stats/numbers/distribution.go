package numbers

// A Distribution counts durations, of which clocks that disagree may make some be below 0.
// Its quantiles lie within 1 per cent. The zero value is empty.
type Distribution struct {
	above LogHistogram // 0 and more
	below LogHistogram // without their sign
}

// Add counts a duration.
func (d *Distribution) Add(v int64) {
	h := &d.above
	if v < 0 {
		h, v = &d.below, -v
	}
	h.add(v)
}

// Merge adds the durations of another distribution.
func (d *Distribution) Merge(o *Distribution) {
	d.above.merge(&o.above)
	d.below.merge(&o.below)
}

// Count returns how many durations there are.
func (d *Distribution) Count() uint64 { return d.above.count + d.below.count }

// BelowZero returns how many durations are below 0.
func (d *Distribution) BelowZero() uint64 { return d.below.count }

// Sum returns the sum of all durations, and that of those above 0.
func (d *Distribution) Sum() (all, above int64) { return d.above.sum - d.below.sum, d.above.sum }

// Min returns the shortest duration, 0 if there is none.
func (d *Distribution) Min() int64 {
	if d.below.count > 0 {
		return -d.below.max
	}
	return d.above.min
}

// Max returns the longest duration, 0 if there is none.
func (d *Distribution) Max() int64 {
	if d.above.count == 0 {
		return -d.below.min
	}
	return d.above.max
}

// Quantile returns the least duration that a share q of all do not exceed, 0 if there are none.
func (d *Distribution) Quantile(q float64) int64 {
	if d.Count() == 0 {
		return 0
	}
	rank := rankOf(q, d.Count())
	if rank <= d.below.count { // the shortest are those most below 0
		return -d.below.at(d.below.count + 1 - rank)
	}
	return d.above.at(rank - d.below.count)
}
