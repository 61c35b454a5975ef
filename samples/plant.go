package samples

import "tracekit/trace"

// Tags of planted messages; programs use smaller ones.
const (
	tagLate  = 1001
	tagFirst = 1002
	tagLast  = 1003
	tagOdd   = 1004
	tagLost  = 2000 // messages that are never received, and from the next on
	tagGhost = 1 << 20
)

// plant returns the planted episodes of an iteration, nil if there are none.
//
// All episodes begin at a barrier, which all ranks leave together. So for a receiver that
// enters MPI_Recv at once, while its sender computes for n ticks before MPI_Send, the
// wait E(S) - E(R) is n.
func plant(o Options) func(s *script, i int) {
	p := o.Plant
	episodes := []struct {
		ticks int64
		do    func(s *script, i int, ticks int64)
	}{
		{p.LateSender, lateSender(o.Ranks)}, {p.LateReceiver, lateReceiver(o.Ranks)}, {p.WrongOrder, wrongOrder(o.Ranks)},
		{p.EarlyReduce, earlyReduce(o.Ranks)}, {p.LateBroadcast, lateBroadcast(o.Ranks)}, {p.CriticalPath, criticalPath(o.Ranks)},
	}
	return func(s *script, i int) {
		for _, e := range episodes {
			if e.ticks > 0 {
				s.enter(regionEpisode)
				s.barrier(commWorld)
				e.do(s, i, e.ticks)
				s.leave(regionEpisode)
			}
		}
		if i+1 == p.Odd {
			odd(s)
		}
		for k := i; k < p.Lost; k += o.Iterations {
			lose(s, k, o.Ranks)
		}
	}
}

// lateSender: E(R) = 0, E(S) = ticks.
func lateSender(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		switch from, to := i%n, (i+1)%n; s.rank {
		case from:
			s.compute(regionCompute, ticks)
			s.send(envelope{peer: to, tag: tagLate, bytes: 8})
		case to:
			s.recv(envelope{peer: from, tag: tagLate})
		}
	}
}

// lateReceiver: E(S) = 0, E(R) = ticks.
func lateReceiver(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		switch from, to := i%n, (i+1)%n; s.rank {
		case from:
			s.ssend(envelope{peer: to, tag: tagLate, bytes: 8})
		case to:
			s.compute(regionCompute, ticks)
			s.recv(envelope{peer: from, tag: tagLate})
		}
	}
}

// wrongOrder: two messages are sent, the second one ticks after the barrier; it is received
// first, with a wait of ticks, which a receive of the other message would have avoided. In
// turn, both come from one rank, or from two.
func wrongOrder(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		to, late := (i+1)%n, i%n
		early := late
		if i%2 == 1 {
			early = (i + 2) % n
		}
		spent := int64(0)
		if s.rank == early {
			s.send(envelope{peer: to, tag: tagFirst, bytes: 8})
			spent = sendCost
		}
		if s.rank == late {
			if early != late {
				spent = 0
			}
			s.compute(regionCompute, max(1, ticks-spent))
			s.send(envelope{peer: to, tag: tagLast, bytes: 8})
		}
		if s.rank == to {
			s.recv(envelope{peer: late, tag: tagLast})
			s.recv(envelope{peer: early, tag: tagFirst})
		}
	}
}

// earlyReduce: the root enters at 0, all others at ticks.
func earlyReduce(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		root := i % n
		if s.rank != root {
			s.compute(regionCompute, ticks)
		}
		s.coll(collective{op: trace.CollReduce, root: root, sent: 8, received: 8})
	}
}

// lateBroadcast: the root enters at ticks, all others at 0.
func lateBroadcast(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		root := i % n
		if s.rank == root {
			s.compute(regionCompute, ticks)
		}
		s.coll(collective{op: trace.CollBcast, root: root, sent: 8, received: 8})
	}
}

// criticalPath: one rank computes while the others wait at a barrier; then the next one.
func criticalPath(n int) func(*script, int, int64) {
	return func(s *script, i int, ticks int64) {
		for k := range 2 {
			if s.rank == (i+k)%n {
				s.compute(regionCompute, ticks)
			}
			s.barrier(commWorld)
		}
	}
}

// odd sends a message that no other iteration has.
func odd(s *script) {
	switch s.rank {
	case 0:
		s.send(envelope{peer: 1, tag: tagOdd, bytes: 8})
	case 1:
		s.recv(envelope{peer: 0, tag: tagOdd})
	}
}

// lose sends a message that nobody receives, and receives one whose send is not recorded.
func lose(s *script, k, n int) {
	from, to := k%n, (k+1)%n
	switch s.rank {
	case from:
		s.send(envelope{peer: to, tag: tagLost + k, bytes: 8})
		s.add(op{kind: opSend, region: regionSend, send: envelope{peer: to, tag: tagGhost + k, bytes: 8}, hidden: true})
	case to:
		s.recv(envelope{peer: from, tag: tagGhost + k})
	}
}
