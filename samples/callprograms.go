package samples

import "tracekit/trace"

// collectiveOps are those that the program collectives performs in turn.
var collectiveOps = [...]trace.CollectiveOp{trace.CollBcast, trace.CollScatter, trace.CollAllreduce, trace.CollAlltoall,
	trace.CollAlltoallv, trace.CollReduce, trace.CollGather, trace.CollScan, trace.CollAllgather, trace.CollReduceScatter,
	trace.CollBarrier, trace.CollExscan, trace.CollGatherv, trace.CollScatterv, trace.CollAllgatherv, trace.CollReduceScatterBlock,
	trace.CollAlltoallw}

// collectives performs each operation on the world and on one of two halves, a
// non-blocking one beside a computation, and one on the rank alone.
func collectives(o Options) *plan {
	half := [2][]int{}
	for r := range o.Ranks {
		half[r%2] = append(half[r%2], r)
	}
	return &plan{
		regions: []userRegion{{"phase", 60}},
		comms:   worldComms(o.Ranks, newComm("even", half[0]...), newComm("odd", half[1]...)),
		step: func(s *script, i int) {
			own := commUser + trace.CommID(s.rank%2)
			for k, op := range collectiveOps {
				n := i*len(collectiveOps) + k
				s.compute(regionCompute, o.work(s.rank, n))
				s.enter(regionUser)
				s.coll(exchange(op, commWorld, n%o.Ranks, o))
				s.compute(regionCompute, o.work(s.rank, n)/2)
				s.coll(exchange(op, own, n%len(half[s.rank%2]), o))
				s.leave(regionUser)
			}
			q := s.icoll(exchange(trace.CollAllreduce, commWorld, 0, o))
			s.compute(regionCompute, o.work(s.rank, i))
			s.wait(q)
			q = s.icoll(collective{op: trace.CollBarrier})
			s.wait(q)
			s.coll(exchange(trace.CollAllreduce, commSelf, 0, o))
		},
	}
}

// exchange returns a collective in which every member sends and receives.
func exchange(op trace.CollectiveOp, comm trace.CommID, root int, o Options) collective {
	c := collective{op: op, comm: comm, root: root, sent: o.Bytes, received: o.Bytes}
	if op == trace.CollBarrier {
		c.sent, c.received = 0, 0
	}
	return c
}

// requests lets pairs of ranks use the rarer ways to send and receive. With an odd number
// of ranks the last one only computes.
func requests(o Options) *plan {
	all := worldComms(o.Ranks)[commWorld].world
	return &plan{
		regions: []userRegion{{"pair", 60}},
		// Its own communicator keeps its wildcards off the messages of others.
		comms: worldComms(o.Ranks, newComm("pairs", all...)),
		step: func(s *script, i int) {
			peer := s.rank ^ 1
			s.compute(regionCompute, o.work(s.rank, i))
			if peer == o.Ranks {
				return
			}
			s.enter(regionUser)
			if s.rank%2 == i%2 {
				active(s, peer, o, i)
			} else {
				passive(s, peer, o, i)
			}
			s.leave(regionUser)
		},
	}
}

// active and passive are the two sides of the program requests.
func active(s *script, peer int, o Options, i int) {
	small := envelope{peer: peer, comm: commUser, tag: 1, bytes: 64}
	s.sendrecv(small, small)
	s.send(small)
	s.bsend(envelope{peer: peer, comm: commUser, tag: 2, bytes: o.Bytes})
	s.ssend(envelope{peer: peer, comm: commUser, tag: 3, bytes: o.Bytes})
	a := s.isend(envelope{peer: peer, comm: commUser, tag: 4, bytes: o.Bytes})
	b := s.isend(envelope{peer: peer, comm: commUser, tag: 5, bytes: 2 * eagerLimit})
	s.test(a)
	s.compute(regionCompute, o.work(s.rank, i))
	s.waitany(a, b)
	s.waitall(a, b)
}

// The passive side has a receive that nothing matches, and cancels it; asks for tag 3 before
// it has posted the receives of 4 and 5; and may have completed a request in a test when it
// waits for it.
func passive(s *script, peer int, o Options, i int) {
	s.sendrecv(envelope{peer: peer, comm: commUser, tag: 1, bytes: 64}, envelope{peer: peer, comm: commUser, tag: 1})
	s.probe(envelope{peer: anySource, comm: commUser, tag: anyTag})
	s.recv(envelope{peer: peer, comm: commUser, tag: 1})
	never := s.irecv(envelope{peer: peer, comm: commUser, tag: 99})
	s.recv(envelope{peer: peer, comm: commUser, tag: anyTag})
	s.compute(regionCompute, o.work(s.rank, i))
	s.recv(envelope{peer: peer, comm: commUser, tag: 3})
	b := s.irecv(envelope{peer: peer, comm: commUser, tag: 5})
	a := s.irecv(envelope{peer: peer, comm: commUser, tag: 4})
	s.cancel(never)
	s.test(a)
	s.waitany(a, b)
	s.waitall(a, b, never)
}
