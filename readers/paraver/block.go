package paraver

import (
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
//	lanes are of the threads that occur, in the order in which they do
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
	lanes   []lane
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
	b.lanes = b.lanes[:0]
	b.sheet.Reset()
}

// addLane adds the lane of a location, in whose state before the block nothing is known.
func (b *block) addLane(i, task uint32, calls bool) {
	b.lanes = append(b.lanes, lane{location: trace.LocationID(i), task: task, calls: calls, fresh: true,
		events: b.sheet.Stream(), messages: b.sheet.Stream(), states: b.sheet.Stream()})
}
