package pattern

import (
	"math"

	"tracekit/trace"
)

// appendEvent copies an event of another batch, with its attributes, to another time.
func appendEvent(out, b *trace.Batch, row trace.Row, time int64, attrs, attrsEnd int) {
	for a := attrs; a < attrsEnd; a++ {
		out.AddAttr(b.Attrs.Attribute[a], b.Attrs.Type[a], b.Attrs.Value[a])
	}
	k := row.First
	switch row.Table {
	case trace.TableFlow:
		f := &b.Flow
		if len(f.Context) > 0 && f.Kind[k] != trace.KindEnter && f.Kind[k] != trace.KindLeave {
			out.AddContext(time, f.Kind[k], f.Region[k], f.Context[k], f.Unwind[k])
		} else {
			out.AddFlow(time, f.Kind[k], f.Region[k])
		}
	case trace.TableP2P:
		p := &b.P2P
		out.AddP2P(trace.P2PRow{Time: time, Kind: p.Kind[k], Peer: p.Peer[k], Comm: p.Comm[k], Tag: p.Tag[k], Bytes: p.Bytes[k],
			Request: p.Request[k]})
	case trace.TableColl:
		c := &b.Coll
		out.AddColl(trace.CollRow{Time: time, Kind: c.Kind[k], Op: c.Op[k], Comm: c.Comm[k], Root: c.Root[k], Sent: c.Sent[k],
			Received: c.Received[k], Request: c.Request[k]})
	case trace.TableMetric:
		m := &b.Metric
		out.AddMetric(time, m.Metric[k], m.Type[row.First:row.End], m.Value[row.First:row.End])
	case trace.TableOther:
		o := &b.Other
		out.AddOther(time, o.Kind[k], o.Args[o.Offset[k]:o.Offset[k+1]]...)
	}
}

// counters lets the counters that add up go on where an interval is made again: their values
// are those of the model, moved so that the first is what the latest was.
type counters struct {
	defs   *trace.Defs
	latest map[uint64]uint64 // bits, by metric and member
	shift  map[uint64]uint64 // in the interval that is made again
}

// key names a counter.
func key(m *trace.MetricValues, i int) uint64 { return uint64(m.Metric[i])<<8 | uint64(m.Member[i]) }

// note takes in the last n values of a batch; again says that they are a model's.
func (c *counters) note(b *trace.Batch, n int, again bool) {
	m := &b.Metric
	for i := len(m.Seq) - n; i < len(m.Seq); i++ {
		if !c.addsUp(m.Metric[i], m.Member[i]) {
			continue
		}
		k := key(m, i)
		if c.latest == nil {
			c.latest, c.shift = make(map[uint64]uint64), make(map[uint64]uint64)
		}
		if again {
			shift, known := c.shift[k]
			if latest, some := c.latest[k]; !known && some {
				shift = plus(m.Type[i], latest, m.Value[i], -1)
				c.shift[k] = shift
			}
			m.Value[i] = plus(m.Type[i], m.Value[i], shift, 1)
		}
		c.latest[k] = m.Value[i]
	}
}

// plus returns a + sign·b of values of a type.
func plus(t trace.ValueType, a, b uint64, sign int64) uint64 {
	if t == trace.TypeDouble {
		return math.Float64bits(math.Float64frombits(a) + float64(sign)*math.Float64frombits(b))
	}
	return a + uint64(sign)*b
}

// addsUp reports whether a counter counts from the start of the measurement.
func (c *counters) addsUp(m trace.MetricID, member uint8) bool {
	counter, ok := c.defs.CounterOf(m, member)
	return ok && c.defs.MetricMembers[counter].Mode&trace.MetricProperty == trace.MetricAccumulated
}
