package diagnosis

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/stats/profile"
	"tracekit/stats/threads"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// A team is what the threads of one rank do, times in ns.
type team struct {
	threads int
	serial  int64 // useful time of the master outside parallel regions
	forking int64 // of the master: forking and joining threads, creating tasks
	waits   int64 // mean over threads, of those at barriers of the team
	locks   int64 // by which parallel regions end later since threads wait for locks
}

// teams judges the threads of processes that call MPI: work that only masters do, what forking
// and joining take, and threads of a team that take unequally long. What the master of a rank would
// take less is taken off its time outside, or in, parallel regions, evenly; the replay says what
// the run makes of it, as ranks may have waited for others anyway.
func (f *finder) teams() (out []candidate) {
	switch threads := f.a.Threads; {
	case threads == nil:
		return nil
	case threads.ParallelRegions == 0:
		return f.idle()
	}
	teams := f.teamsOf(f.a.Threads.Rows)
	serial, parallel := f.inTeams()
	var alone, forking int64
	most := 0
	for _, t := range teams {
		alone, forking, most = alone+t.serial, forking+t.forking, max(most, t.threads)
	}
	ranks := int64(max(1, len(f.ranks)))
	c := candidate{cause: cause.Cause{Kind: cause.ThreadIdle, Ranks: []uint32{}}, mended: "If all threads shared that work",
		loss: ofSerialParts, team: true}
	c.cause.Evidence = map[string]float64{"serial_ns": float64(alone / ranks), "threads": float64(most),
		"idle_threads_ns": float64(f.a.Threads.IdleNs)}
	c.cause.Headline = "One thread per process works outside parallel regions"
	c.text = fmt.Sprintf("One of up to %d threads works for %s on average, outside parallel regions and MPI.", most, words.Time(alone/ranks))
	out = append(out, f.lessOfMasters(c, serial, teams, func(t team) int64 { return t.serial - t.serial/int64(t.threads) }))

	c = candidate{cause: cause.Cause{Kind: cause.ThreadIdle, Ranks: []uint32{}}, mended: "If forking and joining took no time",
		loss: ofForking, team: true}
	c.cause.Headline = forkingHeadline
	c.cause.Evidence, c.text = forkingEvidence(forking/ranks, f.a.Threads), forkingText(forking/ranks, f.a.Threads)
	both := func(path trace.PathID) bool { return serial(path) || parallel(path) }
	place := serial
	if f.t.Defs.RunningCounter() != trace.None { // what of a region is none of its work is known
		place = both
	}
	teamwork := func(less func(team) int64) whatif.Place { // a master may wait for its team behind the parallel region that is recorded
		if f.room(parallel, teams, less) {
			return parallel
		}
		return both
	}
	out = append(out, f.lessOfMasters(c, place, teams, func(t team) int64 { return t.forking }))

	if w := &f.a.WaitStates[waitstate.AtTeamBarrier]; w.Count > 0 && len(w.Top) > 0 {
		longest, waiting := w.Top[0], func(t team) int64 { return t.waits }
		c := candidate{cause: cause.Cause{Kind: cause.Imbalance, SourceLine: longest.SourceLine, Operation: field.Name(longest.Operation),
			Ranks: []uint32{}, WaitsCausedNs: w.TimeNs},
			mended: "If all threads of a team took the same time", loss: atBarriers, team: true}
		c.cause.Evidence = map[string]float64{"waits": float64(w.Count)}
		c.cause.Headline, c.text = teamWaits(w)
		out = append(out, f.lessOfMasters(c, teamwork(waiting), teams, waiting))
	}
	locked := int64(0)
	for i := range f.a.Threads.Rows {
		locked += f.a.Threads.Rows[i].WaitingNs
	}
	if locked > 0 {
		c := candidate{cause: cause.Cause{Kind: cause.ThreadIdle, Ranks: []uint32{}, Evidence: map[string]float64{"lock_wait_ns": float64(locked)}},
			mended: "If they did not", text: fmt.Sprintf("They wait %s.", words.Time(locked)), team: true}
		c.cause.Headline = lockHeadline
		delayed := func(t team) int64 { return t.locks }
		out = append(out, f.lessOfMasters(c, teamwork(delayed), teams, delayed))
	}
	return out
}

