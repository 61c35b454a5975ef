package jsontrace

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"tracekit/trace"
)

// seriesLimit is the number of values of one counter event that a metric can have.
const seriesLimit = 255

// A meter is a counter with a fixed list of series, which becomes a metric.
type meter struct {
	name   uint32 // index into names
	series []series
}

// A series is what a member of a counter's args becomes.
//
//	negative, large, float: some value is below 0, above int64, no integer
type series struct {
	name                   uint32 // index into names
	negative, large, float bool
}

// valueType returns the type that holds all values of the series.
func (s *series) valueType() trace.ValueType {
	switch {
	case !s.large && !s.float:
		return trace.TypeInt64
	case s.large && !s.negative && !s.float:
		return trace.TypeUint64
	}
	return trace.TypeDouble
}

// note keeps account of a value.
func (s *series) note(typ trace.ValueType, v uint64) {
	s.negative = s.negative || typ == trace.TypeInt64 && int64(v) < 0
	s.large = s.large || typ == trace.TypeUint64
	s.float = s.float || typ == trace.TypeDouble
}

// meters finds counters by process, name, identifier and series.
type meters struct {
	names   *names
	list    []meter
	byKey   map[string]trace.MetricID
	scratch []byte
	types   []trace.ValueType
	values  []uint64
	series  []series
	lost    uint64 // events of meters beyond meterLimit
}

// meterLimit bounds the number of meters; values of further ones are left out.
const meterLimit = 1 << 18

func newMeters(n *names) *meters {
	return &meters{names: n, byKey: make(map[string]trace.MetricID)}
}

// counter takes a C: each member of args is a series of the counter. Values that are no
// numbers are left out.
func (f *file) counter(l *track, ev *event, at int64) {
	m := f.meters
	m.types, m.values, m.series = m.types[:0], m.values[:0], m.series[:0]
	m.scratch = append(append(append(append(m.scratch[:0], ev.name...), 0), text(ev.id)...), 0)
	bad := 0
	members(ev.args, func(key, value []byte) bool {
		if f.dft.host != "" && string(key) == "hhash" { // which host counts
			return true
		}
		typ, v, ok := counterValue(text(value))
		if !ok || len(m.values) == seriesLimit {
			bad++
			return true
		}
		m.types, m.values = append(m.types, typ), append(m.values, v)
		m.series = append(m.series, series{name: m.names.raw(key)})
		m.scratch = append(append(m.scratch, key...), 0)
		return true
	})
	if bad > 0 {
		f.find(trace.CodeBadValue, at, "a counter value that is not a number")
	}
	if len(m.values) == 0 {
		if bad == 0 {
			f.find(trace.CodeBadValue, at, "a counter without values")
		}
		return
	}
	id, ok := m.find(ev)
	if !ok {
		m.lost++
		return
	}
	l.trivial = false
	l.Moment()
	for i := range m.values {
		m.list[id].series[i].note(m.types[i], m.values[i])
	}
	l.Stream.AddMetric(ev.time, id, m.types, m.values)
}

// find returns the metric of the event whose key is in scratch; ok is false if there are too
// many.
func (m *meters) find(ev *event) (id trace.MetricID, ok bool) {
	if id, ok = m.byKey[string(m.scratch)]; ok {
		return id, true
	}
	if len(m.list) >= meterLimit || m.names.bytes >= nameLimit {
		return 0, false
	}
	name := unescape(ev.name)
	if ev.id != nil {
		name += " " + unescape(text(ev.id))
	}
	id = trace.MetricID(len(m.list))
	m.list = append(m.list, meter{m.names.text(name), slices.Clone(m.series)})
	m.byKey[string(m.scratch)] = id
	m.names.bytes += 2 * len(m.scratch)
	return id, true
}

// counterValue reads a number: an integer as such, all else as floating point.
func counterValue(s []byte) (trace.ValueType, uint64, bool) {
	if n, ok := integer(s); ok {
		return trace.TypeInt64, uint64(n), true
	}
	if u, neg, ok := unsigned(s); ok && !neg {
		return trace.TypeUint64, u, true
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(string(s), "(ind)"), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, 0, false
	}
	return trace.TypeDouble, math.Float64bits(v), true
}
