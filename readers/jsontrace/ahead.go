package jsontrace

import (
	"bytes"
	"io"
	"sync"
)

// blockBytes is the size of a block, small enough that the text and what was found in it
// stay in a processor's cache until they are used.
const blockBytes = 256 << 10

// guessLimit is the number of places in a block where an event may be looked for in vain
// before the rest is left to the container. It bounds the work on malformed text.
const guessLimit = 16

// An ahead reads a text, and parses the events in it, before the container comes to them:
// one goroutine reads (and uncompresses) blocks, workers parse them at once, and Read hands
// on their text in order.
//
// What an event says depends on nothing but the text from its brace on. So a worker may
// guess where events begin, after a line feed or after the end of another object: the
// container takes what was parsed at the very position where it finds an event, and
// parses it itself where nothing was. No guess can change what is read, only its speed.
type ahead struct {
	digits int         // as in event.parse
	free   chan *block // not in use
	work   chan *block // to be parsed
	queue  chan *block // in the order of the text
	stop   chan struct{}
	done   sync.WaitGroup
	held   []*block // handed on by Read, and not passed by the container
	rest   []byte   // of the last of held, to be handed on
	err    error    // behind rest
}

// A block is a piece of the text, which is reused. It has no event but those that begin
// and end in it.
type block struct {
	text   []byte
	at     int64 // position of text
	err    error // behind text
	parsed []parsed
	next   int           // index of the first of parsed that is not passed
	ready  chan struct{} // receives when parsed is complete
}

// A parsed is an event at text[at:end] of its block.
type parsed struct {
	at, end int
	event
}

// The options of newAhead: number of goroutines that parse, bytes of a block, position of
// the text, decimals to keep.
type aheadOptions struct {
	workers, block int
	at             int64
	digits         int
}

// newAhead starts the goroutines; close ends them.
func newAhead(r io.Reader, o aheadOptions) *ahead {
	// Two for each worker, those that the container's window covers, one being read.
	n := 2*o.workers + windowBytes/blockBytes + 2
	a := &ahead{digits: o.digits, free: make(chan *block, n), work: make(chan *block, n),
		queue: make(chan *block, n), stop: make(chan struct{})}
	for range n {
		a.free <- &block{text: make([]byte, o.block), ready: make(chan struct{}, 1)}
	}
	a.done.Go(func() { a.fill(r, o.at) })
	for range o.workers {
		a.done.Go(a.parse)
	}
	return a
}

// fill reads the text into blocks. No send waits: there is room for all of them.
func (a *ahead) fill(r io.Reader, at int64) {
	defer close(a.work)
	for {
		var b *block
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		n, err := io.ReadFull(r, b.text[:cap(b.text)])
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		b.text, b.at, b.err = b.text[:n], at, err
		at += int64(n)
		a.queue <- b
		a.work <- b
		if err != nil {
			return
		}
	}
}

func (a *ahead) parse() {
	for b := range a.work {
		b.parse(a.digits)
		b.ready <- struct{}{}
	}
}

// parse finds the events of a block.
func (b *block) parse(digits int) {
	b.parsed, b.next = b.parsed[:0], 0
	i := 0
	for range guessLimit {
		start := guess(b.text[i:])
		if start < 0 {
			return
		}
		i = b.run(i+start, digits) + 1
		if i > len(b.text) {
			return
		}
	}
}

// run parses objects one after the other from text[i] on. It returns the index where there
// is none, or the length of the text if the last one has no end.
func (b *block) run(i, digits int) int {
	for i < len(b.text) {
		switch c := b.text[i]; {
		case isSpace(c) || c == ',':
			i++
			continue
		case c != '{':
			return i
		}
		b.parsed = append(b.parsed, parsed{})
		p := &b.parsed[len(b.parsed)-1]
		n := p.parse(b.text[i:], false, digits)
		if n < 0 {
			b.parsed = b.parsed[:len(b.parsed)-1]
			if n == short {
				return len(b.text)
			}
			return i
		}
		p.at, p.end = i, i+n
		i += n
	}
	return i
}

// guess returns where an event may begin: at the first object that begins a line, or in a
// text without these, at the first that follows another; -1 if there is none.
func guess(b []byte) int {
	if i := nextObject(b); i >= 0 {
		return i
	}
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '}')
		if k < 0 {
			return -1
		}
		i += k + 1
		if k = i + len(b[i:]) - len(bytes.TrimLeft(b[i:], ", ")); k > i && k < len(b) && b[k] == '{' {
			return k
		}
	}
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		a.receive()
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// receive waits for the next block. A window that grows beyond the blocks loses what was
// parsed in the first ones.
func (a *ahead) receive() {
	if len(a.held) == cap(a.queue)-1 {
		a.release()
	}
	b := <-a.queue
	<-b.ready
	a.held = append(a.held, b)
	a.rest, a.err = b.text, b.err
}

func (a *ahead) release() {
	a.free <- a.held[0]
	a.held = append(a.held[:0], a.held[1:]...)
}

// event returns the event at a position and its length, if it was parsed. Positions of
// calls increase. It is valid until the next call and the next Read.
func (a *ahead) event(at int64) (*event, int) {
	for len(a.held) > 0 {
		b := a.held[0]
		if at < b.at+int64(len(b.text)) {
			return b.event(int(at - b.at))
		}
		a.release()
	}
	return nil, 0
}

func (b *block) event(at int) (*event, int) {
	for b.next < len(b.parsed) && b.parsed[b.next].at < at {
		b.next++
	}
	if b.next == len(b.parsed) || b.parsed[b.next].at > at {
		return nil, 0
	}
	p := &b.parsed[b.next]
	return &p.event, p.end - p.at
}

// close ends the goroutines and waits for them.
func (a *ahead) close() {
	close(a.stop)
	a.done.Wait()
}
