package nest

import (
	"context"
	"math"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// batchEvents is how many events a batch holds, about.
const batchEvents = 4096

// IDs makes the numbers of a file those of the trace: each indexes one of these. Base is added to the values of an attribute that count
// anew in each file.
type IDs struct {
	Strings []trace.StringID
	Regions []trace.RegionID
	Comms   []trace.CommID
	Metrics []trace.MetricID
	Counts  trace.AttributeID
	Base    uint64
}

func (m *IDs) region(id trace.RegionID) trace.RegionID { return m.Regions[id] }

func (m *IDs) comm(id uint32) trace.CommID { return m.Comms[id] }

func (m *IDs) attribute(a attr) (trace.AttributeID, trace.ValueType, uint64) {
	if a.typ == trace.TypeString {
		a.value = uint64(m.Strings[a.value])
	}
	if m.Base != 0 && a.id == m.Counts {
		a.value += m.Base
	}
	return a.id, a.typ, a.value
}

// walk passes the records of a track on to a nester, and calls full after each; that it
// returns false ends the walk.
func (s *Set) walk(ctx context.Context, l *Track, n *nester, full func() bool) error {
	m := spool.Merge([]*spool.Stream{l.Stream}, spool.Part{First: math.MinInt64, Last: math.MaxInt64})
	count := 0
	for r := m.Next(); r != nil; r = m.Next() {
		if count++; count%batchEvents == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n.takeAttrs(r)
		n.take(r)
		if !full() {
			return nil
		}
	}
	n.close()
	return ctx.Err()
}

// Deliver iterates over the events of a sub-track, as those of a location from number first on.
func (s *Set) Deliver(ctx context.Context, l *Track, sub int, ids *IDs, location trace.LocationID, first uint64,
	yield func(*trace.Batch, error) bool) {
	n := newNester(s, l, ids)
	var spare bool
	if n.batch, spare = s.batches.Get().(*trace.Batch); !spare {
		n.batch = new(trace.Batch)
	}
	defer s.batches.Put(n.batch)
	n.batch.Reset(location, first)
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

// takeAttrs takes the attributes of a record.
func (n *nester) takeAttrs(r spool.Record) {
	n.attrs = n.attrs[:0]
	for a := r.Attrs(); len(a) > 0; a = a[2:] {
		id, typ, value := spool.Attr(a)
		n.attrs = append(n.attrs, attr{id, typ, value})
	}
}

// take passes a record of a track on.
func (n *nester) take(r spool.Record) {
	time := r.Time()
	switch kind := r.Kind(); kind {
	case trace.KindEnter:
		n.begin(time, trace.RegionID(r.Field()))
	case trace.KindLeave:
		n.end(time, r.Field())
	case recordSlice:
		n.slice(time, -r.Tie(), trace.RegionID(r.Field()), Call{})
	case recordOpen:
		n.slice(time, OpenEnd, trace.RegionID(r.Field()), Call{})
	case recordCall:
		a := r.Args()
		n.slice(time, int64(a[0]), trace.RegionID(a[1]), Call{Operation: Operation(a[2]),
			Comm: uint32(a[3]), Peer: uint32(a[4]), Tag: uint32(a[5]), Sent: a[6], Received: a[7]})
	default:
		if table := kind.Table(); table != trace.TableOther || kind == trace.KindInstant {
			n.takeMoment(table, n.moment(time), r)
		}
	}
}

// takeMoment passes an event on that is no slice, whose time that is.
func (n *nester) takeMoment(table trace.TableID, time int64, r spool.Record) {
	if n.batch == nil {
		if table == trace.TableP2P || table == trace.TableColl {
			n.sketch = nil
		}
		return
	}
	comm := func(id trace.CommID) trace.CommID {
		if id == trace.None {
			return id
		}
		return n.ids.comm(uint32(id))
	}
	switch table {
	case trace.TableP2P:
		row := r.P2P()
		row.Time, row.Comm = time, comm(row.Comm)
		n.putAttrs()
		n.batch.AddP2P(row)
	case trace.TableColl:
		row := r.Coll()
		row.Time, row.Comm = time, comm(row.Comm)
		n.putAttrs()
		n.batch.AddColl(row)
	case trace.TableMetric:
		id := trace.MetricID(r.Field())
		n.types, n.values = r.Values(n.types[:0], n.values[:0])
		for j := 0; n.s.Type != nil && j < len(n.values); j++ {
			typ := n.s.Type(id, j)
			n.types[j], n.values[j] = typ, Converted(typ, n.types[j], n.values[j])
		}
		n.batch.AddMetric(time, n.ids.Metrics[id], n.types, n.values)
	default:
		n.putAttrs()
		n.batch.AddOther(time, trace.KindInstant, uint64(n.ids.Strings[r.Args()[0]]))
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
