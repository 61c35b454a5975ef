package stats

import (
	"math"

	"tracekit/spill"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// A pathSum adds up the visits of one call path, in ticks.
type pathSum struct {
	path      trace.PathID
	count     uint64
	inclusive int64
	exclusive int64
	critical  int64 // the part of exclusive that lies on the critical path
	met       int64 // visits that end there
	shortest  int64 // visit; if count > 0
	calls     *callSum
	counters  []counterSum
}

// A step is a call path as one location meets it. Steps are in order of the first visit.
type step struct {
	pathSum
	region  trace.RegionID
	hist    *logHistogram // of an MPI function; nil of others
	touched bool          // since the last segment ended
	open    bool          // entered and not left
	noted   notedVisits   // in the segments so far
}

// notedVisits are visits that ended, and exclusive time, also of the one that goes on.
type notedVisits struct {
	time   int64
	visits uint64
}

// A visit is a region that is entered and not left.
type visit struct {
	enter int64
	step  int32
}

// A walk follows the call stack of one location through its events. Step 0 stands for
// time outside any region.
//
//	len(stack) is the depth; the innermost step is top
//	0 ≤ mpi is the number of MPI functions on the stack
//	useful time runs while mpi == 0 and nothing pauses it
type walk struct {
	profiler *profiler
	location trace.LocationID
	clock    *trace.ClockMap
	steps    []step
	numbers  map[trace.PathID]int32 // of steps
	recent   trace.PathCache        // of numbers
	stack    trace.CallStack[visit]
	top      int32
	now      int64
	mpi      int
	waits    deviceWaits

	useful   int64 // until since
	since    int64 // when useful time began to run; only if runs
	runs     bool
	off      bool                    // recording is switched off
	resume   int64                   // when the buffer flush ends; MaxInt64: there is none
	pieces   *spill.Table[pathPiece] // of the critical path here, the last first
	ahead    int                     // of pieces that were not read yet
	passed   bool                    // the path has just passed here
	paused   [2]pausedTime           // by buffer flushes and while recording is off
	piece    pathPiece               // the next or current one
	clocks   *spill.Table[int64]     // by call: the sequence number of its Enter becomes the useful time until then
	call     int                     // the next one
	row      uint64                  // sequence number of its Enter; MaxUint64: there is none
	segments *Segments               // nil: not asked for
	touched  []int32                 // the steps with time since the last segment ended
	thread   *threads.Recorder       // nil: not asked for, or no thread
	counters counterState
	times    []int64 // scratch
	last     int64   // the latest corrected time
	raw      int64   // the latest recorded time
	seen     bool
	open     int // forks and teams that never end
}

// pathPiece is a piece of the critical path on one location.
type pathPiece struct{ from, to int64 }

// never is later than every event.
const never = math.MaxInt64

func (w *walk) begin(at int64) {
	w.steps, w.numbers = []step{{region: trace.None, pathSum: pathSum{path: trace.None}}}, make(map[trace.PathID]int32)
	w.now, w.since, w.runs, w.resume, w.last = at, at, true, never, math.MinInt64
	w.nextPiece()
	w.nextRow()
	if w.segments != nil {
		w.segments.add(PathNotRecorded, at-w.profiler.scope.from)
	}
}

// batch takes the events of a batch in recorded order.
func (w *walk) batch(b *trace.Batch) {
	f := &b.Flow
	times := w.correct(b)
	rare := newRareEvents(b)
	hasContext := len(f.Context) > 0
	for i, kind := range f.Kind {
		if f.Seq[i] > rare.seq {
			rare.before(w, f.Seq[i])
		}
		t := times[i]
		if t > w.now {
			w.advance(t)
		}
		if !kind.Enters() {
			w.leave(f.Region[i])
			continue
		}
		site := trace.SourceLocationID(trace.None)
		if hasContext {
			site = w.profiler.siteOf(f.Context[i])
		}
		w.enter(f.Seq[i], f.Region[i], site)
	}
	rare.before(w, math.MaxUint64)
}

// pausedTime is time of the measurement, in ticks.
type pausedTime struct {
	since    int64 // since the last segment ended
	critical int64 // on the critical path
}

func pausedPath(k int) trace.PathID { return [2]trace.PathID{PathFlush, PathOff}[k] }

// advance moves to a later time: what passes is exclusive time of the innermost step.
func (w *walk) advance(t int64) {
	if w.now < w.resume && w.resume < t {
		w.advance(w.resume)
	}
	s := &w.steps[w.top]
	s.exclusive += t - w.now
	critical := &s.critical
	switch {
	case w.resume != never:
		critical = w.pause(0, s, t-w.now)
	case w.off:
		critical = w.pause(1, s, t-w.now)
	case !s.touched && w.segments != nil:
		s.touched = true
		w.touched = append(w.touched, w.top)
	}
	w.passed = t > w.piece.from
	for t > w.piece.from {
		*critical += min(t, w.piece.to) - max(w.now, w.piece.from)
		if t < w.piece.to {
			break
		}
		w.nextPiece()
	}
	w.now = t
	if t >= w.resume {
		w.flushed()
	}
}

// pause makes time of a step that of the measurement, and returns what counts how much of it lies
// on the critical path.
func (w *walk) pause(k int, s *step, time int64) *int64 {
	s.noted.time += time
	w.paused[k].since += time
	return &w.paused[k].critical
}

func (w *walk) nextPiece() {
	for w.piece = (pathPiece{never, never}); w.ahead > 0; {
		w.ahead--
		if piece := w.pieces.At(w.ahead); piece.to > w.now {
			w.piece = piece
			return
		}
	}
}

func (w *walk) nextRow() {
	w.row = math.MaxUint64
	if w.call < w.clocks.Len() {
		w.row = uint64(w.clocks.At(w.call))
	}
}

// putClock notes the useful time at which the next call is entered.
func (w *walk) putClock(useful int64) {
	w.clocks.Set(w.call, useful)
	w.call++
	w.nextRow()
}

// enter opens a region at the time that was advanced to.
func (w *walk) enter(seq uint64, region trace.RegionID, site trace.SourceLocationID) {
	w.top = w.stepOf(trace.PathNode{Parent: w.steps[w.top].path, Region: region, Site: site})
	w.steps[w.top].open = true
	w.stack.Enter(region, visit{enter: w.now, step: w.top})
	if seq == w.row {
		w.putClock(w.usefulAt(w.now))
		w.enterRow()
	}
	if w.profiler.isMPI(region) {
		if w.mpi == 0 {
			w.stop(w.now)
		}
		w.mpi++
	}
	if w.profiler.waitsForDevice(region) {
		w.waits.enter(w.usefulAt(w.now))
	}
	if w.thread != nil {
		w.thread.Enter(w.now, region, w.steps[w.top].path)
	}
}

// stepOf returns the step of a call path, and makes it if need be. Where the call tree was
// cut, deeper regions count as the path that it ends with.
func (w *walk) stepOf(n trace.PathNode) int32 {
	number, known := w.recent.Lookup(n)
	if known {
		return int32(number)
	}
	path := w.profiler.t.Tree.Find(n)
	k, met := w.numbers[path]
	switch {
	case path == trace.None:
		k = w.top
	case !met:
		k = int32(len(w.steps))
		w.numbers[path] = k
		w.steps = append(w.steps, step{pathSum: pathSum{path: path}, region: n.Region})
		if w.profiler.isMPI(n.Region) {
			w.steps[k].hist = new(logHistogram)
		}
	}
	w.recent.Remember(n, uint32(k))
	return k
}

// leave ends the region that is left, and those inside it that were never left.
func (w *walk) leave(region trace.RegionID) {
	for range w.stack.Leave(region) {
		w.close()
	}
}

// close leaves the innermost region.
func (w *walk) close() {
	region := w.stack.Region(w.stack.Len() - 1)
	if w.segments != nil && w.segments.open && w.stack.Len() == w.segments.depth {
		w.endRow()
	}
	v := w.stack.Pop()
	if w.thread != nil {
		w.thread.Leave(w.now)
	}
	w.top = 0
	if below := w.stack.Top(); below != nil {
		w.top = below.step
	}
	if w.profiler.isMPI(region) {
		if w.mpi--; w.mpi == 0 {
			w.start(w.now)
		}
	}
	if w.profiler.waitsForDevice(region) {
		w.waits.leave(w.usefulAt(w.now))
	}
	s := &w.steps[v.step]
	s.open = v.step == w.top
	if v.step == w.top || w.profiler.outside(v.enter, w.now) {
		return // too deep for the call tree, or clipped away
	}
	if s.shortest = min(s.shortest, w.now-v.enter); s.count == 0 {
		s.shortest = w.now - v.enter
	}
	s.count++
	if w.passed {
		s.met++
	}
	s.inclusive += w.now - v.enter
	if s.hist != nil {
		s.hist.add(w.now - v.enter)
	}
}

// end closes what is open at the end of the location.
func (w *walk) end(at int64) {
	if at > w.now {
		w.advance(at)
	}
	w.stop(w.now)
	w.off = true // nothing is useful any more
	if w.thread != nil {
		w.open = w.thread.End(w.now)
		w.thread = nil
	}
	for w.stack.Len() > 0 {
		w.close()
	}
	for w.row != math.MaxUint64 { // rows without an Enter: none in a sound trace
		w.putClock(w.useful)
		w.enterRow()
	}
	w.lastRows()
}

// usefulAt returns the useful time until t, which is not before any event so far.
func (w *walk) usefulAt(t int64) int64 {
	if w.runs {
		return w.useful + t - w.since
	}
	return w.useful
}

// stop ends a stretch of useful time.
func (w *walk) stop(t int64) {
	if w.runs {
		w.useful += t - w.since
		w.runs = false
	}
}

// start begins a stretch of useful time if nothing is in its way.
func (w *walk) start(t int64) {
	if !w.runs && w.mpi == 0 && !w.off && w.resume == never {
		w.since, w.runs = t, true
	}
}

// flushing notes that the measurement writes its buffer from now until t.
func (w *walk) flushing(t int64) {
	if t > w.now {
		w.stop(w.now)
		w.resume = t
		w.tellPause()
	}
}

// flushed notes that the flush that was under way has ended.
func (w *walk) flushed() {
	t := w.resume
	w.resume = never
	w.start(t)
	if w.thread != nil {
		w.thread.Pause(t, w.off)
	}
}

// tellPause tells the recorder of the thread that the measurement begins or ends a pause.
func (w *walk) tellPause() {
	if w.thread != nil {
		w.thread.Pause(w.now, w.off || w.resume != never)
	}
}

// record notes that recording is switched on or off.
func (w *walk) record(on bool) {
	w.off = !on
	if on {
		w.start(w.now)
	} else {
		w.stop(w.now)
	}
	w.tellPause()
}

// correct returns the corrected times of the flow events, clipped to the selection. The
// batch stays as it is.
func (w *walk) correct(b *trace.Batch) []int64 {
	w.times = append(w.times[:0], b.Flow.Time...)
	if w.profiler.disorder {
		w.straighten(b)
	}
	w.last = w.clock.Correct(w.times, w.last)
	if s := w.profiler.scope; s.timed {
		for i, t := range w.times {
			w.times[i] = s.clamp(t)
		}
	}
	return w.times
}

// straighten makes the recorded times of the flow events not decrease, as merging does:
// the time of an event is at least that of every event before it, of whatever table.
func (w *walk) straighten(b *trace.Batch) {
	for _, r := range b.Events {
		t, ok := b.Time(r)
		if !ok {
			continue
		}
		if t > w.raw || !w.seen {
			w.raw, w.seen = t, true
		}
		if r.Table == trace.TableFlow {
			w.times[r.First] = w.raw
		}
	}
}
