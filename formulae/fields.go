package formulae

import (
	"encoding/binary"

	"tracekit/trace"
)

// A Field is a value that an event carries: an argument, a member of a metric, or, after
// these, an attribute.
type Field struct {
	IsAttribute bool
	Attribute   uint32
	Type        trace.ValueType // of a member or an attribute
}

// appendKey appends a key that distinguishes fields.
func (f Field) appendKey(key []byte) []byte {
	place := byte(0)
	if f.IsAttribute {
		place = 1
	}
	return append(binary.LittleEndian.AppendUint32(key, f.Attribute), byte(f.Type), place)
}

// shapes numbers the lists of fields that the events of a location have. Number 0 is that
// without any.
type shapes struct {
	lists [][]Field
	index map[string]uint32
	key   []byte
	blank []Field
	types []Field
	attrs attrCursor
}

// of returns the fields of a shape.
func (s *shapes) of(id uint32) []Field {
	if id == 0 {
		return nil
	}
	return s.lists[id-1]
}

// arguments returns the fields of n arguments, which must not be written.
func (s *shapes) arguments(n int) []Field {
	for len(s.blank) < n {
		s.blank = append(s.blank, Field{})
	}
	return s.blank[:n]
}

// members returns the fields of the members of a metric, valid until the next call.
func (s *shapes) members(types []trace.ValueType) []Field {
	s.types = s.types[:0]
	for _, t := range types {
		s.types = append(s.types, Field{Type: t})
	}
	return s.types
}

// id returns the number of the shape with these fields and those of attributes after them.
func (s *shapes) id(fields []Field, attrs attrRows) uint32 {
	if len(fields)+attrs.len() == 0 {
		return 0
	}
	s.key = s.key[:0]
	for _, f := range fields {
		s.key = f.appendKey(s.key)
	}
	for k := range attrs.len() {
		s.key = attrs.field(k).appendKey(s.key)
	}
	if id, ok := s.index[string(s.key)]; ok {
		return id
	}
	list := append([]Field{}, fields...)
	for k := range attrs.len() {
		list = append(list, attrs.field(k))
	}
	if s.index == nil {
		s.index = make(map[string]uint32)
	}
	s.lists = append(s.lists, list)
	s.index[string(s.key)] = uint32(len(s.lists))
	return uint32(len(s.lists))
}

// An attrCursor finds the attributes of the events of a batch in order.
type attrCursor struct {
	attrs *trace.Attrs
	next  int
}

// attrRows are the attributes of one event.
type attrRows struct {
	attrs      *trace.Attrs
	first, end int
}

// at returns the attributes of an event.
func (c *attrCursor) at(seq uint64) attrRows {
	list := c.attrs.Seq
	for c.next < len(list) && list[c.next] < seq {
		c.next++
	}
	r := attrRows{c.attrs, c.next, c.next}
	for r.end < len(list) && list[r.end] == seq {
		r.end++
	}
	c.next = r.end
	return r
}

func (r attrRows) len() int           { return r.end - r.first }
func (r attrRows) value(k int) uint64 { return r.attrs.Value[r.first+k] }
func (r attrRows) field(k int) Field {
	return Field{true, uint32(r.attrs.Attribute[r.first+k]), r.attrs.Type[r.first+k]}
}
