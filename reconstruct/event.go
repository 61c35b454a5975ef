package reconstruct

import (
	"tracekit/formulae"
	"tracekit/trace"
)

// An event is a rebuilt event: a row of one of the tables.
type event struct {
	table   trace.TableID
	time    int64
	kind    trace.Kind
	region  trace.RegionID
	context trace.CallingContextID
	p2p     trace.P2PRow
	coll    trace.CollRow
	metric  uint32
	fields  []formulae.Field // of the values; members of a metric and arguments come first
	values  []uint64         // one for each field
	item    *itemState
}

// add appends an event to a batch.
func (h *event) add(b *trace.Batch) {
	own := len(h.fields)
	for own > 0 && h.fields[own-1].IsAttribute {
		own--
	}
	for k, f := range h.fields[own:] {
		b.AddAttr(trace.AttributeID(f.Attribute), f.Type, h.values[own+k])
	}
	values := h.values[:own]
	switch {
	case h.table == trace.TableP2P:
		h.p2p.Time = h.time
		b.AddP2P(h.p2p)
	case h.table == trace.TableColl:
		h.coll.Time = h.time
		b.AddColl(h.coll)
	case h.table == trace.TableMetric:
		types := make([]trace.ValueType, own)
		for k := range types {
			types[k] = h.fields[k].Type
		}
		b.AddMetric(h.time, trace.MetricID(h.metric), types, values)
	case h.table == trace.TableOther:
		b.AddOther(h.time, h.kind, values...)
	case h.context != trace.None:
		unwind := uint32(0)
		if len(values) > 0 {
			unwind = uint32(values[0])
		}
		b.AddContext(h.time, h.kind, h.region, h.context, unwind)
	default:
		b.AddFlow(h.time, h.kind, h.region)
	}
}
