package samples

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tracekit/trace"
)

// Random returns a small random program's trace and its truth: 2 to 5 ranks without
// threads, tens of events each, all kinds of call, any order that cannot deadlock. The
// same seed gives the same trace.
//
// The program is one list of steps (a message, a collective, a wait …). Each is given to all ranks that it needs before the next one. A
// call only waits for parts of its own or of earlier steps, so every rank comes to its end.
func Random(seed uint64) (*Memory, *Truth) {
	r := &randomProgram{rand: rand.New(rand.NewPCG(seed, 0x72616e646f6d))}
	o := Options{Program: "random", Ranks: 2 + r.rand.IntN(4), Iterations: 1}.withDefaults()
	r.build(o.Ranks)
	p := &plan{regions: []userRegion{{"outer", 60}, {"inner", 70}}, comms: r.comms,
		step: func(s *script, _ int) { s.ops = append(s.ops, r.ranks[s.rank].ops...) }}
	clocks := make([]localClock, o.Ranks)
	m := NewMemory(trace.Info{Description: fmt.Sprintf("random program %d", seed)}, makeDefs(o, p, clocks))
	truth, err := simulate(context.Background(), o, p, clocks, m)
	if err != nil {
		panic(fmt.Sprintf("samples: random program %d: %v", seed, err))
	}
	return m, truth
}

// A randomProgram is one that is being made.
type randomProgram struct {
	rand    *rand.Rand
	ranks   []*script
	open    [][]int32 // by rank: requests that were started
	comms   []namedComm
	nextTag int // of messages that no other receive may take
}

// build makes communicators of all sorts: ranks in reverse order, a part of the ranks, an
// intercommunicator. All requests are completed in the end.
func (r *randomProgram) build(ranks int) {
	half := [2][]int{}
	for i := range ranks {
		half[i%2] = append(half[i%2], i)
		r.ranks = append(r.ranks, &script{rank: i})
	}
	reverse := make([]int, ranks)
	for i := range reverse {
		reverse[i] = ranks - 1 - i
	}
	r.open, r.nextTag = make([][]int32, ranks), 100
	r.comms = worldComms(ranks, newComm("reverse", reverse...), newComm("even", half[0]...), newIntercomm("halves", half[0], half[1]))
	steps := []func(){r.compute, r.compute, r.compute, r.message, r.message, r.message, r.message, r.message, r.swapped, r.exchange,
		r.anySource, r.collective, r.collective, r.collective, r.nonBlocking, r.wait, r.wait, r.cancelled, r.lost, r.nested}
	for range 10 + r.rand.IntN(25) {
		steps[r.rand.IntN(len(steps))]()
	}
	for i, s := range r.ranks {
		if len(r.open[i]) > 0 {
			s.waitall(r.open[i]...)
		}
	}
}

// pick returns a random rank.
func (r *randomProgram) pick() *script { return r.ranks[r.rand.IntN(len(r.ranks))] }

func (r *randomProgram) keep(s *script, req int32) { r.open[s.rank] = append(r.open[s.rank], req) }

func (r *randomProgram) tag() int { r.nextTag++; return r.nextTag }

func (r *randomProgram) compute() { r.pick().compute(regionCompute, 1+r.rand.Int64N(8000)) }

// nested computes in regions within each other.
func (r *randomProgram) nested() {
	s := r.pick()
	s.enter(regionUser)
	s.compute(regionUser+1, 1+r.rand.Int64N(500))
	s.compute(regionUser, 1+r.rand.Int64N(500)) // a recursion
	s.leave(regionUser)
}

// between returns a random communicator and the two ranks' numbers in it.
func (r *randomProgram) between(from, to int) (comm trace.CommID, fromNumber, toNumber int) {
	var fits []trace.CommID
	for i, c := range r.comms {
		if c.self && from != to || !c.self && !c.reaches(from, to) {
			continue
		}
		fits = append(fits, trace.CommID(i))
	}
	comm = fits[r.rand.IntN(len(fits))]
	c := &r.comms[comm]
	return comm, c.rankOf(from), c.rankOf(to)
}

// reaches reports whether a message can go from one rank to another.
func (c *commMembers) reaches(from, to int) bool {
	in := func(group []int, rank int) bool {
		for _, g := range group {
			if g == rank {
				return true
			}
		}
		return false
	}
	if c.other != nil {
		return in(c.world, from) && in(c.other, to) || in(c.other, from) && in(c.world, to)
	}
	return in(c.world, from) && in(c.world, to)
}

// size returns a random size, now and then too large to be sent eagerly.
func (r *randomProgram) size() int64 {
	if r.rand.IntN(4) == 0 {
		return eagerLimit + r.rand.Int64N(eagerLimit)
	}
	return r.rand.Int64N(2000)
}

// message sends a message and receives it in a random way.
func (r *randomProgram) message() {
	from, to := r.pick(), r.pick()
	comm, fromNumber, toNumber := r.between(from.rank, to.rank)
	tag := r.rand.IntN(2)
	r.send(from, envelope{peer: toNumber, tag: tag, comm: comm, bytes: r.size()}, from == to)
	r.receive(to, envelope{peer: fromNumber, tag: tag, comm: comm}, from == to)
}

// send posts a send; it must not block if the rank sends to itself.
func (r *randomProgram) send(s *script, e envelope, self bool) {
	switch kind := r.rand.IntN(6); {
	case self || kind < 3:
		req := s.isend(e)
		r.startNow(s)
		r.keep(s, req)
	case kind == 3:
		s.send(e)
	case kind == 4:
		s.ssend(e)
	default:
		s.bsend(e)
	}
}

