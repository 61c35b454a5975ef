package arrowdir

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/readers/internal/output"
	"tracekit/trace"
)

// A Table is a table of results, for other programs to read: integers and names, each of
// which may be missing.
type Table struct {
	Name    string
	Columns []TableColumn

	// Fill appends all rows. It returns early when Rows.End says that writing failed.
	Fill func(*Rows)

	// Parts, of a table without Fill, returns all rows piece by piece.
	Parts func() []Part
}

// A Part is rows of a table that can be had without those of other parts.
type Part struct {
	Rows int // with Append: about how many

	// Fill sets the columns that a block wants of its rows, the first of which is row first of the part. So any rows can be had alone.
	Fill func(block *Block, first int)

	// Append, of a part without Fill, appends all rows, one after the other. It passes over those that are not wanted (Rows.Skip), and
	// returns early when Rows.End says that no more are.
	Append func(*Rows)

	// Within returns the rows, from first up to end, outside of which a column has no value from least to greatest. It looks at few rows.
	// ok is false where that is not known. Of a part with Append their number counts alone; it may be an estimate unless it is 0.
	Within func(column int, least, greatest int64) (first, end int, ok bool)
}

// ByRow returns a Part.Fill that appends rows one by one, of which append appends row i of the part.
func ByRow(append func(r *Rows, i int)) func(*Block, int) {
	return func(b *Block, first int) {
		r := &Rows{group: &resultGroup{columns: b.columns}, wanted: b.wanted}
		for i := range b.Rows {
			append(r, first+i)
			r.next = 0
		}
	}
}

// A Block is rows of a table that are filled by column.
type Block struct {
	Rows    int
	columns []resultColumn
	wanted  []bool // nil: all
}

// Ints returns the values of a column of integers, to be set; nil if they are not wanted.
func (b *Block) Ints(column int) []int64 {
	c := b.column(column)
	if c == nil {
		return nil
	}
	c.values = slices.Grow(c.values, b.Rows)[:len(c.values)+b.Rows]
	return c.values[len(c.values)-b.Rows:]
}

// Names returns the indices of a column of names, to be set; nil if they are not wanted.
func (b *Block) Names(column int) []uint32 {
	c := b.column(column)
	if c == nil {
		return nil
	}
	c.index = slices.Grow(c.index, b.Rows)[:len(c.index)+b.Rows]
	return c.index[len(c.index)-b.Rows:]
}

// SetID sets row i of a column of integers that is wanted, or says that the row misses trace.None.
func (b *Block) SetID(column int, values []int64, i int, v uint32) {
	if values == nil {
		return
	}
	if values[i] = int64(v); v == trace.None {
		b.Missing(column, i)
	}
}

// SetName sets row i of a column of names that is wanted, or says that the row misses trace.None.
func (b *Block) SetName(column int, index []uint32, i int, v uint32) {
	if index == nil {
		return
	}
	if index[i] = v; v == trace.None {
		b.Missing(column, i)
	}
}

// ID sets all rows of a column of integers; trace.None is missing.
func (b *Block) ID(column int, v uint32) {
	values := b.Ints(column)
	for i := range values {
		b.SetID(column, values, i, v)
	}
}

// Name sets all rows of a column of names; trace.None is missing.
func (b *Block) Name(column int, v uint32) {
	index := b.Names(column)
	for i := range index {
		b.SetName(column, index, i, v)
	}
}

// column returns a column that is wanted, with room for the block, where no row is missing.
func (b *Block) column(i int) *resultColumn {
	if b.wanted != nil && !b.wanted[i] {
		return nil
	}
	c := &b.columns[i]
	for end := c.rows + b.Rows; c.rows < end; {
		switch at := c.rows % 8; {
		case at == 0 && end-c.rows >= 8:
			c.valid = append(c.valid, 0xff)
			c.rows += 8
		case at == 0:
			c.valid = append(c.valid, 1<<(end-c.rows)-1)
			c.rows = end
		default:
			c.valid[c.rows/8] |= 1 << at
			c.rows++
		}
	}
	return c
}

// Missing says that a column that is wanted, and set, has no value in a row of the block.
func (b *Block) Missing(column, row int) {
	c := &b.columns[column]
	at := c.rows - b.Rows + row
	c.valid[at/8] &^= 1 << (at % 8)
	if c.missing++; !c.named {
		c.values[at] = 0
	} else {
		c.index[at] = 0
	}
}

