package jsontrace

import (
	"context"

	"tracekit/trace"
)

// batchEvents is how many events a batch holds, about.
const batchEvents = 4096

// An idMap makes the numbers of a file those of the trace.
type idMap struct {
	strings []trace.StringID
	regions []trace.RegionID
	comms   []trace.CommID
	metrics []trace.MetricID
}

func (m *idMap) region(id trace.RegionID) trace.RegionID { return m.regions[id] }

func (m *idMap) comm(id uint32) trace.CommID { return m.comms[id] }

func (m *idMap) attribute(a attr) (trace.AttributeID, trace.ValueType, uint64) {
	if a.typ == trace.TypeString {
		a.value = uint64(m.strings[a.value])
	}
	return a.id, a.typ, a.value
}

// walk passes the records of a track on to a nester, and calls full after each; that it
// returns false ends the walk.
func (f *file) walk(ctx context.Context, l *track, n *nester, full func() bool) error {
	for b, err := range f.spool.Events(ctx, l.number) {
		if err != nil {
			return err
		}
		r := reader{batch: b}
		for r.next() {
			n.take(&r)
			if !full() {
				return nil
			}
		}
	}
	n.close()
	return nil
}

// deliver iterates over the events of a sub-track, as those of a location.
func (f *file) deliver(ctx context.Context, l *track, sub int, ids *idMap, location trace.LocationID,
	yield func(*trace.Batch, error) bool) {
	n := newNester(f, l, ids)
	var spare bool
	if n.batch, spare = f.batches.Get().(*trace.Batch); !spare {
		n.batch = new(trace.Batch)
	}
	defer f.batches.Put(n.batch)
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
		err = f.walk(ctx, l, n, full)
	} else {
		err = f.walkOverlap(ctx, l, sub, n, full)
	}
	switch {
	case err != nil:
		yield(nil, err)
	case more && n.batch.Len() > 0:
		yield(n.batch, nil)
	}
}

// A reader walks over the events of a batch; flow, p2p, … are the indexes of the next row
// of each table.
type reader struct {
	batch                           *trace.Batch
	event                           int
	flow, p2p, metric, other, attrs int
}

func (r *reader) next() bool { return r.event < len(r.batch.Order) }

// take passes the next record of a track on.
func (n *nester) take(r *reader) {
	b := r.batch
	seq := b.First + uint64(r.event)
	n.attrs = n.attrs[:0]
	for ; r.attrs < len(b.Attrs.Seq) && b.Attrs.Seq[r.attrs] == seq; r.attrs++ {
		a := &b.Attrs
		n.attrs = append(n.attrs, attr{a.Attribute[r.attrs], a.Type[r.attrs], a.Value[r.attrs]})
	}
	switch b.Order[r.event] {
	case trace.TableFlow:
		n.takeFlow(&b.Flow, r.flow)
		r.flow++
	case trace.TableP2P:
		n.takeP2P(&b.P2P, r.p2p)
		r.p2p++
	case trace.TableMetric:
		r.metric = n.takeMetric(&b.Metric, r.metric)
	case trace.TableOther:
		n.takeOther(&b.Other, r.other)
		r.other++
	}
	r.event++
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

// takeMetric passes a counter on and returns the index of the next one.
func (n *nester) takeMetric(m *trace.MetricValues, i int) int {
	end := i + 1
	for end < len(m.Seq) && m.Seq[end] == m.Seq[i] {
		end++
	}
	time := n.moment(m.Time[i])
	if n.batch != nil {
		id := m.Metric[i]
		for j, s := range n.f.meters.list[id].series {
			typ := s.valueType()
			m.Value[i+j] = converted(typ, m.Type[i+j], m.Value[i+j])
			m.Type[i+j] = typ
		}
		n.batch.AddMetric(time, n.ids.metrics[id], m.Type[i:end], m.Value[i:end])
	}
	return end
}

func (n *nester) takeOther(o *trace.Other, i int) {
	args := o.Args[o.Offset[i]:o.Offset[i+1]]
	switch o.Kind[i] {
	case recordSlice:
		n.slice(o.Time[i], int64(args[0]), trace.RegionID(args[1]), call{})
	case recordCall:
		n.slice(o.Time[i], int64(args[0]), trace.RegionID(args[1]), call{operation: operation(args[2]),
			comm: uint32(args[3]), peer: uint32(args[4]), tag: uint32(args[5]), sent: args[6], received: args[7]})
	case trace.KindInstant:
		time := n.moment(o.Time[i])
		if n.batch != nil {
			n.putAttrs()
			n.batch.AddOther(time, trace.KindInstant, uint64(n.ids.strings[args[0]]))
		}
	}
}
