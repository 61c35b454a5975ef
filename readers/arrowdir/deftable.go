package arrowdir

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/trace"
)

// A namedRecord is a table of definitions.
type namedRecord struct {
	Name   string
	Record arrow.Record
}

// tableKinds returns the kinds of definition with a table each, whose fields are the
// columns: those of the model, the strings and the clock. Clock offsets have a table of
// their own, so that no column is nested deeper than a list of numbers.
func tableKinds() []trace.DefKind {
	clock := trace.DefKind{Name: "clock", Count: func(*trace.Defs) int { return 1 }, Grow: func(*trace.Defs) {},
		Fields: func(d *trace.Defs, _ int) []trace.Field { return d.Clock.Fields() }}
	strings := trace.DefKind{Name: "string", Count: func(d *trace.Defs) int { return len(d.Strings) },
		Grow: func(d *trace.Defs) {
			d.StringRefs = append(d.StringRefs, uint32(len(d.Strings)))
			d.Strings = append(d.Strings, "")
		},
		Fields: func(d *trace.Defs, i int) []trace.Field {
			return []trace.Field{{Name: "text", Value: &d.Strings[i]}, {Name: "ref", Value: &d.StringRefs[i]}}
		}}
	kinds := append([]trace.DefKind{clock, strings}, trace.DefKinds()...)
	for i := range kinds {
		all := kinds[i].Fields
		kinds[i].Fields = func(d *trace.Defs, j int) []trace.Field {
			return slices.DeleteFunc(all(d, j), func(f trace.Field) bool { _, ok := f.Value.(*[]trace.ClockOffset); return ok })
		}
	}
	return kinds
}

// offsetTable is the name of the table of measured clock offsets, one row for each.
const offsetTable = "offset"

type offsetColumns struct {
	location     []trace.LocationID
	time, offset []int64
	deviation    []float64
}

func (c *offsetColumns) columns() []column {
	return []column{numberColumn("location", &c.location), numberColumn("time", &c.time),
		numberColumn("offset", &c.offset), numberColumn("deviation", &c.deviation)}
}

// offsetRecord returns the clock offsets of all locations as a table.
func offsetRecord(d *trace.Defs) namedRecord {
	var c offsetColumns
	for l := range d.Locations {
		for _, o := range d.Locations[l].ClockOffsets {
			c.location, c.time = append(c.location, trace.LocationID(l)), append(c.time, o.Time)
			c.offset, c.deviation = append(c.offset, o.Offset), append(c.deviation, o.Deviation)
		}
	}
	return namedRecord{offsetTable, recordOf(schemaOf(c.columns()), c.columns())}
}

// setOffsets gives the locations the clock offsets of a table.
func setOffsets(d *trace.Defs, r arrow.Record) error {
	var c offsetColumns
	if err := setColumns(c.columns(), r); err != nil {
		return err
	}
	for i, l := range c.location {
		if int(l) >= len(d.Locations) {
			return fmt.Errorf("row %d: location %d of %d does not exist", i, l, len(d.Locations))
		}
		list := &d.Locations[l].ClockOffsets
		*list = append(*list, trace.ClockOffset{Time: c.time[i], Offset: c.offset[i], Deviation: c.deviation[i]})
	}
	return nil
}

// defRecords returns the definitions as one table for each kind: clock, string, node,
// process, location, region, group, comm, site, context, member, metric, attribute,
// opaque. Row i is definition i and says so in the column id, for joins; the other columns
// are the definition's fields, references are numbers. Two tables more: offset has the
// measured clock offsets of all locations, kind the names of the kinds of event. The caller
// releases the records.
func defRecords(d *trace.Defs, mem memory.Allocator) []namedRecord {
	full := *d
	if full.StringRefs == nil {
		full.StringRefs = make([]uint32, len(d.Strings))
		for i := range full.StringRefs {
			full.StringRefs[i] = uint32(i)
		}
	}
	var out []namedRecord
	for _, k := range tableKinds() {
		b := array.NewRecordBuilder(mem, defSchema(k))
		for i := range k.Count(&full) {
			b.Field(0).(*array.Uint32Builder).Append(uint32(i))
			for j, f := range k.Fields(&full, i) {
				appendField(b.Field(1+j), f)
			}
		}
		out = append(out, namedRecord{k.Name, b.NewRecord()})
		b.Release()
	}
	return append(out, offsetRecord(&full), kindTable(mem))
}

// kindTable returns the names of the kinds of event.
func kindTable(mem memory.Allocator) namedRecord {
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: idColumn, Type: arrow.PrimitiveTypes.Uint8}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	for k := range 256 {
		if kind, ok := trace.KindByName(trace.Kind(k).String()); ok {
			b.Field(0).(*array.Uint8Builder).Append(uint8(kind))
			b.Field(1).(*array.StringBuilder).Append(kind.String())
		}
	}
	return namedRecord{"kind", b.NewRecord()}
}

// idColumn is the name of the first column: the number of the row, by which others refer
// to it.
const idColumn = "id"

