package profile

import (
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// A segmentWriter writes the Segments of a location while a walk goes over it.
//
//	n is the number of rows; block holds those that do not fill a block of the table yet
type segmentWriter struct {
	*Segments
	block [SegmentBlock]Segment
	n     uint32
	sums  segmentSums
	open  bool         // the last call is not left yet, and no other one is entered
	depth int          // of the stack in the last call
	path  trace.PathID // of the last call
	wait  uint32       // of the last call, as waits.Table.Index has it
}

// begin begins the segments of a location with so many calls, in a tree of so many paths.
func (w *segmentWriter) begin(s *Segments, calls, paths int) {
	s.Calls = spill.NewZeros[uint32](s.store, calls)
	w.Segments, w.sums = s, segmentSums{of: s, paths: paths}
}

func (w *segmentWriter) append(r Segment) {
	w.block[w.n%SegmentBlock] = r
	if w.n++; w.n%SegmentBlock == 0 {
		w.write(w.block[:])
		w.sums.add(&w.block)
	}
}

func (w *segmentWriter) add(path trace.PathID, time int64) {
	if time > 0 {
		w.append(Segment{Path: path, Time: time})
	}
}

func (w *segmentWriter) write(block []Segment) {
	var rows [SegmentBlock]Row
	for i := range block {
		rows[i] = w.row(block[i])
	}
	spill.Ensure(w.store, &w.Rows).AppendRows(rows[:len(block)])
}

// end ends the rows.
func (w *segmentWriter) end() {
	if rest := w.n % SegmentBlock; rest > 0 {
		w.write(w.block[:rest])
	}
	w.sums.end()
	w.Rows, w.wide = w.Rows.Sealed(), w.wide.Sealed()
}

// segmentSums sums segments by blocks of rows.
type segmentSums struct {
	of     *Segments
	paths  int
	times  TimeMap
	visits []uint32 // by path, of the tree; nil: there was no block, as in most locations
}

// add sums the next block.
func (s *segmentSums) add(block *[SegmentBlock]Segment) {
	if s.visits == nil {
		s.times, s.visits = NewTimeMap(s.paths), make([]uint32, s.paths)
	}
	of := s.of
	spill.Ensure(of.store, &of.Blocks).Append(uint32(of.BlockSums.Len()))
	for i := range block {
		r := &block[i]
		s.times.Add(r.Path, r.Time)
		if int(r.Path) < len(s.visits) {
			s.visits[r.Path] += r.Visits
		}
	}
	for _, p := range s.times.met {
		sum := Segment{Path: p, Time: *s.times.Of(p)}
		if int(p) < len(s.visits) {
			sum.Visits, s.visits[p] = s.visits[p], 0
		}
		spill.Ensure(of.store, &of.BlockSums).Append(of.row(sum))
	}
	s.times.Clear()
}

// end ends the sums.
func (s *segmentSums) end() {
	of := s.of
	if s.visits != nil {
		of.Blocks.Append(uint32(of.BlockSums.Len()))
	}
	of.BlockSums, of.Blocks = of.BlockSums.Sealed(), of.Blocks.Sealed()
}

// sum sums all rows by blocks.
func (s *Segments) sum(paths int) {
	sums := segmentSums{of: s, paths: paths}
	var block [SegmentBlock]Segment
	for first := 0; first+SegmentBlock <= s.Rows.Len(); first += SegmentBlock {
		for i := range block {
			block[i] = s.at(first + i)
		}
		sums.add(&block)
	}
	sums.end()
}

// nextRow ends what passed since the last call, notes the useful time at which the walk enters the next
// one, and returns its wait, as waits.Table.Index has it.
func (w *walk) nextRow() (wait uint32) {
	if w.segments.open {
		w.endRow()
	} else {
		w.noteTimes()
	}
	return w.calls.put(w.usefulAt(w.now), w.segments.n)
}

// enterRow notes that the next call is entered.
func (w *walk) enterRow(call *step) {
	wait, s := w.nextRow(), &w.segments
	s.open, s.depth, s.path, s.wait = true, w.stack.Len(), call.Path, wait
}

// endRow notes a call that is left, or that enters another one: all that passed in it is its own.
func (w *walk) endRow() {
	s := &w.segments
	s.open = false
	own := int64(0)
	for _, step := range w.touched {
		time, _ := step.note()
		own += time
	}
	w.touched = w.touched[:0]
	s.call(s.path, own, s.wait)
	w.notePaused()
}

// visitCall is nextRow, advance to t, and endRow of a call in which nothing happens.
func (w *walk) visitCall(call *step, t int64) {
	wait, own := w.nextRow(), t-w.now
	if own > 0 {
		call.touched = true // and noted at once
		w.advance(call, t)
		call.note()
	}
	w.segments.call(call.Path, own, wait)
}

// call appends the own time of a call, and its wait if it has one.
func (w *segmentWriter) call(path trace.PathID, own int64, wait uint32) {
	waited := int64(0)
	if wait > 0 {
		cause := w.waits.Rows.Ptr(int(wait - 1))
		waited = min(own, w.scope.Clip(cause.From, cause.From+cause.Time))
	}
	w.append(Segment{Path: path, Visits: 1, Time: own - waited})
	if waited > 0 {
		w.append(Segment{Path: PathWait, Time: waited})
	}
}

// notePaused notes the time of the measurement that has passed since the last one, if there is some.
func (w *walk) notePaused() {
	if w.paused[0].since+w.paused[1].since > 0 {
		w.writePaused()
	}
}

func (w *walk) writePaused() {
	for k := range w.paused {
		w.segments.add(pausedPath(k), w.paused[k].since)
		w.paused[k].since = 0
	}
}

// noteTimes notes the time that has passed since the last segment ended.
func (w *walk) noteTimes() {
	if len(w.touched) > 0 {
		w.noteSteps()
	}
	w.notePaused()
}

// noteSteps is noteTimes for that of steps.
func (w *walk) noteSteps() {
	for _, step := range w.touched {
		if time, visits := step.note(); time > 0 {
			w.segments.append(Segment{step.Path, uint32(min(visits, math.MaxUint32)), time})
		}
	}
	w.touched = w.touched[:0]
}

// lastRows ends what passed since the last call: the location is at its end.
func (w *walk) lastRows() {
	if w.segments.open {
		w.endRow()
	}
	w.noteTimes()
	w.segments.end()
}

// callRows goes over tables that have a row of each call of a location, one call after the other.
//
//	the slices are rows of the tables from call first on, as many as lie beside each other in
//	all of them; the next call is at of these
type callRows struct {
	clocks   *spill.Table[int64]  // the sequence number of its Enter becomes the useful time until then
	waits    *spill.Table[uint32] // waits.Table.Index
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
