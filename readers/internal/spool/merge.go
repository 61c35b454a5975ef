package spool

import (
	"fmt"
	"os"
)

// A run is a sequence of chunks that are in order one after the other.
type run []chunk

// runs joins chunks to as few runs as can be without changing the order of adding among
// equal keys.
func runs(chunks []chunk) []run {
	var out []run
	for i, c := range chunks {
		if i == 0 || c.first.less(chunks[i-1].last) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// A cursor walks over the records of a run.
//
//	window starts with the current record, which is whole; it is empty at the end
//	next and left are where in the file the current chunk continues after window
type cursor struct {
	file   *os.File
	rest   run        // chunks after the current one
	pages  [][]uint64 // of the current chunk, after window
	next   int64
	left   int // words
	size   int // of buffer, if that much is left
	buffer []uint64
	window []uint64
	number int // of the run
	err    error
}

// advance goes to the next record; it returns false at the end.
func (c *cursor) advance() bool {
	if len(c.window) > 0 {
		c.window = c.window[length(c.window):]
	}
	if len(c.window) > 0 && length(c.window) <= len(c.window) {
		return true
	}
	return c.fill()
}

// fill gets more words behind the window, which holds less than one record.
func (c *cursor) fill() bool {
	for {
		switch {
		case len(c.pages) > 0:
			c.window, c.pages = c.pages[0], c.pages[1:]
			return true
		case c.left > 0:
			return c.read()
		case len(c.rest) == 0:
			c.window = nil
			return false
		}
		c.pages, c.next, c.left = c.rest[0].pages, c.rest[0].off, c.rest[0].words
		c.rest = c.rest[1:]
	}
}

func (c *cursor) read() bool {
	have := len(c.window)
	need := have + 1
	if have > 0 {
		need = length(c.window)
	}
	if want := max(need, min(c.size, have+c.left)); len(c.buffer) < want {
		c.buffer = make([]uint64, want)
	}
	copy(c.buffer, c.window)
	n := min(len(c.buffer)-have, c.left)
	if _, err := c.file.ReadAt(wordBytes(c.buffer[have:have+n]), c.next); err != nil {
		c.err = fmt.Errorf("reading temporary data: %w", err)
		c.window, c.rest, c.left = nil, nil, 0
		return false
	}
	c.next += 8 * int64(n)
	c.left -= n
	c.window = c.buffer[:have+n]
	if length(c.window) > len(c.window) { // a record longer than the buffer
		return c.read()
	}
	return true
}

// A merger gives the records of several runs in order. cursors is a heap, the least
// record on top.
type merger struct {
	cursors []*cursor
	started bool
	err     error
}

// mergeWords is the memory of one location's read buffers together, in words.
const mergeWords = 128 * pageWords

func newMerger(file *os.File, rs []run) *merger {
	m := &merger{}
	for i, r := range rs {
		c := &cursor{file: file, rest: r, number: i, size: max(mergeWords/len(rs), pageWords)}
		if c.advance() {
			m.cursors = append(m.cursors, c)
		}
		m.fail(c)
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return m
}

func (m *merger) fail(c *cursor) {
	if c.err != nil && m.err == nil {
		m.err = c.err
	}
}

// next returns the next record, nil at the end. It is valid until the next call.
func (m *merger) next() []uint64 {
	if m.started {
		m.step()
	}
	m.started = true
	if len(m.cursors) == 0 || m.err != nil {
		return nil
	}
	return m.cursors[0].window
}

func (m *merger) step() {
	top := m.cursors[0]
	if !top.advance() {
		m.fail(top)
		n := len(m.cursors) - 1
		m.cursors[0] = m.cursors[n]
		m.cursors = m.cursors[:n]
	}
	if len(m.cursors) > 1 {
		m.sift(0)
	}
}

func (m *merger) sift(i int) {
	h := m.cursors
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && before(h[c+1], h[c]) {
			c++
		}
		if !before(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func before(a, b *cursor) bool {
	x, y := keyOf(a.window), keyOf(b.window)
	return x.less(y) || x == y && a.number < b.number
}
