package otf2

import (
	"errors"
	"fmt"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// An encoding says how a field lies in the file. Compressed integers (c…) are a size byte
// and that many bytes of the value in the file's byte order; size 0 stands for 0, size
// 0xFF for all ones.
type encoding uint8

const (
	encU8      encoding = iota
	encU16              // fixed size
	encF32              // fixed size
	encF64              // fixed size
	encC32              // compressed, at most 4 bytes
	encC64              // compressed, at most 8 bytes
	encCI32             // compressed two's complement
	encCI64             // compressed two's complement
	encDouble           // IEEE 754
	encCString          // up to a zero byte
	encAttr             // as the Type byte before says
	encIDMap            // a mapping table
	encGroup            // a repeated group
)

var encodingNames = [...]string{"u8", "u16", "f32", "f64", "c32", "c64", "ci32", "ci64", "double", "cstr", "attrval", "idmap"}

func encodingOf(name string) encoding {
	for i, s := range encodingNames {
		if s == name {
			return encoding(i)
		}
	}
	panic(fmt.Sprintf("no encoding %q", name))
}

// undefined is the value of an absent reference in fields of 32 and 64 bits.
const (
	undefined   = 1<<32 - 1
	undefined64 = 1<<64 - 1
)

// errBadSize says that the size byte of a compressed integer is none of 0…8 and 0xFF.
var errBadSize = errors.New("a compressed integer has an impossible size")

// compressed reads a compressed integer of at most size bytes.
func compressed(c *wire.Cursor, size int) uint64 {
	n := int(c.Uint8())
	if n == 0xFF {
		return undefined64 >> (64 - 8*size)
	}
	if n > size {
		c.Fail(errBadSize)
		return 0
	}
	var v uint64
	for i, b := range c.Bytes(n) {
		if c.BigEndian {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return v
}

// scalar reads a field that is one number. typ is the Type byte before an attrval.
// Signed numbers are widened to 64 bits in two's complement.
func scalar(c *wire.Cursor, enc encoding, typ uint64) uint64 {
	switch enc {
	case encU8:
		return uint64(c.Uint8())
	case encU16:
		return uint64(c.Uint16())
	case encF32:
		return uint64(c.Uint32())
	case encF64, encDouble:
		return c.Uint64()
	case encC32:
		return compressed(c, 4)
	case encCI32:
		return uint64(int64(int32(compressed(c, 4))))
	case encAttr:
		return scalar(c, attrEncoding(trace.ValueType(typ)), 0)
	}
	return compressed(c, 8)
}

// attrEncoding returns how a value of the type is encoded (section "attribute values" of
// the format). Signed values of 8 and 16 bits come as their bits.
func attrEncoding(t trace.ValueType) encoding {
	switch t {
	case trace.TypeUint8, trace.TypeInt8:
		return encU8
	case trace.TypeUint16, trace.TypeInt16:
		return encU16
	case trace.TypeFloat:
		return encF32
	case trace.TypeDouble:
		return encF64
	case trace.TypeUint32:
		return encC32
	case trace.TypeInt32:
		return encCI32
	case trace.TypeUint64, trace.TypeInt64, typeLocation:
		return encC64
	}
	if t >= trace.TypeString && t <= typeLocationGroup {
		return encC32
	}
	return encC64
}

// Types of attribute values that are references.
const (
	typeLocation      trace.ValueType = 13
	typeLocationGroup trace.ValueType = 25
)

// typeSpace returns the space that an attribute value of type t refers to.
func typeSpace(t trace.ValueType) space {
	if t < trace.TypeString || t > typeLocationGroup {
		return noSpace
	}
	return space(t - trace.TypeString) // Type lists the spaces in the order of MappingType
}

// A record is the decoded content of a definition or an event: the scalar fields that are
// present, the fields of the repeated group, and the texts.
type record struct {
	values []uint64
	list   []uint64
	texts  [2]string
}

// decode reads the fields of a record. Fields that the record is too short for are an
// error unless a newer version of the format added them.
func (l *recordLayout) decode(c *wire.Cursor, r *record) {
	r.values, r.list, r.texts = r.values[:0], r.list[:0], [2]string{}
	texts := 0
	for i := range l.fields {
		f := &l.fields[i]
		if f.optional && c.Len() == 0 {
			return
		}
		switch f.enc {
		case encGroup:
			r.decodeGroup(c, f.group)
		case encCString:
			r.texts[texts] = c.CString()
			texts++
		case encIDMap:
			return // see mapping.go
		default:
			r.values = append(r.values, scalar(c, f.enc, r.last()))
		}
	}
}

// last returns the scalar before: the count of a group, the type of an attrval.
func (r *record) last() uint64 {
	if len(r.values) == 0 {
		return 0
	}
	return r.values[len(r.values)-1]
}

func (r *record) decodeGroup(c *wire.Cursor, group []field) {
	n := c.Count(r.last(), len(group))
	for range n {
		for j := range group {
			typ := uint64(0)
			if j > 0 {
				typ = r.list[len(r.list)-1]
			}
			r.list = append(r.list, scalar(c, group[j].enc, typ))
		}
		if c.Err != nil {
			return
		}
	}
}

// opt returns scalar i, or absent if the record is of an older version.
func (r *record) opt(i int, absent uint64) uint64 {
	if i < len(r.values) {
		return r.values[i]
	}
	return absent
}
