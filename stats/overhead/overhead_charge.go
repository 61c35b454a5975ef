package overhead

import (
	"context"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// charges adds up the overhead of calls.
type charges struct {
	Paths  []overheadSum // by call path
	groups []int64       // by group: overhead in ns
	pairs  []pairSum     // by number of the pair, less 1
	lines  lineBars
}

func (c *charges) combine(o *charges) {
	for p := range c.Paths {
		c.Paths[p].merge(&o.Paths[p])
	}
	for g := range c.groups {
		c.groups[g] = numbers.Plus(c.groups[g], o.groups[g])
	}
	c.lines.merge(o.lines)
	for p := range c.pairs {
		c.pairs[p].merge(&o.pairs[p])
	}
}

// Charge charges the overhead of all calls, and lets what only that needs go: if it can be, before
// the profile, which makes the largest tables.
func (o *Finder) Charge(ctx context.Context) error {
	if o.opts.PerCall {
		o.ByCall = make(ByCall, len(o.T.Calls))
	}
	byRank := make([][]pathOnRank, len(o.T.Calls))
	w, err := engine.Fold(ctx, o.Jobs, len(o.T.Calls), o.newCharger, func(w *charger, l int) error {
		byRank[l] = w.location(ctx, trace.LocationID(l))
		return nil
	}, func(a, b *charger) *charger { a.charges.combine(&b.charges); return a })
	if err != nil {
		return err
	}
	o.charges, o.byRank = w.charges, slices.Concat(byRank...)
	for p := range o.charges.pairs {
		o.charges.pairs[p].paths = o.Messages.Paths[p]
		o.charges.pairs[p].messages = o.Met.Received[p]
	}
	o.Messages.Release()
	return nil
}

// A charger charges calls, location by location.
type charger struct {
	*Finder
	charges charges
	limits  map[commKey]*limit
	limited []memo[limit] // by call path
	counted []countedLine // by call path

	commWalk                                 // over the present location
	ended    spill.Cursor[waits.RowInFlight] // of messages
	next     int                             // row of ended: that of the present call or of a later one
	found    []messageEnd                    // of the present call
	sums     []int64                         // of the location by call path: overhead in ns
	touched  []trace.PathID
}

func (o *Finder) newCharger() *charger {
	n := len(o.T.Tree.Nodes)
	return &charger{Finder: o, limits: make(map[commKey]*limit), limited: make([]memo[limit], n), counted: make([]countedLine, n),
		sums: make([]int64, n),
		charges: charges{Paths: make([]overheadSum, n), groups: make([]int64, len(o.groups)), pairs: make([]pairSum, len(o.Messages.Paths)),
			lines: make(lineBars)}}
}

// location charges the calls of a location and returns their overhead by call path.
func (w *charger) location(ctx context.Context, l trace.LocationID) (sums []pathOnRank) {
	w.commWalk, w.ended, w.next, w.touched = w.newCommWalk(ctx, l), w.Messages.Ended[l].Cursor(), 0, w.touched[:0]
	for w.advance() {
		for k := range w.Ahead {
			overhead := int64(-1)
			if c := &w.Ahead[k]; w.Communicates(c) && w.Scope.Overlaps(l, c.Enter, c.Leave) {
				overhead = w.call(c, k)
			}
			if w.ByCall != nil {
				w.ByCall.Add(w.T.Store, l, overhead)
			}
		}
	}
	w.Sizes[l].Release() // makes room for the overhead of the next location's calls
	w.Sizes[l] = nil
	if w.ByCall != nil {
		w.ByCall[l].calls = w.ByCall[l].calls.Sealed()
	}
	slices.Sort(w.touched)
	for _, path := range w.touched {
		sums = append(sums, pathOnRank{path, w.T.Rank[l], w.sums[path]})
		w.sums[path] = 0
	}
	return sums
}

// find looks up the limit for calls of a path.
func (w *charger) find(path trace.PathID, kind callKind) *limit {
	k := w.keyOf(kind)
	x := w.limits[k]
	if x == nil {
		x = w.newLimit(w.fitKey(k))
		if len(w.limits) < 64*keyLimit {
			w.limits[k] = x
		}
	}
	return w.limited[path].keep(kind, x)
}

// A messageEnd is one end of a matched message in a call: that posts or completes its send,
// or completes its receive.
type messageEnd struct {
	pair     uint32
	receives bool
	row      uint32
}

// call charges a call of the run to its path, its key and the pairs of lines that it joins, and
// returns its overhead in ns.
func (w *charger) call(c *trace.Call, k int) int64 {
	kind := callKind{w.T.Tree.Region(c.Path), w.processes(c), w.size[k]}
	x := w.limited[c.Path].Of(kind)
	if x == nil {
		x = w.find(c.Path, kind)
	}
	ticks := w.Scope.Clip(c.Enter, c.Leave)
	time := w.rate.Ns(ticks)
	if w.lineOf != nil && x.group >= 0 && w.whole(c) {
		w.count(c.Path, x.group, time-w.waited(time, w.waitOf[k]))
	}
	sum := &w.charges.Paths[c.Path]
	sum.calls++
	sum.total = numbers.Plus(sum.total, ticks)
	if x.unreliable {
		sum.unreliable++
	}
	if x.foreign {
		sum.foreign++
	}
	overhead := fit.Overhead(time, x.tMax)
	if cause := w.waitOf[k]; overhead > 0 || cause > 0 {
		_, last := w.At(k)
		e := commCall{Call: c, row: uint32(w.First + k), last: last, wait: w.waited(time, cause), cause: cause}
		w.slow(&e, overhead, x)
	}
	return overhead
}

// slow charges a call that takes longer than it must, or waits.
func (w *charger) slow(e *commCall, overhead int64, x *limit) {
	part := split(e, overhead, x)
	w.charges.Paths[e.Path].add(&part)
	if overhead > 0 {
		if w.sums[e.Path] == 0 {
			w.touched = append(w.touched, e.Path)
		}
		w.sums[e.Path] = numbers.Plus(w.sums[e.Path], overhead)
		w.charges.groups[x.group] = numbers.Plus(w.charges.groups[x.group], overhead)
	}
	w.found = w.found[:0]
	w.sent(e)
	w.received(e)
	w.chargePairs(&part, e, x.unreliable)
}

// sent adds the ends of the messages whose sends a call posts, and of those that it
// completes for others.
func (w *charger) sent(e *commCall) {
	for k := int(e.FirstSend); k < e.last.Send; k++ {
		if s := w.Sends.Ptr(k); s.State == trace.Matched && s.Call == e.row {
			w.addSend(uint32(k), s)
		}
	}
	for ; w.next < w.Messages.Ended[w.L].Len(); w.next++ {
		s := *w.ended.Ptr(w.next)
		if s.Call() > e.row {
			break
		}
		if s.Call() == e.row {
			w.addSend(s.Row(), w.Sends.Ptr(int(s.Row())))
		}
	}
}

func (w *charger) addSend(row uint32, s *trace.Send) {
	w.found = append(w.found, messageEnd{w.Messages.Recvs[s.RecvLoc].At(int(s.Recv)).Number(), false, row})
}

// received adds the ends of the messages whose receives a call completes.
func (w *charger) received(e *commCall) {
	pairs := w.Messages.Recvs[w.L]
	for k := int(e.FirstRecv); k < e.last.Recv; k++ {
		if pair := pairs.At(k); pair.InCall() {
			w.found = append(w.found, messageEnd{pair.Number(), true, uint32(k)})
		}
	}
}

// split divides the overhead of one call: late partner is what it waits, transfer what
// its own size needs beyond the smallest of its class, unexplained is the rest.
func split(e *commCall, overhead int64, x *limit) overheadPart {
	s := overheadPart{Overhead: overhead}
	if overhead > 0 {
		s.slow = 1
	}
	s.late = min(overhead, e.wait)
	s.transfer = min(overhead-s.late, x.transfer)
	s.unexplained = overhead - s.late - s.transfer
	return s
}

// chargePairs charges the late-partner part of a call's overhead, and its wait in ns, to
// the messages whose partners cause the wait, and divides the rest evenly among all.
func (w *charger) chargePairs(part *overheadPart, e *commCall, unreliable bool) {
	if len(w.found) == 0 {
		return
	}
	blamed, waits := w.blame(e)
	late := [2]int64{min(part.late, waits[0])}
	late[1] = min(part.late-late[0], waits[1])
	rest := part.Overhead - late[0] - late[1]
	for k, m := range w.found {
		s := &w.charges.pairs[m.pair-1]
		overhead := rest / int64(len(w.found)-k)
		rest -= overhead
		s.charged = true
		if k == blamed[0] {
			overhead += late[0]
			s.lateSender = numbers.Plus(s.lateSender, waits[0])
		}
		if k == blamed[1] {
			overhead += late[1]
			s.lateReceiver = numbers.Plus(s.lateReceiver, waits[1])
		}
		side := &s.send
		if m.receives {
			side = &s.recv
		}
		side.overhead = numbers.Plus(side.overhead, overhead)
		if unreliable {
			side.unreliable = numbers.Plus(side.unreliable, overhead)
		}
	}
}

// blame returns the message whose sender, and that whose receiver, a call waits for (-1: none
// is known), and how long it does in ns.
func (w *charger) blame(e *commCall) (messages [2]int, waits [2]int64) {
	messages = [2]int{-1, -1}
	if e.wait == 0 {
		return messages, waits
	}
	wait := w.noted.Ptr(int(e.cause - 1))
	known := w.Calls[w.L]
	switch wait.Kind {
	case waitstate.LateSender:
		messages[0], waits[0] = w.endOf(true, known.Message(wait)), e.wait
	case waitstate.LateReceiver:
		messages[1], waits[1] = w.endOf(false, known.Message(wait)), e.wait
	case waitstate.LateReceiverBehindLateSender, waitstate.LateProgress: // the latter for no message
		late, sender := known.Sender(wait)
		messages = [2]int{w.endOf(true, sender), w.endOf(false, known.Message(wait))}
		waits[0] = min(e.wait, w.rate.Ns(w.Scope.Clip(wait.From, wait.From+late)))
		waits[1] = e.wait - waits[0]
	}
	for k, m := range messages {
		if m < 0 {
			waits[k] = 0
		}
	}
	return messages, waits
}

// endOf returns the index of a message among the ends in the present call, -1 if it has none.
func (w *charger) endOf(receives bool, row uint32) int {
	return slices.IndexFunc(w.found, func(m messageEnd) bool { return m.receives == receives && m.row == row })
}