// startNow makes the last operation one of a persistent request, now and then.
func (r *randomProgram) startNow(s *script) {
	if r.rand.IntN(4) == 0 {
		s.ops[len(s.ops)-1].region = regionStart
	}
}

// receive posts a receive; a probe would find the wrong message, or none yet, if the rank
// sends to itself.
func (r *randomProgram) receive(s *script, e envelope, self bool) {
	switch kind := r.rand.IntN(5); {
	case kind < 2:
		req := s.irecv(e)
		r.startNow(s)
		r.keep(s, req)
	case kind == 2 && !self:
		s.probe(e)
		s.recv(e)
	default:
		s.recv(e)
	}
}

// swapped sends two messages and receives the second one first.
func (r *randomProgram) swapped() {
	from, to := r.pick(), r.pick()
	if from == to {
		return
	}
	first, second := r.tag(), r.tag()
	from.bsend(envelope{peer: to.rank, tag: first, bytes: 10})
	from.compute(regionCompute, 1+r.rand.Int64N(8000))
	from.bsend(envelope{peer: to.rank, tag: second, bytes: 10})
	to.recv(envelope{peer: from.rank, tag: second})
	to.recv(envelope{peer: from.rank, tag: first})
}

// exchange: both ranks send and receive in one call, which never waits for its send.
func (r *randomProgram) exchange() {
	a, b := r.pick(), r.pick()
	if a == b {
		return
	}
	tag := r.rand.IntN(2)
	bytes := r.size()
	a.sendrecv(envelope{peer: b.rank, tag: tag, bytes: bytes}, envelope{peer: b.rank, tag: tag})
	b.sendrecv(envelope{peer: a.rank, tag: tag, bytes: bytes}, envelope{peer: a.rank, tag: tag})
}

// anySource lets one rank take messages of several in any order.
func (r *randomProgram) anySource() {
	to := r.pick()
	tag := r.tag()
	for _, s := range r.ranks {
		if s != to {
			s.bsend(envelope{peer: to.rank, tag: tag, bytes: 100})
		}
	}
	for range len(r.ranks) - 1 {
		e := envelope{peer: anySource, tag: tag}
		if r.rand.IntN(2) == 0 {
			r.keep(to, to.irecv(e))
		} else {
			to.recv(e)
		}
	}
}

// members returns a random communicator with the scripts of its members, and whether it
// has one member alone.
func (r *randomProgram) members() (trace.CommID, []*script) {
	comm := trace.CommID(r.rand.IntN(len(r.comms)))
	c := r.comms[comm]
	if c.self {
		return comm, []*script{r.pick()}
	}
	var list []*script
	for _, w := range append(append([]int(nil), c.world...), c.other...) {
		list = append(list, r.ranks[w])
	}
	return comm, list
}

// collective performs a blocking operation; some members may have nothing to say.
func (r *randomProgram) collective() {
	comm, list := r.members()
	op := trace.CollectiveOp(r.rand.IntN(int(trace.CollReduceScatterBlock) + 1))
	inter := r.comms[comm].other != nil
	if inter && patternOf(op) == trace.PatternScan {
		return // MPI has none
	}
	root := r.rand.IntN(len(list))
	if inter {
		root = r.rand.IntN(len(r.comms[comm].world))
	}
	mute := r.rand.IntN(3 * len(list))
	for i, s := range list {
		c := collective{op: op, comm: comm, root: root, sent: 8, received: 8}
		if op == trace.CollBarrier || i == mute && i != root {
			c.sent, c.received = 0, 0
		}
		if inter && i < len(r.comms[comm].world) && patternOf(op).Rooted() {
			if c.rootAs = trace.RootThisGroup; i == root {
				c.rootAs = trace.RootSelf
			}
		}
		s.coll(c)
	}
}

// nonBlocking starts a collective that a later wait completes.
func (r *randomProgram) nonBlocking() {
	comm, list := r.members()
	ops := []trace.CollectiveOp{trace.CollBarrier, trace.CollAllreduce, trace.CollAlltoallv}
	op := ops[r.rand.IntN(len(ops))]
	for _, s := range list {
		r.keep(s, s.icoll(collective{op: op, comm: comm, sent: 8, received: 8}))
	}
}

// wait completes, or only tests, some requests of a rank.
func (r *randomProgram) wait() {
	s := r.pick()
	open := r.open[s.rank]
	if len(open) == 0 {
		return
	}
	i := r.rand.IntN(len(open))
	switch r.rand.IntN(4) {
	case 0:
		s.test(open[i])
		return // the request stays: nobody knows whether it is complete
	case 1:
		s.waitany(open...)
		return
	case 2:
		s.waitall(open...)
		r.open[s.rank] = nil
		return
	}
	s.wait(open[i])
	r.open[s.rank] = append(append([]int32(nil), open[:i]...), open[i+1:]...)
}

// cancelled posts a receive with a tag that nobody sends, and cancels it.
func (r *randomProgram) cancelled() {
	s := r.pick()
	req := s.irecv(envelope{peer: anySource, tag: r.tag()})
	s.cancel(req)
	r.keep(s, req)
}

// lost sends a message that is not received, or receives one whose send is not recorded.
func (r *randomProgram) lost() {
	from, to := r.pick(), r.pick()
	e := envelope{peer: to.rank, tag: r.tag(), bytes: 30}
	if r.rand.IntN(2) == 0 || from == to {
		from.bsend(e)
		return
	}
	from.add(op{kind: opBsend, region: regionBsend, send: e, hidden: true})
	to.recv(envelope{peer: from.rank, tag: e.tag})
}
