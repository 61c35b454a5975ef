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
}

// row returns the sequence number of the next call's Enter, MaxUint64 if there is none.
func (c *callRows) row() uint64 {
	if c.at == len(c.clock) {
		c.more()
	}
	if c.at < len(c.clock) {
		return uint64(c.clock[c.at])
	}
	return math.MaxUint64
}

func (c *callRows) more() {
	c.first, c.at = c.first+c.at, 0
	clock, wait, segment := c.clocks.From(c.first), c.waits.From(c.first), c.segments.From(c.first)
	n := min(len(clock), len(wait), len(segment))
	c.clock, c.wait, c.segment = clock[:n], wait[:n], segment[:n]
}

// put notes the useful time until the next call, which row has found, and its segment, and returns its wait.
func (c *callRows) put(useful int64, segment uint32) (wait uint32) {
	i := c.at
	c.clock[i], c.segment[i] = useful, segment
	c.at++
	return c.wait[i]
}
