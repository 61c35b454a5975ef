package waits

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Wait says how long a call waits and for whom. It waits until From + Time, when the call that causes the wait is entered or its part in
// the collective begins. If clocks disagree, it waits until the waiting call is left itself or its part ends.
type Wait struct {
	Time     int64            // ticks; 0: it does not wait
	From     int64            // when it begins to wait: its Enter, or when its part in a collective begins
	Location trace.LocationID // of the call that causes the wait
	Call     uint32           // its row; None: the cause is recorded outside any call
	message  uint32           // see Table.Message; of what is waited for behind a late sender the row in Table.behind
	Path     trace.PathID     // of the call that waits
	event    trace.Event      // that call
	Kind     waitstate.Kind
}

// behind is what a wait is for a late receiver behind a late sender. The call waits so many ticks, from Wait.From on, under LateSender,
// and for the rest of the time under its kind.
type behind struct {
	time             int64
	sender, receiver uint32 // rows of messages: in Recvs that of the late sender, in Sends that of the late receiver
}

// Awaits reports whether the wait is for a late sender of the message in a row of the waiting location's Recvs, and nothing else.
func (w *Wait) Awaits(row uint32) bool { return w.Kind == waitstate.LateSender && w.message == row }

// ByCall holds the waits of each location's calls.
type ByCall []*Table

// Find finds how long each call waits and for whom, with so many goroutines (below 1: one
// per processor). The tables lie in the trace's store.
func Find(ctx context.Context, t *trace.Trace, jobs int) (ByCall, error) {
	s, err := scope.New(t, scope.Selection{})
	if err != nil {
		return nil, err
	}
	w := NewFinder(t, &s, jobs, 0)
	if err := w.Run(ctx); err != nil {
		return nil, err
	}
	w.ReleaseSizes()
	return w.Calls, t.Store.Err()
}

// Finder finds the waits of a trace and sums them, each location those of its own calls:
// what it needs of others stands in tables that nobody changes any more.
type Finder struct {
	T        *trace.Trace
	Scope    *scope.Scope
	Jobs     int
	top      int
	order    []uint32 // of locations: trace.Trace.Order
	unsized  bool     // no size of a collective is recorded: see trace.Trace.Sized
	Calls    ByCall
	Sync     *SyncTables              // nil: not asked for
	Sizes    []*spill.Table[CallSize] // by location and call; nil: not asked for
	summed   bool                     // bytes of collectives are recorded as sums over the ranks; known with sizes
	Messages *messagePairs            // nil: not asked for
	parts    *spill.Table[memberPart]
	lacking  []bool // by location: see Incomplete

	// Exchanging is the size from which on calls that send and receive wait for the receivers of what they send; MaxUint64: nothing
	// shows that they do. It is known once Run has returned.
	Exchanging uint64
	held       *held // nil: nothing is known of messages
	WaitSums
}

// WaitSums adds up the waits, messages and collectives of some calls of the selection.
type WaitSums struct {
	Sums            [waitstate.Kinds]waitSum
	Same, Different int64    // ticks of wrong order, by whether both messages come from one location
	ByPath          []int64  // ticks of wait by call path, startup included
	Together        []int64  // those of them in collectives
	Bytes           []uint64 // by call path
	Colls           collSums
	Msgs            *messageSums
	Met             pairCache
	order           []uint32 // of locations
}

// A waitSum adds up one kind of wait.
type waitSum struct {
	Count uint64
	Time  int64
	Top   Longest
}

// NewFinder returns what finds the waits of a trace and sums up those of the scope, with so many goroutines (below 1: one
// per processor). It keeps the longest ones, top of each kind.
func NewFinder(t *trace.Trace, s *scope.Scope, jobs, top int) *Finder {
	w := &Finder{T: t, Scope: s, Jobs: jobs, top: top, order: t.Order(), unsized: !t.Sized()}
	w.WaitSums = *w.NewSums()
	for _, calls := range t.Calls {
		w.Calls = append(w.Calls, NewTable(t.Store, calls.Len()))
	}
	return w
}

// NewSums returns empty sums.
func (w *Finder) NewSums() *WaitSums {
	s := &WaitSums{order: w.order, ByPath: make([]int64, len(w.T.Tree.Nodes)), Together: make([]int64, len(w.T.Tree.Nodes)),
		Bytes: make([]uint64, len(w.T.Tree.Nodes)),
		Colls: make(collSums), Msgs: newMessageSums(w.T, w.Scope)}
	for k := range s.Sums {
		s.Sums[k].Top = longest(w.top)
	}
	return s
}

// Combine adds the sums of o, and returns s.
func (s *WaitSums) Combine(o *WaitSums) *WaitSums {
	for k := range s.Sums {
		s.Sums[k].Count += o.Sums[k].Count
		s.Sums[k].Time = numbers.Plus(s.Sums[k].Time, o.Sums[k].Time)
		for _, i := range o.Sums[k].Top.Kept {
			s.Sums[k].Top.Offer(i)
		}
	}
	s.Same, s.Different = numbers.Plus(s.Same, o.Same), numbers.Plus(s.Different, o.Different)
	for p := range s.ByPath {
		s.ByPath[p] = numbers.Plus(s.ByPath[p], o.ByPath[p])
		s.Together[p] = numbers.Plus(s.Together[p], o.Together[p])
		s.Bytes[p] += o.Bytes[p]
	}
	s.Colls.merge(o.Colls)
	s.Msgs.merge(o.Msgs)
	s.Met.merge(&o.Met)
	return s
}

