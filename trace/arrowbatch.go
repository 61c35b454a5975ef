package trace

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TableAttrs stands for the attributes of a batch where its tables are meant; no event is
// in it.
const TableAttrs = tables

// Tables is the number of tables of a batch, with TableAttrs.
const Tables = int(TableAttrs) + 1

// String returns the table's name, which is also that of its file in an Arrow directory.
func (t TableID) String() string {
	return enumName([]string{"flow", "p2p", "coll", "metric", "other", "attrs"}, int(t))
}

// columns returns the columns of numbers of a table.
func (b *Batch) columns(t TableID) []column {
	switch t {
	case TableFlow:
		f := &b.Flow
		return []column{numberColumn("seq", &f.Seq), numberColumn("time", &f.Time), numberColumn("kind", &f.Kind),
			numberColumn("region", &f.Region), numberColumn("context", &f.Context), numberColumn("unwind", &f.Unwind)}
	case TableP2P:
		p := &b.P2P
		return []column{numberColumn("seq", &p.Seq), numberColumn("time", &p.Time), numberColumn("kind", &p.Kind),
			numberColumn("peer", &p.Peer), numberColumn("comm", &p.Comm), numberColumn("tag", &p.Tag),
			numberColumn("bytes", &p.Bytes), numberColumn("request", &p.Request)}
	case TableColl:
		c := &b.Coll
		return []column{numberColumn("seq", &c.Seq), numberColumn("time", &c.Time), numberColumn("kind", &c.Kind),
			numberColumn("op", &c.Op), numberColumn("comm", &c.Comm), numberColumn("root", &c.Root),
			numberColumn("sent", &c.Sent), numberColumn("received", &c.Received), numberColumn("request", &c.Request)}
	case TableMetric:
		m := &b.Metric
		return []column{numberColumn("seq", &m.Seq), numberColumn("time", &m.Time), numberColumn("metric", &m.Metric),
			numberColumn("member", &m.Member), numberColumn("type", &m.Type), numberColumn("value", &m.Value)}
	case TableOther:
		o := &b.Other
		return []column{numberColumn("seq", &o.Seq), numberColumn("time", &o.Time), numberColumn("kind", &o.Kind)}
	}
	a := &b.Attrs
	return []column{numberColumn("seq", &a.Seq), numberColumn("attribute", &a.Attribute), numberColumn("type", &a.Type),
		numberColumn("value", &a.Value)}
}

// argsType is that of the column args of TableOther.
var argsType = arrow.ListOfNonNullable(arrow.PrimitiveTypes.Uint64)

// Schema returns the Arrow schema of a table of events. No column has nulls; None stands
// for what is not there.
func (t TableID) Schema() *arrow.Schema {
	columns := new(Batch).columns(t)
	if t == TableOther {
		return schemaOf(columns, arrow.Field{Name: "args", Type: argsType})
	}
	return schemaOf(columns)
}

// Record returns a table of the batch as a record with its Schema. The record shares the
// memory of the batch: it is valid as long as the batch is, and to release it only says
// that it is not used any more. Only contexts are made if the batch has none.
func (b *Batch) Record(t TableID) arrow.Record {
	switch t {
	case TableOther:
		return recordOf(t.Schema(), b.columns(t), b.Other.args())
	case TableFlow:
		if len(b.Flow.Context) == 0 {
			filled := *b
			filled.Flow.Context = slices.Repeat([]CallingContextID{None}, len(b.Flow.Seq))
			filled.Flow.Unwind = make([]uint32, len(b.Flow.Seq))
			return recordOf(t.Schema(), filled.columns(t))
		}
	}
	return recordOf(t.Schema(), b.columns(t))
}

// args returns the arguments as an array of lists.
func (o *Other) args() arrow.Array {
	values := numberColumn("", &o.Args).data()
	offsets := memory.NewBufferBytes(numbers[int32]{&o.Offset}.bytes())
	d := array.NewData(argsType, len(o.Seq), []*memory.Buffer{nil, offsets}, []arrow.ArrayData{values}, 0, 0)
	defer d.Release()
	values.Release()
	return array.NewListData(d)
}

// BatchOf returns the batch of a location whose tables are the records, indexed by
// TableID; nil stands for an empty table. The batch shares the memory of the records, and
// is valid until they are released. It passes Check, or there is an error.
func BatchOf(location LocationID, records [Tables]arrow.Record) (*Batch, error) {
	b := &Batch{Location: location}
	for i, r := range records {
		if t := TableID(i); r != nil && r.NumRows() > 0 {
			if err := b.setRecord(t, r); err != nil {
				return nil, fmt.Errorf("table %s: %w", t, err)
			}
		}
	}
	if err := b.reorder(); err != nil {
		return nil, err
	}
	return b, b.Check()
}

func (b *Batch) setRecord(t TableID, r arrow.Record) error {
	if err := setColumns(b.columns(t), r); err != nil {
		return err
	}
	f := &b.Flow
	if t == TableFlow && !slices.ContainsFunc(f.Context, func(c CallingContextID) bool { return c != None }) &&
		!slices.ContainsFunc(f.Unwind, func(u uint32) bool { return u != 0 }) {
		f.Context, f.Unwind = nil, nil
	}
	if t != TableOther {
		return nil
	}
	a, err := columnNamed(r, "args", argsType)
	if err != nil {
		return err
	}
	return b.Other.setArgs(a.(*array.List))
}

// setArgs takes the lists of arguments. Those of a record that was cut out of a larger one
// do not begin at 0 and are moved.
func (o *Other) setArgs(a *array.List) error {
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
func (b *Batch) reorder() error {
	seqs := [tables][]uint64{b.Flow.Seq, b.P2P.Seq, b.Coll.Seq, b.Metric.Seq, b.Other.Seq}
	events, found := 0, false
	for t, list := range seqs {
		for i, seq := range list {
			if TableID(t) != TableMetric || i == 0 || seq != list[i-1] {
				events++
			}
			if !found || seq < b.First {
				b.First, found = seq, true
			}
		}
	}
	b.Order = make([]TableID, events)
	for t, list := range seqs {
		for _, seq := range list {
			if seq-b.First >= uint64(events) {
				return fmt.Errorf("event %d of a batch of %d events that begins at %d", seq, events, b.First)
			}
			b.Order[seq-b.First] = TableID(t)
		}
	}
	return nil
}