// A TableColumn is a column of a table: of integers, of numbers if Real is set, or, if Names is not nil, of these
// names, chosen by their index.
type TableColumn struct {
	Name  string
	Names []string
	Real  bool
}

// A resultTable is a table that is written.
type resultTable struct {
	queue   int // of the line
	out     *parquetWriter
	schema  *arrow.Schema
	columns []resultColumn // without rows
}

// A resultGroup is rows of a table on their way to its file.
type resultGroup struct {
	table   *resultTable
	columns []resultColumn
	rows    int
	record  arrow.Record
	encoded encoded
	err     error
}

// Rows takes the rows of a table, value by value in the order of the columns.
type Rows struct {
	line   *output.Line[*resultGroup] // nil: take takes groups
	take   func([]resultColumn, int) error
	group  *resultGroup // that is being filled
	next   int          // column of the next value
	wanted []bool       // columns; nil: all
	other  resultColumn // takes what is not wanted
	err    error

	part *partRows // nil: all rows are wanted
}

// partRows are what is wanted of the rows of a part.
type partRows struct {
	least, greatest []int64 // by column
	most            int     // rows of a chunk
	number          int     // of the next row
	numbers         []int   // of the rows of the chunk
}

// Within returns the least and the greatest value that rows which are wanted have in a column of integers.
func (r *Rows) Within(column int) (least, greatest int64) {
	if r.part == nil {
		return math.MinInt64, math.MaxInt64
	}
	return r.part.least[column], r.part.greatest[column]
}

// Skip passes over a row that is not wanted, since its value in a column is not within Within.
func (r *Rows) Skip() { r.part.number++ }

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

// Real appends a number; it is missing if it is none.
func (r *Rows) Real(v float64) *Rows {
	if math.IsNaN(v) {
		return r.Missing()
	}
	return r.Int(int64(math.Float64bits(v)))
}

// Fail ends a table that cannot be filled: no more rows are wanted.
func (r *Rows) Fail(err error) { r.err = cmp.Or(r.err, err) }

// Missing appends no value to a column of integers or numbers.
func (r *Rows) Missing() *Rows {
	c := r.column(false)
	c.values = append(c.values, 0)
	return r
}

// column returns the column of the next value, and notes whether there is one.
func (r *Rows) column(there bool) *resultColumn {
	c := &r.group.columns[r.next]
	if r.wanted != nil && !r.wanted[r.next] {
		c = &r.other
		c.empty()
	}
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
	if r.next != len(r.group.columns) {
		panic("arrowdir: a row does not have a value in each column")
	}
	r.next = 0
	r.group.rows++
	if p := r.part; p != nil {
		p.numbers = append(p.numbers, p.number)
		p.number++
	}
	return r.more()
}

// more hands the group on if it is full, and reports whether more rows are wanted.
func (r *Rows) more() bool {
	most := MaxGroupRows
	if r.part != nil {
		most = r.part.most
	}
	if r.group.rows == most {
		t := r.group.table
		r.end()
		r.begin(t)
	}
	return r.err == nil
}

// fill appends all rows of a table. Of parts it fills the columns that are wanted.
func (r *Rows) fill(t Table, wanted []bool) {
	r.wanted = wanted
	for _, p := range t.parts() {
		if p.Append != nil && r.err == nil {
			p.Append(r)
			continue
		}
		for first := 0; first < p.Rows && r.err == nil; {
			b := Block{min(p.Rows-first, MaxGroupRows-r.group.rows), r.group.columns, wanted}
			p.Fill(&b, first)
			first += b.Rows
			r.group.rows += b.Rows
			r.more()
		}
	}
}

// parts returns all rows piece by piece.
func (t Table) parts() []Part {
	if t.Fill != nil {
		return []Part{{Append: t.Fill}}
	}
	return t.Parts()
}

// begin takes a group for rows of a table.
func (r *Rows) begin(t *resultTable) {
	if r.line != nil {
		r.group = r.line.Take()
	}
	if r.group.table != t {
		r.group.table, r.group.columns = t, slices.Clone(t.columns)
	}
	r.group.rows = 0
	for i := range r.group.columns {
		r.group.columns[i].empty()
	}
}

// end hands the group that is being filled on.
func (r *Rows) end() {
	if r.line != nil {
		r.err = r.line.Put(r.group.table.queue)
		return
	}
	r.err = r.take(r.group.columns, r.group.rows)
}

