package stats

import (
	"math"

	"tracekit/spill"
)

// callRows goes over tables that have a row of each call of a location, one call after the other.
//
//	the slices are rows of the tables from call first on, as many as lie beside each other in
//	all of them; the next call is at of these
type callRows struct {
	clocks   *spill.Table[int64]  // the sequence number of its Enter becomes the useful time until then
	waits    *spill.Table[uint32] // WaitTable.index
	segments *spill.Table[uint32] // Segments.calls

	clock   []int64
	wait    []uint32
	segment []uint32
	first   int
	at      int
	seq     uint64 // of the next call's Enter; MaxUint64: there is none
}

// more finds the next call where the slices end.
func (c *callRows) more() {
	c.first, c.at, c.seq = c.first+c.at, 0, math.MaxUint64
	clock, wait, segment := c.clocks.From(c.first), c.waits.From(c.first), c.segments.From(c.first)
	n := min(len(clock), len(wait), len(segment))
	if c.clock, c.wait, c.segment = clock[:n], wait[:n], segment[:n]; n > 0 {
		c.seq = uint64(clock[0])
	}
}

// put notes the useful time until the next call, of which there must be one, and its segment, returns its
// wait, and goes on to the one behind it.
func (c *callRows) put(useful int64, segment uint32) (wait uint32) {
	i := c.at
	c.clock[i], c.segment[i], wait = useful, segment, c.wait[i]
	if c.at++; c.at < len(c.clock) {
		c.seq = uint64(c.clock[c.at])
	} else {
		c.more()
	}
	return wait
}
