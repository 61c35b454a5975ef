package arrowdir

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"tracekit/readers/internal/output"
	"tracekit/trace"
)

// Rows of a table are collected in groups: row groups of Parquet, records of Arrow. A group
// of one location ends with MaxGroupRows. As a group costs as much as some thousand rows, to
// write and to read, locations of few rows share one: where a location begins, a group of
// less than joinRows goes on, and ends with sharedRows, for whoever reads one of its
// locations decodes all.
const (
	MaxGroupRows = 1 << 16
	sharedRows   = 1 << 14
	joinRows     = 1 << 13
)

// eventTables writes the tables of events: groups are encoded by several goroutines, and those of
// a table put down in the order in which they were filled, each table by a goroutine of its own: most of
// the time is the system's, to take the bytes of a file. So what is written does not depend on those.
type eventTables struct {
	tables [trace.Tables]eventTable
	line   *output.Line[*pending]
}

// An eventTable is one table that is written.
type eventTable struct {
	id     trace.TableID
	out    tableWriter
	schema *arrow.Schema // with the column location
	layout *layout       // what was written
	spare  chan *group   // groups that were put down, whose memory is that of the table's columns
	rows   *group        // of the group that is being filled
	shared bool          // the group is
	last   trace.LocationID
}

// A group is rows of a table: those of a batch, and whose they are.
type group struct {
	batch    trace.Batch
	location []trace.LocationID
}

// A pending is a full group on its way to a table.
type pending struct {
	table   *eventTable
	rows    *group
	record  arrow.Record
	encoded encoded
	err     error
}

func newEventTables(workers int, open func(trace.TableID, *arrow.Schema) (tableWriter, error), m *manifest) (*eventTables, error) {
	w := &eventTables{}
	for t := range w.tables {
		id := trace.TableID(t)
		schema := withLocation(eventSchemas[id])
		out, err := open(id, schema)
		if err != nil {
			return w, err
		}
		w.tables[t] = eventTable{id: id, out: out, schema: schema, layout: &m.Rows[t], spare: make(chan *group, output.Places(workers)),
			rows: new(group)}
	}
	w.line = output.NewLine(workers, len(w.tables), func() *pending { return new(pending) }, (*pending).encode, (*pending).put)
	return w, nil
}

// write adds the rows of a batch.
func (w *eventTables) write(b *trace.Batch) error {
	for i := range w.tables {
		t := &w.tables[i]
		columns := batchColumns(b, t.id)
		for from, n := 0, columns[0].slice.len(); from < n; {
			if rows := len(t.rows.location); rows >= joinRows && b.Location != t.last {
				if err := w.end(t); err != nil {
					return err
				}
			} else if rows > 0 && b.Location != t.last {
				t.shared = true
			}
			most := MaxGroupRows
			if t.shared {
				most = sharedRows
			}
			to := min(n, from+most-len(t.rows.location))
			t.rows.add(b, t.id, columns, from, to)
			t.layout.add(b.Location, to-from)
			from, t.last = to, b.Location
			if len(t.rows.location) == most {
				if err := w.end(t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add appends rows of a batch, whose columns are given.
func (g *group) add(b *trace.Batch, t trace.TableID, columns []column, from, to int) {
	g.location = repeated(g.location, b.Location, to-from)
	f := &g.batch.Flow
	for i, c := range batchColumns(&g.batch, t) {
		c.slice.add(columns[i].slice, from, to)
	}
	if without := len(f.Seq) - len(f.Context); without > 0 { // the batch has none
		f.Context, f.Unwind = repeated(f.Context, trace.None, without), repeated(f.Unwind, 0, without)
	}
	if o, args := &g.batch.Other, &b.Other; t == trace.TableOther {
		if len(o.Offset) == 0 {
			o.Offset = append(o.Offset, 0)
		}
		o.Offset = roomFor(o.Offset, to-from)
		by := o.Offset[len(o.Offset)-1] - args.Offset[from]
		for _, at := range args.Offset[from+1 : to+1] {
			o.Offset = append(o.Offset, at+by)
		}
		o.Args = append(o.Args, args.Args[args.Offset[from]:args.Offset[to]]...)
	}
}

// end hands the group that is being filled on.
func (w *eventTables) end(t *eventTable) error {
	t.layout.Groups = append(t.layout.Groups, len(t.rows.location))
	p := w.line.Take()
	p.table, p.rows, t.shared = t, t.rows, false
	err := w.line.Put(int(t.id))
	select {
	case t.rows = <-t.spare:
	default:
		t.rows = new(group)
	}
	return err
}

func (g *group) clear() {
	g.batch.Reset(0, 0)
	g.location = g.location[:0]
}

func (p *pending) encode() {
	r := eventRecord(&p.rows.batch, p.table.id)
	location := numberColumn("location", &p.rows.location).data()
	columns := append([]arrow.Array{array.NewUint32Data(location)}, r.Columns()...)
	p.record = array.NewRecord(p.table.schema, columns, r.NumRows())
	p.err = p.table.out.encode(p.record, &p.encoded)
}

func (p *pending) put() error {
	err := errors.Join(p.err, p.table.out.put(p.record, &p.encoded))
	p.rows.clear()
	p.table.spare <- p.rows
	return err
}

// finish writes what is left and ends the goroutines. Nothing is written any more.
func (w *eventTables) finish() (err error) {
	for i := range w.tables {
		if t := &w.tables[i]; w.line != nil && len(t.rows.location) > 0 {
			err = errors.Join(err, w.end(t))
		}
	}
	if w.line != nil {
		err = w.line.Close()
	}
	return err
}

// withLocation is a schema with the column location in front.
func withLocation(s *arrow.Schema) *arrow.Schema {
	fields := slices.Insert(slices.Clone(s.Fields()), 0, arrow.Field{Name: "location", Type: arrow.PrimitiveTypes.Uint32})
	return arrow.NewSchema(fields, nil)
}
