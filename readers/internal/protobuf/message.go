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
	all    []byte
	at     int // where the next field begins
	sound  int // where the first field begins that cannot be decoded
}

// Of returns a message before its first field.
func Of(data []byte) Message { return Message{all: data} }

// Next goes to the next field; it returns false at the end, and where the message is broken.
// Groups, which nothing writes any more, are passed over.
func (m *Message) Next() bool {
	b, i := m.all, m.at
	if uint(i) >= uint(len(b)) {
		return false
	}
	tag := b[i]
	i++
	if tag >= 0x80 || tag < 1<<3 || uint(i) >= uint(len(b)) || b[i] >= 0x80 {
		return m.any()
	}
	v := b[i]
	i++
	switch protowire.Type(tag & 7) {
	case protowire.VarintType:
		m.Data, m.Value = nil, uint64(v)
	case protowire.BytesType:
		end := i + int(v)
		if end > len(b) {
			return m.any()
		}
		m.Data, m.Value = b[i:end:end], 0
		i = end
	default:
		return m.any()
	}
	m.Number, m.Type, m.at = int(tag>>3), protowire.Type(tag&7), i
	return true
}

// any is Next for fields of all forms.
func (m *Message) any() bool {
	for m.at < len(m.all) {
		b := m.all[m.at:]
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 || tag>>3 == 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return m.fail()
		}
		m.Number, m.Type, m.Value, m.Data = int(tag>>3), protowire.Type(tag&7), 0, nil
		size := 0
		switch m.Type {
		case protowire.VarintType:
			m.Value, size = protowire.ConsumeVarint(b[n:])
		case protowire.BytesType:
			m.Data, size = protowire.ConsumeBytes(b[n:])
		case protowire.Fixed64Type:
			m.Value, size = protowire.ConsumeFixed64(b[n:])
		case protowire.Fixed32Type:
			var v uint32
			v, size = protowire.ConsumeFixed32(b[n:])
			m.Value = uint64(v)
		default:
			if size = protowire.ConsumeFieldValue(protowire.Number(m.Number), m.Type, b[n:]); size >= 0 {
				m.at += n + size
				continue
			}
		}
		if size < 0 {
			return m.fail()
		}
		m.at += n + size
		return true
	}
	return false
}

// fail ends the message at the field at hand, which cannot be decoded.
func (m *Message) fail() bool {
	m.Broken, m.sound, m.at = true, m.at, len(m.all)
	return false
}

// Sound returns how many bytes before the first field that cannot be decoded are sound.
func (m *Message) Sound() int {
	if m.Broken {
		return m.sound
	}
	return m.at
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

// Entry reads an entry of a table: field 1 is its number, field 2 what it stands for. ok is false if it cannot be decoded to its end.
func Entry(data []byte) (id uint64, value []byte, ok bool) {
	m := Of(data)
	for m.Next() {
		switch m.Number {
		case 1:
			id = m.Value
		case 2:
			value = m.Data
		}
	}
	return id, value, !m.Broken
}

// At returns how many bytes of the message lie before the next field.
func (m *Message) At() int { return m.at }

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
