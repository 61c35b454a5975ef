// Package protobuf walks over the fields of protocol buffers without their schema. It allocates
// nothing, and believes no length that a message states.
package protobuf

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Message is walked over field by field. Number, Type, Value and Data are those of the field that
// Next found last.
type Message struct {
	Number int
	Type   protowire.Type
	Value  uint64 // of a number, whatever its type
	Data   []byte // of text, bytes and messages; nil for numbers
	Broken bool   // the message ends within a field, or a field cannot be decoded
	rest   []byte
	all    []byte
	sound  int // where the first field begins that cannot be decoded
}

// Of returns a message before its first field.
func Of(data []byte) Message { return Message{rest: data, all: data} }

// Next goes to the next field; it returns false at the end, and where the message is broken.
// Groups, which nothing writes any more, are passed over.
func (m *Message) Next() bool {
	for len(m.rest) > 0 {
		b := m.rest
		tag, n := uint64(b[0]), 1
		if tag >= 0x80 {
			if tag, n = protowire.ConsumeVarint(b); n < 0 {
				return m.fail()
			}
		}
		if tag>>3 == 0 || tag>>3 > math.MaxInt32 {
			return m.fail()
		}
		b = b[n:]
		m.Number, m.Type, m.Data = int(tag>>3), protowire.Type(tag&7), nil
		switch m.Type {
		case protowire.VarintType:
			if len(b) > 0 && b[0] < 0x80 {
				m.Value, m.rest = uint64(b[0]), b[1:]
				return true
			}
			m.Value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			m.Value = 0
			if len(b) > 0 && b[0] < 0x80 && len(b) > int(b[0]) {
				n := 1 + int(b[0])
				m.Data, m.rest = b[1:n:n], b[n:]
				return true
			}
			m.Data, n = protowire.ConsumeBytes(b)
		case protowire.Fixed64Type:
			m.Value, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			m.Value = uint64(v)
		default:
			if n = protowire.ConsumeFieldValue(protowire.Number(m.Number), m.Type, b); n >= 0 {
				m.rest = b[n:]
				continue
			}
		}
		if n < 0 {
			return m.fail()
		}
		m.rest = b[n:]
		return true
	}
	return false
}

func (m *Message) fail() bool {
	m.sound = len(m.all) - len(m.rest)
	m.Broken, m.rest = true, nil
	return false
}

// Sound returns how many bytes before the first field that cannot be decoded are sound.
func (m *Message) Sound() int {
	if m.Broken {
		return m.sound
	}
	return len(m.all) - len(m.rest)
}

// Cut returns the field that the end of a broken message cuts, with what there is of its data; ok is false if it is no such field.
func (m *Message) Cut() (number int, data []byte, ok bool) {
	if !m.Broken {
		return 0, nil, false
	}
	b := m.all[m.sound:]
	const longest = 10 // bytes of a number
	tag, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return 0, nil, len(b) < longest
	}
	if protowire.Type(tag&7) != protowire.BytesType {
		return 0, nil, false
	}
	size, k := protowire.ConsumeVarint(b[n:])
	switch {
	case k < 0:
		return int(tag >> 3), nil, len(b)-n < longest
	case size <= uint64(len(b)-n-k):
		return 0, nil, false
	}
	return int(tag >> 3), b[n+k:], true
}

// At returns how many bytes of the message lie before the next field.
func (m *Message) At() int { return len(m.all) - len(m.rest) }

// IsNumber reports whether the field is a number.
func (m *Message) IsNumber() bool { return m.Type != protowire.BytesType }

// Double returns the field as the floating point number that it is.
func (m *Message) Double() float64 { return math.Float64frombits(m.Value) }

// Numbers appends the numbers of a repeated field: this one, or those that are packed in it.
func (m *Message) Numbers(to []uint64) []uint64 {
	if m.IsNumber() {
		return append(to, m.Value)
	}
	for b := m.Data; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			break
		}
		to, b = append(to, v), b[n:]
	}
	return to
}

// Fixed is Numbers for numbers of eight bytes each.
func (m *Message) Fixed(to []uint64) []uint64 {
	if m.IsNumber() {
		return append(to, m.Value)
	}
	for b := m.Data; len(b) >= 8; b = b[8:] {
		to = append(to, binary.LittleEndian.Uint64(b))
	}
	return to
}