// idle says that threads do not work much of their time, where no parallel region tells what they should work on.
func (f *finder) idle() []candidate {
	e := f.a.Threads.Efficiency
	if e.Thread == nil || *e.Thread >= efficient || e.Parallel == nil || f.a.Selection != nil {
		return nil
	}
	c := candidate{bound: f.run, cause: cause.Cause{Kind: cause.ThreadIdle, Ranks: []uint32{},
		Evidence: map[string]float64{"parallel_efficiency": *e.Parallel}}}
	c.cause.Headline, c.text = mostOfRest(f.a.Threads, float64(f.run))
	c.text = working(f.a.Threads) + c.text
	return []candidate{c}
}

// teamsOf returns the teams by rank.
func (f *finder) teamsOf(rows []document.ThreadRow) []team {
	out := make([]team, len(f.t.World))
	for i := range rows {
		if r := &rows[i]; int(r.Rank) < len(out) {
			t := &out[r.Rank]
			t.threads, t.serial, t.waits = t.threads+1, t.serial+r.SerialNs, t.waits+r.TeamWaitNs
			if r.Thread == 0 {
				t.forking, t.locks = r.SchedulingNs, r.LockDelayNs
			}
		}
	}
	for r := range out {
		out[r].threads = max(1, out[r].threads)
		out[r].waits /= int64(out[r].threads)
	}
	return out
}

// inTeams returns the call paths in which the program itself works outside parallel regions, and
// those in parallel regions, neither of them in MPI.
func (f *finder) inTeams() (serial, parallel whatif.Place) {
	meanings := threads.Meanings(f.t.Defs)
	of := func(path trace.PathID) (own threads.Activity, inParallel bool) {
		own = threads.Useful
		for innermost := true; int(path) < len(f.t.Tree.Nodes); path, innermost = f.t.Tree.Nodes[path].Parent, false {
			m := threads.Meaning{Activity: threads.Useful}
			if r := f.t.Tree.Nodes[path].Region; int(r) < len(meanings) {
				m = meanings[r]
			}
			if innermost || m.Activity == threads.Communication {
				own = m.Activity
			}
			inParallel = inParallel || m.Parallel
		}
		return own, inParallel
	}
	inTree := func(path trace.PathID) bool { return int(path) < len(f.t.Tree.Nodes) }
	serial = func(path trace.PathID) bool {
		own, inParallel := of(path)
		return (inTree(path) || path == profile.PathOutside) && own == threads.Useful && !inParallel
	}
	parallel = func(path trace.PathID) bool {
		own, inParallel := of(path)
		return inTree(path) && own != threads.Communication && inParallel
	}
	return serial, parallel
}

// lessOfMasters makes the change by which the master of each rank takes so much less in a place,
// ns. What that would gain is at most what all of them take less.
func (f *finder) lessOfMasters(c candidate, place whatif.Place, teams []team, less func(team) int64) candidate {
	factors := make([]float64, len(teams))
	for r, time := range f.ofMasters(place) {
		if factors[r] = 1; time > 0 {
			part := min(time, less(teams[r]))
			factors[r] = 1 - float64(part)/float64(time)
			c.bound += part
		}
	}
	if c.bound > 0 {
		c.changes = []whatif.Change{whatif.ScaleEach(place, factors)}
	}
	return c
}

// ofMasters returns the time of the master of each rank in a place, ns.
func (f *finder) ofMasters(place whatif.Place) []int64 {
	times := make([]int64, len(f.t.World))
	for r, l := range f.t.World {
		if int(l) >= len(f.a.Segments) {
			continue
		}
		ticks := int64(0)
		for s := range f.a.Segments[l].Sums {
			if place(s.Path) {
				ticks += s.Time
			}
		}
		times[r] = f.t.Defs.Clock.Nanoseconds(ticks)
	}
	return times
}

// room reports whether all masters have so much time in a place.
func (f *finder) room(place whatif.Place, teams []team, less func(team) int64) bool {
	for r, time := range f.ofMasters(place) {
		if time < less(teams[r]) {
			return false
		}
	}
	return true
}
