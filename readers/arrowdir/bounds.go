package arrowdir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A checksum tells damage, not malice: who writes a file on purpose writes its checksum,
// too. Therefore tables must have exactly the columns that a writer makes, sizes must fit
// the file, and one bound holds for all that a table may take.

// maxExpansion bounds the memory that a byte of a Parquet file may stand for: rows that
// repeat take next to nothing in the file.
const maxExpansion = 4000

// tableLimit returns how much memory all values of a table of a size may take, in bytes.
func tableLimit(size int64) int64 { return 16<<20 + maxExpansion*size }

// bounded is an allocator that refuses, by a panic, what is larger than any sound file of
// that size needs.
type bounded struct {
	memory.Allocator
	limit int64
}

func (b bounded) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

func (b bounded) check(size int) {
	if size < 0 || int64(size) > b.limit {
		panic(fmt.Sprintf("it asks for %d bytes of memory, %d are plausible", size, b.limit))
	}
}

// checkSchema states that a table has the columns that its writer makes.
func checkSchema(got, want *arrow.Schema) error {
	if got.NumFields() != want.NumFields() {
		return fmt.Errorf("%d columns, want %d", got.NumFields(), want.NumFields())
	}
	for i, w := range want.Fields() {
		if g := got.Field(i); g.Name != w.Name || !sameType(g.Type, w.Type) {
			return fmt.Errorf("column %d is %q of type %s, want %q of type %s", i, g.Name, g.Type, w.Name, w.Type)
		}
	}
	return nil
}

// checkFooter states that the footer of an Arrow IPC file, a FlatBuffer, describes at most
// the columns of a schema, and that its vectors lie in it: the library makes room for as
// many elements as a vector announces. Indexes that lie outside panic: see guard.
func checkFooter(f io.ReaderAt, size int64, want *arrow.Schema) error {
	const end = "ARROW1" // behind the length of the footer
	tail := make([]byte, 4+len(end))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil || string(tail[4:]) != end {
		return errors.New("it has no end of an Arrow IPC file")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-int64(len(tail)) {
		return fmt.Errorf("a footer of %d bytes in a file of %d", n, size)
	}
	data := make([]byte, n)
	if _, err := f.ReadAt(data, size-int64(len(tail))-n); err != nil {
		return err
	}
	footer := flatTable{data, binary.LittleEndian.Uint32(data)}
	schema, ok := footer.ref(1)
	if !ok {
		return errors.New("the footer has no schema")
	}
	return errors.Join(
		footer.vector(2, "dictionaries", 0, 24),
		footer.vector(3, "records", len(data), 24),
		checkBlocks(footer, 3, size),
		schema.vector(2, "metadata", 0, 4),
		checkFields(schema, 1, want.NumFields(), true))
}

// checkBlocks states that records lie in a file of a size, and not on each other: at their
// place stand the offset, the size of the metadata and that of the values.
func checkBlocks(footer flatTable, slot uint32, size int64) error {
	first, n := footer.elements(slot)
	room := size
	for i := range int64(n) {
		block := footer.data[int64(first)+24*i:][:24]
		at, meta, body := int64(binary.LittleEndian.Uint64(block)), int64(int32(binary.LittleEndian.Uint32(block[8:]))),
			int64(binary.LittleEndian.Uint64(block[16:]))
		if at < 0 || at > size || meta < 0 || meta > room || body < 0 || body > room-meta {
			return fmt.Errorf("record %d is %d and %d bytes at %d in a file of %d", i, meta, body, at, size)
		}
		room -= meta + body
	}
	return nil
}

// checkFields checks the columns, or the element of a list, which is no list itself.
func checkFields(t flatTable, slot uint32, most int, lists bool) error {
	if err := t.vector(slot, "columns", most, 4); err != nil {
		return err
	}
	first, n := t.elements(slot)
	for i := range n {
		field := flatTable{t.data, first + 4*i}.follow()
		const list = 12
		at, _ := field.slot(2)
		switch kind := t.data[at]; {
		case kind >= 2 && kind <= 6: // integer, floating point, binary, text, boolean
		case kind == list && lists:
		default:
			return fmt.Errorf("column %d is of type %d", i, kind)
		}
		if _, ok := field.slot(4); ok {
			return fmt.Errorf("column %d has a dictionary", i)
		}
		children := 0
		if lists {
			children = 1
		}
		if err := errors.Join(field.vector(6, "metadata", 0, 4), checkFields(field, 5, children, false)); err != nil {
			return err
		}
	}
	return nil
}

// A flatTable is a table of a FlatBuffer: at its place is the distance back to the list of
// its fields' places.
type flatTable struct {
	data []byte
	at   uint32
}

func (t flatTable) uint32(at uint32) uint32 { return binary.LittleEndian.Uint32(t.data[at:]) }

// slot returns the place of a field; ok is false if the table does not have it.
func (t flatTable) slot(i uint32) (at uint32, ok bool) {
	places := t.at - t.uint32(t.at)
	if 4+2*i >= uint32(binary.LittleEndian.Uint16(t.data[places:])) {
		return 0, false
	}
	distance := binary.LittleEndian.Uint16(t.data[places+4+2*i:])
	return t.at + uint32(distance), distance != 0
}

// follow returns what the reference at the table's place refers to.
func (t flatTable) follow() flatTable { return flatTable{t.data, t.at + t.uint32(t.at)} }

// ref returns the table that a field refers to.
func (t flatTable) ref(i uint32) (flatTable, bool) {
	at, ok := t.slot(i)
	if !ok {
		return flatTable{}, false
	}
	return flatTable{t.data, at}.follow(), true
}

// elements returns the place of a vector's first element and their number.
func (t flatTable) elements(i uint32) (first, n uint32) {
	v, ok := t.ref(i)
	if !ok {
		return 0, 0
	}
	return v.at + 4, v.uint32(v.at)
}

// vector states that a vector has at most so many elements of a size, and lies in the data.
func (t flatTable) vector(i uint32, name string, most, size int) error {
	first, n := t.elements(i)
	if int64(n) > int64(most) || int64(first)+int64(n)*int64(size) > int64(len(t.data)) {
		return fmt.Errorf("the footer announces %d %s", n, name)
	}
	return nil
}
