package otf2

import (
	"fmt"

	"tracekit/trace"
)

const (
	flushSize = 256 << 10 // a file's buffer is written when it is that large
	maxMemory = 64 << 20  // all buffers are written when they are that large together
)

// An eventFile is a location's event file while it is written.
type eventFile struct {
	out  chunkWriter
	time int64
}

// rows are the next rows of a batch's tables.
type rows struct{ flow, p2p, coll, metric, other, attr int }

// Write implements trace.Sink.
func (w *Writer) Write(b *trace.Batch) error {
	if w.err != nil || w.closed {
		return w.err
	}
	if int(b.Location) >= len(w.files) {
		w.err = fmt.Errorf("writing events of location %d, which is not defined", b.Location)
		return w.err
	}
	f := &w.files[b.Location]
	before := int64(len(f.out.buf))
	if f.out.buf == nil {
		f.out.buf, w.spare = w.spare, nil
	}
	var at rows
	for i, table := range b.Order {
		if w.err = w.writeEvent(f, b, table, b.First+uint64(i), &at); w.err != nil {
			return w.err
		}
	}
	w.buffered += int64(len(f.out.buf)) - before
	if len(f.out.buf) >= flushSize {
		w.err = w.flush(f)
	} else if w.buffered > maxMemory {
		w.err = w.flushAll()
	}
	return w.err
}

func (w *Writer) flush(f *eventFile) error {
	w.buffered -= int64(len(f.out.buf))
	w.spare = f.out.buf[:0] // for whoever writes next: one buffer serves locations in turn
	return f.out.flush()
}

