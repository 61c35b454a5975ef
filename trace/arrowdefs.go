package trace

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A NamedRecord is a table of definitions.
type NamedRecord struct {
	Name   string
	Record arrow.Record
}

// arrowKinds returns the kinds of definition with a table each: those of the text form,
// whose keys are the columns, and the strings and the clock. Clock offsets have a table of
// their own, so that no column is nested deeper than a list of numbers.
func arrowKinds() []textKind {
	clock := textKind{keyword: "clock", count: func(*Defs) int { return 1 }, grow: func(*Defs) {},
		fields: func(d *Defs, _ int) []textField { return clockFields(&d.Clock) }}
	strings := textKind{keyword: "string", count: func(d *Defs) int { return len(d.Strings) },
		grow: func(d *Defs) {
			d.StringRefs = append(d.StringRefs, uint32(len(d.Strings)))
			d.Strings = append(d.Strings, "")
		},
		fields: func(d *Defs, i int) []textField {
			return []textField{{"text", &d.Strings[i], 0}, {"ref", &d.StringRefs[i], 0}}
		}}
	kinds := append([]textKind{clock, strings}, textKinds()...)
	for i := range kinds {
		all := kinds[i].fields
		kinds[i].fields = func(d *Defs, j int) []textField {
			return slices.DeleteFunc(all(d, j), func(f textField) bool { _, ok := f.value.(*[]ClockOffset); return ok })
		}
	}
	return kinds
}

// offsetTable is the name of the table of measured clock offsets, one row for each.
const offsetTable = "offset"

type offsetColumns struct {
	location     []LocationID
	time, offset []int64
	deviation    []float64
}

func (c *offsetColumns) columns() []column {
	return []column{numberColumn("location", &c.location), numberColumn("time", &c.time),
		numberColumn("offset", &c.offset), numberColumn("deviation", &c.deviation)}
}

// offsets returns the clock offsets of all locations as a table.
func (d *Defs) offsets() NamedRecord {
	var c offsetColumns
	for l := range d.Locations {
		for _, o := range d.Locations[l].ClockOffsets {
			c.location, c.time = append(c.location, LocationID(l)), append(c.time, o.Time)
			c.offset, c.deviation = append(c.offset, o.Offset), append(c.deviation, o.Deviation)
		}
	}
	return NamedRecord{offsetTable, recordOf(schemaOf(c.columns()), c.columns())}
}

// setOffsets gives the locations the clock offsets of a table.
func (d *Defs) setOffsets(r arrow.Record) error {
	var c offsetColumns
	if err := setColumns(c.columns(), r); err != nil {
		return err
	}
	for i, l := range c.location {
		if int(l) >= len(d.Locations) {
			return fmt.Errorf("row %d: location %d of %d does not exist", i, l, len(d.Locations))
		}
		list := &d.Locations[l].ClockOffsets
		*list = append(*list, ClockOffset{Time: c.time[i], Offset: c.offset[i], Deviation: c.deviation[i]})
	}
	return nil
}

// Records returns the definitions as one table for each kind: clock, string, node,
// process, location, region, group, comm, site, context, member, metric, attribute,
// opaque. Row i is definition i and says so in the column id, for joins; the other columns
// are the keys of the text form (see WriteText), references are numbers. Two tables more:
// offset has the measured clock offsets of all locations, kind the names of the kinds of
// event. The caller releases the records.
func (d *Defs) Records(mem memory.Allocator) []NamedRecord {
	full := *d
	if full.StringRefs == nil {
		full.StringRefs = make([]uint32, len(d.Strings))
		for i := range full.StringRefs {
			full.StringRefs[i] = uint32(i)
		}
	}
	var out []NamedRecord
	for _, k := range arrowKinds() {
		b := array.NewRecordBuilder(mem, k.schema())
		for i := range k.count(&full) {
			b.Field(0).(*array.Uint32Builder).Append(uint32(i))
			for j, f := range k.fields(&full, i) {
				appendField(b.Field(1+j), f)
			}
		}
		out = append(out, NamedRecord{k.keyword, b.NewRecord()})
		b.Release()
	}
	return append(out, full.offsets(), kindTable(mem))
}

// kindTable returns the names of the kinds of event.
func kindTable(mem memory.Allocator) NamedRecord {
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: idColumn, Type: arrow.PrimitiveTypes.Uint8}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	for k, name := range kindNames {
		if name != "" {
			b.Field(0).(*array.Uint8Builder).Append(uint8(k))
			b.Field(1).(*array.StringBuilder).Append(name)
		}
	}
	return NamedRecord{"kind", b.NewRecord()}
}

// idColumn is the name of the first column: the number of the row, by which others refer
// to it.
const idColumn = "id"

// schema returns the schema of a kind's table.
func (k textKind) schema() *arrow.Schema {
	sample := &Defs{}
	k.grow(sample)
	fields := []arrow.Field{{Name: idColumn, Type: arrow.PrimitiveTypes.Uint32}}
	for _, f := range k.fields(sample, 0) {
		fields = append(fields, arrow.Field{Name: f.key, Type: fieldType(f)})
	}
	return arrow.NewSchema(fields, nil)
}

func fieldType(f textField) arrow.DataType {
	switch f.value.(type) {
	case *uint8:
		return arrow.PrimitiveTypes.Uint8
	case *uint32, *StringID:
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
	case *[]uint32, *[]MetricMemberID:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Uint32)
	}
	panic(fmt.Sprintf("trace: no Arrow type for %T", f.value))
}

func appendField(b array.Builder, f textField) {
	switch v := f.value.(type) {
	case *uint8:
		b.(*array.Uint8Builder).Append(*v)
	case *uint32:
		b.(*array.Uint32Builder).Append(*v)
	case *StringID:
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
	case *[]MetricMemberID:
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

// DefsOf returns the definitions whose tables Records made. Tables that are missing are
// empty; the result passes Check, or there is an error. Nothing of the records is kept.
func DefsOf(records []NamedRecord) (*Defs, error) {
	byName := make(map[string]arrow.Record)
	for _, r := range records {
		byName[r.Name] = r.Record
	}
	d := &Defs{}
	for _, k := range arrowKinds() {
		if r := byName[k.keyword]; r != nil {
			if err := k.read(d, r); err != nil {
				return nil, fmt.Errorf("table %s: %w", k.keyword, err)
			}
		}
	}
	if r := byName[offsetTable]; r != nil {
		if err := d.setOffsets(r); err != nil {
			return nil, fmt.Errorf("table %s: %w", offsetTable, err)
		}
	}
	if d.refsAreIndexes() {
		d.StringRefs = nil
	}
	return d, d.Check()
}

func (d *Defs) refsAreIndexes() bool {
	for i, r := range d.StringRefs {
		if r != uint32(i) {
			return false
		}
	}
	return true
}

// read appends the rows of a record to the definitions of a kind. The order of the rows
// counts, not the column id.
func (k textKind) read(d *Defs, r arrow.Record) error {
	fields := k.schema().Fields()[1:]
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
		k.grow(d)
		for j, f := range k.fields(d, i) {
			readField(f, columns[j], i)
		}
	}
	return nil
}

func readField(f textField, a arrow.Array, i int) {
	switch v := f.value.(type) {
	case *uint8:
		*v = a.(*array.Uint8).Value(i)
	case *uint32:
		*v = a.(*array.Uint32).Value(i)
	case *StringID:
		*v = StringID(a.(*array.Uint32).Value(i))
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
	case *[]MetricMemberID:
		*v = readList[MetricMemberID](a.(*array.List), i)
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
