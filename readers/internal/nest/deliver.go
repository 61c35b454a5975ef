package nest

import (
	"context"
	"math"

	"tracekit/trace"
)

// batchEvents is how many events a batch holds, about.
const batchEvents = 4096

// IDs makes the numbers of a file those of the trace: each indexes one of these.
type IDs struct {
	Strings []trace.StringID
	Regions []trace.RegionID
	Comms   []trace.CommID
	Metrics []trace.MetricID
}

func (m *IDs) region(id trace.RegionID) trace.RegionID { return m.Regions[id] }

func (m *IDs) comm(id uint32) trace.CommID { return m.Comms[id] }

func (m *IDs) attribute(a attr) (trace.AttributeID, trace.ValueType, uint64) {
	if a.typ == trace.TypeString {
		a.value = uint64(m.Strings[a.value])
	}
	return a.id, a.typ, a.value
}

// walk passes the records of a track on to a nester, and calls full after each; that it
// returns false ends the walk.
func (s *Set) walk(ctx context.Context, l *Track, n *nester, full func() bool) error {
	for b, err := range s.Spool.Events(ctx, l.Number) {
		if err != nil {
			return err
		}
		attrs := 0
		for seq, row := range b.Events {
			attrs = n.takeAttrs(&b.Attrs, attrs, seq)
			n.take(b, row)
			if !full() {
				return nil
			}
		}
	}
	n.close()
	return nil
}

// Deliver iterates over the events of a sub-track, as those of a location.
func (s *Set) Deliver(ctx context.Context, l *Track, sub int, ids *IDs, location trace.LocationID,
	yield func(*trace.Batch, error) bool) {
	n := newNester(s, l, ids)
	var spare bool
	if n.batch, spare = s.batches.Get().(*trace.Batch); !spare {
		n.batch = new(trace.Batch)
	}
	defer s.batches.Put(n.batch)
	n.batch.Reset(location, 0)
	more := true
	full := func() bool {
		if n.batch.Len() >= batchEvents {
			more = yield(n.batch, nil)
			n.batch.Reset(location, n.batch.First+uint64(n.batch.Len()))
		}
		return more
	}
	var err error
	if sub == 0 {
		n.exile = l.exile
		err = s.walk(ctx, l, n, full)
	} else {
		err = s.walkOverlap(ctx, l, sub, n, full)
	}
	switch {
	case err != nil:
		yield(nil, err)
	case more && n.batch.Len() > 0:
		yield(n.batch, nil)
	}
}

// takeAttrs takes the attributes of a record, from row i on, and returns the row behind them.
func (n *nester) takeAttrs(a *trace.Attrs, i int, seq uint64) int {
	n.attrs = n.attrs[:0]
	for ; i < len(a.Seq) && a.Seq[i] == seq; i++ {
		n.attrs = append(n.attrs, attr{a.Attribute[i], a.Type[i], a.Value[i]})
	}
	return i
}

// take passes a record of a track on.
func (n *nester) take(b *trace.Batch, r trace.Row) {
	switch r.Table {
	case trace.TableFlow:
		n.takeFlow(&b.Flow, r.First)
	case trace.TableP2P:
		n.takeP2P(&b.P2P, r.First)
	case trace.TableColl:
		n.takeColl(&b.Coll, r.First)
	case trace.TableMetric:
		n.takeMetric(&b.Metric, r.First, r.End)
	case trace.TableOther:
		n.takeOther(&b.Other, r.First)
	}
}

func (n *nester) takeFlow(f *trace.Flow, i int) {
	if f.Kind[i] == trace.KindEnter {
		n.begin(f.Time[i], f.Region[i])
		return
	}
	n.end(f.Time[i], uint32(f.Region[i]))
}

func (n *nester) takeP2P(p *trace.P2P, i int) {
	time := n.moment(p.Time[i])
	if n.batch == nil {
		return
	}
	comm := trace.CommID(trace.None)
	if p.Comm[i] != trace.None {
		comm = n.ids.comm(uint32(p.Comm[i]))
	}
	n.putAttrs()
	n.batch.AddP2P(trace.P2PRow{Time: time, Kind: p.Kind[i], Peer: p.Peer[i], Comm: comm,
		Tag: p.Tag[i], Bytes: p.Bytes[i], Request: p.Request[i]})
}

func (n *nester) takeColl(c *trace.Coll, i int) {
	time := n.moment(c.Time[i])
	if n.batch == nil {
		return
	}
	comm := trace.CommID(trace.None)
	if c.Comm[i] != trace.None {
		comm = n.ids.comm(uint32(c.Comm[i]))
	}
	n.putAttrs()
	n.batch.AddColl(trace.CollRow{Time: time, Kind: c.Kind[i], Op: c.Op[i], Comm: comm, Root: c.Root[i], Sent: c.Sent[i],
		Received: c.Received[i], Request: c.Request[i]})
}

func (n *nester) takeMetric(m *trace.MetricValues, i, end int) {
	time := n.moment(m.Time[i])
	if n.batch != nil {
		id := m.Metric[i]
		for j := i; j < end && n.s.Type != nil; j++ {
			typ := n.s.Type(id, j-i)
			m.Value[j] = Converted(typ, m.Type[j], m.Value[j])
			m.Type[j] = typ
		}
		n.batch.AddMetric(time, n.ids.Metrics[id], m.Type[i:end], m.Value[i:end])
	}
}

func (n *nester) takeOther(o *trace.Other, i int) {
	args := o.Args[o.Offset[i]:o.Offset[i+1]]
	switch o.Kind[i] {
	case recordSlice:
		n.slice(o.Time[i], int64(args[0]), trace.RegionID(args[1]), Call{})
	case recordCall:
		n.slice(o.Time[i], int64(args[0]), trace.RegionID(args[1]), Call{Operation: Operation(args[2]),
			Comm: uint32(args[3]), Peer: uint32(args[4]), Tag: uint32(args[5]), Sent: args[6], Received: args[7]})
	case trace.KindInstant:
		time := n.moment(o.Time[i])
		if n.batch != nil {
			n.putAttrs()
			n.batch.AddOther(time, trace.KindInstant, uint64(n.ids.Strings[args[0]]))
		}
	}
}

// Converted returns the bits of a value as one of another type: integers as floating point, if that is asked for.
func Converted(to, from trace.ValueType, v uint64) uint64 {
	switch {
	case to == trace.TypeDouble && from == trace.TypeInt64:
		return math.Float64bits(float64(int64(v)))
	case to == trace.TypeDouble && from == trace.TypeUint64:
		return math.Float64bits(float64(v))
	}
	return v
}
