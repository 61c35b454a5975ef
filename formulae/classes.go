package formulae

import (
	"encoding/binary"

	"tracekit/trace"
)

// classes codes which locations are in which class and what their symbols mean (docs/TKF.md,
// Classes). Sets of ranks that come again are coded once. Decoding ignores list and returns
// what was read; the members of the classes are then a partition of the locations, and all
// else that is out of range is found where it is used.
func (c *columnCoder) classes(list []class, locations int) []class {
	s := &setCoder{columnCoder: c, index: make(map[string]int)}
	byLocation := classOf(list, locations)
	if n := c.count(columnClasses, len(list)); c.coder.decoding {
		list = make([]class, n)
	}
	s.membership(list, byLocation, locations)
	for i := range list {
		if n := c.count(columnSymbols, len(list[i].symbols)); c.coder.decoding {
			list[i].symbols = make([]groupedNumber, n)
		}
		next := uint64(0) // the usual entry: the one after the last symbol's
		for k := range list[i].symbols {
			if c.damaged {
				return nil
			}
			s.grouped(&list[i].symbols[k], &next)
		}
	}
	return list
}

// classOf returns the class of each location.
func classOf(list []class, locations int) []uint32 {
	out := make([]uint32, locations)
	for i := range list {
		for _, l := range list[i].members {
			out[l] = uint32(i)
		}
	}
	return out
}

// A setCoder codes sets of positions, and remembers them.
type setCoder struct {
	*columnCoder
	sets  [][]box
	index map[string]int // encoding: of sets by their bytes
}

// membership codes the class of each location and fills in the members.
func (s *setCoder) membership(list []class, byLocation []uint32, locations int) {
	if locations == 0 {
		return
	}
	var g groupedNumber
	if !s.coder.decoding {
		g = group(byLocation)
	}
	next := uint64(0)
	s.grouped(&g, &next)
	if !s.coder.decoding || s.damaged {
		return
	}
	for l := range locations {
		n := g.of(uint64(l))
		if uint64(n) >= uint64(len(list)) {
			s.damaged = true
			return
		}
		list[n].members = append(list[n].members, trace.LocationID(l))
	}
}

// grouped codes numbers by position as differences to the one that is expected next.
func (s *setCoder) grouped(g *groupedNumber, next *uint64) {
	g.rest = uint32(*next + uint64(unzigzag(s.single(columnRest, zigzag(int64(uint64(g.rest)-*next))))))
	*next = uint64(g.rest) + 1
	if n := s.count(columnExceptions, len(g.others)); s.coder.decoding {
		g.others = make([]exception, n)
	}
	for i := range g.others {
		if s.damaged {
			return
		}
		e := &g.others[i]
		e.number = uint32(*next + uint64(unzigzag(s.single(columnException, zigzag(int64(uint64(e.number)-*next))))))
		*next = uint64(e.number) + 1
		e.set = s.set(e.set)
	}
}

// set codes a set: the number of an earlier one, counted backwards, or 0 and a new one.
func (s *setCoder) set(set []box) []box {
	back, key := uint64(0), setKey(set)
	if i, ok := s.index[key]; ok && !s.coder.decoding {
		back = uint64(len(s.sets) - i)
	}
	back = s.single(columnSet, back)
	if back > uint64(len(s.sets)) {
		s.damaged = true
	}
	if s.damaged {
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
func setKey(set []box) string {
	var key []byte
	for _, b := range set {
		key = binary.AppendUvarint(binary.AppendUvarint(key, b.start), uint64(len(b.dims)))
		for _, d := range b.dims {
			key = binary.AppendUvarint(binary.AppendUvarint(key, d.step), d.count)
		}
	}
	return string(key)
}

// newSet codes a set that was not coded before: box by box, each start relative to that of
// the box before.
func (s *setCoder) newSet(set []box) []box {
	if n := s.count(columnBoxes, len(set)); s.coder.decoding {
		set = make([]box, n)
	}
	last := uint64(0)
	for i := range set {
		b := &set[i]
		b.start = last + s.single(columnStart, b.start-last)
		last = b.start
		if n := s.count(columnDims, len(b.dims)); s.coder.decoding {
			b.dims = make([]stride, min(n, maxDims))
		}
		for k := range b.dims {
			d := &b.dims[k]
			d.step = s.single(columnStep, d.step)
			d.count = s.single(columnCount, d.count)
			s.damaged = s.damaged || d.count == 0
		}
		if s.damaged {
			return nil
		}
	}
	return set
}