func (w *Writer) flushAll() error {
	for i := range w.files {
		if f := &w.files[i]; len(f.out.buf) > 0 {
			if err := w.flush(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEvent writes the event seq of a batch with its timestamp and its attributes, which
// all lie in one chunk.
func (w *Writer) writeEvent(f *eventFile, b *trace.Batch, table trace.TableID, seq uint64, at *rows) error {
	body := w.appendAttributes(w.scratch[:0], b, seq, &at.attr)
	event, time, ok := w.appendEvent(body, b, table, seq, at)
	w.scratch = event
	if !ok {
		w.drop(b.Other.Kind[at.other-1])
		return nil
	}
	fresh, err := f.out.reserve(9 + len(event))
	if err != nil {
		return err
	}
	// A timestamp holds until the next; each chunk begins with one.
	if fresh || time != f.time || time == 0 {
		f.out.buf = appendFixed(append(f.out.buf, idTimestamp), uint64(time), 8)
		f.time = time
	}
	f.out.buf = append(f.out.buf, event...)
	f.out.events++
	return nil
}

// drop counts an event that OTF2 does not have; only the table of other events has such.
func (w *Writer) drop(k trace.Kind) {
	if w.lost == nil {
		w.lost = make(map[string]uint64)
	}
	w.lost[k.String()+" events"]++
}

// appendEvent appends the record of the next row of a table; ok is false if OTF2 has no
// such event.
func (w *Writer) appendEvent(out []byte, b *trace.Batch, table trace.TableID, seq uint64, at *rows) (_ []byte, time int64, ok bool) {
	switch table {
	case trace.TableFlow:
		i := at.flow
		at.flow++
		return w.appendFlow(out, &b.Flow, i), b.Flow.Time[i], true
	case trace.TableP2P:
		i := at.p2p
		at.p2p++
		return w.appendP2P(out, &b.P2P, i), b.P2P.Time[i], true
	case trace.TableColl:
		i := at.coll
		at.coll++
		return w.appendColl(out, &b.Coll, i), b.Coll.Time[i], true
	case trace.TableMetric:
		time = b.Metric.Time[at.metric]
		return w.appendMetric(out, &b.Metric, seq, at), time, true
	}
	i := at.other
	at.other++
	o := &b.Other
	out, ok = w.appendOther(out, o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]])
	return out, o.Time[i], ok
}

func (w *Writer) appendFlow(out []byte, f *trace.Flow, i int) []byte {
	switch kind := f.Kind[i]; kind {
	case trace.KindCallingContextEnter:
		return w.put(out, kind, w.ref(spaceCallingContext, uint32(f.Context[i])), uint64(f.Unwind[i]))
	case trace.KindCallingContextLeave:
		return w.put(out, kind, w.ref(spaceCallingContext, uint32(f.Context[i])))
	default:
		return appendCompressed(append(out, byte(kind)), w.ref(spaceRegion, uint32(f.Region[i])), 4)
	}
}

func (w *Writer) appendP2P(out []byte, p *trace.P2P, i int) []byte {
	kind := p.Kind[i]
	if hasNoLength(kind) {
		return appendCompressed(append(out, byte(kind)), p.Request[i], 8)
	}
	comm := w.ref(spaceComm, uint32(p.Comm[i]))
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		return w.put(out, kind, uint64(p.Peer[i]), comm, uint64(p.Tag[i]), p.Bytes[i], p.Request[i])
	}
	return w.put(out, kind, uint64(p.Peer[i]), comm, uint64(p.Tag[i]), p.Bytes[i])
}

func (w *Writer) appendColl(out []byte, c *trace.Coll, i int) []byte {
	kind := c.Kind[i]
	switch kind {
	case trace.KindCollectiveBegin:
		return w.put(out, kind)
	case trace.KindNonBlockingCollectiveRequest:
		return w.put(out, kind, c.Request[i])
	case trace.KindNonBlockingCollectiveComplete:
		return w.put(out, kind, uint64(c.Op[i]), w.ref(spaceComm, uint32(c.Comm[i])), uint64(c.Root[i]), c.Sent[i], c.Received[i], c.Request[i])
	}
	return w.put(out, kind, uint64(c.Op[i]), w.ref(spaceComm, uint32(c.Comm[i])), uint64(c.Root[i]), c.Sent[i], c.Received[i])
}

// appendMetric appends the event whose values are the rows with this sequence number.
func (w *Writer) appendMetric(out []byte, m *trace.MetricValues, seq uint64, at *rows) []byte {
	i, r := at.metric, &w.record
	r.list = r.list[:0]
	for at.metric < len(m.Seq) && m.Seq[at.metric] == seq {
		r.list = append(r.list, uint64(m.Type[at.metric]), m.Value[at.metric])
		at.metric++
	}
	if len(r.list) == 2 && r.list[0] == uint64(trace.TypeNone) && r.list[1] == 0 {
		r.list = r.list[:0] // an event without values
	}
	r.values = append(r.values[:0], w.ref(spaceMetric, uint32(m.Metric[i])), uint64(len(r.list)/2))
	return eventRecords()[trace.KindMetric].encode(out, byte(trace.KindMetric), r)
}

// appendOther appends an event by its table.
func (w *Writer) appendOther(out []byte, kind trace.Kind, args []uint64) ([]byte, bool) {
	layout := &eventRecords()[kind]
	if layout.name == "" || kind.Table() != trace.TableOther {
		return out, false
	}
	scalars, group := len(layout.fields), 0
	if n := scalars - 1; n >= 0 && layout.fields[n].enc == encGroup {
		scalars, group = n, len(layout.fields[n].group)
	}
	if len(args) < scalars || group == 0 && len(args) > scalars {
		return out, false
	}
	r := &w.record
	r.values, r.list = append(r.values[:0], args[:scalars]...), append(r.list[:0], args[scalars:]...)
	if group > 0 {
		r.values[scalars-1] = uint64(len(r.list) / group) // its count precedes a group
	}
	return layout.encode(out, byte(kind), r), true
}

// put appends an event of scalar fields.
func (w *Writer) put(out []byte, kind trace.Kind, values ...uint64) []byte {
	r := &w.record
	r.values, r.list = append(r.values[:0], values...), r.list[:0]
	return eventRecords()[kind].encode(out, byte(kind), r)
}

// appendAttributes appends the attribute list of an event, if it has attributes.
func (w *Writer) appendAttributes(out []byte, b *trace.Batch, seq uint64, next *int) []byte {
	a, first := &b.Attrs, *next
	for *next < len(a.Seq) && a.Seq[*next] == seq {
		*next++
	}
	if first == *next {
		return out
	}
	out = append(out, idAttributes, 0)
	start := len(out) - 1
	out = appendCompressed(out, uint64(*next-first), 4)
	for i := first; i < *next; i++ {
		out = appendCompressed(out, w.ref(spaceAttribute, uint32(a.Attribute[i])), 4)
		out = append(out, byte(a.Type[i]))
		out = appendScalar(out, encAttr, a.Value[i], uint64(a.Type[i]))
	}
	return closePrefix(out, start)
}
