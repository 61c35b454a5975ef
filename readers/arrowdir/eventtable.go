package arrowdir

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/trace"
)

// batchColumns returns the columns of numbers of a table of a batch.
func batchColumns(b *trace.Batch, t trace.TableID) []column {
	switch t {
	case trace.TableFlow:
		f := &b.Flow
		return []column{numberColumn("seq", &f.Seq), numberColumn("time", &f.Time), numberColumn("kind", &f.Kind),
			numberColumn("region", &f.Region), numberColumn("context", &f.Context), numberColumn("unwind", &f.Unwind)}
	case trace.TableP2P:
		p := &b.P2P
		return []column{numberColumn("seq", &p.Seq), numberColumn("time", &p.Time), numberColumn("kind", &p.Kind),
			numberColumn("peer", &p.Peer), numberColumn("comm", &p.Comm), numberColumn("tag", &p.Tag),
			numberColumn("bytes", &p.Bytes), numberColumn("request", &p.Request)}
	case trace.TableColl:
		c := &b.Coll
		return []column{numberColumn("seq", &c.Seq), numberColumn("time", &c.Time), numberColumn("kind", &c.Kind),
			numberColumn("op", &c.Op), numberColumn("comm", &c.Comm), numberColumn("root", &c.Root),
			numberColumn("sent", &c.Sent), numberColumn("received", &c.Received), numberColumn("request", &c.Request)}
	case trace.TableMetric:
		m := &b.Metric
		return []column{numberColumn("seq", &m.Seq), numberColumn("time", &m.Time), numberColumn("metric", &m.Metric),
			numberColumn("member", &m.Member), numberColumn("type", &m.Type), numberColumn("value", &m.Value)}
	case trace.TableOther:
		o := &b.Other
		return []column{numberColumn("seq", &o.Seq), numberColumn("time", &o.Time), numberColumn("kind", &o.Kind)}
	}
	a := &b.Attrs
	return []column{numberColumn("seq", &a.Seq), numberColumn("attribute", &a.Attribute), numberColumn("type", &a.Type),
		numberColumn("value", &a.Value)}
}

// argsType is that of the column args of TableOther.
var argsType = arrow.ListOfNonNullable(arrow.PrimitiveTypes.Uint64)

// eventSchemas are the Arrow schemas of the tables of events. No column has nulls; None
// stands for what is not there.
var eventSchemas = func() (schemas [trace.Tables]*arrow.Schema) {
	for t := range schemas {
		schemas[t] = schemaOf(batchColumns(new(trace.Batch), trace.TableID(t)))
	}
	fields := schemas[trace.TableOther].Fields()
	schemas[trace.TableOther] = arrow.NewSchema(append(fields, arrow.Field{Name: "args", Type: argsType}), nil)
	return schemas
}()

// eventRecord returns a table of a batch as a record with its schema. The record
// shares the memory of the batch: it is valid as long as the batch is, and to release it
// only says that it is not used any more. Only contexts are made if the batch has none.
func eventRecord(b *trace.Batch, t trace.TableID) arrow.Record {
	switch t {
	case trace.TableOther:
		return recordOf(eventSchemas[t], batchColumns(b, t), argsArray(&b.Other))
	case trace.TableFlow:
		if len(b.Flow.Context) == 0 {
			filled := *b
			filled.Flow.Context = slices.Repeat([]trace.CallingContextID{trace.None}, len(b.Flow.Seq))
			filled.Flow.Unwind = make([]uint32, len(b.Flow.Seq))
			return recordOf(eventSchemas[t], batchColumns(&filled, t))
		}
	}
	return recordOf(eventSchemas[t], batchColumns(b, t))
}

// argsArray returns the arguments as an array of lists.
func argsArray(o *trace.Other) arrow.Array {
	values := numberColumn("", &o.Args).data()
	offsets := memory.NewBufferBytes(numbers[int32]{&o.Offset}.bytes())
	d := array.NewData(argsType, len(o.Seq), []*memory.Buffer{nil, offsets}, []arrow.ArrayData{values}, 0, 0)
	defer d.Release()
	values.Release()
	return array.NewListData(d)
}

// batchOf returns the batch of a location whose tables are the records, indexed by
// TableID; nil stands for an empty table. The batch shares the memory of the records, and
// is valid until they are released. It passes Check, or there is an error.
func batchOf(location trace.LocationID, records [trace.Tables]arrow.Record) (*trace.Batch, error) {
	b := &trace.Batch{Location: location}
	for i, r := range records {
		if t := trace.TableID(i); r != nil && r.NumRows() > 0 {
			if err := setRecord(b, t, r); err != nil {
				return nil, fmt.Errorf("table %s: %w", t, err)
			}
		}
	}
	if err := reorder(b); err != nil {
		return nil, err
	}
	return b, b.Check()
}

func setRecord(b *trace.Batch, t trace.TableID, r arrow.Record) error {
	if err := setColumns(batchColumns(b, t), r); err != nil {
		return err
	}
	f := &b.Flow
	if t == trace.TableFlow && !slices.ContainsFunc(f.Context, func(c trace.CallingContextID) bool { return c != trace.None }) &&
		!slices.ContainsFunc(f.Unwind, func(u uint32) bool { return u != 0 }) {
		f.Context, f.Unwind = nil, nil
	}
	if t != trace.TableOther {
		return nil
	}
	a, err := columnNamed(r, "args", argsType)
	if err != nil {
		return err
	}
	return setArgs(&b.Other, a.(*array.List))
}

// setArgs takes the lists of arguments. Those of a record that was cut out of a larger one
// do not begin at 0 and are moved.
func setArgs(o *trace.Other, a *array.List) error {
	offsets := a.Offsets()
	if len(offsets) < a.Data().Offset()+a.Len()+1 || a.NullN() > 0 {
		return fmt.Errorf("column \"args\" has %d offsets and %d nulls for %d rows", len(offsets), a.NullN(), a.Len())
	}
	offsets = offsets[a.Data().Offset():][:a.Len()+1]
	values := numberColumn("args", &o.Args)
	if err := values.setFrom(a.ListValues().Data()); err != nil {
		return err
	}
	first, last := offsets[0], offsets[a.Len()]
	if first < 0 || last < first || int(last) > len(o.Args) {
		return fmt.Errorf("column \"args\" has offsets %d to %d of %d values", first, last, len(o.Args))
	}
	if o.Args = o.Args[first:last]; first == 0 {
		o.Offset = offsets
		return nil
	}
	o.Offset = make([]int32, len(offsets))
	for i, at := range offsets {
		o.Offset[i] = at - first
	}
	return nil
}

// reorder makes First and Order out of the sequence numbers of the tables.
func reorder(b *trace.Batch) error {
	seqs := [trace.TableAttrs][]uint64{b.Flow.Seq, b.P2P.Seq, b.Coll.Seq, b.Metric.Seq, b.Other.Seq}
	events, found := 0, false
	for t, list := range seqs {
		for i, seq := range list {
			if trace.TableID(t) != trace.TableMetric || i == 0 || seq != list[i-1] {
				events++
			}
			if !found || seq < b.First {
				b.First, found = seq, true
			}
		}
	}
	b.Order = make([]trace.TableID, events)
	for t, list := range seqs {
		for _, seq := range list {
			if seq-b.First >= uint64(events) {
				return fmt.Errorf("event %d of a batch of %d events that begins at %d", seq, events, b.First)
			}
			b.Order[seq-b.First] = trace.TableID(t)
		}
	}
	return nil
}
