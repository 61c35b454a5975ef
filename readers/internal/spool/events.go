package spool

import (
	"context"
	"iter"

	"tracekit/trace"
)

// batchEvents is how many events a batch holds.
const batchEvents = 4096

// Events iterates over the events of a location, sorted. A batch is valid until the next
// one. The error, if any, is that of the context or of the temporary file.
func (s *Spool) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) >= len(s.streams) || s.streams[location] == nil {
			return
		}
		m := newMerger(s.file, runs(s.streams[location].chunks))
		var b trace.Batch
		b.Reset(location, 0)
		for r := m.next(); r != nil; r = m.next() {
			if b.Len() == batchEvents {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(&b, nil) {
					return
				}
				b.Reset(location, b.First+uint64(b.Len()))
			}
			restore(&b, r)
		}
		if m.err == nil {
			m.err = ctx.Err()
		}
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		if b.Len() > 0 {
			yield(&b, nil)
		}
	}
}

// restore appends the event of a record; see Stream for the record's form.
func restore(b *trace.Batch, r []uint64) {
	kind, field, time := trace.Kind(r[0]>>56), uint32(r[0]), int64(r[1])
	attrs := length(r) - 2*int(r[0]>>48&0xFF)
	for a := attrs; a < length(r); a += 2 {
		b.AddAttr(trace.AttributeID(uint32(r[a])), trace.ValueType(r[a]>>32), r[a+1])
	}
	f := r[headWords:attrs]
	switch kind.Table() {
	case trace.TableFlow:
		if len(f) == 0 {
			b.AddFlow(time, kind, trace.RegionID(field))
		} else {
			b.AddContext(time, kind, trace.RegionID(field), trace.CallingContextID(high(f[0])), uint32(f[0]))
		}
	case trace.TableP2P:
		b.AddP2P(trace.P2PRow{Time: time, Kind: kind, Peer: field, Comm: trace.CommID(high(f[0])),
			Tag: uint32(f[0]), Bytes: f[1], Request: f[2]})
	case trace.TableColl:
		b.AddColl(trace.CollRow{Time: time, Kind: kind, Root: field, Comm: trace.CommID(high(f[0])),
			Op: trace.CollectiveOp(f[0]), Sent: f[1], Received: f[2], Request: f[3]})
	case trace.TableMetric:
		restoreMetric(b, time, trace.MetricID(field), f)
	default:
		b.AddOther(time, kind, f...)
	}
}

func high(w uint64) uint32 { return uint32(w >> 32) }

func restoreMetric(b *trace.Batch, time int64, metric trace.MetricID, f []uint64) {
	types := make([]trace.ValueType, 0, 8)
	values := make([]uint64, 0, 8)
	for i := 0; i < len(f); i += 2 {
		types, values = append(types, trace.ValueType(f[i])), append(values, f[i+1])
	}
	b.AddMetric(time, metric, types, values)
}
