package stats

import (
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// A segmentWriter writes the Segments of a location while a walk goes over it.
//
//	block[:n] are rows that are not in the table yet
type segmentWriter struct {
	*Segments
	block [segmentBlock]Segment
	n     int
	sums  segmentSums
	open  bool         // the last call is not left yet, and no other one is entered
	depth int          // of the stack in the last call
	path  trace.PathID // of the last call
	wait  uint32       // of the last call, as WaitTable.index has it
}

// begin begins the segments of a location with so many calls, in a tree of so many paths.
func (w *segmentWriter) begin(s *Segments, calls, paths int) {
	s.calls = spill.NewZeros[uint32](s.store, calls)
	w.Segments, w.sums = s, segmentSums{of: s, paths: paths}
}

func (w *segmentWriter) append(r Segment) {
	w.block[w.n%segmentBlock] = r
	if w.n++; w.n == segmentBlock {
		w.write()
	}
}

func (w *segmentWriter) add(path trace.PathID, time int64) {
	if time > 0 {
		w.append(Segment{Path: path, Time: time})
	}
}

// write puts the rows of the block into the table.
func (w *segmentWriter) write() {
	block := w.block[:w.n]
	spill.Ensure(w.store, &w.rows).AppendRows(block)
	if w.n == segmentBlock {
		w.sums.add(block)
	}
	w.n = 0
}

// end ends the rows.
func (w *segmentWriter) end() {
	if w.n > 0 {
		w.write()
	}
	w.sums.end()
	w.rows = w.rows.Sealed()
}

// segmentSums sums segments by blocks of rows.
type segmentSums struct {
	of     *Segments
	paths  int
	times  timeMap
	visits []uint32 // by path, of the tree; nil: there was no block, as in most locations
}

// add sums the next block.
func (s *segmentSums) add(block []Segment) {
	if s.visits == nil {
		s.times, s.visits = newTimeMap(s.paths), make([]uint32, s.paths)
	}
	of := s.of
	spill.Ensure(of.store, &of.blocks).Append(uint32(of.sums.Len()))
	for i := range block {
		r := &block[i]
		s.times.add(r.Path, r.Time)
		if int(r.Path) < len(s.visits) {
			s.visits[r.Path] += r.Visits
		}
	}
	for _, p := range s.times.met {
		sum := Segment{Path: p, Time: *s.times.of(p)}
		if int(p) < len(s.visits) {
			sum.Visits, s.visits[p] = s.visits[p], 0
		}
		spill.Ensure(of.store, &of.sums).Append(sum)
	}
	s.times.clear()
}

// end ends the sums.
func (s *segmentSums) end() {
	of := s.of
	if s.visits != nil {
		of.blocks.Append(uint32(of.sums.Len()))
	}
	of.sums, of.blocks = of.sums.Sealed(), of.blocks.Sealed()
}

// sum sums all rows by blocks.
func (s *Segments) sum(paths int) {
	sums := segmentSums{of: s, paths: paths}
	var block [segmentBlock]Segment
	for first := 0; first+segmentBlock <= s.rows.Len(); first += segmentBlock {
		s.rows.Copy(block[:], first)
		sums.add(block[:])
	}
	sums.end()
}

// enterRow notes the useful time at which the walk enters the next call, and ends what passed since
// the last one.
func (w *walk) enterRow(call *step) {
	s := &w.segments
	if s.open {
		w.endRow()
	} else {
		w.noteTimes()
	}
	s.open, s.depth, s.path = true, w.stack.Len(), call.path
	s.wait = w.calls.put(w.usefulAt(w.now), uint32(s.rows.Len()+s.n))
	w.row = w.calls.row()
}

// endRow notes a call that is left, or that enters another one: all that passed in it is its own.
func (w *walk) endRow() {
	s := &w.segments
	s.open = false
	own, wait := int64(0), int64(0)
	for _, step := range w.touched {
		time, _ := step.note()
		own += time
	}
	w.touched = w.touched[:0]
	if s.wait > 0 {
		cause := s.waits.rows.Ptr(int(s.wait - 1))
		wait = min(own, s.scope.clip(cause.From, cause.From+cause.Time))
	}
	s.append(Segment{Path: s.path, Visits: 1, Time: own - wait})
	if wait > 0 {
		s.append(Segment{Path: PathWait, Time: wait})
	}
	w.notePaused()
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
			w.segments.append(Segment{step.path, uint32(min(visits, math.MaxUint32)), time})
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
