package symbols

import (
	"encoding/binary"

	"tracekit/codec"
	"tracekit/formulae/internal/pack"
	"tracekit/trace"
)

// Code codes the entries, and then which locations are in which class and what their symbols mean (docs/internals/TKF.md, Classes), in
// either direction. Decoding ignores list and returns what was read; the members of the classes are then a partition of the locations. All
// else that is out of range is found where it is used.
func (d *Dictionary) Code(c *pack.Columns, list []Class, locations int) []Class {
	d.code(c)
	if c.Damaged {
		return nil
	}
	return codeClasses(c, list, locations)
}

// codeClasses codes which locations are in which class and what their symbols mean. Sets of ranks
// that come again are coded once.
func codeClasses(c *pack.Columns, list []Class, locations int) []Class {
	s := &setCoder{Columns: c, index: make(map[string]int)}
	byLocation := classOf(list, locations)
	if n := c.Count(columnClasses, len(list)); c.Decoding() {
		list = make([]Class, n)
	}
	s.membership(list, byLocation, locations)
	for i := range list {
		if n := c.Count(columnSymbols, len(list[i].symbols)); c.Decoding() {
			list[i].symbols = make([]groupedNumber, n)
		}
		next := uint64(0) // the usual entry: the one after the last symbol's
		for k := range list[i].symbols {
			if c.Damaged {
				return nil
			}
			s.grouped(&list[i].symbols[k], &next)
		}
	}
	return list
}

// classOf returns the class of each location.
func classOf(list []Class, locations int) []uint32 {
	out := make([]uint32, locations)
	for i := range list {
		for _, l := range list[i].Members {
			out[l] = uint32(i)
		}
	}
	return out
}

// A setCoder codes sets of positions, and remembers them.
type setCoder struct {
	*pack.Columns
	sets  [][]stridedSet
	index map[string]int // encoding: of sets by their bytes
}

// membership codes the class of each location and fills in the members.
func (s *setCoder) membership(list []Class, byLocation []uint32, locations int) {
	if locations == 0 {
		return
	}
	var g groupedNumber
	if !s.Decoding() {
		g = group(byLocation)
	}
	next := uint64(0)
	s.grouped(&g, &next)
	if !s.Decoding() || s.Damaged {
		return
	}
	for l := range locations {
		n := g.of(uint64(l))
		if uint64(n) >= uint64(len(list)) {
			s.Damaged = true
			return
		}
		list[n].Members = append(list[n].Members, trace.LocationID(l))
	}
}

// grouped codes numbers by position as differences to the one that is expected next.
func (s *setCoder) grouped(g *groupedNumber, next *uint64) {
	s.after(columnRest, &g.rest, next)
	if n := s.Count(columnExceptions, len(g.others)); s.Decoding() {
		g.others = make([]exception, n)
	}
	for i := range g.others {
		if s.Damaged {
			return
		}
		e := &g.others[i]
		s.after(columnException, &e.number, next)
		e.set = s.set(e.set)
	}
}

// after codes a number as the difference to the one that is expected next.
func (s *setCoder) after(column uint32, v *uint32, next *uint64) {
	*v = uint32(*next + codec.Unzigzag(s.Single(column, codec.Zigzag(uint64(*v)-*next))))
	*next = uint64(*v) + 1
}

// set codes a set: the number of an earlier one, counted backwards, or 0 and a new one.
func (s *setCoder) set(set []stridedSet) []stridedSet {
	back, key := uint64(0), setKey(set)
	if i, ok := s.index[key]; ok && !s.Decoding() {
		back = uint64(len(s.sets) - i)
	}
	back = s.Single(columnSet, back)
	if back > uint64(len(s.sets)) {
		s.Damaged = true
	}
	if s.Damaged {
		return nil
	}
	if back > 0 {
		return s.sets[uint64(len(s.sets))-back]
	}
	set = s.newSet(set)
	s.index[key] = len(s.sets)
	s.sets = append(s.sets, set)
	return set
}

