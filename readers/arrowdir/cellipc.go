package arrowdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// An Arrow IPC file begins with its name, and then is a stream: a schema, records, an end, and the footer, which a stream does
// without. A file that is cut off is read as a stream to the cut.

// ErrCut says that a file ends within a message.
var ErrCut = errors.New("the table is cut off")

// fileStart begins an Arrow IPC file.
var fileStart = []byte("ARROW1\x00\x00")

// streamStart begins a message of a stream.
var streamStart = []byte{0xff, 0xff, 0xff, 0xff}

// IsArrow reports whether a file begins as one of Arrow IPC, or as a stream of it.
func IsArrow(head []byte) bool {
	return bytes.HasPrefix(head, fileStart) || bytes.HasPrefix(head, streamStart) && len(head) > 16
}

type arrowCells struct {
	in      *messages
	reader  *ipc.Reader
	columns []CellColumn
}

// OpenArrow opens an Arrow IPC file or stream of another program, whose size is given.
func OpenArrow(f *os.File, size int64) (CellTable, error) {
	head := make([]byte, len(fileStart))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, errShort
	}
	a := &arrowCells{in: &messages{file: f, end: size}}
	if bytes.Equal(head, fileStart) {
		a.in.at, a.in.end = int64(len(fileStart)), beforeFooter(f, size)
	}
	damage, _ := attempt(func() (err error) {
		a.reader, err = ipc.NewReader(a.in, ipc.WithAllocator(bounded{memory.NewGoAllocator(), cellMemory}))
		if err != nil {
			return err
		}
		for _, field := range a.reader.Schema().Fields() {
			a.columns = append(a.columns, arrowColumn(field))
		}
		return nil
	})
	return a, damage
}

// beforeFooter returns where the footer of an Arrow IPC file begins, or where the file ends if it has none.
func beforeFooter(f io.ReaderAt, size int64) int64 {
	tail := make([]byte, 4+len("ARROW1"))
	if size < int64(len(tail)) {
		return size
	}
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil || string(tail[4:]) != "ARROW1" {
		return size
	}
	if n := int64(binary.LittleEndian.Uint32(tail)); n <= size-int64(len(tail)) {
		return size - int64(len(tail)) - n
	}
	return size
}

func arrowColumn(f arrow.Field) CellColumn {
	out := CellColumn{Name: f.Name}
	t := f.Type
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type, *arrow.BooleanType:
		out.Kind = IntCells
	case *arrow.Float32Type, *arrow.Float64Type:
		out.Kind = FloatCells
	case *arrow.StringType, *arrow.LargeStringType:
		out.Kind = TextCells
	case *arrow.TimestampType:
		out.Kind, out.Unit = IntCells, float64(t.Unit.Multiplier())
	case *arrow.DurationType:
		out.Kind, out.Unit = IntCells, float64(t.Unit.Multiplier())
	}
	return out
}

// Columns implements CellTable.
func (a *arrowCells) Columns() []CellColumn { return a.columns }

// Read implements CellTable: record by record. It can be called once.
func (a *arrowCells) Read(want []int, each func(int64, int, []Cells) error, bad func(int64, error)) error {
	first := int64(1)
	damage, failed := attempt(func() error {
		cells := make([]Cells, len(want))
		for a.reader.Next() {
			r := a.reader.Record()
			rows := int(r.NumRows())
			for at := 0; at < rows; at += cellRows {
				n := min(cellRows, rows-at)
				for i, c := range want {
					cells[i].reset()
					if err := cells[i].take(r.Column(c), a.columns[c].Kind, at, n); err != nil {
						return fmt.Errorf("column %q: %w", a.columns[c].Name, err)
					}
				}
				if err := each(first, n, cells); err != nil {
					return stopped{err}
				}
				first += int64(n)
			}
		}
		return a.reader.Err()
	})
	if damage != nil {
		bad(first, damage)
	}
	return failed
}

