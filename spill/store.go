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
//	rows == nil: the page is to be brought in, or was never used and is all zeros
//	home == nil: its rows have no frame (yet), but memory of their own if there are few
type page struct {
	rows  unsafe.Pointer // to the first row
	home  *frame
	slot  slot  // of home in the file; 0: home lies in memory
	users int32 // tables with rows in it, and the store while there is room for more; 0: the page is one table's; untouched: its zeros, too
}

// untouched are the users of a page of zeros in the file that no row of was asked for.
const untouched = -1

func (p *page) resident() bool { return atomic.LoadPointer(&p.rows) != nil }

// A Store bounds the memory of the tables that share it.
type Store struct {
	dir      string
	inMemory int // frames that lie in memory
	window   int // extents of the file that are resident

	mu       sync.Mutex
	file     *os.File
	segments [][]byte // of the file, mapped
	end      int64    // of the file
	made     int      // frames in memory so far
	unused   []*frame // those of them that are zeros and never had a page
	areas    []area   // of memory for more of them, which nobody is at work on
	free     []*frame // frames in memory without a page
	room     room     // of the file
	common   *page    // of rows of several tables, with room for more
	used     int      // bytes of it
	round    uint32   // how many times the file's memory was given back, from 2
	inUse    []*page  // pages of the file that were brought in since
	brought  int      // extents that they lie in
	ask      bool     // the system what is resident
	others   int64    // bytes of other files that were resident when it was, about
	err      error
}

// NewStore returns a store that keeps about budget bytes of tables in memory and the rest in
// a file below dir ("": the system's place for temporary files).
func NewStore(budget int64, dir string) *Store {
	pages := int(min(max(budget, 0)/pageBytes, 1<<40))
	window := max(pages/2/extentFrames, leastWindow)
	return &Store{dir: dir, inMemory: max(pages-window*extentFrames, 0), window: window, round: 2}
}

// leastWindow is how many extents of the file are resident whatever the budget.
const leastWindow = 2

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
	for _, segment := range s.segments {
		unmap(segment)
	}
	s.segments, s.free, s.room, s.unused, s.areas, s.common, s.inUse = nil, nil, room{}, nil, nil, nil, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// place gives a page that rows will be added to a frame of zeros and makes it resident.
func (s *Store) place(p *page) {
	f, at := s.zeros(0)
	s.mu.Lock()
	s.settle(p, f, at)
	full := s.full()
	s.mu.Unlock()
	if full {
		s.sweep()
	}
}

// A group is of one table, while that grows: slots that lie beside each other and are kept for its next pages, and those of the
// pages that have all their rows and are to be written there.
type group struct {
	next  slot
	left  int
	pages []*page
}

// retire is told that a page of a table has all its rows. If hardly any frames of memory are left for
// those that are still to grow, it is written to the file: which costs less than to have it grow there, where
// each of the system's pages takes a fault. Of a large table it waits, as long as there is room, for those that
// will lie beside it, for one call of the system writes them all; the last one does not wait.
func (s *Store) retire(p *page, g *group, large, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare() >= s.reserved() {
		g.pages = g.pages[:0] // they stay in memory
		return
	}
	if p.home == nil || p.slot > 0 || !s.extend() {
		return
	}
	if large && g.left == 0 && len(s.room.whole) > 0 {
		g.next, g.left = s.room.run(), extentFrames
	}
	if g.pages = append(g.pages, p); last || len(g.pages) >= g.left || s.spare() < s.reserved()/2 {
		s.write(g)
	}
}

// write writes the pages of a group to the file. Those that cannot be written stay in memory.
func (s *Store) write(g *group) {
	if g.left == 0 {
		g.next, g.left = s.room.one(), 1
	}
	pages, rows := g.pages, make([][]byte, len(g.pages))
	for i, p := range pages {
		rows[i] = p.home.bytes()
	}
	file := s.file
	g.pages = g.pages[:0]
	s.mu.Unlock()
	err := writeAt(file, rows, g.next.offset())
	s.mu.Lock()
	if err != nil {
		s.failed(err)
		return
	}
	for _, p := range pages {
		atomic.StorePointer(&p.rows, nil)
		s.free = append(s.free, p.home)
		p.home, p.slot = s.room.frame(g.next), g.next
		g.next, g.left = g.next+1, g.left-1
	}
}

// failed notes that the file could not be written.
func (s *Store) failed(err error) {
	s.err = fmt.Errorf("writing temporary data: %w (see --memory, or set TMPDIR to another disk)", err)
}

// spare returns how many frames in memory there may still be.
func (s *Store) spare() int { return len(s.free) + len(s.unused) + s.inMemory - s.made }

// reserved returns how many of them are for pages that grow.
func (s *Store) reserved() int { return s.inMemory / 4 }

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

