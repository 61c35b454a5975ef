package samples

import (
	"math"

	"tracekit/trace"
)

// A Program is a model that Generate runs.
type Program struct {
	Name string
	Help string // one line
}

// Programs lists the models.
func Programs() []Program {
	var list []Program
	for _, m := range models() {
		list = append(list, m.Program)
	}
	return list
}

// A model makes the plan of a program.
type model struct {
	Program
	plan func(Options) *plan
}

func models() []model {
	return []model{
		{Program{"ring", "each rank sends to its right neighbor and receives from its left one (Isend, Recv, Wait)"}, ring},
		{Program{"halo", "2-D halo exchange (Irecv, Isend, Waitall), then Allreduce"}, halo},
		{Program{"sweep", "2-D wavefronts in turn from two corners (blocking Send and Recv)"}, sweep},
		{Program{"burst", "a computation, then sends to up to eight ranks at once (Irecv, Isend, Waitall)"}, burst},
		{Program{"multigrid", "V-cycles: exchanges between ever fewer ranks, Allreduce on the coarsest level's sub-communicator"}, multigrid},
		{Program{"masterworker", "workers get tasks of different length from rank 0, which takes results from any source"}, masterWorker},
		{Program{"collectives", "all kinds of collective operation, on the world and on halves of it, blocking and not"}, collectives},
		{Program{"requests", "probe, test, waitany, cancel, sendrecv, buffered and synchronous sends, any tag"}, requests},
	}
}

// planOf returns the plan of a program that the options name, with what they plant.
func planOf(o Options) *plan {
	for _, m := range models() {
		if m.Name == o.Program {
			p := m.plan(o)
			p.planted = plant(o)
			return p
		}
	}
	panic("samples: the options were not checked")
}

// work returns the ticks of a computation, different in each iteration by up to a tenth unless
// it is steady.
func (o Options) work(rank, iteration int) int64 {
	h := o.Seed ^ uint64(rank)<<32 ^ uint64(iteration)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	factor, _ := o.Growth.at(o.Ranks)
	t := int64(math.Round(float64(o.Compute) * factor))
	if !o.Steady {
		t += int64((h ^ h>>31) % uint64(t/10+1))
	}
	if rank == o.Ranks-1 {
		t += o.Plant.Imbalance
	}
	return t
}

// ring: Isend first, so that no size of message deadlocks.
func ring(o Options) *plan {
	return &plan{
		regions: []userRegion{{"pass", 60}},
		comms:   worldComms(o.Ranks),
		step: func(s *script, i int) {
			s.fork(regionCompute, o.work(s.rank, i))
			s.enter(regionUser)
			q := s.isend(envelope{peer: (s.rank + 1) % o.Ranks, tag: 1, bytes: o.Bytes})
			s.recv(envelope{peer: (s.rank + o.Ranks - 1) % o.Ranks, tag: 1})
			s.wait(q)
			s.leave(regionUser)
		},
	}
}

// grid returns the sides of the flattest grid of n ranks, the longer one first.
func grid(n int) (x, y int) {
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			y = d
		}
	}
	return n / y, y
}

// neighbours returns the ranks around one, west, east, north and south; -1 at a border.
func neighbours(rank, nx, ny int) [4]int {
	n := [4]int{-1, -1, -1, -1}
	x, y := rank%nx, rank/nx
	if x > 0 {
		n[0] = rank - 1
	}
	if x < nx-1 {
		n[1] = rank + 1
	}
	if y > 0 {
		n[2] = rank - nx
	}
	if y < ny-1 {
		n[3] = rank + nx
	}
	return n
}

// halo: all receives are posted before the sends; the interior is computed meanwhile, so
// only late neighbours cost time. Tags tell the sides apart, as two neighbours may be one.
func halo(o Options) *plan {
	nx, ny := grid(o.Ranks)
	return &plan{
		regions: []userRegion{{"exchange", 60}, {"interior", 80}, {"boundary", 90}, {"norm", 100}},
		comms:   worldComms(o.Ranks),
		step: func(s *script, i int) {
			near := neighbours(s.rank, nx, ny)
			s.enter(regionUser)
			var reqs []int32
			for side, n := range near {
				if n >= 0 {
					reqs = append(reqs, s.irecv(envelope{peer: n, tag: side ^ 1}))
				}
			}
			for side, n := range near {
				if n >= 0 {
					reqs = append(reqs, s.isend(envelope{peer: n, tag: side, bytes: o.Bytes}))
				}
			}
			s.fork(regionUser+1, o.work(s.rank, i))
			s.waitall(reqs...)
			s.leave(regionUser)
			s.compute(regionUser+2, o.work(s.rank, i)/10)
			s.enter(regionUser + 3)
			s.coll(collective{op: trace.CollAllreduce, sent: 8, received: 8})
			s.leave(regionUser + 3)
		},
	}
}

