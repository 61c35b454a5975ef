package spool

import (
	"context"
	"iter"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// batchEvents is how many events a batch holds.
const batchEvents = 4096

// Events iterates over the events of a location, sorted. A batch is valid until the next
// one. The error, if any, is that of the context.
func (s *Spool) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) >= len(s.streams) || s.streams[location] == nil {
			return
		}
		m := newMerger(s.streams[location])
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
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		} else if b.Len() > 0 {
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

// A cursor walks over the records of a run.
//
//	window are words from next on, as far as they lie beside each other
type cursor struct {
	words    *spill.Table[uint64]
	number   int // of the run
	next, to int
	window   []uint64
	record   []uint64
	joined   []uint64 // memory of a record that lies on several pages
}

// advance goes to the next record; it returns false at the end.
func (c *cursor) advance() bool {
	if c.next == c.to {
		return false
	}
	if len(c.window) == 0 {
		c.window = c.words.From(c.next)
	}
	n := length(c.window)
	if n <= len(c.window) {
		c.record, c.window = c.window[:n], c.window[n:]
	} else {
		c.joined = slices.Grow(c.joined[:0], n)[:n]
		c.words.Copy(c.joined, c.next)
		c.record, c.window = c.joined, nil
	}
	c.next += n
	return true
}

// A merger gives the records of several runs in order. cursors is a heap, the least
// record on top.
type merger struct {
	cursors []*cursor
	started bool
}

func newMerger(s *Stream) *merger {
	m := &merger{}
	for i, r := range s.runs {
		c := &cursor{words: s.words, number: i, next: r.from, to: r.to}
		if c.advance() {
			m.cursors = append(m.cursors, c)
		}
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return m
}

// next returns the next record, nil at the end. It is valid until the next call.
func (m *merger) next() []uint64 {
	if m.started && !m.cursors[0].advance() {
		n := len(m.cursors) - 1
		m.cursors[0] = m.cursors[n]
		m.cursors = m.cursors[:n]
	}
	m.started = true
	if len(m.cursors) == 0 {
		return nil
	}
	if len(m.cursors) > 1 {
		m.sift(0)
	}
	return m.cursors[0].record
}

func (m *merger) sift(i int) {
	h := m.cursors
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && before(h[c+1], h[c]) {
			c++
		}
		if !before(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func before(a, b *cursor) bool {
	x, y := keyOf(a.record), keyOf(b.record)
	return x.less(y) || x == y && a.number < b.number
}
