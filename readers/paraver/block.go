package paraver

import (
	"fmt"
	"strings"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A block is a piece of text, and what was found in it. Its memory is used again for a later
// one.
//
//	data holds whole lines, each with its line end; it is at offset in the uncompressed text
//	tooLong is the offset of a line before data that is passed over; -1: there is none
//
// What a worker has decoded, as if the block were the begin of the file:
//
//	stop is where it stopped in data
//	version is that of the tables it used
//	threads are those that occur, in the order in which they do
type block struct {
	buf     []byte
	data    []byte
	offset  int64
	tooLong int64

	lines    int // that were decoded
	last     int64
	counts   counts
	findings map[trace.Code]uint64 // beside those that are described

	stop    int
	version int
	threads []thread
	sheet   spool.Sheet // of their streams
	ready   chan struct{}
}

func newBlock() *block {
	return &block{tooLong: -1, findings: make(map[trace.Code]uint64), ready: make(chan struct{}, 1)}
}

// reset makes the block empty. Memory that long lines took is given back.
func (b *block) reset(size int) {
	if cap(b.buf) > size {
		b.buf = nil
	}
	b.data, b.tooLong = nil, -1
	b.forget()
}

// forget makes the block one that was not decoded.
func (b *block) forget() {
	b.lines, b.last, b.counts, b.stop = 0, 0, counts{}, 0
	clear(b.findings)
	b.threads = b.threads[:0]
	b.sheet.Reset()
}

// addThread adds the thread of a location, in whose state before the block nothing is known.
func (b *block) addThread(i, task uint32, calls bool) {
	b.threads = append(b.threads, thread{location: trace.LocationID(i), task: task, calls: calls, fresh: true,
		events: b.sheet.Stream(), messages: b.sheet.Stream(), states: b.sheet.Stream()})
}

// counts is the number of lines by kind.
type counts struct {
	States, Events, Communications, Globals, Communicators, Comments, Others, Bad uint64
}

// String tells the numbers that are not 0.
func (c counts) String() string {
	var b strings.Builder
	for _, n := range []struct {
		name  string
		count uint64
	}{{"state", c.States}, {"event", c.Events}, {"communication", c.Communications}, {"global communication", c.Globals},
		{"communicator", c.Communicators}, {"comment", c.Comments}, {"unknown", c.Others}, {"bad", c.Bad}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %s %d", n.name, n.count)
		}
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// add adds the numbers of another part of the file.
func (c *counts) add(o counts) {
	c.States += o.States
	c.Events += o.Events
	c.Communications += o.Communications
	c.Globals += o.Globals
	c.Communicators += o.Communicators
	c.Comments += o.Comments
	c.Others += o.Others
	c.Bad += o.Bad
}