// take adds values of an array.
func (c *Cells) take(a arrow.Array, kind CellKind, at, n int) error {
	if a.Len() < at+n {
		return errShort
	}
	index := func(i int) int { return i }
	values := a
	if d, ok := a.(*array.Dictionary); ok {
		values = d.Dictionary()
		index = func(i int) int { return d.GetValueIndex(i) }
	}
	for i := at; i < at+n; i++ {
		k := -1
		if !a.IsNull(i) {
			k = index(i)
		}
		if k < 0 || k >= values.Len() || values.IsNull(k) {
			c.none(kind, 1)
			continue
		}
		c.Valid = append(c.Valid, true)
		switch v := values.(type) {
		case *array.Int8:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Int16:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Int32:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Int64:
			c.Ints = append(c.Ints, v.Value(k))
		case *array.Uint8:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Uint16:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Uint32:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Uint64:
			c.Ints = append(c.Ints, int64(min(v.Value(k), math.MaxInt64)))
		case *array.Boolean:
			one := int64(0)
			if v.Value(k) {
				one = 1
			}
			c.Ints = append(c.Ints, one)
		case *array.Float32:
			c.Floats = append(c.Floats, float64(v.Value(k)))
		case *array.Float64:
			c.Floats = append(c.Floats, v.Value(k))
		case *array.String:
			c.Texts = append(c.Texts, []byte(v.Value(k)))
		case *array.LargeString:
			c.Texts = append(c.Texts, []byte(v.Value(k)))
		case *array.Timestamp:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		case *array.Duration:
			c.Ints = append(c.Ints, int64(v.Value(k)))
		default:
			return fmt.Errorf("values of type %s", a.DataType())
		}
	}
	return nil
}

// messages passes on the messages of a stream of Arrow IPC, each once its sizes are known to be those of the file: the library makes
// room for what they announce.
type messages struct {
	file io.ReaderAt
	at   int64 // of the next message
	end  int64
	head bytes.Reader // what is left of the head of the message at hand
	body int64        // and of its body
}

// messageHead bounds the head of a message.
const messageHead = 4 << 20

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	if m.head.Len() == 0 && m.body == 0 {
		if err := m.next(); err != nil {
			return 0, err
		}
	}
	if m.head.Len() > 0 {
		return m.head.Read(p)
	}
	n, err := m.file.ReadAt(p[:min(int64(len(p)), m.body)], m.at)
	m.at += int64(n)
	m.body -= int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// next goes on to the next message.
func (m *messages) next() error {
	if m.at >= m.end {
		return io.EOF
	}
	const prefix = 8
	start, err := bytesAt(m.file, m.at, min(prefix, m.end-m.at))
	if err != nil || len(start) < prefix || !bytes.HasPrefix(start, streamStart) {
		return ErrCut
	}
	size := int64(int32(binary.LittleEndian.Uint32(start[4:])))
	if size == 0 { // the end
		m.head.Reset(start)
		m.at = m.end
		return nil
	}
	if size < 8 || size > messageHead || size > m.end-m.at-prefix {
		return fmt.Errorf("%w: a message of %d bytes, where %d are left", ErrCut, size, m.end-m.at-prefix)
	}
	whole, err := bytesAt(m.file, m.at, prefix+size)
	if err != nil {
		return err
	}
	meta := whole[prefix:]
	message := flatTable{meta, binary.LittleEndian.Uint32(meta)}
	const lengthSlot, headSlot, kindSlot = 3, 2, 1
	body := int64(0)
	if at, ok := message.slot(lengthSlot); ok {
		body = int64(binary.LittleEndian.Uint64(meta[at:]))
	}
	if m.at += prefix + size; body < 0 || body > m.end-m.at {
		return fmt.Errorf("%w: a message of %d bytes of values, where %d are left", ErrCut, body, m.end-m.at)
	}
	const isSchema = 1
	if at, ok := message.slot(kindSlot); ok && meta[at] == isSchema {
		schema, ok := message.ref(headSlot)
		if !ok {
			return errors.New("a schema is missing")
		}
		room := cellColumns
		if err := errors.Join(schema.vector(2, "metadata", len(meta)/4, 4), checkCellFields(schema, 1, 0, &room)); err != nil {
			return err
		}
	}
	m.head.Reset(whole)
	m.body = body
	return nil
}

// checkCellFields states that the columns, and theirs, are few and lie in the data.
func checkCellFields(t flatTable, slot uint32, depth int, room *int) error {
	if err := t.vector(slot, "columns", *room, 4); err != nil {
		return err
	}
	first, n := t.elements(slot)
	if *room -= int(n); depth > 8 {
		return errors.New("columns in columns")
	}
	for i := range n {
		field := flatTable{t.data, first + 4*i}.follow()
		if err := errors.Join(field.vector(6, "metadata", len(t.data)/4, 4), checkCellFields(field, 5, depth+1, room)); err != nil {
			return err
		}
	}
	return nil
}
