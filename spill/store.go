package spill

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// pageBytes is the size of the pieces in which tables are kept and spilled. Who compares what all
// processes do at a time wants a page of each of several tables of each of them: with large pages
// those of a thousand processes are more than a small budget, and each comes and goes all the time.
const pageBytes = 16 << 10

// A frame is room for one page of some table, in memory or in the mapped file.
type frame [pageBytes / 8]uint64

func (f *frame) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), pageBytes) }

// A page is a run of rows of a table. It is given to goroutines without a lock: rows is
// atomic, all else belongs to the store's lock.
//
//	rows == nil: the page is not resident, or was never used and is all zeros
//	home == nil: its rows have no frame (yet), but memory of their own if there are few
type page struct {
	rows   unsafe.Pointer // to the first row
	home   *frame
	mapped bool  // home lies in the file
	users  int32 // tables with rows in it, and the store while there is room for more; 0: the page is one table's
}

func (p *page) resident() bool { return atomic.LoadPointer(&p.rows) != nil }

// A Store bounds the memory of the tables that share it.
type Store struct {
	dir      string
	inMemory int // frames that lie in memory
	window   int // pages of the file that are resident

	mu       sync.Mutex
	file     *os.File
	mappings [][]byte // the file
	end      int64    // of the file
	made     int      // frames in memory so far
	slab     []frame  // memory for the next ones
	free     []*frame // frames in memory without a page
	vacant   []*frame // frames in the file without a page
	common   *page    // of rows of several tables, with room for more
	used     int      // bytes of it
	hot      queue    // pages of the file that are resident, the oldest first
	cold     queue    // those that will be given back next unless they are used again
	others   int64    // bytes of other files that are resident, about
	admitted int      // pages since the system was asked what is resident
	err      error
}

// NewStore returns a store that keeps about budget bytes of tables in memory and the rest in
// a file below dir ("": the system's place for temporary files).
func NewStore(budget int64, dir string) *Store {
	pages := int(min(max(budget, 0)/pageBytes, 1<<40))
	window := max(pages/2, leastWindow)
	return &Store{dir: dir, inMemory: max(pages-window, 0), window: window}
}

// leastWindow is how many pages of the file are resident whatever the budget.
const leastWindow = 8

// Err returns the first failure of the temporary file. Tables stay usable after it: memory
// grows beyond the budget instead.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Spilled returns the size of the temporary file in bytes.
func (s *Store) Spilled() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// Close gives memory and the temporary file back. The tables must not be used afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mappings {
		unmap(m)
	}
	s.mappings, s.free, s.vacant, s.slab, s.common, s.hot, s.cold = nil, nil, nil, nil, nil, queue{}, queue{}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// place gives a page a frame of zeros and makes it resident.
func (s *Store) place(p *page) {
	f, mapped := s.zeros()
	s.mu.Lock()
	s.settle(p, f, mapped)
	s.mu.Unlock()
}

// lot returns room for n rows beside those of other tables: a page, and where they begin in it.
func (s *Store) lot(n, rowBytes int) (p *page, first int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		first = (s.used + rowBytes - 1) / rowBytes
		if end := (first + n) * rowBytes; s.common != nil && end <= pageBytes {
			s.used = end
			s.common.users++
			return s.common, first
		}
		s.mu.Unlock()
		p = &page{users: 1}
		s.place(p)
		s.mu.Lock()
		if s.common != nil { // full, or another goroutine's, if that was faster
			s.leave(s.common)
		}
		s.common, s.used = p, 0
	}
}

// load makes a page resident and returns its rows.
func (s *Store) load(p *page) unsafe.Pointer {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.resident(): // another goroutine was faster
	case p.home == nil:
		s.mu.Unlock()
		f, mapped := s.zeros()
		touch(f)
		s.mu.Lock()
		if p.home == nil {
			s.settle(p, f, mapped)
		} else { // another goroutine was faster
			s.giveBack(f, mapped)
		}
	}
	if !p.resident() {
		s.admit(p)
		fetch(p.home.bytes())
		atomic.StorePointer(&p.rows, unsafe.Pointer(p.home))
	}
	return atomic.LoadPointer(&p.rows)
}

// zeros returns a frame of zeros in memory or, if there is no room, in the file.
func (s *Store) zeros() (f *frame, mapped bool) {
	s.mu.Lock()
	switch {
	case len(s.free) > 0:
		f = pop(&s.free)
	case s.made < s.inMemory || !s.extend():
		f = s.fresh()
		s.mu.Unlock()
		return f, false
	default:
		f, mapped = pop(&s.vacant), true
	}
	s.mu.Unlock()
	if mapped {
		populate(f.bytes())
	}
	clear(f[:])
	return f, mapped
}

// fresh returns a frame of memory that was never used. The more there is the more is made at a time,
// and asked of the system at once: else each of its pages takes a fault, and those of several processors
// hold each other up.
func (s *Store) fresh() *frame {
	if len(s.slab) == 0 {
		s.slab = make([]frame, max(1, min(s.made/8, mostSlab, s.inMemory-s.made)))
		populate(unsafe.Slice((*byte)(unsafe.Pointer(&s.slab[0])), len(s.slab)*pageBytes))
	}
	f := &s.slab[0]
	s.slab = s.slab[1:]
	s.made++
	return f
}

