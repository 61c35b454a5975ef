package spill

import (
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// pageBytes is the size of the pieces in which tables are kept and spilled.
const pageBytes = 64 << 10

// A frame is memory that holds one page of some table. Frames are used again and again,
// so that pages that come and go leave nothing to collect.
type frame [pageBytes / 8]uint64

// bytes returns all of the frame: whole frames lie in the file side by side, so that the
// system copies whole pages of its own.
func (f *frame) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(f)), pageBytes) }

// A Store bounds the memory of the tables that share it. Pages over the budget go to a
// temporary file, which has no name from the moment it is made and so vanishes however
// the program ends.
type Store struct {
	budget int64
	dir    string

	mu     sync.Mutex
	file   *os.File
	end    int64    // of the file
	frames int64    // made so far
	free   []*frame // of them, those without a page
	clock  []tablePage
	hand   int // next in clock to be asked to go
	err    error
}

// A tablePage names a full page that is, or was, in memory.
type tablePage struct {
	table interface {
		recent(page int) bool // reports whether the page was used since it was asked last
		evict(page int) bool  // gives the page's frame back to the store; false if it cannot be written
	}
	page int
}

// NewStore returns a store that keeps about budget bytes of pages in memory and the rest in
// a file below dir ("": the system's place for temporary files).
func NewStore(budget int64, dir string) *Store { return &Store{budget: budget, dir: dir} }

// Err returns the first failure of the temporary file. Tables stay usable after a failed
// write (memory grows beyond the budget instead), not after a failed read.
func (p *Store) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Spilled returns the number of bytes that were written to the temporary file, not
// counting those that were written again.
func (p *Store) Spilled() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// Close gives the temporary file back. The tables must not be used afterwards.
func (p *Store) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// write stores a page and returns its offset; off is where it was before, or -1.
func (p *Store) write(f *frame, off int64) (int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil && p.err == nil {
		if p.file, p.err = os.CreateTemp(p.dir, "tracekit-*.tmp"); p.err == nil {
			p.err = os.Remove(p.file.Name())
		}
	}
	if p.err != nil {
		return off, false
	}
	if off < 0 {
		off = p.end
		p.end += pageBytes
	}
	if _, err := p.file.WriteAt(f.bytes(), off); err != nil {
		p.err = fmt.Errorf("writing %d bytes of temporary data: %w (see --memory, or set TMPDIR to a larger disk)", pageBytes, err)
		return off, false
	}
	return off, true
}

func (p *Store) read(f *frame, off int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.file.ReadAt(f.bytes(), off); err != nil && p.err == nil {
		p.err = fmt.Errorf("reading temporary data: %w", err)
	}
}

// take returns a frame that is free or, while the budget lasts, new; nil if there is none.
func (p *Store) take() *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		f := p.free[n-1]
		p.free = p.free[:n-1]
		return f
	}
	if (p.frames+1)*pageBytes > p.budget {
		return nil
	}
	p.frames++
	return new(frame)
}

// exceed returns a new frame whatever the budget.
func (p *Store) exceed() *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames++
	return new(frame)
}

// put makes a frame free.
func (p *Store) put(f *frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, f)
}

// watch makes a full page one of those that may be asked to go.
func (p *Store) watch(t tablePage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = append(p.clock, t)
}

// admit returns the frame for a page that comes into memory. If there is none to be had,
// the next page goes that was not used lately. It belongs to the sequential phase.
func (p *Store) admit(t tablePage) *frame {
	if f := p.take(); f != nil {
		p.watch(t)
		return f
	}
	for asked := 0; asked < 2*len(p.clock); asked++ {
		if p.hand >= len(p.clock) {
			p.hand = 0
		}
		v := &p.clock[p.hand]
		p.hand++
		if v.table.recent(v.page) { // a second chance
			continue
		}
		gone := v.table.evict(v.page)
		if f := p.take(); f != nil {
			*v = t
			return f
		}
		if gone { // its table was released
			p.hand--
			last := len(p.clock) - 1
			*v, p.clock[last] = p.clock[last], tablePage{}
			p.clock = p.clock[:last]
		}
	}
	p.watch(t)
	return p.exceed()
}
