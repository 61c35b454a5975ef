package sqlite

import (
	"encoding/binary"
	"math"
)

// A Type is the type of a value as it is stored.
type Type uint8

// The types.
const (
	Null Type = iota
	Integer
	Real
	Text
	Blob
)

// A Value is a value of a row. Bytes are valid until the next row.
type Value struct {
	Type  Type
	bits  int64
	bytes []byte
}

// Is reports whether there is a value.
func (v *Value) Is() bool { return v.Type != Null }

// Int returns an integer, or the whole part of another number; 0 if it is none.
func (v *Value) Int() int64 {
	switch v.Type {
	case Integer:
		return v.bits
	case Real:
		if f := v.Float(); f > -1<<63 && f < 1<<63 {
			return int64(f)
		}
	}
	return 0
}

// Float returns a number, 0 if it is none.
func (v *Value) Float() float64 {
	switch v.Type {
	case Integer:
		return float64(v.bits)
	case Real:
		return math.Float64frombits(uint64(v.bits))
	}
	return 0
}

// Bytes returns a text or a blob, nil if it is none.
func (v *Value) Bytes() []byte { return v.bytes }

// String returns a copy of a text or a blob, "" if it is none.
func (v *Value) String() string { return string(v.bytes) }

// widths are the bytes that values of the serial types of one byte take, -1: there is no such type.
var widths = func() (w [0x80]int8) {
	copy(w[:], []int8{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1})
	for serial := 12; serial < len(w); serial++ {
		w[serial] = int8((serial - 12) / 2)
	}
	return w
}()

// widthOf returns how many bytes a value of a serial type takes, -1 if there is no such type.
func widthOf(serial int64) int64 {
	switch {
	case serial < 0:
		return -1
	case serial < int64(len(widths)):
		return int64(widths[serial])
	}
	return (serial - 12) / 2
}

// decode sets a value of a serial type; b has its width.
func (v *Value) decode(serial int64, b []byte) {
	v.bytes = nil
	v.Type = Integer
	switch serial {
	case 0:
		v.Type = Null
	case 1:
		v.bits = int64(int8(b[0]))
	case 2:
		v.bits = int64(int16(binary.BigEndian.Uint16(b)))
	case 3:
		v.bits = int64(int32(uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8)) >> 8
	case 4:
		v.bits = int64(int32(binary.BigEndian.Uint32(b)))
	case 5:
		v.bits = int64(int16(binary.BigEndian.Uint16(b)))<<32 | int64(binary.BigEndian.Uint32(b[2:]))
	case 6:
		v.bits = int64(binary.BigEndian.Uint64(b))
	case 7:
		v.Type, v.bits = Real, int64(binary.BigEndian.Uint64(b))
	case 8:
		v.bits = 0
	case 9:
		v.bits = 1
	default:
		v.Type, v.bytes = Blob, b
		if serial%2 == 1 {
			v.Type = Text
		}
	}
}
