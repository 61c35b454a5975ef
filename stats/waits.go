package stats

import (
	"context"
	"sync"

	"tracekit/spill"
	"tracekit/trace"
)

// A WaitKind says what a call waits for.
type WaitKind uint8

// The kinds of wait, after DEFINITIONS 2.1 and 2.2. WaitAtStartup is the wait in MPI_Init
// or MPI_Finalize for the last rank to enter it: it counts for the critical path and is no
// wait state of its own.
const (
	NoWait WaitKind = iota
	LateSender
	LateReceiver
	WaitAtNxN
	WaitAtBarrier
	LateBroadcast
	EarlyReduce
	EarlyScan
	WaitUnclassified
	WaitAtStartup
	waitKinds // their number
)

// A CallWait says how long a call waits and for whom. It waits from its Enter until
// Enter + Time, when the call that causes the wait is entered (or, if clocks disagree,
// until it is left itself).
type CallWait struct {
	Time     int64            // ticks; 0: it does not wait
	Location trace.LocationID // of the call that causes the wait
	Call     uint32           // its row; None: the cause is recorded outside any call
	Kind     WaitKind

	// message is the row of the message that is waited for, in Recvs for a late sender and
	// in Sends for a late receiver, both of the waiting location; None: no single one.
	message uint32
}

// waiting finds the waits of a trace and sums them.
type waiting struct {
	t      *trace.Trace
	scope  *scope
	calls  CallWaits
	sync   *syncTables            // nil: not asked for
	sums   [waitKinds]waitSum     // of the selection
	wrong  wrongOrderSum          // the part of LateSender that is wrong order
	done   [2]waitSum             // completion of N×N and of barriers
	byPath []int64                // ticks of wait by call path, startup included
	bytes  []uint64               // by call path
	sizes  []*spill.Table[uint64] // by location and call: the bytes of the call; nil: not asked for
	pairs  *messagePairs          // nil: not asked for
	colls  collSums
	msgs   *messageSums
}

// A waitSum adds up one kind of wait.
type waitSum struct {
	count uint64
	time  int64
	top   longest
}

const (
	nxnCompletion = iota
	barrierCompletion
)

func newWaiting(t *trace.Trace, s *scope, top int) *waiting {
	w := &waiting{t: t, scope: s, byPath: make([]int64, len(t.Tree.Nodes)), bytes: make([]uint64, len(t.Tree.Nodes)),
		colls: make(collSums), msgs: newMessageSums(t, s)}
	for i := range w.sums {
		w.sums[i].top.size = top
	}
	for i := range w.done {
		w.done[i].top.size = top
	}
	w.wrong.top.size = top
	for _, calls := range t.Calls {
		w.calls = append(w.calls, newWaitTable(t.Store, calls.Len()))
	}
	return w
}

// keepSizes asks for the bytes of each call.
func (w *waiting) keepSizes() {
	for _, calls := range w.t.Calls {
		w.sizes = append(w.sizes, spill.NewZeros[uint64](w.t.Store, calls.Len()))
	}
}

// run finds all waits and sums them. A call is charged once, with the longest of them.
func (w *waiting) run(ctx context.Context) error {
	w.startup(trace.ClassInit)
	w.startup(trace.ClassFinalize)
	if err := w.collectives(ctx); err != nil {
		return err
	}
	if err := w.pointToPoint(ctx); err != nil {
		return err
	}
	for l := range w.t.Calls {
		w.chargeCalls(trace.LocationID(l))
	}
	return ctx.Err()
}

// chargeCalls adds up the waits of a location's calls.
func (w *waiting) chargeCalls(l trace.LocationID) {
	rows := forwards(new(sync.Mutex), w.calls[l].rows)
	for row, ok := rows.read(); ok; row, ok = rows.read() {
		call := trace.Call{Seq: row.seq, Path: row.path, Region: row.region}
		w.charge(&w.sums[row.Kind], l, &call, row.enter, row.Time)
		if w.scope.has(l) && int(row.path) < len(w.byPath) {
			w.byPath[row.path] += w.scope.clip(row.enter, row.enter+row.Time)
		}
	}
}

// charge adds what is selected of the wait of a call to a sum.
func (w *waiting) charge(sum *waitSum, l trace.LocationID, call *trace.Call, from, time int64) {
	clipped := w.scope.clip(from, from+time)
	if clipped <= 0 || !w.scope.has(l) {
		return
	}
	sum.count++
	sum.time += clipped
	sum.top.add(instance{time: clipped, start: w.scope.clamp(from), location: l, seq: call.Seq, path: call.Path, region: call.Region})
}

// addBytes adds bytes to a call and to its call path: what it sends; of receives, and of
// the root of N×1, what it receives; of MPI_Wait… what it completes, in both directions.
func (w *waiting) addBytes(l trace.LocationID, row uint32, call *trace.Call, bytes uint64) {
	if w.sizes != nil {
		*w.sizes[l].Ptr(int(row)) += bytes
	}
	if w.scope.overlaps(l, call.Enter, call.Leave) && int(call.Path) < len(w.bytes) {
		w.bytes[call.Path] += bytes
	}
}

// releaseSizes lets the bytes of calls go.
func (w *waiting) releaseSizes() {
	for _, sizes := range w.sizes {
		sizes.Release()
	}
}

// startup notes who waits in MPI_Init or MPI_Finalize, which count as N×N: the first such
// call of each location is its part.
func (w *waiting) startup(class trace.CallClass) {
	var in []member
	for l, calls := range w.t.Calls {
		i := findStartup(calls, class)
		if i < 0 {
			continue
		}
		c := calls.At(i)
		in = append(in, member{location: trace.LocationID(l), call: uint32(i), enter: c.Enter, leave: c.Leave})
	}
	last := latest(in, func(member) bool { return true })
	for _, m := range in {
		wait := min(in[last].enter, m.leave) - m.enter
		if wait <= 0 {
			continue
		}
		c := w.t.Calls[m.location].At(int(m.call))
		w.calls[m.location].note(m.call, &c, CallWait{Time: wait, Location: in[last].location, Call: in[last].call, Kind: WaitAtStartup, message: trace.None})
	}
}

// findStartup returns the row of the first call of MPI_Init, or of the last of
// MPI_Finalize; -1 if there is none. They are looked for near the ends of the table only.
func findStartup(calls *spill.Table[trace.Call], class trace.CallClass) int {
	n := calls.Len()
	for k := range min(n, startupReach) {
		i := k
		if class == trace.ClassFinalize {
			i = n - 1 - k
		}
		if calls.At(i).Class == class {
			return i
		}
	}
	return -1
}

// startupReach is the number of calls that may precede MPI_Init or follow MPI_Finalize.
const startupReach = 64