// load makes page k of a table resident, and writable at once if it is to change, and returns its rows.
func (s *Store) load(pages []*page, k int, change bool) unsafe.Pointer {
	s.mu.Lock()
	p := pages[k]
	if !p.resident() && p.home == nil && k > 0 && pages[k-1].slot > 0 { // rows are used in order, it seems
		s.run(pages[k:])
	}
	if !p.resident() && p.home == nil { // else another goroutine was faster
		s.mu.Unlock()
		f, at := s.zeros(s.reserved())
		touch(f)
		s.mu.Lock()
		if p.home == nil {
			s.settle(p, f, at)
		} else { // another goroutine was faster
			s.giveBack(f, at)
		}
	}
	first, ahead := false, false // of its extent
	var coming []byte
	if !p.resident() {
		own := s.room.of(p.slot)
		first, ahead = own.mapped != s.round && p.users != untouched, own.ahead+1 >= s.round
		change = change || p.users == untouched
		coming = s.bringIn(pages, k)
	}
	rows, full := atomic.LoadPointer(&p.rows), s.full()
	s.mu.Unlock()
	if first {
		s.read(pages, k, ahead)
	}
	if change {
		populate(coming)
	}
	if full {
		s.sweep()
	}
	return rows
}

// bringIn makes page k of a table resident with those beside it in its extent, for the system brings that in as a whole, and returns
// their memory.
func (s *Store) bringIn(pages []*page, k int) []byte {
	p, touch := pages[k], pages[k].users == untouched
	first, last := p.slot, p.slot
	for _, x := range pages[max(0, k-extentFrames+1):min(len(pages), k+extentFrames)] {
		if x.slot/extentFrames != p.slot/extentFrames || x.slot == 0 || x.resident() || x.users == untouched && !touch {
			continue
		}
		if x.users == untouched {
			x.users = 0
		}
		first, last = min(first, x.slot), max(last, x.slot)
		s.admit(x)
		atomic.StorePointer(&x.rows, unsafe.Pointer(x.home))
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(s.room.frame(first))), int(last-first+1)*pageBytes)
}

// read has the system read the extent of page k of a table if it is not in memory. Tables are gone through in one direction or the other:
// those on both sides are read ahead then, and if it was so itself.
func (s *Store) read(pages []*page, k int, ahead bool) {
	s.mu.Lock()
	own := s.room.of(pages[k].slot).bytes()
	s.mu.Unlock()
	if !ahead {
		if present(own) {
			return
		}
		fetch(own)
	}
	s.mu.Lock()
	sides := s.beside(pages, k)
	s.mu.Unlock()
	for _, side := range sides {
		if !present(side) {
			fetch(side)
		}
	}
}

// beside returns the extents on both sides of that of page k of a table, but those that are resident or were read ahead.
func (s *Store) beside(pages []*page, k int) (sides [][]byte) {
	for _, at := range [...]int{k - extentFrames, k + extentFrames} {
		if at < 0 || at >= len(pages) || pages[at].slot == 0 {
			continue
		}
		if e := s.room.of(pages[at].slot); e.mapped != s.round && e.ahead+1 < s.round {
			e.ahead = s.round
			sides = append(sides, e.bytes())
		}
	}
	return sides
}

// zeros returns a frame of zeros in memory or, if hardly more than a number of them could still be
// made there, in the file.
func (s *Store) zeros(reserved int) (f *frame, at slot) {
	s.mu.Lock()
	room := s.spare() > reserved
	switch {
	case room && len(s.free) > 0:
		f = pop(&s.free)
	case room || !s.extend():
		f = s.fresh()
		s.mu.Unlock()
		return f, 0
	default:
		at = s.room.one()
		f = s.room.frame(at)
	}
	s.mu.Unlock()
	if at > 0 {
		populate(f.bytes())
	}
	clear(f[:])
	return f, at
}

// run gives pages that were never used frames of zeros in the file, as many as an extent has, if there is one and hardly any memory.
// They are written: to have them grow there takes a fault for each of the system's pages.
func (s *Store) run(pages []*page) {
	if s.spare() > s.reserved() || !s.extend() || len(s.room.whole) == 0 {
		return
	}
	file, g := s.file, group{next: s.room.run(), left: extentFrames, pages: pages[:min(len(pages), extentFrames)]}
	s.mu.Unlock()
	zeros := make([][]byte, len(g.pages))
	for i := range zeros {
		zeros[i] = zeroPage.bytes()
	}
	err := writeAt(file, zeros, g.next.offset())
	s.mu.Lock()
	if err != nil {
		s.failed(err)
		g.pages = nil
	}
	for _, p := range g.pages {
		if p.home == nil { // else another goroutine was faster
			p.home, p.slot, p.users = s.room.frame(g.next), g.next, untouched
			g.next, g.left = g.next+1, g.left-1
		}
	}
	s.refund(g)
}

