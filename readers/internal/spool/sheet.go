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

// Sizes in words. Pages are small if there are many streams, of which each has few events.
const (
	leastPageWords = 64
	mostPageWords  = 512
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
	n = max(n, min(slabWords/max(s.used, 1), mostPageWords), leastPageWords)
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
	if from.events == 0 {
		return
	}
	s.account(from)
	for _, p := range from.pages {
		for len(p) > 0 {
			to := s.room(length(p)) // may flush, after which first and last are wider than need be
			n := whole(p, cap(*to)-len(*to))
			*to = append(*to, p[:n]...)
			p = p[n:]
		}
	}
	s.disordered = s.disordered || from.disordered // if there was a flush
}

// account keeps account of a stream before it is appended; see note.
func (s *Stream) account(from *Stream) {
	if s.events == 0 {
		s.min, s.max = from.min, from.min
	}
	if from.min >= s.max {
		s.late += from.late
	} else {
		s.late += from.after(s.max)
	}
	s.events += from.events
	s.min, s.max = min(s.min, from.min), max(s.max, from.max)
	if len(s.pages) == 0 {
		s.first, s.last, s.disordered = from.first, from.last, from.disordered
		return
	}
	s.disordered = s.disordered || from.disordered || from.first.less(s.last)
	if from.first.less(s.first) {
		s.first = from.first
	}
	if s.last.less(from.last) {
		s.last = from.last
	}
}

// after returns how many events come after one with a greater time, if one of time latest
// comes before all.
func (s *Stream) after(latest int64) (late uint64) {
	for _, p := range s.pages {
		for ; len(p) > 0; p = p[length(p):] {
			if t := keyOf(p).time; t < latest {
				late++
			} else {
				latest = t
			}
		}
	}
	return late
}

// whole returns the length of the records at the beginning of a page that fit into so many
// words.
func whole(p []uint64, words int) int {
	if len(p) <= words {
		return len(p)
	}
	n := 0
	for n+length(p[n:]) <= words {
		n += length(p[n:])
	}
	return n
}
