package spool

// A Sheet holds streams of its own in memory, to be appended to those of a spool: so several
// goroutines can add events, each to a sheet, and one goroutine brings the sheets together in
// whatever order it chooses. Its methods, and those of its streams, are for one goroutine at
// a time.
//
//	streams[:used] are those that were given out since Reset
//	slabs hold their pages; slabs[:full] are used up, and at words of the next one
type Sheet struct {
	streams []*Stream
	used    int
	slabs   [][]uint64
	full    int
	at      int
}

// Sizes in words. A page is small because a sheet has few events for each of many streams.
const (
	sheetPageWords = 64
	slabWords      = 32 * pageWords
	keptSlabs      = 4 // that Reset keeps
)

// Stream returns an empty stream. It is valid until Reset.
func (s *Sheet) Stream() *Stream {
	if s.used == len(s.streams) {
		s.streams = append(s.streams, &Stream{pager: s})
	}
	st := s.streams[s.used]
	s.used++
	return st
}

// Reset empties the sheet and keeps its memory, unless that is unusually much.
func (s *Sheet) Reset() {
	for _, st := range s.streams[:s.used] {
		*st = Stream{pager: s, pages: st.pages[:0], attrs: st.attrs[:0]}
	}
	if len(s.slabs) > keptSlabs {
		s.slabs = s.slabs[:keptSlabs]
	}
	s.used, s.full, s.at = 0, 0, 0
}

// page implements pager.
func (s *Sheet) page(n int) []uint64 {
	n = max(n, sheetPageWords)
	if s.full < len(s.slabs) && s.at+n > len(s.slabs[s.full]) {
		s.full, s.at = s.full+1, 0
	}
	if s.full == len(s.slabs) {
		s.slabs = append(s.slabs, make([]uint64, max(n, slabWords)))
	}
	if n > len(s.slabs[s.full]) { // one of the usual size is in the way
		s.slabs[s.full] = make([]uint64, n)
	}
	p := s.slabs[s.full][s.at : s.at : s.at+n]
	s.at += n
	return p
}

// Append adds the events of a stream of a sheet, in the order in which they were added
// there. The stream is not changed.
func (s *Stream) Append(from *Stream) {
	for _, p := range from.pages {
		for len(p) > 0 {
			n := length(p)
			to := s.room(n)
			s.note(keyOf(p), len(*to) == 0 && len(s.pages) == 1)
			*to = append(*to, p[:n]...)
			p = p[n:]
		}
	}
}
