package spool

// A chunk is a sorted sequence of records, in memory (pages) or in the file (words
// words at offset off).
type chunk struct {
	first, last key
	pages       [][]uint64
	off         int64
	words       int
}

func length(record []uint64) int { return int(record[0] >> 32 & 0xFFFF) }

func keyOf(record []uint64) key { return key{int64(record[1]), int64(record[2])} }

// flush makes a chunk in the file of what is in the pages.
func (s *Stream) flush() {
	if len(s.pages) == 0 {
		return
	}
	c := chunk{first: s.first, last: s.last, off: s.spool.position()}
	for r := range s.sorted() {
		s.spool.write(r)
		c.words += len(r)
	}
	for _, p := range s.pages {
		s.spool.release(p)
	}
	s.chunks = append(s.chunks, c)
	s.pages, s.disordered = s.pages[:0], false
}

// keep makes a chunk in memory of what is in the pages.
func (s *Stream) keep() {
	if len(s.pages) == 0 {
		return
	}
	c := chunk{first: s.first, last: s.last, pages: s.pages}
	if s.disordered {
		c.pages = nil
		for r := range s.sorted() {
			c.add(r)
		}
	}
	s.chunks = append(s.chunks, c)
	s.pages, s.disordered = nil, false
}

// add appends a record to a chunk in memory.
func (c *chunk) add(r []uint64) {
	k := len(c.pages) - 1
	if k < 0 || len(c.pages[k])+len(r) > cap(c.pages[k]) {
		c.pages = append(c.pages, make([]uint64, 0, max(len(r), pageWords)))
		k++
	}
	c.pages[k] = append(c.pages[k], r...)
}

// sorted iterates over the records in the pages in their order; records that need no
// sorting come in pieces of many.
func (s *Stream) sorted() func(yield func([]uint64) bool) {
	return func(yield func([]uint64) bool) {
		if !s.disordered {
			for _, p := range s.pages {
				yield(p)
			}
			return
		}
		for _, e := range s.arrange() {
			r := s.pages[e.page][e.at:]
			yield(r[:length(r)])
		}
	}
}
