package formulae

import (
	"math"

	"tracekit/trace"
)

// A meterKey names a member of a metric.
type meterKey struct {
	metric uint32
	member int
}

// meters follow the values of the metrics of a location: like time, what a counter counts
// belongs to the place in the program where it grows.
type meters struct {
	index map[meterKey]int
	last  []uint64
	bases []uint64 // first values, in order of appearance
}

// grow returns by how much a member has grown since it was recorded last, 0 the first time.
func (m *meters) grow(metric uint32, member int, typ trace.ValueType, v uint64) uint64 {
	k := meterKey{metric, member}
	i, ok := m.index[k]
	if !ok {
		if m.index == nil {
			m.index = make(map[meterKey]int)
		}
		m.index[k] = len(m.last)
		m.last, m.bases = append(m.last, v), append(m.bases, v)
		return 0
	}
	last := m.last[i]
	m.last[i] = v
	return meterDifference(typ, v, last)
}

// floating reports whether values of a type are bits of a float64.
func floating(t trace.ValueType) bool { return t == trace.TypeFloat || t == trace.TypeDouble }

// meterDifference returns a - b; meterSum is its inverse. What is no number does not count.
func meterDifference(t trace.ValueType, a, b uint64) uint64 {
	if !floating(t) {
		return a - b
	}
	return finite(math.Float64frombits(a) - math.Float64frombits(b))
}

func meterSum(t trace.ValueType, a, b uint64) uint64 {
	if !floating(t) {
		return a + b
	}
	return finite(math.Float64frombits(a) + math.Float64frombits(b))
}

func finite(f float64) uint64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return math.Float64bits(f)
}

// A counter sums the growth of a member at an item.
type counter struct {
	count, sum uint64 // sum: bits of a float64 if the type is one
}

func (c *counter) add(t trace.ValueType, growth uint64) {
	c.count++
	c.sum = meterSum(t, c.sum, growth)
}

// mean returns the mean growth: in 1/MeanUnit, or bits of a float64.
func (c *counter) mean(t trace.ValueType) uint64 {
	switch {
	case c.count == 0:
		return 0
	case floating(t):
		return finite(math.Float64frombits(c.sum) / float64(c.count))
	}
	n := int64(min(c.count, math.MaxInt64/MeanUnit))
	sum := int64(c.sum)
	return uint64(sum/n*MeanUnit + sum%n*MeanUnit/n)
}

// A Meters makes the values of the metrics of a location again.
type Meters struct {
	index map[meterKey]int
	value []uint64
	left  []int64  // of one count, in 1/MeanUnit
	bases []uint64 // first values
}

// NewMeters returns meters that begin with the first values of Times.
func NewMeters(t *Times) *Meters { return &Meters{index: make(map[meterKey]int), bases: t.Bases} }

// Read returns the value of a member that has grown by the mean of an item: by its first
// value the first time.
func (m *Meters) Read(metric uint32, member int, typ trace.ValueType, mean uint64) uint64 {
	k := meterKey{metric, member}
	i, ok := m.index[k]
	if !ok {
		m.index[k] = len(m.value)
		base := uint64(0)
		if n := len(m.value); n < len(m.bases) {
			base = m.bases[n]
		}
		m.value, m.left = append(m.value, base), append(m.left, 0)
		return base
	}
	if floating(typ) {
		m.value[i] = meterSum(typ, m.value[i], mean)
		return m.value[i]
	}
	grown := int64(mean) + m.left[i]
	m.left[i] = grown % MeanUnit
	m.value[i] += uint64(grown / MeanUnit)
	return m.value[i]
}