// sweep: a rank begins when its neighbours towards the corner are done, so ranks far from
// it wait long: late senders that no rank causes by itself.
func sweep(o Options) *plan {
	nx, ny := grid(o.Ranks)
	return &plan{
		regions: []userRegion{{"sweep", 60}, {"block", 80}},
		comms:   worldComms(o.Ranks),
		step: func(s *script, i int) {
			near := neighbours(s.rank, nx, ny)
			for corner := range 2 {
				s.enter(regionUser)
				for _, side := range []int{0, 2} {
					if n := near[side^corner]; n >= 0 {
						s.recv(envelope{peer: n, tag: side})
					}
				}
				s.compute(regionUser+1, o.work(s.rank, 2*i+corner))
				for _, side := range []int{0, 2} {
					if n := near[side^1^corner]; n >= 0 {
						s.send(envelope{peer: n, tag: side, bytes: o.Bytes})
					}
				}
				s.leave(regionUser)
			}
		},
	}
}

// burst: all sends of an iteration follow each other; the first of them alone follows a computation.
func burst(o Options) *plan {
	return &plan{
		regions: []userRegion{{"spread", 60}},
		comms:   worldComms(o.Ranks),
		step: func(s *script, i int) {
			var reqs []int32
			near := min(8, o.Ranks-1)
			s.enter(regionUser)
			for d := 1; d <= near; d++ {
				reqs = append(reqs, s.irecv(envelope{peer: (s.rank + o.Ranks - d) % o.Ranks, tag: d}))
			}
			s.compute(regionCompute, o.work(s.rank, i))
			for d := 1; d <= near; d++ {
				reqs = append(reqs, s.isend(envelope{peer: (s.rank + d) % o.Ranks, tag: d, bytes: o.Bytes}))
			}
			s.waitall(reqs...)
			s.leave(regionUser)
		},
	}
}

// multigrid: on level l only every 2^l-th rank is active, and computes 2^l times less. The
// others run ahead and wait for their neighbours on the way up. Messages stay eager, since
// both neighbours send before they wait.
func multigrid(o Options) *plan {
	p := &plan{regions: []userRegion{{"vcycle", 60}, {"smooth", 80}, {"solve", 100}}}
	var levels []namedComm
	for distance := 1; len(levels) == 0 || distance < o.Ranks; distance *= 2 {
		var active []int
		for r := 0; r < o.Ranks; r += distance {
			active = append(active, r)
		}
		levels = append(levels, newComm("level "+string(rune('A'+len(levels))), active...))
	}
	p.comms = worldComms(o.Ranks, levels...)
	coarsest := len(levels) - 1
	level := func(s *script, i, l int) {
		comm, distance := commUser+trace.CommID(l), 1<<l
		if s.rank%distance != 0 {
			return
		}
		me, n := s.rank/distance, len(levels[l].world)
		var reqs []int32
		for _, peer := range []int{me - 1, me + 1} {
			if peer >= 0 && peer < n {
				reqs = append(reqs, s.irecv(envelope{peer: peer, tag: l, comm: comm}))
			}
		}
		for _, peer := range []int{me - 1, me + 1} {
			if peer >= 0 && peer < n {
				s.send(envelope{peer: peer, tag: l, comm: comm, bytes: min(eagerLimit, max(8, o.Bytes>>l))})
			}
		}
		s.waitall(reqs...)
		s.compute(regionUser+1, max(1, o.work(s.rank, i)>>l))
	}
	p.step = func(s *script, i int) {
		s.enter(regionUser)
		for l := range levels {
			level(s, i, l)
		}
		if s.rank%(1<<coarsest) == 0 {
			s.enter(regionUser + 2)
			s.coll(collective{op: trace.CollAllreduce, comm: commUser + trace.CommID(coarsest), sent: 8, received: 8})
			s.leave(regionUser + 2)
		}
		for l := coarsest - 1; l >= 0; l-- {
			level(s, i, l)
		}
		s.leave(regionUser)
	}
	return p
}

// masterWorker: the master takes results as they come; workers' tasks differ by up to three
// times, in turn.
func masterWorker(o Options) *plan {
	const task, result = 1, 2
	return &plan{
		regions: []userRegion{{"master", 60}, {"worker", 80}, {"task", 100}},
		comms:   worldComms(o.Ranks),
		step: func(s *script, i int) {
			if s.rank == 0 {
				s.enter(regionUser)
				for w := 1; w < o.Ranks; w++ {
					s.send(envelope{peer: w, tag: task, bytes: 64})
				}
				for w := 1; w < o.Ranks; w++ {
					s.recv(envelope{peer: anySource, tag: result})
				}
				s.leave(regionUser)
				return
			}
			s.enter(regionUser + 1)
			s.recv(envelope{peer: 0, tag: task})
			s.compute(regionUser+2, o.work(s.rank, i)*int64(1+(s.rank+i)%3))
			s.send(envelope{peer: 0, tag: result, bytes: o.Bytes})
			s.leave(regionUser + 1)
		},
	}
}