// defSchema returns the schema of a kind's table.
func defSchema(k trace.DefKind) *arrow.Schema {
	sample := &trace.Defs{}
	k.Grow(sample)
	fields := []arrow.Field{{Name: idColumn, Type: arrow.PrimitiveTypes.Uint32}}
	for _, f := range k.Fields(sample, 0) {
		fields = append(fields, arrow.Field{Name: f.Name, Type: fieldType(f)})
	}
	return arrow.NewSchema(fields, nil)
}

func fieldType(f trace.Field) arrow.DataType {
	switch f.Value.(type) {
	case *uint8:
		return arrow.PrimitiveTypes.Uint8
	case *uint32, *trace.StringID:
		return arrow.PrimitiveTypes.Uint32
	case *uint64:
		return arrow.PrimitiveTypes.Uint64
	case *int64:
		return arrow.PrimitiveTypes.Int64
	case *bool:
		return arrow.FixedWidthTypes.Boolean
	case *string:
		return arrow.BinaryTypes.String
	case *[]byte:
		return arrow.BinaryTypes.Binary
	case *[]uint32, *[]trace.MetricMemberID:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Uint32)
	}
	panic(fmt.Sprintf("arrowdir: no Arrow type for %T", f.Value))
}

func appendField(b array.Builder, f trace.Field) {
	switch v := f.Value.(type) {
	case *uint8:
		b.(*array.Uint8Builder).Append(*v)
	case *uint32:
		b.(*array.Uint32Builder).Append(*v)
	case *trace.StringID:
		b.(*array.Uint32Builder).Append(uint32(*v))
	case *uint64:
		b.(*array.Uint64Builder).Append(*v)
	case *int64:
		b.(*array.Int64Builder).Append(*v)
	case *bool:
		b.(*array.BooleanBuilder).Append(*v)
	case *string:
		b.(*array.StringBuilder).Append(*v)
	case *[]byte:
		b.(*array.BinaryBuilder).Append(*v)
	case *[]uint32:
		appendList(b, *v)
	case *[]trace.MetricMemberID:
		appendList(b, *v)
	}
}

func appendList[T ~uint32](b array.Builder, list []T) {
	l := b.(*array.ListBuilder)
	l.Append(true)
	for _, v := range list {
		l.ValueBuilder().(*array.Uint32Builder).Append(uint32(v))
	}
}

// defsOf returns the definitions whose tables defRecords made. Tables that are missing are
// empty; the result passes Check, or there is an error. Nothing of the records is kept.
func defsOf(records []namedRecord) (*trace.Defs, error) {
	byName := make(map[string]arrow.Record)
	for _, r := range records {
		byName[r.Name] = r.Record
	}
	d := &trace.Defs{}
	for _, k := range tableKinds() {
		if r := byName[k.Name]; r != nil {
			if err := readDefs(k, d, r); err != nil {
				return nil, fmt.Errorf("table %s: %w", k.Name, err)
			}
		}
	}
	if r := byName[offsetTable]; r != nil {
		if err := setOffsets(d, r); err != nil {
			return nil, fmt.Errorf("table %s: %w", offsetTable, err)
		}
	}
	if refsAreIndexes(d) {
		d.StringRefs = nil
	}
	return d, d.Check()
}

func refsAreIndexes(d *trace.Defs) bool {
	for i, r := range d.StringRefs {
		if r != uint32(i) {
			return false
		}
	}
	return true
}

// readDefs appends the rows of a record to the definitions of a kind. The order of the rows
// counts, not the column id.
func readDefs(k trace.DefKind, d *trace.Defs, r arrow.Record) error {
	fields := defSchema(k).Fields()[1:]
	columns := make([]arrow.Array, len(fields))
	for j, f := range fields {
		a, err := columnNamed(r, f.Name, f.Type)
		if err != nil {
			return err
		}
		if a.NullN() > 0 {
			return fmt.Errorf("column %q has nulls", f.Name)
		}
		columns[j] = a
	}
	for i := range int(r.NumRows()) {
		k.Grow(d)
		for j, f := range k.Fields(d, i) {
			readField(f, columns[j], i)
		}
	}
	return nil
}

func readField(f trace.Field, a arrow.Array, i int) {
	switch v := f.Value.(type) {
	case *uint8:
		*v = a.(*array.Uint8).Value(i)
	case *uint32:
		*v = a.(*array.Uint32).Value(i)
	case *trace.StringID:
		*v = trace.StringID(a.(*array.Uint32).Value(i))
	case *uint64:
		*v = a.(*array.Uint64).Value(i)
	case *int64:
		*v = a.(*array.Int64).Value(i)
	case *bool:
		*v = a.(*array.Boolean).Value(i)
	case *string:
		*v = string([]byte(a.(*array.String).Value(i)))
	case *[]byte:
		*v = append([]byte(nil), a.(*array.Binary).Value(i)...)
	case *[]uint32:
		*v = readList[uint32](a.(*array.List), i)
	case *[]trace.MetricMemberID:
		*v = readList[trace.MetricMemberID](a.(*array.List), i)
	}
}

func readList[T ~uint32](a *array.List, i int) []T {
	var out []T
	from, to := a.ValueOffsets(i)
	values := a.ListValues().(*array.Uint32)
	for j := from; j < to; j++ {
		out = append(out, T(values.Value(int(j))))
	}
	return out
}
