package oracle

import "tracekit/trace"

// Efficiency holds POP's efficiencies (DEFINITIONS 2.6).
type Efficiency struct {
	Useful        []int64 // by rank: time outside MPI on the master thread
	Runtime       int64   // T
	Ideal         int64   // T*: of the replay with zero-cost MPI
	LoadBalance   float64 // mean(u)/max(u)
	Communication float64 // max(u)/T
	Serialization float64 // max(u)/T*
	Transfer      float64 // T*/T
	Parallel      float64 // mean(u)/T
	Stuck         bool    // the replay cannot order the messages; Ideal, Serialization and Transfer are 0
}

func (a *analysis) efficiency() {
	e := &a.Efficiency
	e.Runtime = a.Last - a.First
	var sum, most int64
	for r := range a.defs.World() {
		u := a.useful(a.master(r))
		e.Useful = append(e.Useful, u)
		sum, most = sum+u, max(most, u)
	}
	mean := float64(sum) / float64(max(1, len(e.Useful)))
	e.LoadBalance = ratio(mean, float64(most))
	e.Communication = ratio(float64(most), float64(e.Runtime))
	e.Parallel = ratio(mean, float64(e.Runtime))
	if e.Ideal, e.Stuck = a.replay(); !e.Stuck {
		e.Serialization = ratio(float64(most), float64(e.Ideal))
		e.Transfer = ratio(float64(e.Ideal), float64(e.Runtime))
	}
}

// ratio returns a/b, and 0 where nothing was measured.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// useful adds up the time between events that lie outside MPI calls.
func (a *analysis) useful(s *stream) int64 {
	var sum, last int64
	a.walk(s, func(open []trace.RegionID, e event) {
		inside := false
		for _, r := range open {
			inside = inside || classOf(a.defs, r) != trace.ClassNone
		}
		if !inside && e.seq > 0 {
			sum += e.time - last
		}
		last = e.time
	})
	return sum
}

// replay gives every call a logical time: that of its rank's previous call plus the
// computation between them, but not before what it must wait for. It repeats until no
// time changes; n calls need at most n rounds unless they depend on themselves.
func (a *analysis) replay() (ideal int64, stuck bool) {
	begin, end := make(map[*Call]int64), make(map[*Call]int64)
	rounds := 2
	for _, calls := range a.Calls {
		rounds += len(calls)
	}
	for changed := true; changed; rounds-- {
		if rounds == 0 {
			return 0, true
		}
		changed = false
		for r := range a.defs.World() {
			s := a.master(r)
			clock := s.events[0].time - a.First // no network starts a process sooner
			for i, c := range s.calls {
				clock += a.between(s, i)
				begin[c] = clock
				for _, t := range a.needs(c, begin) {
					clock = max(clock, t)
				}
				if old, ok := end[c]; !ok || old != clock {
					end[c], changed = clock, true
				}
			}
			ideal = max(ideal, clock+a.between(s, len(s.calls)))
		}
	}
	return ideal, false
}

// between returns the computation between call i-1 and call i. Calls within calls have
// none between them.
func (a *analysis) between(s *stream, i int) int64 {
	from, to := s.events[0].time, s.events[len(s.events)-1].time
	for _, c := range s.calls[:i] {
		from = max(from, c.Leave)
	}
	if i < len(s.calls) {
		to = s.calls[i].Enter
	}
	return max(0, to-from)
}

// needs returns the times at which those begin for whom a call must wait.
func (a *analysis) needs(c *Call, begin map[*Call]int64) []int64 {
	var times []int64
	for _, r := range a.Recvs {
		if r.Done == c && r.Send != nil && r.Send.Post != nil {
			times = append(times, begin[r.Send.Post])
		}
	}
	for _, in := range a.Collectives {
		for _, m := range in.Members {
			if m.Done != c {
				continue
			}
			for _, o := range in.Members {
				if a.dependsOn(in, m, o) {
					times = append(times, begin[o.Call])
				}
			}
		}
	}
	return times
}

// dependsOn reports whether member m of an instance needs what member o sends.
func (a *analysis) dependsOn(in *Collective, m, o *Member) bool {
	inter := a.defs.Comms[in.Comm].Inter
	switch in.Op {
	case trace.CollBcast, trace.CollScatter, trace.CollScatterv:
		return in.isRoot(o, inter)
	case trace.CollReduce, trace.CollGather, trace.CollGatherv:
		return in.isRoot(m, inter)
	case trace.CollScan, trace.CollExscan:
		return o.Number <= m.Number
	}
	return true
}
