package otf2

import (
	"encoding/binary"
	"math/bits"

	"tracekit/trace"
)

// What is written is little-endian.

// encode appends a record with its number, its length prefix and its fields.
func (l *recordLayout) encode(b []byte, id uint8, r *record) []byte {
	b = append(b, id)
	if l.noLength {
		return l.appendFields(b, r)
	}
	start := len(b)
	b = l.appendFields(append(b, 0), r)
	return closePrefix(b, start)
}

// closePrefix sets the length prefix at b[at], whose payload follows to the end of b: one
// byte below 0xFF, else 0xFF and eight bytes.
func closePrefix(b []byte, at int) []byte {
	n := len(b) - at - 1
	if n < 0xFF {
		b[at] = byte(n)
		return b
	}
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	copy(b[at+9:], b[at+1:at+1+n])
	b[at] = 0xFF
	binary.LittleEndian.PutUint64(b[at+1:], uint64(n))
	return b
}

func (l *recordLayout) appendFields(b []byte, r *record) []byte {
	next, typ, texts := 0, uint64(0), 0
	for i := range l.fields {
		f := &l.fields[i]
		switch f.enc {
		case encGroup:
			b = appendGroup(b, f.group, r.list)
		case encCString:
			b = appendCString(b, r.texts[texts])
			texts++
		default:
			if next == len(r.values) {
				return b // the optional fields of newer versions
			}
			b = appendScalar(b, f.enc, r.values[next], typ)
			typ = r.values[next]
			next++
		}
	}
	return b
}

func appendGroup(b []byte, group []field, list []uint64) []byte {
	for i, v := range list {
		typ := uint64(0)
		if i > 0 {
			typ = list[i-1]
		}
		b = appendScalar(b, group[i%len(group)].enc, v, typ)
	}
	return b
}

// appendScalar is the inverse of scalar.
func appendScalar(b []byte, enc encoding, v, typ uint64) []byte {
	switch enc {
	case encU8:
		return append(b, byte(v))
	case encU16:
		return appendFixed(b, v, 2)
	case encF32:
		return appendFixed(b, v, 4)
	case encF64, encDouble:
		return appendFixed(b, v, 8)
	case encC32:
		return appendCompressed(b, v&undefined, 4)
	case encCI32:
		if int32(v) < 0 {
			return appendFixed(append(b, 4), v, 4)
		}
		return appendCompressed(b, v&undefined, 4)
	case encCI64:
		if int64(v) < 0 {
			return appendFixed(append(b, 8), v, 8)
		}
	case encAttr:
		return appendScalar(b, attrEncoding(trace.ValueType(typ)), v, 0)
	}
	return appendCompressed(b, v, 8)
}

// appendCompressed appends the shortest form of a compressed integer of size bytes.
func appendCompressed(b []byte, v uint64, size int) []byte {
	if v == undefined64>>(64-8*size) {
		return append(b, 0xFF)
	}
	n := (bits.Len64(v) + 7) / 8
	b = append(b, byte(n))
	return appendFixed(b, v, n)
}

// appendFixed appends the lowest size bytes of v.
func appendFixed(b []byte, v uint64, size int) []byte {
	for range size {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

// appendCString appends a text up to its first zero byte, and a zero byte.
func appendCString(b []byte, s string) []byte {
	for i := 0; i < len(s) && s[i] != 0; i++ {
		b = append(b, s[i])
	}
	return append(b, 0)
}
