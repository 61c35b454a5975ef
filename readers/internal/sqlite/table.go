package sqlite

import (
	"context"
	"fmt"
	"strings"
)

const (
	maxTables  = 1 << 16
	maxColumns = 2000 // as in SQLite itself
)

// A Table is a table of a database.
type Table struct {
	Name    string
	file    *File
	root    uint32
	columns []column
}

// schema reads the table of tables, whose root is the first page.
func (f *File) schema() {
	master := &Table{file: f, root: 1,
		columns: []column{{name: "type"}, {name: "name"}, {name: "tbl_name"}, {name: "rootpage"}, {name: "sql"}}}
	names := make(map[string]bool)
	roots := map[uint32]bool{1: true}
	// The error is that of a context which never ends.
	_ = master.Rows(context.Background(), []string{"type", "name", "rootpage", "sql"}, func(r []Value) bool {
		if r[0].String() != "table" || r[2].Int() == 0 { // others: indexes, views, triggers, virtual tables
			return true
		}
		name, root := r[1].String(), r[2].Int()
		columns, err := parseCreate(r[3].String())
		switch {
		case len(f.tables) == maxTables:
			f.found(TooLarge, -1, fmt.Sprintf("more than %d tables", maxTables))
			return false
		case err != nil:
			f.found(Unsupported, -1, fmt.Sprintf("table %.80q: %v", name, err))
		case root < 0 || root > int64(f.pages):
			f.found(Truncated, -1, fmt.Sprintf("table %.80q begins behind the end of the file", name))
		case roots[uint32(root)] || names[strings.ToLower(name)]:
			f.found(Corrupt, -1, fmt.Sprintf("table %.80q is there twice, or begins where another does", name))
		default:
			roots[uint32(root)], names[strings.ToLower(name)] = true, true
			f.tables = append(f.tables, &Table{name, f, uint32(root), columns})
		}
		return true
	})
}

// Tables returns the tables in the order of their definitions.
func (f *File) Tables() []*Table { return f.tables }

// Table returns the table of a name, whatever its case, nil if there is none.
func (f *File) Table(name string) *Table {
	for _, t := range f.tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// Has reports whether a table is there and has a column.
func (t *Table) Has(name string) bool { return t != nil && t.find(name) >= 0 }

func (t *Table) find(name string) int {
	for i := range t.columns {
		if strings.EqualFold(t.columns[i].name, name) {
			return i
		}
	}
	return -1
}

// Rows passes the values of some columns on, row by row in the order of the row's number, until row returns false. A
// column that the table does not have is null. A table that is nil has no rows. The error is that of the context.
func (t *Table) Rows(ctx context.Context, columns []string, row func(values []Value) bool) error {
	if t == nil {
		return nil
	}
	d := &decoder{t: t, place: make([]int16, 0, len(t.columns)), values: make([]Value, len(columns)), row: row}
	for i, name := range columns {
		at := t.find(name)
		if at < 0 {
			continue
		}
		for len(d.place) <= at {
			d.place = append(d.place, -1)
		}
		if d.place[at] >= 0 {
			panic("sqlite: a column is asked for twice")
		}
		d.place[at] = int16(i)
	}
	s := &scan{f: t.file, root: t.root, seen: make([]uint64, t.file.pages/64+1), row: d.record, ctx: ctx}
	s.walk(t.root, 0)
	return s.err
}

// A decoder decodes the records of a table.
type decoder struct {
	t      *Table
	place  []int16 // by column of the table: in values, -1: not wanted
	values []Value
	row    func([]Value) bool
}

// record takes a record, of which the end may be cut off.
func (d *decoder) record(rowid int64, record []byte, whole bool, at int64) bool {
	size, n := varint(record)
	if n == 0 || size < int64(n) || size > int64(len(record)) {
		d.t.file.found(Corrupt, at, "a record whose header does not fit")
		return true
	}
	head, body, last := n, int(size), int(size) // where the next serial type and the next value begin
	for column, place := range d.place {
		if head == last {
			d.missing(column)
			continue
		}
		serial := int64(record[head])
		width, n := int64(widths[serial&0x7F]), 1
		if serial >= 0x80 {
			if serial, n = varint(record[head:last]); n == 0 {
				d.t.file.found(Corrupt, at, "a record whose header does not end")
				return true
			}
			width = widthOf(serial)
		}
		head += n
		if width < 0 || width > int64(len(record)-body) {
			if whole || width < 0 {
				d.t.file.found(Corrupt, at, "a record that does not hold its values")
				return true
			}
			d.t.file.found(TooLarge, at, fmt.Sprintf("a value of %d bytes", width))
			for ; column < len(d.place); column++ {
				d.missing(column)
			}
			break
		}
		end := body + int(width)
		if place >= 0 {
			v := &d.values[place]
			v.decode(serial, record[body:end])
			if v.Type == Null && d.t.columns[column].rowid {
				v.Type, v.bits = Integer, rowid
			}
		}
		body = end
	}
	return d.row(d.values)
}

// missing sets the value of a column that a record does not have.
func (d *decoder) missing(column int) {
	if place := d.place[column]; place >= 0 {
		d.values[place] = d.t.columns[column].missing
	}
}