// A PartReader reads rows of parts of a table.
type PartReader struct {
	rows    Rows
	columns []Column
}

// A Chunk is rows of a part, valid until the next one.
type Chunk struct {
	Columns []Column // as far as they are wanted
	Rows    int
	first   int
	numbers []int // of the rows in the part; nil: they are those from first on
}

// Number returns the number of row i of the chunk in the part.
func (c *Chunk) Number(i int) int {
	if c.numbers != nil {
		return c.numbers[i]
	}
	return c.first + i
}

// NewPartReader returns one that reads the columns that are wanted, by their indices, at most so many rows at a time. Of parts with Append
// it leaves out rows whose values do not lie from least to greatest, by column.
func (t Table) NewPartReader(wanted []int, most int, least, greatest []int64) *PartReader {
	r := &PartReader{columns: make([]Column, len(t.Columns))}
	r.rows.wanted = make([]bool, len(t.Columns))
	for _, i := range wanted {
		r.rows.wanted[i] = true
	}
	r.rows.group = &resultGroup{columns: t.plainColumns()}
	r.rows.part = &partRows{least: least, greatest: greatest, most: most}
	return r
}

// errEnough ends the rows of a part of which no more are wanted.
var errEnough = errors.New("no more rows are wanted")

// Read returns the rows of a part from first up to end, of one with Append all.
func (r *PartReader) Read(p Part, first, end int) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		rows, at := &r.rows, r.rows.part
		rows.err, at.number, at.numbers = nil, 0, at.numbers[:0]
		of := &resultTable{columns: rows.group.columns}
		give := func(n, first int, numbers []int) bool {
			for i := range rows.group.columns {
				r.columns[i] = rows.group.columns[i].column()
			}
			return yield(Chunk{r.columns, n, first, numbers}, nil)
		}
		if p.Append == nil {
			for n := 0; first < end; first += n {
				rows.group.table = of
				rows.begin(of)
				n = min(at.most, end-first)
				p.Fill(&Block{n, rows.group.columns, rows.wanted}, first)
				if !give(n, first, nil) {
					return
				}
			}
			return
		}
		rows.take = func(_ []resultColumn, n int) error {
			if n > 0 && !give(n, 0, at.numbers) {
				return errEnough
			}
			at.numbers = at.numbers[:0]
			return nil
		}
		rows.group.table = of
		rows.begin(of)
		p.Append(rows)
		if rows.err == nil {
			rows.end()
		}
		if rows.err != nil && rows.err != errEnough {
			yield(Chunk{}, rows.err)
		}
	}
}

// plainColumns returns columns that no Arrow array is made of.
func (t Table) plainColumns() []resultColumn {
	columns := make([]resultColumn, len(t.Columns))
	for i := range columns {
		columns[i].named = t.Columns[i].Names != nil
	}
	return columns
}

// A Column is some rows of a column of a table: integers, the bits of numbers or, of a column with names, their indices. Bit i%8 of
// Valid[i/8] says whether row i has a value.
type Column struct {
	Values []int64
	Index  []uint32
	Valid  []byte
}

// groups calls take with rows in columns such as these, group by group.
func (t Table) groups(columns []resultColumn, wanted []int, take func([]resultColumn, int) error) error {
	rows := &Rows{take: take, group: new(resultGroup)}
	rows.begin(&resultTable{columns: columns})
	of := make([]bool, len(t.Columns))
	for _, i := range wanted {
		of[i] = true
	}
	rows.fill(t, of)
	if rows.err == nil {
		rows.end()
	}
	return rows.err
}

func (g *resultGroup) encode() {
	arrays := make([]arrow.Array, len(g.columns))
	for i := range g.columns {
		arrays[i] = g.columns[i].array()
	}
	g.record = array.NewRecord(g.table.schema, arrays, int64(g.rows))
	g.err = g.table.out.encode(g.record, &g.encoded)
}

func (g *resultGroup) put() error {
	if g.err != nil {
		return g.err
	}
	return g.table.out.put(g.record, &g.encoded)
}

// A resultColumn collects the values of a column; values is in use for integers, index for
// names.
type resultColumn struct {
	dtype   arrow.DataType
	named   bool
	names   arrow.Array
	values  []int64
	index   []uint32
	short   []byte // index as it is written, of few names
	valid   []byte // a bit for each row
	rows    int
	missing int
}