// setKey returns a set as a key of maps.
func setKey(set []stridedSet) string {
	var key []byte
	for _, b := range set {
		key = binary.AppendUvarint(binary.AppendUvarint(key, b.start), uint64(len(b.dims)))
		for _, d := range b.dims {
			key = binary.AppendUvarint(binary.AppendUvarint(key, d.step), d.count)
		}
	}
	return string(key)
}

// newSet codes a set that was not coded before: one strided set after the other, each
// start relative to that of the one before.
func (s *setCoder) newSet(set []stridedSet) []stridedSet {
	if n := s.Count(columnParts, len(set)); s.Decoding() {
		set = make([]stridedSet, n)
	}
	last := uint64(0)
	for i := range set {
		b := &set[i]
		b.start = last + s.Single(columnStart, b.start-last)
		last = b.start
		if n := s.Count(columnDims, len(b.dims)); s.Decoding() {
			b.dims = make([]stride, min(n, maxDims))
		}
		for k := range b.dims {
			d := &b.dims[k]
			d.step = s.Single(columnStep, d.step)
			d.count = s.Single(columnCount, d.count)
			s.Damaged = s.Damaged || d.count == 0
		}
		if s.Damaged {
			return nil
		}
	}
	return set
}

// Columns of the dictionary's lists and of the classes. Those of its entries are numbered
// from 1 on.
const (
	columnLists = 32 + iota
	columnListLength
	columnListBytes
	columnClasses
	columnSymbols
	columnRest
	columnExceptions
	columnException
	columnSet
	columnParts
	columnStart
	columnDims
	columnStep
	columnCount
)

// code codes the lists and then the entries, field by field.
func (d *Dictionary) code(c *pack.Columns) {
	if n := c.Count(columnLists, len(d.lists)); c.Decoding() {
		d.lists = make([]string, max(n, 1))
	}
	for i := 1; i < len(d.lists) && !c.Damaged; i++ {
		d.lists[i] = codeList(c, d.lists[i])
	}
	pack.Values(c, &d.entries, pack.Lists(entryLayout(codec.Below("list", len(d.lists)))))
}

// Code codes a location's symbols with their lists, in either direction. A table that was read
// serves for Classify.
func (t *Table) Code(c *pack.Columns) {
	d := Dictionary{lists: t.lists}
	for _, s := range t.symbols {
		d.entries = append(d.entries, entry{symbol: s})
	}
	if d.code(c); !c.Decoding() || c.Damaged {
		return
	}
	t.lists = d.lists
	for _, e := range d.entries {
		t.symbols = append(t.symbols, e.symbol)
	}
}

func entryLayout(lists *codec.Bound) pack.Column[entry] {
	return pack.Record(13,
		pack.Number(func(e *entry) *trace.Kind { return &e.kind }),
		pack.Number(func(e *entry) *trace.CollectiveOp { return &e.op }),
		pack.Flag(func(e *entry) *bool { return &e.open }),
		pack.Flag(func(e *entry) *bool { return &e.relative }),
		pack.Number(func(e *entry) *requestCode { return &e.how }),
		pack.Number(func(e *entry) *uint32 { return &e.ref }),
		pack.Number(func(e *entry) *uint32 { return &e.peer }),
		pack.Number(func(e *entry) *uint32 { return &e.tag }),
		pack.Number(func(e *entry) *uint32 { return &e.list }, lists),
		pack.Number(func(e *entry) *uint32 { return &e.attrs }, lists),
		pack.Number(func(e *entry) *uint64 { return &e.size }),
		pack.Number(func(e *entry) *uint64 { return &e.received }),
		pack.Number(func(e *entry) *uint64 { return &e.request }),
	)
}

// codeList codes a list of the dictionary.
func codeList(c *pack.Columns, s string) string {
	b := []byte(s)
	if n := c.Count(columnListLength, len(b)); c.Decoding() {
		b = make([]byte, n)
	}
	c.Begin(columnListBytes)
	for i := range b {
		b[i] = byte(c.Number(uint64(b[i])))
	}
	return string(b)
}
