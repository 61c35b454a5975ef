package arrowdir

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/trace"
)

// An eventWriter writes one table of events. Tables are files of their own: each may be
// encoded in a goroutine of its own, which takes copies of the batches in their order. So
// what is written does not depend on that.
type eventWriter struct {
	id        trace.TableID
	out       tableWriter
	schema    *arrow.Schema    // with the column location
	manifest  *manifest        // of which the table's groups are this writer's
	last      trace.LocationID // whose rows the table ends in
	locations []uint32         // scratch for the column location

	queue, free chan *trace.Batch // nil without a goroutine
	done        sync.WaitGroup
	failed      atomic.Bool // err is set
	err         error       // of the goroutine
}

// queued bounds the batches of a table that wait to be encoded.
const queued = 4

func newEventWriter(id trace.TableID, out tableWriter, schema *arrow.Schema, m *manifest, parallel bool) *eventWriter {
	w := &eventWriter{id: id, out: out, schema: schema, manifest: m, last: trace.None}
	if parallel {
		w.queue, w.free = make(chan *trace.Batch, queued), make(chan *trace.Batch, queued)
		for range queued {
			w.free <- new(trace.Batch)
		}
		w.done.Go(w.encode)
	}
	return w
}

// put writes the table's rows of a batch, or leaves that to the goroutine, whose error it
// returns then.
func (w *eventWriter) put(b *trace.Batch) error {
	switch {
	case batchColumns(b, w.id)[0].slice.len() == 0:
		return nil
	case w.queue == nil:
		return w.write(b)
	case w.failed.Load():
		return w.err
	}
	c := <-w.free
	c.CopyTable(b, w.id)
	w.queue <- c
	return nil
}

// encode writes what comes in the queue up to the first error.
func (w *eventWriter) encode() {
	for b := range w.queue {
		if w.err == nil {
			if w.err = w.write(b); w.err != nil {
				w.failed.Store(true)
			}
		}
		w.free <- b
	}
}

func (w *eventWriter) write(b *trace.Batch) error {
	r := eventRecord(b, w.id)
	defer r.Release()
	tagged := w.tag(r, b.Location)
	defer tagged.Release()
	begun, err := w.out.write(tagged, b.Location != w.last)
	if begun {
		w.manifest.add(w.id, b.Location)
	}
	w.last = b.Location
	return err
}

// tag puts the column location in front of a record.
func (w *eventWriter) tag(r arrow.Record, l trace.LocationID) arrow.Record {
	n := int(r.NumRows())
	for len(w.locations) < n || len(w.locations) > 0 && w.locations[0] != uint32(l) {
		w.locations = w.locations[:0]
		for range max(n, 1<<14) {
			w.locations = append(w.locations, uint32(l))
		}
	}
	raw := arrow.Uint32Traits.CastToBytes(w.locations[:n])
	data := array.NewData(arrow.PrimitiveTypes.Uint32, n, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
	defer data.Release()
	column := array.NewUint32Data(data)
	defer column.Release()
	columns := append([]arrow.Array{column}, r.Columns()...)
	return array.NewRecord(w.schema, columns, int64(n))
}

// withLocation is a schema with the column location in front.
func withLocation(s *arrow.Schema) *arrow.Schema {
	fields := append([]arrow.Field{{Name: "location", Type: arrow.PrimitiveTypes.Uint32}}, s.Fields()...)
	return arrow.NewSchema(fields, nil)
}

// finish waits until all is written. Nothing is put any more.
func (w *eventWriter) finish() error {
	if w.queue != nil {
		close(w.queue)
		w.done.Wait()
		w.queue = nil
	}
	return w.err
}
