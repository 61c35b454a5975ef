package profile

import (
	"math"

	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// A pathSum adds up the visits of one call path, in ticks.
type pathSum struct {
	Path      trace.PathID
	Count     uint64
	Inclusive int64
	Exclusive int64
	Critical  int64 // the part of exclusive that lies on the critical path
	met       int64 // visits that end there
	Shortest  int64 // visit; if count > 0
	calls     *callSum
	Counters  []counterSum
}

// A step is a call path as one location meets it. Steps are in order of the first visit.
type step struct {
	pathSum
	parent  *step
	region  trace.RegionID
	site    trace.SourceLocationID
	kind    visitKind
	inside  *step                 // what was entered last after this was entered: mostly it is again
	after   *step                 // what was entered last after this was left
	longest int64                 // visit; if count > 0
	hist    *numbers.LogHistogram // of an MPI function: how long visits are; nil of others
	touched bool                  // since the last segment ended
	open    bool                  // entered and not left
	noted   notedVisits           // in the segments so far
}

// is reports whether the step is what entering a region in another one leads to.
func (s *step) is(parent *step, region trace.RegionID, site trace.SourceLocationID) bool {
	return s != nil && s.parent == parent && s.region == region && s.site == site
}

// note returns the time that passed since the last segment ended, and the visits.
func (s *step) note() (time int64, visits uint64) {
	time, visits = s.Exclusive-s.noted.time, s.Count-s.noted.visits
	if s.open {
		visits++
	}
	s.noted, s.touched = notedVisits{s.Exclusive, s.Count}, false
	return time, visits
}

// notedVisits are visits that ended, and exclusive time, also of the one that goes on.
type notedVisits struct {
	time   int64
	visits uint64
}

// A visit is a region that is entered and not left.
type visit struct {
	enter int64
	step  *step
	kind  visitKind
}

// A visitKind says what a region is beside a region.
type visitKind struct {
	mpi   bool // an MPI function
	waits bool // a call that only waits for an accelerator
}

func (p *Profiler) kindOf(region trace.RegionID) visitKind {
	return visitKind{p.isMPI(region), p.waitsForDevice(region)}
}

// A walk follows the call stack of one location through its events. Step 0 stands for
// time outside any region.
//
//	len(stack) is the depth; the innermost step is top
//	0 ≤ mpi is the number of MPI functions on the stack
//	useful time runs while mpi == 0 and nothing pauses it
type walk struct {
	profiler *Profiler
	location trace.LocationID
	clock    *trace.ClockMap
	exact    bool // recorded times are corrected and clipped ones
	steps    []*step
	numbers  map[trace.PathID]int // of steps
	recent   trace.PathCache      // of numbers
	stack    trace.CallStack[visit]
	top      *step
	before   *step // the last one that was entered or left
	now      int64
	mpi      int
	waits    deviceWaits

	useful   int64 // until since
	since    int64 // when useful time began to run; only if runs
	runs     bool
	off      bool                    // recording is switched off
	resume   int64                   // when the buffer flush ends; MaxInt64: there is none
	pieces   *spill.Table[PathPiece] // of the critical path here, the last first
	ahead    int                     // of pieces that were not read yet
	passed   bool                    // the path has just passed here
	paused   [2]pausedTime           // by buffer flushes and while recording is off
	piece    PathPiece               // the next or current one
	calls    callRows                // from the next one on
	segments segmentWriter           // of the time between and in calls
	touched  []*step                 // those with time since the last segment ended
	cuts     *spill.Table[int64]     // of the segments, beside calls
	uncut    int                     // cuts from there on are ahead
	cut      int64                   // the next one
	thread   *threads.Recorder       // nil: not asked for, or no thread
	counters counterState
	times    []int64 // scratch
	last     int64   // the latest corrected time
	raw      int64   // the latest recorded time
	seen     bool
	open     int // forks and teams that never end
}

// PathPiece is a piece of the critical path on one location.
type PathPiece struct{ From, To int64 }

func (w *walk) begin(at int64) {
	w.steps, w.numbers = []*step{{region: trace.None, pathSum: pathSum{Path: trace.None}}}, map[trace.PathID]int{trace.None: 0}
	w.top, w.before = w.steps[0], w.steps[0]
	w.now, w.since, w.runs, w.resume, w.last = at, at, true, numbers.Never, math.MinInt64
	w.nextPiece()
	w.nextCut()
	w.calls.more()
	w.segments.add(PathNotRecorded, at-w.profiler.Scope.From)
}

// batch takes the events of a batch in recorded order.
func (w *walk) batch(b *trace.Batch) {
	f, times := &b.Flow, w.correct(b)
	n := len(times)
	seqs, kinds, regions := f.Seq[:n], f.Kind[:n], f.Region[:n]
	rare := newRareEvents(b)
	for i := 0; i < n; i++ {
		if seqs[i] > rare.seq {
			rare.before(w, seqs[i])
		}
		if times[i] > w.now {
			if times[i] > w.cut {
				w.cutUntil(times[i])
			}
			w.advance(w.top, times[i])
		}
		region := regions[i]
		if !kinds[i].Enters() {
			for range w.stack.Leave(region) { // also of those inside that were never left
				w.close()
			}
			continue
		}
		if w.stack.Full() {
			w.close()
		}
		site := trace.SourceLocationID(trace.None)
		if len(f.Context) > 0 {
			site = w.profiler.T.Defs.SiteOf(f.Context[i])
		}
		s := w.before
		if !s.is(w.top, region, site) { // else it was left, and is entered again
			s = w.find(region, site)
		}
		if k := i + 1; k < n && regions[k] == region && !kinds[k].Enters() && rare.seq > seqs[k] && w.simple(s, region) && times[k] <= w.cut {
			w.visit(seqs[i], s, max(times[k], w.now))
			i = k
			continue
		}
		w.enter(seqs[i], region, s)
	}
	rare.before(w, math.MaxUint64)
}

// cutUntil ends segments at the cuts before a time.
func (w *walk) cutUntil(t int64) {
	for ; w.cut < t; w.nextCut() {
		w.advance(w.top, w.cut)
		if !w.segments.open {
			w.noteTimes()
		}
	}
}

// nextCut finds the next cut ahead.
func (w *walk) nextCut() {
	for w.cut = numbers.Never; w.uncut < w.cuts.Len(); {
		if w.uncut++; w.cuts.At(w.uncut-1) > w.now {
			w.cut = w.cuts.At(w.uncut - 1)
			return
		}
	}
}

// pausedTime is time of the measurement, in ticks.
type pausedTime struct {
	since    int64 // since the last segment ended
	Critical int64 // on the critical path
}

func pausedPath(k int) trace.PathID { return [2]trace.PathID{PathFlush, PathOff}[k] }

// advance moves to a later time: what passes is exclusive time of the innermost step.
func (w *walk) advance(s *step, t int64) {
	if w.off || w.resume != numbers.Never {
		w.pause(s, t)
		return
	}
	s.Exclusive += t - w.now
	if !s.touched {
		s.touched = true
		w.touched = append(w.touched, s)
	}
	if w.passed = t > w.piece.From; w.passed {
		s.Critical += w.pass(t)
	}
	w.now = t
}

// pause is advance while the buffer is flushed or recording is off.
func (w *walk) pause(s *step, t int64) {
	if w.resume < t {
		w.pause(s, w.resume)
		w.advance(s, t)
		return
	}
	paused, time := &w.paused[1], t-w.now
	if w.resume != numbers.Never {
		paused = &w.paused[0]
	}
	s.Exclusive += time
	s.noted.time += time
	paused.since += time
	if w.passed = t > w.piece.From; w.passed {
		paused.Critical += w.pass(t)
	}
	w.now = t
	if t == w.resume {
		w.flushed()
	}
}

// pass returns how much of the time until t lies on the critical path.
func (w *walk) pass(t int64) (critical int64) {
	for t > w.piece.From {
		critical += min(t, w.piece.To) - max(w.now, w.piece.From)
		if t < w.piece.To {
			break
		}
		w.nextPiece()
	}
	return critical
}

func (w *walk) nextPiece() {
	for w.piece = (PathPiece{numbers.Never, numbers.Never}); w.ahead > 0; {
		w.ahead--
		if piece := w.pieces.At(w.ahead); piece.To > w.now {
			w.piece = piece
			return
		}
	}
}

// find returns the step that entering a region leads to, which is not the one before.
func (w *walk) find(region trace.RegionID, site trace.SourceLocationID) *step {
	before := w.before
	guess := &before.after
	if before == w.top {
		guess = &before.inside
	}
	if !(*guess).is(w.top, region, site) {
		*guess = w.stepOf(trace.PathNode{Parent: w.top.Path, Region: region, Site: site})
	}
	return *guess
}

// enter opens a region at the time that was advanced to.
func (w *walk) enter(seq uint64, region trace.RegionID, s *step) {
	kind := s.kind
	if s.region != region { // where the call tree was cut
		kind = w.profiler.kindOf(region)
	}
	w.top, w.before = s, s
	s.open = true
	w.stack.Enter(region, visit{w.now, s, kind})
	if seq == w.calls.seq {
		w.enterRow(s)
	}
	if kind.mpi {
		if w.mpi == 0 {
			w.stop(w.now)
		}
		w.mpi++
	}
	if kind.waits {
		w.waits.enter(w.usefulAt(w.now))
	}
	if w.thread != nil {
		w.thread.Enter(w.now, region, s.Path)
	}
}

// simple reports whether visit may take a visit of a step in which nothing happens.
func (w *walk) simple(s *step, region trace.RegionID) bool {
	return s != w.top && s.region == region && !s.kind.waits && !w.off && w.resume == numbers.Never
}

// visit is enter, advance to t, and close of a region in which nothing happens: most are of that kind.
func (w *walk) visit(seq uint64, s *step, t int64) {
	enter := w.now
	w.before, s.open = s, true
	if w.thread != nil {
		w.thread.Enter(enter, s.region, s.Path)
	}
	switch {
	case seq == w.calls.seq:
		w.visitCall(s, t)
	case t > enter:
		w.advance(s, t)
	}
	if w.thread != nil {
		w.thread.Leave(t)
	}
	if s.kind.mpi && w.mpi == 0 { // useful time runs and leaves this out
		w.since += t - enter
	}
	s.open = false
	w.visited(s, enter)
}

// stepOf returns the step of a call path, and makes it if need be. Where the call tree was
// cut, deeper regions count as the path that it ends with.
func (w *walk) stepOf(n trace.PathNode) *step {
	number, known := w.recent.Lookup(n)
	if known {
		return w.steps[number]
	}
	path := w.profiler.T.Tree.Find(n)
	if path == trace.None {
		path = w.top.Path
	}
	k, met := w.numbers[path]
	if !met {
		k = len(w.steps)
		w.numbers[path] = k
		s := &step{pathSum: pathSum{Path: path}, parent: w.top, region: n.Region, site: n.Site, kind: w.profiler.kindOf(n.Region)}
		if s.kind.mpi {
			s.hist = numbers.NewLogHistogram()
		}
		w.steps = append(w.steps, s)
	}
	w.recent.Remember(n, uint32(k))
	return w.steps[k]
}

// close leaves the innermost region.
func (w *walk) close() {
	if w.segments.open && w.stack.Len() == w.segments.depth {
		w.endRow()
	}
	v := w.stack.Pop()
	if w.thread != nil {
		w.thread.Leave(w.now)
	}
	if below := w.stack.Top(); below != nil {
		w.top = below.step
	} else {
		w.top = w.steps[0]
	}
	if v.kind.mpi {
		if w.mpi--; w.mpi == 0 {
			w.start(w.now)
		}
	}
	if v.kind.waits {
		w.waits.leave(w.usefulAt(w.now))
	}
	s := v.step
	w.before = s
	if s.open = s == w.top; !s.open { // else too deep for the call tree
		w.visited(s, v.enter)
	}
}

// visited counts a visit of a step that ends, unless it is clipped away.
func (w *walk) visited(s *step, enter int64) {
	if w.profiler.outside(enter, w.now) {
		return
	}
	time := w.now - enter
	if s.Count == 0 || time < s.Shortest {
		s.Shortest = time
	}
	s.longest = max(s.longest, time)
	s.Count++
	if w.passed {
		s.met++
	}
	s.Inclusive += time
	if s.hist != nil {
		s.hist.Put(time)
	}
}

// end closes what is open at the end of the location.
func (w *walk) end(at int64) {
	if at > w.now {
		w.cutUntil(at)
		w.advance(w.top, at)
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
	for w.calls.seq != math.MaxUint64 { // rows without an Enter: none in a sound trace
		w.enterRow(w.top)
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
	if !w.runs && w.mpi == 0 && !w.off && w.resume == numbers.Never {
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
	w.resume = numbers.Never
	w.start(t)
	if w.thread != nil {
		w.thread.Pause(t, w.off)
	}
}

// tellPause tells the recorder of the thread that the measurement begins or ends a pause.
func (w *walk) tellPause() {
	if w.thread != nil {
		w.thread.Pause(w.now, w.off || w.resume != numbers.Never)
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

// correct returns the corrected times of the flow events, clipped to the selection; some may be
// earlier than others before. The batch stays as it is.
func (w *walk) correct(b *trace.Batch) []int64 {
	if w.exact && !w.profiler.disorder {
		return b.Flow.Time
	}
	w.times = append(w.times[:0], b.Flow.Time...)
	if w.profiler.disorder {
		w.straighten(b)
	}
	w.last = w.clock.Correct(w.times, w.last)
	if s := w.profiler.Scope; s.Timed {
		for i, t := range w.times {
			w.times[i] = s.Clamp(t)
		}
	}
	return w.times
}

// corrected returns the corrected and clipped time of a recorded time.
func (w *walk) corrected(t int64) int64 {
	if w.exact {
		return t
	}
	t = w.clock.At(t)
	if s := w.profiler.Scope; s.Timed {
		t = s.Clamp(t)
	}
	return t
}

// straighten makes the recorded times of the flow events not decrease, as merging does:
// the time of an event is at least that of every event before it, of whatever table.
func (w *walk) straighten(b *trace.Batch) {
	for _, r := range b.Events {
		if t := b.Time(r); t > w.raw || !w.seen {
			w.raw, w.seen = t, true
		}
		if r.Table == trace.TableFlow {
			w.times[r.First] = w.raw
		}
	}
}

// Unequal returns the path's time on the critical path above what as many visits take in the mean.
func (s *pathSum) Unequal() int64 {
	mean := 0.0
	if s.Count > 0 {
		mean = float64(s.Exclusive) / float64(s.Count)
	}
	return max(0, s.Critical-int64(float64(s.met)*mean))
}

// deviceWaits sums the useful time that passes in calls that only wait for accelerators. Such a
// call may enclose another one.
type deviceWaits struct {
	time  int64
	depth int
	since int64 // useful time when the outermost was entered
}

func (d *deviceWaits) enter(useful int64) {
	if d.depth == 0 {
		d.since = useful
	}
	d.depth++
}

func (d *deviceWaits) leave(useful int64) {
	if d.depth--; d.depth == 0 {
		d.time += useful - d.since
	}
}
