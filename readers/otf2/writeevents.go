package otf2

import (
	"fmt"
	"sync"

	"tracekit/trace"
)

const (
	flushSize = 256 << 10 // a file's buffer is written when it is that large
	maxMemory = 64 << 20  // all buffers are written when they are that large together
)

// An eventFile is a location's event file while it is written.
type eventFile struct {
	w       *Writer
	mu      sync.Mutex // of all below: whoever writes another location may flush this one
	out     chunkWriter
	time    int64
	record  record
	scratch []byte
	_       [64]byte // no cache line is shared with the next location
}

// Write implements trace.Sink. It may be called for different locations at the same time.
func (w *Writer) Write(b *trace.Batch) error {
	if err := w.failed(nil); err != nil || w.closed {
		return err
	}
	if int(b.Location) >= len(w.files) {
		return w.failed(fmt.Errorf("writing events of location %d, which is not defined", b.Location))
	}
	if err := w.files[b.Location].write(b); err != nil {
		return w.failed(err)
	}
	if w.buffered.Load() > maxMemory {
		return w.failed(w.flushAll())
	}
	return nil
}

// Concurrent implements trace.ConcurrentSink.
func (w *Writer) Concurrent() bool { return true }

// failed keeps the first error, which it returns.
func (w *Writer) failed(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return w.err
}

func (f *eventFile) write(b *trace.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := int64(len(f.out.buf))
	if f.out.buf == nil {
		if spare, ok := f.w.spare.Get().(*[]byte); ok {
			f.out.buf = *spare
		}
	}
	attr := 0
	for seq, r := range b.Events {
		if err := f.writeEvent(b, seq, r, &attr); err != nil {
			return err
		}
	}
	f.w.buffered.Add(int64(len(f.out.buf)) - before)
	if len(f.out.buf) >= flushSize {
		return f.flush()
	}
	return nil
}

func (f *eventFile) flush() error {
	f.w.buffered.Add(-int64(len(f.out.buf)))
	spare := f.out.buf[:0] // for whoever writes next: few buffers serve locations in turn
	defer f.w.spare.Put(&spare)
	return f.out.flush()
}

func (w *Writer) flushAll() error {
	for i := range w.files {
		f := &w.files[i]
		f.mu.Lock()
		var err error
		if len(f.out.buf) > 0 {
			err = f.flush()
		}
		f.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeEvent writes the event seq of a batch with its timestamp and its attributes, of which
// attr is the next, which all lie in one chunk.
func (f *eventFile) writeEvent(b *trace.Batch, seq uint64, r trace.Row, attr *int) error {
	body := f.appendAttributes(f.scratch[:0], b, seq, attr)
	time := b.Time(r)
	event, ok := f.appendEvent(body, b, r)
	f.scratch = event
	if !ok {
		f.w.drop(b.Other.Kind[r.First])
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = make(map[string]uint64)
	}
	w.lost[k.String()+" events"]++
}

// appendEvent appends the record of an event; ok is false if OTF2 has no such event.
func (f *eventFile) appendEvent(out []byte, b *trace.Batch, r trace.Row) (_ []byte, ok bool) {
	switch i := r.First; r.Table {
	case trace.TableFlow:
		return f.appendFlow(out, &b.Flow, i), true
	case trace.TableP2P:
		return f.appendP2P(out, &b.P2P, i), true
	case trace.TableColl:
		return f.appendColl(out, &b.Coll, i), true
	case trace.TableMetric:
		return f.appendMetric(out, &b.Metric, r), true
	default:
		o := &b.Other
		return f.appendOther(out, o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]])
	}
}

func (f *eventFile) appendFlow(out []byte, flow *trace.Flow, i int) []byte {
	switch kind := flow.Kind[i]; kind {
	case trace.KindCallingContextEnter:
		return f.put(out, kind, f.w.ref(spaceCallingContext, uint32(flow.Context[i])), uint64(flow.Unwind[i]))
	case trace.KindCallingContextLeave:
		return f.put(out, kind, f.w.ref(spaceCallingContext, uint32(flow.Context[i])))
	default:
		return appendCompressed(append(out, byte(kind)), f.w.ref(spaceRegion, uint32(flow.Region[i])), 4)
	}
}

func (f *eventFile) appendP2P(out []byte, p *trace.P2P, i int) []byte {
	kind := p.Kind[i]
	if hasNoLength(kind) {
		return appendCompressed(append(out, byte(kind)), p.Request[i], 8)
	}
	comm := f.w.ref(spaceComm, uint32(p.Comm[i]))
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		return f.put(out, kind, uint64(p.Peer[i]), comm, uint64(p.Tag[i]), p.Bytes[i], p.Request[i])
	}
	return f.put(out, kind, uint64(p.Peer[i]), comm, uint64(p.Tag[i]), p.Bytes[i])
}

func (f *eventFile) appendColl(out []byte, c *trace.Coll, i int) []byte {
	kind := c.Kind[i]
	switch kind {
	case trace.KindCollectiveBegin:
		return f.put(out, kind)
	case trace.KindNonBlockingCollectiveRequest:
		return f.put(out, kind, c.Request[i])
	case trace.KindNonBlockingCollectiveComplete:
		return f.put(out, kind, uint64(c.Op[i]), f.w.ref(spaceComm, uint32(c.Comm[i])), uint64(c.Root[i]), c.Sent[i], c.Received[i], c.Request[i])
	}
	return f.put(out, kind, uint64(c.Op[i]), f.w.ref(spaceComm, uint32(c.Comm[i])), uint64(c.Root[i]), c.Sent[i], c.Received[i])
}

// appendMetric appends the event whose values are the rows.
func (f *eventFile) appendMetric(out []byte, m *trace.MetricValues, rows trace.Row) []byte {
	r := &f.record
	r.list = r.list[:0]
	for i := rows.First; i < rows.End; i++ {
		r.list = append(r.list, uint64(m.Type[i]), m.Value[i])
	}
	if len(r.list) == 2 && r.list[0] == uint64(trace.TypeNone) && r.list[1] == 0 {
		r.list = r.list[:0] // an event without values
	}
	r.values = append(r.values[:0], f.w.ref(spaceMetric, uint32(m.Metric[rows.First])), uint64(len(r.list)/2))
	return eventRecords()[trace.KindMetric].encode(out, byte(trace.KindMetric), r)
}

// appendOther appends an event by its table.
func (f *eventFile) appendOther(out []byte, kind trace.Kind, args []uint64) ([]byte, bool) {
	if kind == trace.KindInstant {
		return f.appendInstant(out, args)
	}
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
	r := &f.record
	r.values, r.list = append(r.values[:0], args[:scalars]...), append(r.list[:0], args[scalars:]...)
	if group > 0 {
		r.values[scalars-1] = uint64(len(r.list) / group) // its count precedes a group
	}
	return layout.encode(out, byte(kind), r), true
}

// put appends an event of scalar fields.
func (f *eventFile) put(out []byte, kind trace.Kind, values ...uint64) []byte {
	r := &f.record
	r.values, r.list = append(r.values[:0], values...), r.list[:0]
	return eventRecords()[kind].encode(out, byte(kind), r)
}

// appendAttributes appends the attribute list of an event, if it has attributes.
func (f *eventFile) appendAttributes(out []byte, b *trace.Batch, seq uint64, next *int) []byte {
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
		out = appendCompressed(out, f.w.ref(spaceAttribute, uint32(a.Attribute[i])), 4)
		out = append(out, byte(a.Type[i]))
		out = appendScalar(out, encAttr, a.Value[i], uint64(a.Type[i]))
	}
	return closePrefix(out, start)
}
