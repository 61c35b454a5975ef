package stats

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A CallWait says how long a call waits and for whom. It waits until From + Time, when the
// call that causes the wait is entered or its part in the collective begins (or, if clocks
// disagree, until the waiting call is left itself or its part ends).
type CallWait struct {
	Time     int64            // ticks; 0: it does not wait
	From     int64            // when it begins to wait: its Enter, or when its part in a collective begins
	Location trace.LocationID // of the call that causes the wait
	Call     uint32           // its row; None: the cause is recorded outside any call
	Kind     waitstate.Kind

	// message is the row of the message that is waited for, in Recvs for a late sender and
	// in Sends for a late receiver, both of the waiting location; None: no single one.
	message uint32

	// Of a late receiver behind a late sender: the part of Time, from From on, that is a wait
	// for the late sender, and the row of its message in Recvs. The call waits that much
	// under LateSender, and for the rest of Time under Kind.
	SenderTime    int64
	senderMessage uint32
}

// Message returns the row of the single message that is waited for, None if there is none: in
// Recvs of the waiting location for a late sender, in its Sends for a late receiver.
func (w CallWait) Message() uint32 {
	if w.Time == 0 {
		return trace.None
	}
	return w.message
}

// CallWaits holds the waits of each location's calls.
type CallWaits []*WaitTable

// Waits finds how long each call waits and for whom, with so many goroutines (below 1: one
// per processor). The tables lie in the trace's store.
func Waits(ctx context.Context, t *trace.Trace, jobs int) (CallWaits, error) {
	s, err := NewScope(t, Selection{})
	if err != nil {
		return nil, err
	}
	w := newWaiting(t, &s, jobs, 0)
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	w.releaseSizes()
	return w.calls, t.Store.Err()
}

// waiting finds the waits of a trace and sums them, each location those of its own calls:
// what it needs of others stands in tables that nobody changes any more.
type waiting struct {
	t        *trace.Trace
	scope    *Scope
	jobs     int
	top      int
	calls    CallWaits
	sync     *syncTables              // nil: not asked for
	sizes    []*spill.Table[callSize] // by location and call; nil: not asked for
	summed   bool                     // bytes of collectives are recorded as sums over the ranks; known with sizes
	messages *messagePairs            // nil: not asked for
	parts    *spill.Table[memberPart]
	waitSums
}

// waitSums adds up the waits, messages and collectives of some calls of the selection.
type waitSums struct {
	sums            [waitstate.Kinds]waitSum
	same, different int64    // ticks of wrong order, by whether both messages come from one location
	byPath          []int64  // ticks of wait by call path, startup included
	together        []int64  // those of them in collectives
	bytes           []uint64 // by call path
	colls           collSums
	msgs            *messageSums
	met             pairCache
}

// A waitSum adds up one kind of wait.
type waitSum struct {
	count uint64
	time  int64
	top   longest
}

func newWaiting(t *trace.Trace, s *Scope, jobs, top int) *waiting {
	w := &waiting{t: t, scope: s, jobs: jobs, top: top}
	w.waitSums = *w.newSums()
	for _, calls := range t.Calls {
		w.calls = append(w.calls, newWaitTable(t.Store, calls.Len()))
	}
	return w
}

func (w *waiting) newSums() *waitSums {
	s := &waitSums{byPath: make([]int64, len(w.t.Tree.Nodes)), together: make([]int64, len(w.t.Tree.Nodes)), bytes: make([]uint64, len(w.t.Tree.Nodes)),
		colls: make(collSums), msgs: newMessageSums(w.t, w.scope)}
	for k := range s.sums {
		s.sums[k].top.size = w.top
	}
	return s
}

func (s *waitSums) combine(o *waitSums) *waitSums {
	for k := range s.sums {
		s.sums[k].count += o.sums[k].count
		s.sums[k].time = Plus(s.sums[k].time, o.sums[k].time)
		for _, i := range o.sums[k].top.kept {
			s.sums[k].top.add(i)
		}
	}
	s.same, s.different = Plus(s.same, o.same), Plus(s.different, o.different)
	for p := range s.byPath {
		s.byPath[p] = Plus(s.byPath[p], o.byPath[p])
		s.together[p] = Plus(s.together[p], o.together[p])
		s.bytes[p] += o.bytes[p]
	}
	s.colls.merge(o.colls)
	s.msgs.merge(o.msgs)
	s.met.merge(&o.met)
	return s
}

// keepSizes asks for the size and role of each call.
func (w *waiting) keepSizes() {
	w.summed = recordsSums(w.t)
	for _, calls := range w.t.Calls {
		w.sizes = append(w.sizes, spill.NewZeros[callSize](w.t.Store, calls.Len()))
	}
}

