package samples

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"tracekit/trace"
)

// The cost model, in ticks.
const (
	startTime   = 1_000_000_000 // of all programs: first event of every rank
	sendCost    = 400           // of a send call, until the message is on its way
	recvCost    = 300           // from the message's arrival to the end of the call
	callCost    = 200           // of calls that only start or look
	recordCost  = 1             // from Enter to the record, from the record to Leave
	collCost    = 2000          // of a collective, from its last arrival
	collStagger = 50            // members 0, 1, 2, 0, 1, 2, … leave that much after each other
)

// transfer is the time of a message on the network.
func (n *Network) transfer(bytes int64) int64 {
	if n.BytesPerTick == 0 {
		return n.Latency
	}
	return n.Latency + bytes/n.BytesPerTick
}

// A program yields the operations of each rank, iteration by iteration.
type program interface {
	// iteration appends what the rank of the script does in iteration i.
	iteration(s *script, i int)
}

// A simulation runs the ranks of a program. It always lets the rank with the smallest
// clock take its next step, so what a rank does can only depend on what others did before.
type simulation struct {
	program    program
	iterations int
	network    *Network
	record     int64 // ticks that a record costs
	ranks      []*rank
	comms      []commMembers
	instances  map[instanceKey]*instance
	ready      rankHeap
	now        int64 // no rank that can go on has a smaller clock
	truth      *Truth
}

// A commMembers holds the world ranks of a communicator. Of an intercommunicator, other
// holds the group that is not the first.
type commMembers struct {
	world []int
	other []int
	self  bool        // each rank alone
	index map[int]int // rank in its group of a world rank; nil: the same
}

// size returns the number of members that take part in a collective.
func (c *commMembers) size() int {
	if c.self {
		return 1
	}
	return len(c.world) + len(c.other)
}

// rankOf returns the rank of a process in its group.
func (c *commMembers) rankOf(world int) int {
	switch {
	case c.self:
		return 0
	case c.index == nil:
		return world
	}
	return c.index[world]
}

// peer returns the process that a rank names by its number.
func (c *commMembers) peer(me, number int) int {
	switch {
	case c.self:
		return me
	case c.other != nil && slices.Contains(c.world, me):
		return c.other[number]
	}
	return c.world[number]
}

// A rank is a process that runs its script.
type rank struct {
	id       int
	clock    int64
	script   script
	pc       int // next operation
	iter     int
	call     *call // that the rank is in
	blocked  bool  // in it until others act
	master   *recorder
	workers  []*recorder
	requests map[int32]*request
	nextID   uint64     // of a request in the trace
	posted   []*receive // without a message
	waiting  []*message // to this rank, without a receive
	ordinals map[trace.CommID]uint64
	charges  []*charge // calls whose wait states are not settled yet
	window   window
	done     bool
	mpi      int64 // time in MPI calls
}

// A rankHeap orders ranks by clock.
type rankHeap []*rank

func (h rankHeap) Len() int { return len(h) }
func (h rankHeap) Less(i, j int) bool {
	return h[i].clock < h[j].clock || h[i].clock == h[j].clock && h[i].id < h[j].id
}
func (h rankHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *rankHeap) Push(x any)   { *h = append(*h, x.(*rank)) }
func (h *rankHeap) Pop() any {
	old := *h
	r := old[len(old)-1]
	*h = old[:len(old)-1]
	return r
}

// run performs all operations and completes the truth.
func (s *simulation) run(ctx context.Context) error {
	for _, r := range s.ranks {
		r.clock = startTime
		r.master.enter(startTime, regionMain)
		heap.Push(&s.ready, r)
	}
	for steps := 0; len(s.ready) > 0; steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := heap.Pop(&s.ready).(*rank)
		s.now = r.clock
		s.advance(r)
		if !r.done && !r.blocked {
			heap.Push(&s.ready, r)
		}
		if r.master.err != nil {
			return r.master.err
		}
	}
	return s.finish()
}

// unblock lets a rank go on from its blocked call if the end of that is known now.
func (s *simulation) unblock(r *rank) {
	if r.blocked && s.complete(r) {
		r.blocked = false
		heap.Push(&s.ready, r)
	}
}

// advance takes the next operation of a rank.
func (s *simulation) advance(r *rank) {
	for r.pc == len(r.script.ops) {
		r.pc, r.script.ops = 0, r.script.ops[:0]
		switch {
		case r.iter == 0:
			r.script.add(op{kind: opColl, region: regionInit, coll: collective{op: initOp}})
		case r.iter <= s.iterations:
			s.program.iteration(&r.script, r.iter-1)
		case r.iter == s.iterations+1:
			r.script.add(op{kind: opColl, region: regionFinalize, coll: collective{op: finalizeOp}})
		default:
			r.clock += s.record
			r.master.leave(r.clock, regionMain)
			r.done = true
			return
		}
		r.iter++
	}
	s.start(r, &r.script.ops[r.pc])
}

// MPI_Init and MPI_Finalize synchronise all ranks and have no collective records.
const (
	initOp     trace.CollectiveOp = 254
	finalizeOp trace.CollectiveOp = 255
)

// start begins an operation; if it cannot end yet, the rank is blocked in it.
func (s *simulation) start(r *rank, o *op) {
	switch o.kind {
	case opCompute:
		s.compute(r, o)
	case opEnter:
		r.clock += s.record
		r.master.enter(r.clock, o.region)
	case opLeave:
		r.clock += s.record
		r.master.leave(r.clock, o.region)
	case opFork:
		s.fork(r, o)
	default:
		s.startCall(r, o)
		return
	}
	r.pc++
}

// compute lets a rank compute on its own.
func (s *simulation) compute(r *rank, o *op) {
	r.clock += s.record
	r.master.enter(r.clock, o.region)
	r.clock += o.ticks + s.record
	r.master.leave(r.clock, o.region)
}

// finish checks that all ranks came to their ends and adds up.
func (s *simulation) finish() error {
	t := s.truth
	t.First = startTime
	for _, r := range s.ranks {
		if !r.done {
			return fmt.Errorf("rank %d is stuck in operation %d of iteration %d", r.id, r.pc, r.iter-2)
		}
		s.settle(r, true)
		t.Last = max(t.Last, r.clock)
		t.Useful = append(t.Useful, r.clock-startTime-r.mpi)
		for _, m := range r.waiting {
			if !m.hidden {
				t.UnmatchedSends++
			}
		}
	}
	t.CriticalPathLength = t.Last - t.First
	for _, r := range s.ranks {
		for _, rec := range append([]*recorder{r.master}, r.workers...) {
			if rec.flush(); rec.err != nil {
				return rec.err
			}
			t.Events += rec.total
		}
	}
	return nil
}