// mostSlab is how many frames are made at a time at most.
const mostSlab = 1 << 20 / pageBytes

// settle makes a frame the home of a page.
func (s *Store) settle(p *page, f *frame, mapped bool) {
	if p.home, p.mapped = f, mapped; mapped {
		s.admit(p)
	}
	atomic.StorePointer(&p.rows, unsafe.Pointer(f))
}

// touch writes to each of the system's pages. Otherwise those that are read first, as zeros,
// take a second fault when they are written, with which the system interrupts all processors.
func touch(f *frame) {
	const step = 4096 / 8 // of the smallest pages
	for i := 0; i < len(f); i += step {
		atomic.StoreUint64(&f[i], 0)
	}
}

// release lets a table's page, or its part of one, go.
func (s *Store) release(p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(p)
}

// leave takes the frame of a page back when nobody uses it any more.
func (s *Store) leave(p *page) {
	if p.users--; p.users > 0 {
		return
	}
	atomic.StorePointer(&p.rows, nil)
	if p.home != nil {
		s.giveBack(p.home, p.mapped)
	}
	p.home, p.mapped = nil, false
}

// giveBack makes a frame one without a page.
func (s *Store) giveBack(f *frame, mapped bool) {
	if !mapped {
		s.free = append(s.free, f)
		return
	}
	discard(f.bytes())
	s.vacant = append(s.vacant, f)
}

// admit counts a page of the file among the resident ones. The oldest of them are put off,
// and given back to the system if nobody wants them until as many others are put off: so
// pages that are always in use stay, and no access needs to be noted. Who still holds a
// pointer into such a page may use it: the system brings it in again.
func (s *Store) admit(p *page) {
	for s.hot.push(p); s.hot.len() > s.window; {
		old := s.hot.pop()
		if !old.mapped {
			continue // released
		}
		atomic.StorePointer(&old.rows, nil)
		s.cold.push(old)
	}
	for s.cold.len() > s.window/4 {
		if old := s.cold.pop(); old.mapped && !old.resident() {
			discard(old.home.bytes())
		}
	}
	if s.admitted++; s.admitted >= max(s.window/4, leastAdmitted) {
		s.admitted = 0
		s.sweep()
	}
}

// sweep gives all pages of the file back if more are resident than were admitted: a system
// may bring in what lies around a page as well.
func (s *Store) sweep() {
	if residentFiles() < int64(s.window+s.window/4)*pageBytes+s.others {
		return
	}
	for _, m := range s.mappings {
		discard(m)
	}
}

// leastAdmitted is how many pages are admitted at least before the system is asked again: it
// takes longer to answer than to bring in a page.
const leastAdmitted = 256

// moreFiles is about what more of other files becomes resident once there is one of the store: of
// the program, and of what is read.
const moreFiles = 16 << 20

// extend makes sure that there is a vacant frame in the file; it reports false if there can
// be none.
func (s *Store) extend() bool {
	if len(s.vacant) > 0 {
		return true
	}
	if s.err != nil || !canMap {
		return false
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "tracekit-*.tmp")
		if err == nil {
			s.file, err = f, os.Remove(f.Name())
		}
		if err != nil {
			s.err = fmt.Errorf("temporary data: %w (see --memory, or set TMPDIR to another directory)", err)
		}
		s.others = residentFiles() + moreFiles
	}
	if s.err != nil {
		return false
	}
	size := min(max(s.end, leastSegment), mostSegment)
	m, err := mapMore(s.file, s.end, size)
	if err != nil {
		s.err = fmt.Errorf("writing %d bytes of temporary data: %w (see --memory, or set TMPDIR to a larger disk)", size, err)
		return false
	}
	s.mappings, s.end = append(s.mappings, m), s.end+size
	for at := size - pageBytes; at >= 0; at -= pageBytes {
		s.vacant = append(s.vacant, (*frame)(unsafe.Pointer(&m[at])))
	}
	return true
}

// The file grows by its own size, within these bounds.
const (
	leastSegment = 64 * pageBytes
	mostSegment  = 4096 * pageBytes
)

func pop[T any](list *[]T) T {
	n := len(*list) - 1
	last := (*list)[n]
	*list = (*list)[:n]
	return last
}

// A queue holds pages, first in, first out.
type queue struct {
	pages []*page
	first int
}

func (q *queue) len() int { return len(q.pages) - q.first }

func (q *queue) push(p *page) { q.pages = append(q.pages, p) }

func (q *queue) pop() *page {
	p := q.pages[q.first]
	q.pages[q.first] = nil
	if q.first++; q.first == len(q.pages) || q.first > 1024 && 2*q.first > len(q.pages) {
		q.pages = append(q.pages[:0], q.pages[q.first:]...)
		q.first = 0
	}
	return p
}