// run finds all waits and sums them. A call is charged with the longest of them.
func (w *waiting) run(ctx context.Context) error {
	w.startup(trace.ClassInit)
	w.startup(trace.ClassFinalize)
	for _, step := range []func(context.Context) (*waitSums, error){w.collectives, w.pointToPoint, w.chargeCalls} {
		sums, err := step(ctx)
		if err != nil {
			return err
		}
		w.waitSums.combine(sums)
	}
	w.parts.Release()
	for _, t := range w.calls {
		t.rows = t.rows.Sealed()
	}
	return nil
}

// fold sums what visit adds for each location.
func (w *waiting) fold(ctx context.Context, visit func(s *waitSums, l trace.LocationID)) (*waitSums, error) {
	return engine.Fold(ctx, w.jobs, len(w.t.Calls), w.newSums, func(s *waitSums, l int) error {
		visit(s, trace.LocationID(l))
		return nil
	}, (*waitSums).combine)
}

// chargeCalls adds up the waits of all calls.
func (w *waiting) chargeCalls(ctx context.Context) (*waitSums, error) {
	return w.fold(ctx, func(s *waitSums, l trace.LocationID) {
		for _, rows := range w.calls[l].rows.Rows {
			if ctx.Err() != nil {
				return // the engine says so
			}
			for i := range rows {
				row := &rows[i]
				call := &trace.Call{Seq: row.seq, Path: row.path, Region: row.region}
				if row.SenderTime > 0 {
					late := s.charge(w.scope, waitstate.LateSender, l, call, row.From, row.SenderTime)
					s.msgs.senders.add(w.t.Rank[w.t.Recvs[l].Ptr(int(row.senderMessage)).SendLoc], late)
				}
				rest := s.charge(w.scope, row.Kind, l, call, row.From+row.SenderTime, row.Time-row.SenderTime)
				switch row.Kind {
				case waitstate.LateSender:
					s.msgs.senders.add(w.t.Rank[row.Location], rest)
				case waitstate.LateReceiver, waitstate.LateReceiverBehindLateSender:
					s.msgs.receivers.add(w.t.Rank[row.Location], rest)
				}
				if w.scope.has(l) && int(row.path) < len(s.byPath) {
					clipped := w.scope.clip(row.From, row.From+row.Time)
					s.byPath[row.path] = Plus(s.byPath[row.path], clipped)
					if !row.Kind.Info().Partner {
						s.together[row.path] = Plus(s.together[row.path], clipped)
					}
				}
			}
		}
		s.msgs.endWaits(l)
	})
}

// charge adds what is selected of the wait of a call, and returns it.
func (s *waitSums) charge(scope *Scope, kind waitstate.Kind, l trace.LocationID, call *trace.Call, from, time int64) int64 {
	clipped := scope.clip(from, from+time)
	if clipped <= 0 || !scope.has(l) {
		return 0
	}
	sum := &s.sums[kind]
	sum.count++
	sum.time = Plus(sum.time, clipped)
	if sum.top.takes(clipped) {
		sum.top.add(instance{time: clipped, start: scope.clamp(from), location: l, seq: call.Seq, path: call.Path, region: call.Region})
	}
	return clipped
}

// addBytes adds the bytes of a call to its call path: what it sends; of receives, and of
// the root of N×1, what it receives; of MPI_Wait… what it completes, in both directions.
func (w *waiting) addBytes(s *waitSums, l trace.LocationID, call *trace.Call, bytes uint64) {
	if w.scope.Overlaps(l, call.Enter, call.Leave) && int(call.Path) < len(s.bytes) {
		s.bytes[call.Path] += bytes
	}
}

// releaseSizes lets the sizes of calls go.
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
		i := FindStartup(calls, class)
		if i < 0 {
			continue
		}
		c := calls.At(i)
		in = append(in, member{location: trace.LocationID(l), call: uint32(i), enter: c.Enter, leave: c.Leave})
	}
	last := latest(in, everyone)
	for _, m := range in {
		wait := min(in[last].enter, m.leave) - m.enter
		if wait <= 0 {
			continue
		}
		w.calls[m.location].note(m.call, w.t.Calls[m.location].Ptr(int(m.call)),
			&CallWait{Time: wait, From: m.enter, Location: in[last].location, Call: in[last].call, Kind: waitstate.AtStartup, message: trace.None})
	}
}

// FindStartup returns the row of the first call of MPI_Init, or of the last of
// MPI_Finalize; -1 if there is none. They are looked for near the ends of the table only.
func FindStartup(calls *spill.Table[trace.Call], class trace.CallClass) int {
	n := calls.Len()
	for k := range min(n, startupReach) {
		i := k
		if class == trace.ClassFinalize {
			i = n - 1 - k
		}
		if calls.Ptr(i).Class == class {
			return i
		}
	}
	return -1
}

// startupReach is the number of calls that may precede MPI_Init or follow MPI_Finalize.
const startupReach = 64
