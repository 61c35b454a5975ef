package threads

import (
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// A Span is what a thread does from an instant until the next span begins.
type Span struct {
	From     int64
	Path     trace.PathID // of the barrier, else of the parallel region; None: neither
	Activity Activity
	Parallel bool // in a parallel region, or between fork and join
	Locks    bool // in a region that has waiting for a lock and the locked block
}

// A Timeline is all that a thread does: spans from its first event on, the last of which is idle
// and begins with its last event. Spans of length 0 are barriers.
type Timeline struct {
	Location trace.LocationID
	Spans    *spill.Table[Span]
}

// A Recorder follows the events of a thread and keeps its Timeline. Instants do not decrease.
//
//	stack are the regions that are entered and not left
//	mpi is the number of MPI functions, parallel that of parallel regions, locks that of regions with locked blocks among them
//	forks are the depths of the stack at which threads were forked that are not joined
type Recorder struct {
	Timeline
	meanings []Meaning
	worker   bool
	told     bool  // the trace tells when the thread runs
	until    int64 // the thread runs until then; MinInt64: it does not, or is not told to

	stack         []entered
	mpi, parallel int
	locks         int
	region        trace.PathID // the outermost parallel one
	forks         []int
	worked        bool // a parallel region was left since the last fork
	teams, open   int
	teamed        bool // it has worked in a team
	off           bool

	last   Span  // is not in the table yet
	useful int64 // until last.From
}

type entered struct {
	Meaning
	path trace.PathID
}

// NewRecorder returns a recorder of the thread at a location, from its first event on. Told says
// that the trace tells when its threads run; see trace.RunningCounter.
func NewRecorder(store *spill.Store, l trace.LocationID, meanings []Meaning, worker, told bool, first int64) *Recorder {
	r := &Recorder{Timeline: Timeline{l, spill.NewTable[Span](store)}, meanings: meanings, worker: worker, told: told, until: math.MinInt64}
	r.last = Span{From: first, Path: trace.None, Activity: r.doing(first)}
	return r
}

// Enter notes that a region is entered.
func (r *Recorder) Enter(at int64, region trace.RegionID, path trace.PathID) {
	r.to(at)
	m := Meaning{Activity: Useful}
	if int(region) < len(r.meanings) {
		m = r.meanings[region]
	}
	switch {
	case !m.Parallel:
		r.missed()
	case r.parallel == 0:
		r.region = path
	}
	r.stack = append(r.stack, entered{m, path})
	r.count(m, 1)
	r.mark(at, m.Activity == Barrier)
}

// Leave notes that the innermost region is left.
func (r *Recorder) Leave(at int64) {
	r.to(at)
	n := len(r.stack) - 1
	m := r.stack[n].Meaning
	r.stack = r.stack[:n]
	r.count(m, -1)
	r.worked = r.worked || m.Parallel
	r.mark(at, false)
}

func (r *Recorder) count(m Meaning, by int) {
	if m.Activity == Communication {
		r.mpi += by
	}
	if m.Parallel {
		r.parallel += by
	}
	if m.Locks {
		r.locks += by
	}
}

// Fork notes that the thread forks others, Join that it has joined them.
func (r *Recorder) Fork(at int64) {
	r.to(at)
	r.missed()
	r.forks, r.worked = append(r.forks, len(r.stack)), false
	r.mark(at, false)
}

// Join notes that forked threads are joined.
func (r *Recorder) Join(at int64) {
	r.to(at)
	if n := len(r.forks); n > 0 {
		r.forks, r.worked = r.forks[:n-1], false
	}
	r.mark(at, false)
}

// missed notes threads that were forked and not joined, before what is next: the region that
// they worked on was left already.
func (r *Recorder) missed() {
	if r.worked && r.forkedHere() {
		r.forks, r.worked = r.forks[:len(r.forks)-1], false
		r.open++
	}
}

// forkedHere reports whether threads were forked at this depth of the stack and are not joined.
func (r *Recorder) forkedHere() bool {
	n := len(r.forks)
	return n > 0 && r.forks[n-1] == len(r.stack)
}

// Team notes that the thread begins or ends to work in a team.
func (r *Recorder) Team(at int64, begins bool) {
	r.to(at)
	if begins {
		r.teams, r.teamed = r.teams+1, true
	} else {
		r.teams = max(0, r.teams-1)
	}
	r.mark(at, false)
}

// Runs notes that the trace tells that the thread runs from an instant until another one.
func (r *Recorder) Runs(at, until int64) {
	r.to(at)
	r.until = until
	r.mark(at, false)
}

// Pause notes that the measurement stops, or goes on, to record the program.
func (r *Recorder) Pause(at int64, off bool) {
	r.to(at)
	r.off = off
	r.mark(at, false)
}

// End ends the timeline, and returns how many forks and teams are open.
func (r *Recorder) End(at int64) (open int) {
	r.to(at)
	r.stack, r.off, r.mpi, r.parallel, r.locks, r.worker, r.until = nil, false, 0, 0, 0, true, math.MinInt64
	open = r.open + len(r.forks) + r.teams
	r.forks = nil
	r.mark(at, false)
	r.Spans.Append(r.last)
	return open
}

// Useful returns the useful time until an instant, which is not before any so far.
func (r *Recorder) Useful(at int64) int64 {
	r.to(at)
	if r.last.Activity == Useful {
		return r.useful + at - r.last.From
	}
	return r.useful
}

// to ends what is told to end before an instant.
func (r *Recorder) to(at int64) {
	if r.until != math.MinInt64 && r.until <= at {
		r.stops()
	}
}

// stops notes that the thread does not run any more, as the trace told.
func (r *Recorder) stops() {
	until := max(r.until, r.last.From)
	r.until = math.MinInt64
	r.mark(until, false)
}

// mark notes what the thread does from an instant on, if it is something else than before.
func (r *Recorder) mark(at int64, again bool) {
	last, path, activity := &r.last, trace.PathID(trace.None), r.doing(at)
	parallel, locks := r.parallel+len(r.forks) > 0, r.locks > 0
	switch n := len(r.stack); {
	case activity == Barrier:
		path = r.stack[n-1].path
	case r.parallel > 0:
		path = r.region
	}
	if !again && activity == last.Activity && parallel == last.Parallel && locks == last.Locks && path == last.Path {
		return
	}
	if last.Activity == Useful {
		r.useful += at - last.From
	}
	if at != last.From || last.Activity == Barrier && r.Spans.Len() > 0 {
		r.Spans.Append(*last)
	}
	last.From, last.Path, last.Activity, last.Parallel, last.Locks = at, path, activity, parallel, locks
}

// doing returns what the thread does from an instant on. A worker of teams has nothing to do outside them.
// Where the trace tells when threads run, no other time is useful; of a parallel region itself it is that of forking and joining.
func (r *Recorder) doing(at int64) Activity {
	switch {
	case r.off:
		return Measurement
	case r.mpi > 0:
		return Communication
	case at < r.until:
		return Useful
	}
	top := Meaning{Activity: Useful}
	if n := len(r.stack); n > 0 {
		top = r.stack[n-1].Meaning
	} else if r.worker {
		top.Activity = Idle
	}
	switch {
	case top.Activity != Useful && top.Activity != Idle:
		return top.Activity
	case !top.Parallel && r.forkedHere():
		return Scheduling
	case r.worker && r.teamed && r.teams+r.parallel == 0: // until the next team
		return Idle
	case !r.told || top.Activity == Idle:
		return top.Activity
	case top.Parallel:
		return Scheduling
	}
	return Waiting
}