// KeepSizes asks for the size and role of each call.
func (w *Finder) KeepSizes() {
	w.summed = recordsSums(w.T)
	for _, calls := range w.T.Calls {
		w.Sizes = append(w.Sizes, spill.NewZeros[CallSize](w.T.Store, calls.Len()))
	}
}

// Run finds all waits and sums them. A call is charged with the longest of them.
func (w *Finder) Run(ctx context.Context) error {
	w.startup(trace.ClassInit)
	w.startup(trace.ClassFinalize)
	var err error
	if w.Exchanging, err = w.exchanging(ctx); err != nil {
		return err
	}
	if w.held, err = w.findHeld(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) (*WaitSums, error){w.collectives, w.pointToPoint, w.chargeCalls} {
		sums, err := step(ctx)
		if err != nil {
			return err
		}
		w.WaitSums.Combine(sums)
	}
	w.parts.Release()
	for _, t := range w.Calls {
		t.Rows = t.Rows.Sealed()
	}
	return nil
}

// fold sums what visit adds for each location.
func (w *Finder) fold(ctx context.Context, visit func(s *WaitSums, l trace.LocationID)) (*WaitSums, error) {
	return engine.Fold(ctx, w.Jobs, len(w.T.Calls), w.NewSums, func(s *WaitSums, l int) error {
		visit(s, trace.LocationID(l))
		return nil
	}, (*WaitSums).Combine)
}

// chargeCalls adds up the waits of all calls.
func (w *Finder) chargeCalls(ctx context.Context) (*WaitSums, error) {
	return w.fold(ctx, func(s *WaitSums, l trace.LocationID) {
		for _, rows := range w.Calls[l].Rows.Rows {
			if ctx.Err() != nil {
				return // the engine says so
			}
			for i := range rows {
				row := &rows[i]
				sender, message := w.Calls[l].Sender(row)
				if sender > 0 {
					late := s.Charge(w.Scope, waitstate.LateSender, l, row.event.Seq(), row.Path, row.From, sender)
					s.Msgs.senders.add(w.T.Rank[w.T.Recvs[l].Ptr(int(message)).SendLoc], late)
				}
				rest := s.Charge(w.Scope, row.Kind, l, row.event.Seq(), row.Path, row.From+sender, row.Time-sender)
				switch row.Kind {
				case waitstate.LateSender:
					s.Msgs.senders.add(w.T.Rank[row.Location], rest)
				case waitstate.LateReceiver, waitstate.LateReceiverBehindLateSender:
					s.Msgs.receivers.add(w.T.Rank[row.Location], rest)
				}
				if w.Scope.Has(l) && int(row.Path) < len(s.ByPath) {
					clipped := w.Scope.Clip(row.From, row.From+row.Time)
					s.ByPath[row.Path] = numbers.Plus(s.ByPath[row.Path], clipped)
					if !row.Kind.Info().Partner {
						s.Together[row.Path] = numbers.Plus(s.Together[row.Path], clipped)
					}
				}
			}
		}
		s.Msgs.endWaits(l)
	})
}

// Charge adds what is selected of the wait of a call, which its sequence number and path name, and returns it.
func (s *WaitSums) Charge(scope *scope.Scope, kind waitstate.Kind, l trace.LocationID, seq uint64, path trace.PathID,
	from, time int64) int64 {
	clipped := scope.Clip(from, from+time)
	if clipped <= 0 || !scope.Has(l) {
		return 0
	}
	sum := &s.Sums[kind]
	sum.Count++
	sum.Time = numbers.Plus(sum.Time, clipped)
	if sum.Top.takes(clipped) {
		sum.Top.Offer(Instance{Time: clipped, Start: scope.Clamp(from), Location: l, order: s.order[l], seq: seq, Path: path})
	}
	return clipped
}

// addBytes adds the bytes of a call to its call path: what it sends; of receives, and of
// the root of N×1, what it receives; of MPI_Wait… what it completes, in both directions.
func (w *Finder) addBytes(s *WaitSums, l trace.LocationID, call *trace.Call, bytes uint64) {
	if w.Scope.Overlaps(l, call.Enter, call.Leave) && int(call.Path) < len(s.Bytes) {
		s.Bytes[call.Path] += bytes
	}
}

// ReleaseSizes lets the sizes of calls go.
func (w *Finder) ReleaseSizes() {
	for _, sizes := range w.Sizes {
		sizes.Release()
	}
}

// startup notes who waits in MPI_Init or MPI_Finalize, which count as N×N: the first such
// call of each location is its part.
func (w *Finder) startup(class trace.CallClass) {
	var in []member
	for l, calls := range w.T.Calls {
		i := trace.FindStartup(calls, class)
		if i < 0 {
			continue
		}
		c := calls.At(i)
		in = append(in, member{location: trace.LocationID(l), order: w.order[l], call: uint32(i), enter: c.Enter, leave: c.Leave})
	}
	last := latest(in, everyone)
	for _, m := range in {
		wait := min(in[last].enter, m.leave) - m.enter
		if wait <= 0 {
			continue
		}
		w.Calls[m.location].Note(m.call, w.T.Calls[m.location].Ptr(int(m.call)),
			&Wait{Time: wait, From: m.enter, Location: in[last].location, Call: in[last].call, Kind: waitstate.AtStartup,
				message: trace.None})
	}
}