// newResultColumn returns a column. Indices of few names are short if it is for Arrow: pandas has them so, and maps them then.
func newResultColumn(c TableColumn, short bool) resultColumn {
	if c.Real {
		return resultColumn{dtype: arrow.PrimitiveTypes.Float64}
	}
	if c.Names == nil {
		return resultColumn{dtype: arrow.PrimitiveTypes.Int64}
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.AppendValues(c.Names, nil)
	if len(c.Names) == 0 {
		b.Append("") // where all are missing, each still has an index
	}
	index := arrow.PrimitiveTypes.Int32
	switch {
	case short && len(c.Names) <= 1+math.MaxInt8:
		index = arrow.PrimitiveTypes.Int8
	case short && len(c.Names) <= 1+math.MaxInt16:
		index = arrow.PrimitiveTypes.Int16
	}
	return resultColumn{named: true, names: b.NewArray(), dtype: &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}}
}

// width is how many bytes a value has in Arrow.
func (c *resultColumn) width() int { return c.dtype.(arrow.FixedWidthDataType).Bytes() }

// bytes returns the values, so many bytes each, that Arrow has.
func (c *resultColumn) bytes(width int) []byte {
	switch {
	case !c.named:
		return numbers[int64]{&c.values}.bytes()
	case width == 4:
		return numbers[uint32]{&c.index}.bytes()
	}
	c.short = slices.Grow(c.short[:0], width*len(c.index))[:width*len(c.index)]
	for i, v := range c.index {
		if width == 1 {
			c.short[i] = byte(v)
		} else {
			binary.LittleEndian.PutUint16(c.short[2*i:], uint16(v))
		}
	}
	return c.short
}

// array returns the column as an array that shares its memory.
func (c *resultColumn) array() arrow.Array {
	buffers := []*memory.Buffer{memory.NewBufferBytes(c.valid), memory.NewBufferBytes(c.bytes(c.width()))}
	var d *array.Data
	if c.names == nil {
		d = array.NewData(c.dtype, c.rows, buffers, nil, c.missing, 0)
	} else {
		d = array.NewDataWithDictionary(c.dtype, c.rows, buffers, c.missing, 0, c.names.Data().(*array.Data))
	}
	defer d.Release()
	return array.MakeFromData(d)
}

func (c *resultColumn) column() Column { return Column{c.values, c.index, c.valid} }

func (c *resultColumn) empty() {
	c.values, c.index, c.valid, c.rows, c.missing = c.values[:0], c.index[:0], c.valid[:0], 0, 0
}

// WriteParquet writes tables as Parquet files below a directory, which are named after them. One goroutine
// fills the tables, one after the other; groups of rows are encoded by so many jobs, and put down in order: what is
// written does not depend on those. It fails once the context has ended.
func WriteParquet(ctx context.Context, dir string, jobs int, tables ...Table) error {
	rows := &Rows{line: output.NewLine(output.Workers(jobs), len(tables), func() *resultGroup { return new(resultGroup) },
		(*resultGroup).encode, (*resultGroup).put)}
	var files []*parquetWriter
	for i, t := range tables {
		table, err := newResultTable(ctx, filepath.Join(dir, t.Name+".parquet"), t.Columns)
		if rows.err = errors.Join(rows.err, err); rows.err != nil {
			break
		}
		table.queue, files = i, append(files, table.out)
		rows.begin(table)
		rows.fill(t, nil)
		rows.end() // also of a table without rows, so that it has columns
	}
	err := cmp.Or(rows.line.Close(), rows.err)
	for _, f := range files {
		_, cerr := f.close()
		err = errors.Join(err, cerr)
	}
	return err
}

func newResultTable(ctx context.Context, name string, columns []TableColumn) (*resultTable, error) {
	t := &resultTable{}
	t.columns, t.schema = resultColumns(columns, false)
	var err error
	if t.out, err = newParquetWriter(name, t.schema); err == nil {
		t.out.ended = ctx.Err
	}
	return t, err
}

func resultColumns(of []TableColumn, short bool) (columns []resultColumn, schema *arrow.Schema) {
	var fields []arrow.Field
	for _, c := range of {
		column := newResultColumn(c, short)
		columns = append(columns, column)
		fields = append(fields, arrow.Field{Name: c.Name, Type: column.dtype, Nullable: true})
	}
	return columns, arrow.NewSchema(fields, nil)
}
