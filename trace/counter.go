package trace

import "math"

// CountersOf returns the counters of a metric or, of an instance, of its class; nil if nothing
// defines it.
func (d *Defs) CountersOf(id MetricID) []MetricMemberID {
	if int(id) < len(d.Metrics) && d.Metrics[id].Class != None {
		id = d.Metrics[id].Class
	}
	if int(id) >= len(d.Metrics) {
		return nil
	}
	return d.Metrics[id].Members
}

// CounterOf returns the counter that a value of a metric event is of, by its position among those of
// the metric. ok is false if nothing defines it.
func (d *Defs) CounterOf(id MetricID, position uint8) (counter MetricMemberID, ok bool) {
	counters := d.CountersOf(id)
	if int(position) >= len(counters) {
		return 0, false
	}
	return counters[position], int(counters[position]) < len(d.MetricMembers)
}

// Scale returns by what a value is multiplied to be in the counter's unit.
func (m *MetricMember) Scale() float64 {
	base := 2.0
	if m.Base == 1 {
		base = 10
	}
	return math.Pow(base, float64(m.Exponent))
}

// IsReal reports whether values are floating-point numbers, whose bits are those of a float64.
func (t ValueType) IsReal() bool { return t == TypeDouble || t == TypeFloat }

// Number returns the number that a value's bits stand for.
func (t ValueType) Number(bits uint64) float64 {
	switch t {
	case TypeDouble, TypeFloat:
		return math.Float64frombits(bits)
	case TypeInt8, TypeInt16, TypeInt32, TypeInt64:
		return float64(int64(bits))
	}
	return float64(bits)
}

// Difference returns a - b, both as bits of values. A counter that wraps around is right
// modulo 2^64.
func (t ValueType) Difference(a, b uint64) uint64 {
	if t.IsReal() {
		return math.Float64bits(math.Float64frombits(a) - math.Float64frombits(b))
	}
	return a - b
}
