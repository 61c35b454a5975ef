package samples

import (
	"math"

	"tracekit/trace"
)

// An instance is one collective operation. begin is by member: ranks in the communicator,
// those of an intercommunicator's second group after those of its first.
type instance struct {
	op       trace.CollectiveOp
	root     int
	blocking bool
	begin    []int64
	present  []bool
	idle     []bool  // neither sends nor receives, and is no barrier's
	inRoots  int     // members 0..inRoots-1 are the root's group of an intercommunicator
	ranks    []*rank // those present
	arrived  int
	last     int64 // latest beginning so far
}

// An instanceKey identifies an instance.
type instanceKey struct {
	comm    trace.CommID
	rank    int // on communicators of one rank, else 0
	ordinal uint64
}

// patternOf returns an operation's pattern. MPI_Init and MPI_Finalize behave as barriers.
func patternOf(op trace.CollectiveOp) trace.Pattern {
	if op >= initOp {
		return trace.PatternBarrier
	}
	return op.Pattern()
}

// member returns the number of a rank in an instance on a communicator.
func (s *simulation) member(r *rank, comm trace.CommID) int {
	c := &s.comms[comm]
	n := c.rankOf(r.id)
	if c.other != nil && c.world[min(n, len(c.world)-1)] != r.id {
		n += len(c.world)
	}
	return n
}

// arrive lets a rank enter a collective.
func (s *simulation) arrive(r *rank, o *op, blocking bool) part {
	comm := &s.comms[o.coll.comm]
	key := instanceKey{comm: o.coll.comm, ordinal: r.ordinals[o.coll.comm]}
	if comm.self {
		key.rank = r.id
	}
	r.ordinals[o.coll.comm]++
	in := s.instances[key]
	if in == nil {
		n := comm.size()
		in = &instance{op: o.coll.op, root: o.coll.root, blocking: blocking, begin: make([]int64, n),
			present: make([]bool, n), idle: make([]bool, n), inRoots: rootGroup(comm, o.coll.op)}
		s.instances[key] = in
	}
	i := s.member(r, o.coll.comm)
	in.begin[i], in.present[i] = r.clock, true
	in.idle[i] = o.coll.sent == 0 && o.coll.received == 0 && patternOf(o.coll.op) != trace.PatternBarrier
	in.arrived++
	in.last = max(in.last, r.clock)
	in.ranks = append(in.ranks, r)
	if in.arrived == len(in.begin) {
		delete(s.instances, key)
		s.account(in)
	}
	p := patternOf(in.op)
	if in.arrived == len(in.begin) || p == trace.PatternScan || p == trace.PatternOneToAll && i == in.root {
		for _, other := range in.ranks {
			if other != r {
				s.unblock(other)
			}
		}
	}
	return part{in, i}
}

// rootGroup returns the size of the root's group, which is the first one.
func rootGroup(c *commMembers, op trace.CollectiveOp) int {
	if c.other == nil || !patternOf(op).Rooted() {
		return 0
	}
	return len(c.world)
}

// takesPart reports whether a member can wait, or let others wait.
func (in *instance) takesPart(i int) bool {
	return !in.idle[i] && (i == in.root || i >= in.inRoots)
}

// latest returns the latest beginning of the members from..to-1; known is false while one
// of them is missing.
func (in *instance) latest(from, to int) (t int64, known bool) {
	if from == 0 && to == len(in.begin) {
		return in.last, in.arrived == to
	}
	t = in.begin[from]
	for i := from; i < to; i++ {
		if !in.present[i] {
			return 0, false
		}
		t = max(t, in.begin[i])
	}
	return t, true
}

// A part is one member's part in an instance.
type part struct {
	*instance
	member int
}

// end returns when the member may leave, if that is known. Non-blocking operations end
// when all have started them.
func (p part) end() (int64, bool) {
	n, pattern := len(p.begin), patternOf(p.op)
	own := p.begin[p.member]
	from, to, stagger := 0, n, int64(p.member%3)*collStagger
	switch {
	case !p.blocking:
	case p.idle[p.member]:
		return own + collCost, true
	case pattern == trace.PatternOneToAll:
		from, to, stagger = p.root, p.root+1, 0
	case pattern == trace.PatternAllToOne && p.member != p.root:
		return own + collCost, true
	case pattern == trace.PatternScan:
		to, stagger = p.member+1, 0
	case pattern == trace.PatternBarrier:
		stagger = 0
	}
	t, known := p.latest(from, to)
	return max(t, own) + collCost + stagger, known
}

// account adds up the wait states of a blocking instance whose members have all arrived.
func (s *simulation) account(in *instance) {
	if in.op >= initOp {
		return
	}
	s.truth.Collectives++
	s.truth.CollectiveMembers += uint64(len(in.begin))
	if !in.blocking || len(in.begin) == 1 {
		return
	}
	w := &s.truth.Waits
	last, firstEnd := in.bounds()
	for i, b := range in.begin {
		if !in.takesPart(i) {
			continue
		}
		e, _ := part{in, i}.end()
		switch patternOf(in.op) {
		case trace.PatternAllToAll:
			w.WaitAtNxN.add(last - b)
			w.NxNCompletion.add(e - max(firstEnd, last))
		case trace.PatternBarrier:
			w.WaitAtBarrier.add(last - b)
			w.BarrierCompletion.add(e - max(firstEnd, last))
		case trace.PatternSparse:
			w.WaitAtNxNUnclassified.add(last - b)
		case trace.PatternOneToAll:
			if in.takesPart(in.root) {
				w.LateBroadcast.add(in.begin[in.root] - b)
			}
		case trace.PatternAllToOne:
			if i == in.root {
				w.EarlyReduce.add(in.latestOf(func(j int) bool { return j != i }) - b)
			}
		case trace.PatternScan:
			w.EarlyScan.add(in.latestOf(func(j int) bool { return j <= i }) - b)
		}
	}
}

// bounds returns the latest beginning and the earliest end of those who take part.
func (in *instance) bounds() (last, firstEnd int64) {
	firstEnd = math.MaxInt64
	for i := range in.begin {
		if in.takesPart(i) {
			e, _ := part{in, i}.end()
			firstEnd = min(firstEnd, e)
		}
	}
	return in.latestOf(func(int) bool { return true }), firstEnd
}

// latestOf returns the latest beginning of those who take part, of some members.
func (in *instance) latestOf(of func(member int) bool) int64 {
	var t int64
	for i, b := range in.begin {
		if in.takesPart(i) && of(i) {
			t = max(t, b)
		}
	}
	return t
}

// collRow returns the record that ends a rank's part in a collective.
func collRow(at int64, kind trace.Kind, c collective, id uint64) trace.CollRow {
	row := trace.CollRow{Time: at, Kind: kind, Op: c.op, Comm: c.comm, Root: trace.RootNone,
		Sent: uint64(c.sent), Received: uint64(c.received), Request: id}
	if patternOf(c.op).Rooted() {
		row.Root = uint32(c.root)
	}
	if c.rootAs != 0 {
		row.Root = c.rootAs
	}
	return row
}
