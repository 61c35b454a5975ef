package arrowdir

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/trace"
)

// A Table is a table of results, for other programs to read: integers and names, each of
// which may be missing.
type Table struct {
	Name    string
	Columns []TableColumn

	// Fill appends all rows. It returns early when Rows.End says that writing failed.
	Fill func(*Rows)
}

// A TableColumn is a column of a table: of integers, or, if Names is not nil, of these
// names, chosen by their index.
type TableColumn struct {
	Name  string
	Names []string
}

// Rows takes the rows of a table, value by value in the order of the columns.
type Rows struct {
	columns []resultColumn
	next    int // column of the next value
	schema  *arrow.Schema
	write   func(arrow.Record) error
	err     error
}

// Int appends an integer.
func (r *Rows) Int(v int64) *Rows {
	c := r.column(true)
	c.values = append(c.values, v)
	return r
}

// ID appends an integer that is missing if it is trace.None.
func (r *Rows) ID(v uint32) *Rows {
	if v == trace.None {
		return r.Missing()
	}
	return r.Int(int64(v))
}

// Name appends name i of the column; it is missing if i is trace.None.
func (r *Rows) Name(i uint32) *Rows {
	c := r.column(i != trace.None)
	if i == trace.None {
		i = 0
	}
	c.index = append(c.index, i)
	return r
}

// Missing appends no value to a column of integers.
func (r *Rows) Missing() *Rows {
	c := r.column(false)
	c.values = append(c.values, 0)
	return r
}

// column returns the column of the next value, and notes whether there is one.
func (r *Rows) column(there bool) *resultColumn {
	c := &r.columns[r.next]
	r.next++
	if c.rows%8 == 0 {
		c.valid = append(c.valid, 0)
	}
	if there {
		c.valid[c.rows/8] |= 1 << (c.rows % 8)
	} else {
		c.missing++
	}
	c.rows++
	return c
}

// End ends a row of which all columns have a value. It reports whether more are wanted.
func (r *Rows) End() bool {
	if r.next != len(r.columns) {
		panic("arrowdir: a row does not have a value in each column")
	}
	r.next = 0
	if r.columns[0].rows == MaxGroupRows {
		r.flush()
	}
	return r.err == nil
}

// flush writes the rows and forgets them.
func (r *Rows) flush() {
	if r.err != nil || len(r.columns) == 0 {
		return
	}
	arrays := make([]arrow.Array, len(r.columns))
	for i := range r.columns {
		arrays[i] = r.columns[i].array()
	}
	record := array.NewRecord(r.schema, arrays, int64(r.columns[0].rows))
	r.err = r.write(record)
	record.Release()
	for i, a := range arrays {
		a.Release()
		r.columns[i].empty()
	}
}

// A resultColumn collects the values of a column; values is in use for integers, index for
// names.
type resultColumn struct {
	dtype   arrow.DataType
	names   arrow.Array
	values  []int64
	index   []uint32
	valid   []byte // a bit for each row
	rows    int
	missing int
}

func newResultColumn(c TableColumn) resultColumn {
	if c.Names == nil {
		return resultColumn{dtype: arrow.PrimitiveTypes.Int64}
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.AppendValues(c.Names, nil)
	if len(c.Names) == 0 {
		b.Append("") // where all are missing, each still has an index
	}
	return resultColumn{names: b.NewArray(),
		dtype: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}
}

// array returns the column as an array that shares its memory.
func (c *resultColumn) array() arrow.Array {
	valid := memory.NewBufferBytes(c.valid)
	if c.names == nil {
		d := array.NewData(c.dtype, c.rows, []*memory.Buffer{valid, memory.NewBufferBytes(numbers[int64]{&c.values}.bytes())}, nil, c.missing, 0)
		defer d.Release()
		return array.MakeFromData(d)
	}
	d := array.NewDataWithDictionary(c.dtype, c.rows, []*memory.Buffer{valid, memory.NewBufferBytes(numbers[uint32]{&c.index}.bytes())},
		c.missing, 0, c.names.Data().(*array.Data))
	defer d.Release()
	return array.MakeFromData(d)
}

func (c *resultColumn) empty() {
	c.values, c.index, c.valid, c.rows, c.missing = c.values[:0], c.index[:0], c.valid[:0], 0, 0
}

// WriteParquet writes a table as one Parquet file. It fails once the context has ended.
func WriteParquet(ctx context.Context, name string, t Table) error {
	rows := &Rows{}
	var fields []arrow.Field
	for _, c := range t.Columns {
		column := newResultColumn(c)
		rows.columns = append(rows.columns, column)
		fields = append(fields, arrow.Field{Name: c.Name, Type: column.dtype, Nullable: true})
	}
	rows.schema = arrow.NewSchema(fields, nil)
	w, err := newParquetWriter(name, rows.schema)
	if err != nil {
		return err
	}
	w.ended = ctx.Err
	var e encoded
	rows.write = func(r arrow.Record) error {
		if err := w.encode(r, &e); err != nil {
			return err
		}
		return w.put(r, &e)
	}
	t.Fill(rows)
	rows.flush() // also of a table without rows, so that it has columns
	_, err = w.close()
	return errors.Join(rows.err, err)
}
