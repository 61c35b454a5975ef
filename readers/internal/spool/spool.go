package spool

import (
	"fmt"
	"os"
	"unsafe"

	"tracekit/trace"
)

// pageWords is the size of a page in words of 8 bytes. It is small, so that thousands of
// locations can have an open page within the budget.
const pageWords = 1024

// A Spool takes the events of all locations. See the package's contract.
//
//	used is the number of page words that streams hold
//	free pages are empty and have pageWords of capacity
type Spool struct {
	dir     string
	budget  int // in words
	used    int
	free    [][]uint64
	streams []*Stream
	order   []entry // memory of sorting
	scratch []entry

	file *os.File
	end  int64    // bytes written to file
	out  []uint64 // what is to be written next, at end
	err  error
}

// New returns a spool that holds about budget bytes of events in memory, and up to twice as
// much again while it sorts, and the rest in a file below dir ("": the system's place for
// temporary files).
func New(dir string, budget int64) *Spool {
	return &Spool{dir: dir, budget: int(max(budget/8, 16*pageWords))}
}

// Stream returns the stream of a location, which is made if it is new. Locations should
// be numbered from 0 without large gaps.
func (s *Spool) Stream(location trace.LocationID) *Stream {
	for int(location) >= len(s.streams) {
		s.streams = append(s.streams, nil)
	}
	if s.streams[location] == nil {
		s.streams[location] = &Stream{pager: s, spool: s}
	}
	return s.streams[location]
}

// Finish ends the adding of events. Its error is that of the temporary file.
func (s *Spool) Finish() error {
	for _, st := range s.streams {
		if st != nil {
			st.keep()
		}
	}
	s.drain()
	s.free, s.order, s.scratch, s.out = nil, nil, nil, nil
	return s.err
}

// Spilled returns the number of bytes in the temporary file.
func (s *Spool) Spilled() int64 { return s.end }

// Close gives memory and the temporary file back.
func (s *Spool) Close() error {
	s.streams, s.free = nil, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// page implements pager.
func (s *Spool) page(n int) []uint64 {
	if s.used+pageWords > s.budget {
		s.flush()
	}
	s.used += max(n, pageWords)
	if n > pageWords {
		return make([]uint64, 0, n)
	}
	if k := len(s.free); k > 0 {
		p := s.free[k-1]
		s.free = s.free[:k-1]
		return p
	}
	return make([]uint64, 0, pageWords)
}

// release takes a page back.
func (s *Spool) release(p []uint64) {
	s.used -= max(cap(p), pageWords)
	if cap(p) == pageWords {
		s.free = append(s.free, p[:0])
	}
}

// flush writes what all streams hold to the file: one chunk for each.
func (s *Spool) flush() {
	for _, st := range s.streams {
		if st != nil {
			st.flush()
		}
	}
	s.drain()
}

// write appends words to the file, by way of a buffer.
func (s *Spool) write(words []uint64) {
	if len(s.out)+len(words) > cap(s.out) {
		s.drain()
	}
	if s.out == nil {
		s.out = make([]uint64, 0, 64*pageWords)
	}
	s.out = append(s.out, words...)
}

// position is the file offset, in bytes, of the next word that is written.
func (s *Spool) position() int64 { return s.end + 8*int64(len(s.out)) }

func (s *Spool) drain() {
	if len(s.out) == 0 || s.err != nil {
		s.out = s.out[:0]
		return
	}
	if s.file == nil {
		if s.file, s.err = os.CreateTemp(s.dir, "tracekit-*.tmp"); s.err != nil {
			return
		}
		s.err = os.Remove(s.file.Name())
	}
	if _, err := s.file.WriteAt(wordBytes(s.out), s.end); err != nil && s.err == nil {
		s.err = fmt.Errorf("writing %d bytes of temporary data: %w (set TMPDIR to a larger disk)", 8*len(s.out), err)
	}
	s.end += 8 * int64(len(s.out))
	s.out = s.out[:0]
}

// wordBytes returns the memory of words; the file is for this process only, so the byte
// order does not matter.
func wordBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
