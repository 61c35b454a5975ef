package sqlite

import (
	"context"
	"encoding/binary"
	"iter"
)

const (
	maxDepth   = 20      // of a b-tree: with the smallest pages more rows than a file can hold
	maxPayload = 1 << 20 // bytes of a record that are in memory
)

// The kinds of b-tree pages of tables.
const (
	innerPage = 5
	leafPage  = 13
)

// A scan goes over the rows of a table.
type scan struct {
	f     *File
	root  uint32
	seen  []uint64 // pages, a bit each
	inner [maxDepth][]byte
	over  []byte // an overflow page
	joint []byte // a record that lies on several pages
	row   func(rowid int64, record []byte, whole bool, at int64) bool
	count int
	ctx   context.Context
	err   error
}

// walk goes over a subtree; it returns false to end the scan.
func (s *scan) walk(page uint32, depth int) bool {
	if depth == maxDepth {
		s.f.found(Corrupt, s.f.offset(page), "a table that is deeper than any")
		return true
	}
	if s.inner[depth] == nil {
		s.inner[depth] = make([]byte, s.f.page)
	}
	p := s.read(page, s.inner[depth])
	if p == nil {
		return true
	}
	head := 0
	if page == 1 {
		head = headerSize
	}
	cells := int(binary.BigEndian.Uint16(p[head+3:]))
	switch p[head] {
	case leafPage:
		return s.cells(page, p, head+8, cells)
	case innerPage:
		return s.children(page, p, head, cells, depth)
	}
	s.f.found(Corrupt, s.f.offset(page), "a page of a table that is none")
	return true
}

// read reads a page into a buffer; nil if it cannot be used, or was before.
func (s *scan) read(page uint32, buf []byte) []byte {
	if page > 0 && page <= s.f.pages {
		if s.seen[page/64]&(1<<(page%64)) != 0 {
			s.f.found(Corrupt, s.f.offset(page), "a page that the table has twice")
			return nil
		}
		s.seen[page/64] |= 1 << (page % 64)
	}
	return s.f.read(page, s.root, buf)
}

// each iterates over where the cells of a page lie, of which each has at least so many bytes. Their pointers lie behind each other.
func (s *scan) each(page uint32, p []byte, pointers, cells, least int) iter.Seq[int] {
	return func(yield func(cell int) bool) {
		for at := pointers; cells > 0; at, cells = at+2, cells-1 {
			if at+2 > s.f.usable {
				s.f.found(Corrupt, s.f.offset(page), "a page with more cells than it has room for")
				return
			}
			cell := int(binary.BigEndian.Uint16(p[at:]))
			if cell < pointers || cell+least > s.f.usable {
				s.f.found(Corrupt, s.f.offset(page), "a cell outside its page")
			} else if !yield(cell) {
				return
			}
		}
	}
}

// children goes over the subtrees of an inner page.
func (s *scan) children(page uint32, p []byte, head, cells, depth int) bool {
	for cell := range s.each(page, p, head+12, cells, 4) {
		if !s.walk(binary.BigEndian.Uint32(p[cell:]), depth+1) {
			return false
		}
	}
	return s.walk(binary.BigEndian.Uint32(p[head+8:]), depth+1)
}

// checked is how many rows pass between two looks at the context.
const checked = 1 << 12

// cells goes over the rows of a leaf.
func (s *scan) cells(page uint32, p []byte, pointers, cells int) bool {
	room := s.f.usable // cells do not overlap
	for cell := range s.each(page, p, pointers, cells, 1) {
		if s.count++; s.count%checked == 0 {
			if s.err = s.ctx.Err(); s.err != nil {
				return false
			}
		}
		length, n := varint(p[cell:s.f.usable])
		rowid, m := varint(p[cell+n : s.f.usable])
		if n == 0 || m == 0 || length < 0 || length > s.f.size {
			s.f.found(Corrupt, s.f.offset(page)+int64(cell), "a record of an impossible length")
			continue
		}
		if room -= n + m + int(s.local(length)); room < 0 {
			s.f.found(Corrupt, s.f.offset(page), "cells that overlap")
			break
		}
		record, whole := s.record(p[cell+n+m:s.f.usable], length, s.f.offset(page)+int64(cell))
		if record != nil && !s.row(rowid, record, whole, s.f.offset(page)+int64(cell)) {
			return false
		}
	}
	return true
}

// record returns a record of a length, of which a part lies in its cell and the rest on overflow pages, and whether it
// is whole; nil if it is damaged.
func (s *scan) record(cell []byte, length, at int64) (record []byte, whole bool) {
	usable, local := int64(s.f.usable), s.local(length)
	if local > int64(len(cell)) {
		s.f.found(Corrupt, at, "a record that does not end on its page")
		return nil, false
	}
	if local == length {
		return cell[:local], true
	}
	if int64(len(cell)) < local+4 {
		s.f.found(Corrupt, at, "a record without its next page")
		return nil, false
	}
	s.joint = append(s.joint[:0], cell[:local]...)
	next := binary.BigEndian.Uint32(cell[local:])
	if s.over == nil {
		s.over = make([]byte, s.f.page)
	}
	want := min(length, maxPayload)
	for int64(len(s.joint)) < want {
		p := s.read(next, s.over)
		if p == nil {
			return nil, false
		}
		s.joint = append(s.joint, p[4:4+min(usable-4, want-int64(len(s.joint)))]...)
		next = binary.BigEndian.Uint32(p)
	}
	return s.joint, want == length
}

// local returns how much of a record of a length lies in its cell.
func (s *scan) local(length int64) int64 {
	usable := int64(s.f.usable)
	most := usable - 35
	if length <= most {
		return length
	}
	least := (usable-12)*32/255 - 23
	if local := least + (length-least)%(usable-4); local <= most {
		return local
	}
	return least
}

// varint decodes a number of the file format and returns its length, 0 if it does not end.
func varint(b []byte) (v int64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int64(b[0]), 1
	}
	var u uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			return int64(u<<8 | uint64(b[i])), 9
		}
		u = u<<7 | uint64(b[i]&0x7F)
		if b[i] < 0x80 {
			return int64(u), i + 1
		}
	}
	return 0, 0
}
