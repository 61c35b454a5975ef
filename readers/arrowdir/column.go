package arrowdir

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Tables as Arrow records. A column of numbers is a plain Go slice, which becomes an
// Arrow array, and is made of one, without copying.

// A column is one column of a table: a pointer to its slice.
type column struct {
	name  string
	dtype arrow.DataType
	slice columnSlice
}

// columnSlice hides the type of a column's slice.
type columnSlice interface {
	len() int
	bytes() []byte                        // of the slice, not copied
	add(from columnSlice, first, end int) // elements of a slice of the same type
	set(raw []byte, n, from int)          // n elements of raw from element from on, not copied if they are aligned
}

// numbers is a slice of any type of number.
type numbers[T any] struct{ slice *[]T }

func (c numbers[T]) len() int { return len(*c.slice) }

func (c numbers[T]) add(from columnSlice, first, end int) {
	if all := *from.(numbers[T]).slice; end <= len(all) {
		*c.slice = append(roomFor(*c.slice, end-first), all[first:end]...)
	}
}

// roomFor returns a column of a group with room for n more rows: for all of a group once they are many,
// for it is copied whenever it grows.
func roomFor[T any](column []T, n int) []T {
	if rows := len(column) + n; rows > cap(column) && rows > joinRows {
		n = max(n, MaxGroupRows-len(column))
	}
	return slices.Grow(column, n)
}

// repeated appends a value n times to a column of a group.
func repeated[T any](column []T, value T, n int) []T {
	first := len(column)
	column = roomFor(column, n)[:first+n]
	for i := range column[first:] {
		column[first+i] = value
	}
	return column
}

func (c numbers[T]) bytes() []byte {
	if len(*c.slice) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&(*c.slice)[0])), uintptr(len(*c.slice))*unsafe.Sizeof((*c.slice)[0]))
}

func (c numbers[T]) set(raw []byte, n, from int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	*c.slice = nil
	if n == 0 {
		return
	}
	raw = raw[from*size : (from+n)*size]
	if uintptr(unsafe.Pointer(&raw[0]))%unsafe.Alignof(zero) == 0 {
		*c.slice = unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n)
		return
	}
	*c.slice = make([]T, n)
	copy(c.bytes(), raw)
}

// numberColumn describes a slice of a type whose underlying type is a number.
func numberColumn[T any](name string, slice *[]T) column {
	return column{name, numberType(reflect.TypeFor[T]().Kind()), numbers[T]{slice}}
}

func numberType(k reflect.Kind) arrow.DataType {
	switch k {
	case reflect.Uint8:
		return arrow.PrimitiveTypes.Uint8
	case reflect.Uint32:
		return arrow.PrimitiveTypes.Uint32
	case reflect.Uint64:
		return arrow.PrimitiveTypes.Uint64
	case reflect.Int32:
		return arrow.PrimitiveTypes.Int32
	case reflect.Int64:
		return arrow.PrimitiveTypes.Int64
	case reflect.Float64:
		return arrow.PrimitiveTypes.Float64
	}
	panic(fmt.Sprintf("arrowdir: no Arrow type for %v", k))
}

func schemaOf(columns []column) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range columns {
		fields = append(fields, arrow.Field{Name: c.name, Type: c.dtype})
	}
	return arrow.NewSchema(fields, nil)
}

// data returns a column as Arrow data that shares the memory of its slice.
func (c column) data() arrow.ArrayData {
	return array.NewData(c.dtype, c.slice.len(), []*memory.Buffer{nil, memory.NewBufferBytes(c.slice.bytes())}, nil, 0, 0)
}

// recordOf returns columns, and further arrays, as a record. It takes over the arrays.
func recordOf(schema *arrow.Schema, columns []column, more ...arrow.Array) arrow.Record {
	var arrays []arrow.Array
	rows := 0
	for _, c := range columns {
		d := c.data()
		arrays = append(arrays, array.MakeFromData(d))
		d.Release()
		rows = c.slice.len()
	}
	arrays = append(arrays, more...)
	r := array.NewRecord(schema, arrays, int64(rows))
	for _, a := range arrays {
		a.Release()
	}
	return r
}

// setColumns makes the columns share the memory of a record's columns of the same names.
func setColumns(columns []column, r arrow.Record) error {
	for _, c := range columns {
		a, err := columnNamed(r, c.name, c.dtype)
		if err != nil {
			return err
		}
		if err := c.setFrom(a.Data()); err != nil {
			return err
		}
	}
	return nil
}

// columnNamed returns a record's column, which must have the type.
func columnNamed(r arrow.Record, name string, dtype arrow.DataType) (arrow.Array, error) {
	i := r.Schema().FieldIndices(name)
	if len(i) != 1 {
		return nil, fmt.Errorf("there are %d columns %q", len(i), name)
	}
	a := r.Column(i[0])
	if !sameType(a.DataType(), dtype) {
		return nil, fmt.Errorf("column %q is of type %s, not %s", name, a.DataType(), dtype)
	}
	return a, nil
}

// sameType reports whether two types have the same values. Names of list elements and
// whether they may be null differ from format to format.
func sameType(a, b arrow.DataType) bool {
	if x, ok := a.(*arrow.ListType); ok {
		y, ok := b.(*arrow.ListType)
		return ok && sameType(x.Elem(), y.Elem())
	}
	return arrow.TypeEqual(a, b)
}

// setFrom makes the column share the memory of Arrow data.
func (c column) setFrom(d arrow.ArrayData) error {
	var raw []byte
	if b := d.Buffers()[1]; b != nil {
		raw = b.Bytes()
	}
	size := c.dtype.(arrow.FixedWidthDataType).Bytes()
	if d.NullN() > 0 {
		return fmt.Errorf("column %q has %d nulls", c.name, d.NullN())
	}
	if len(raw) < (d.Offset()+d.Len())*size {
		return fmt.Errorf("column %q has %d bytes for %d rows", c.name, len(raw), d.Len())
	}
	c.slice.set(raw, d.Len(), d.Offset())
	return nil
}