var zeroPage frame

// An area is memory that was not asked of the system yet.
type area []frame

// areaBytes is more than what the system describes by one table of its pages. Processors that ask for memory of the same one at a time
// hold each other up: each takes an area of its own.
const areaBytes = 4 << 20

// fresh returns a frame of memory that was never used. The more there is the more is made at a time,
// and asked of the system at once: else each of its pages takes a fault. That takes a while, in which others have the store.
func (s *Store) fresh() *frame {
	if len(s.unused) > 0 {
		return pop(&s.unused)
	}
	n, left := max(1, min(s.made/8, mostSlab, s.inMemory-s.made)), s.inMemory-s.made
	var from area
	if len(s.areas) > 0 {
		from = pop(&s.areas)
		n = min(n, len(from))
	}
	s.made += n
	s.mu.Unlock()
	if from == nil {
		size := n
		if n == mostSlab { // a small store takes no more than it needs
			size = max(n, min(left, areaBytes/pageBytes))
		}
		from = make(area, size)
	}
	slab := from[:n]
	populate(unsafe.Slice((*byte)(unsafe.Pointer(&slab[0])), n*pageBytes))
	s.mu.Lock()
	if from = from[n:]; len(from) > 0 {
		s.areas = append(s.areas, from)
	}
	for i := n - 1; i > 0; i-- {
		s.unused = append(s.unused, &slab[i])
	}
	return &slab[0]
}

// mostSlab is how many frames are made at a time at most.
const mostSlab = 1 << 20 / pageBytes

// settle makes a frame the home of a page.
func (s *Store) settle(p *page, f *frame, at slot) {
	if p.home, p.slot = f, at; at > 0 {
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

// release lets a table's pages, or its part of one, go, and the slots that it has not used.
func (s *Store) release(pages []*page, g group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pages {
		s.leave(p)
	}
	s.refund(g)
}

// refund takes slots back that a table does not need.
func (s *Store) refund(g group) {
	for ; g.left > 0; g.left-- {
		s.room.leave(g.next)
		g.next++
	}
}

// leave takes the frame of a page back when nobody uses it any more.
func (s *Store) leave(p *page) {
	if p.users--; p.users > 0 {
		return
	}
	atomic.StorePointer(&p.rows, nil)
	if p.home != nil {
		s.giveBack(p.home, p.slot)
	}
	p.home, p.slot = nil, 0
}

// giveBack makes a frame one without a page.
func (s *Store) giveBack(f *frame, at slot) {
	if at == 0 {
		s.free = append(s.free, f)
		return
	}
	s.room.leave(at)
}

// admit counts a page of the file among those that are resident, and its extent.
func (s *Store) admit(p *page) {
	s.inUse = append(s.inUse, p)
	if e := s.room.of(p.slot); e.mapped != s.round {
		e.mapped = s.round
		s.brought++
		s.ask = s.ask || s.brought%askedAfter == 0
	}
}

// askedAfter extents are brought in before the system is asked what is resident: to answer takes it longer than to bring one in.
const askedAfter = 256

// full reports whether the file's memory is to be given back: as many extents were brought in as may be resident. Who holds rows since
// before it was given back last brings them in again without a word, which the system tells.
func (s *Store) full() bool {
	ask := s.ask
	s.ask = false
	if s.brought < s.window && !(ask && residentFiles()-s.others > int64(s.window+s.window/8)*extentBytes) {
		return false
	}
	for _, p := range s.inUse {
		if p.slot > 0 {
			atomic.StorePointer(&p.rows, nil)
		}
	}
	clear(s.inUse)
	s.inUse, s.brought = s.inUse[:0], 0
	s.round++
	return true
}

// sweep gives the file's memory back to the system, all of it at once: each call has the system
// interrupt all processors, which takes longer than to bring pages in again that are in use. Who holds a
// pointer into one may use it.
func (s *Store) sweep() {
	s.mu.Lock()
	segments := s.segments
	s.mu.Unlock()
	for _, segment := range segments {
		discard(segment)
	}
	others := residentFiles()
	s.mu.Lock()
	s.others = others
	s.mu.Unlock()
}

// extend makes sure that there is a vacant frame in the file; it reports false if there can
// be none.
func (s *Store) extend() bool {
	if s.room.vacant > 0 {
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
		s.others = residentFiles()
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
	s.segments, s.end = append(s.segments, m), s.end+size
	s.room.add(m)
	return true
}

// The file grows by its own size, within these bounds.
const (
	leastSegment = 64 * pageBytes
	mostSegment  = 16384 * pageBytes
)

func pop[T any](list *[]T) T {
	n := len(*list) - 1
	last := (*list)[n]
	*list = (*list)[:n]
	return last
}
