package paraver

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"tracekit/trace"
)

// OTF2's types of metrics that occur here.
const (
	metricOther = 0
	metricPAPI  = 1
)

// maxMeters bounds the metrics, because any number can be the type of an event.
const maxMeters = 1 << 14

// meters makes the metrics of the definitions. The numbers of one line are one metric
// event, so every sequence of types that occurs together is a metric.
type meters struct {
	names *names
	sets  map[string]*meterSet
	run   *meterSet // see trace.RunningCounter; nil: not needed yet
}

// A meterSet is a metric: its members and the types of their values.
type meterSet struct {
	id      trace.MetricID
	members []uint32
	types   []trace.ValueType
}

func newMeters(n *names) *meters { return &meters{names: n, sets: make(map[string]*meterSet)} }

// member returns the metric member of an event type; None if there are too many.
func (m *meters) member(typ uint32, p *pcf) uint32 {
	d := m.names.defs
	if len(d.MetricMembers) >= maxMeters {
		return trace.None
	}
	text := m.names.text
	label := p.typeLabel(typ)
	if label == "" {
		label = "event type " + strconv.FormatUint(uint64(typ), 10)
	}
	member := trace.MetricMember{Ref: uint64(typ), Type: metricOther, Mode: trace.MetricAbsolutePoint,
		Value: valueType(typ), Base: 1, Unit: text("#"), Description: text("event type " + strconv.FormatUint(uint64(typ), 10))}
	name := label
	if e := p.types[typ]; e != nil {
		member.Exponent = -int64(e.values.precision)
	}
	if typ >= firstCounter && typ <= lastCounter {
		name = counterName(label)
		member.Type, member.Mode = metricPAPI, trace.MetricRelativeLast
		member.Description = text(label)
		if typ/1000000%2 == 1 { // 43… and 45…: counted from the start
			member.Mode = trace.MetricAccumulated
		}
	}
	member.Name = text(name)
	d.MetricMembers = append(d.MetricMembers, member)
	return uint32(len(d.MetricMembers) - 1)
}

// running returns the metric that tells when threads run, in ticks; nil if there are too many
// others. Only the reading may make it.
func (t *tables) running() *meterSet {
	m := t.meters
	if m.run == nil && len(m.sets) < maxMeters {
		text := m.names.text
		member := trace.MetricMember{Ref: uint64(len(t.defs.MetricMembers)), Type: metricOther, Mode: trace.MetricAbsoluteNext,
			Value: trace.TypeInt64, Base: 1,
			Name: text(trace.RunningCounter), Unit: text("ticks"), Description: text("for how long the thread computes from here on")}
		t.defs.MetricMembers = append(t.defs.MetricMembers, member)
		m.run = m.add([]uint32{uint32(len(t.defs.MetricMembers) - 1)})
	}
	return m.run
}

// valueType returns the type of the values of an event type: counters count upwards.
func valueType(typ uint32) trace.ValueType {
	if typ >= firstCounter && typ <= lastCounter {
		return trace.TypeUint64
	}
	return trace.TypeInt64
}

// counterName takes the name from "name (description)" and "name ([description])".
func counterName(label string) string {
	if i := strings.Index(label, " ("); i > 0 && strings.HasSuffix(label, ")") {
		return label[:i]
	}
	return label
}

// find returns the metric of the members in that order, nil if there is none yet.
func (m *meters) find(members []uint32) *meterSet {
	return m.sets[string(setKey(make([]byte, 0, 64), members))]
}

// setKey appends the key of a sequence of members.
func setKey(key []byte, members []uint32) []byte {
	for _, id := range members {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	return key
}

// add makes the metric of the members, nil if there are too many.
func (m *meters) add(members []uint32) *meterSet {
	if len(m.sets) >= maxMeters {
		return nil
	}
	d := m.names.defs
	s := &meterSet{id: trace.MetricID(len(d.Metrics)), members: slices.Clone(members)}
	metric := trace.Metric{Ref: uint64(s.id), Class: trace.None, Recorder: trace.None, Occurrence: 2}
	for _, id := range members {
		s.types = append(s.types, d.MetricMembers[id].Value)
		metric.Members = append(metric.Members, trace.MetricMemberID(id))
	}
	d.Metrics = append(d.Metrics, metric)
	m.sets[string(setKey(nil, members))] = s
	return s
}
