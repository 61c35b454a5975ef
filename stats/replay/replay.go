package replay

import (
	"context"
	"fmt"
	"sort"

	"tracekit/spill"
	"tracekit/stats/causal"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Replay runs the trace again with zero-cost MPI (DEFINITIONS 2.6). Computation takes its
// useful time, MPI calls take none, sends never block. A receive completes when its send is
// posted. Members of N×N operations, and of the management of communicators, continue when the
// last one has arrived. Members of 1×N operations wait for the root, the root of N×1 operations
// for the last member, members of a scan for those before them. MPI_Init and MPI_Finalize count
// as N×N. A process begins when it began in the run: no network starts it sooner.
type Replay struct {
	t        *trace.Trace
	scope    *scope.Scope
	sync     *waits.SyncTables
	schedule *causal.Schedule
	state    []state // by location
	meetings *spill.Table[causal.Meeting]
	startup  [2]causal.Meeting // at MPI_Init and MPI_Finalize
	whole    bool              // all calls take part
}

// A state is the row of sync that one location is at.
type state struct {
	row    waits.SyncRow
	after  waits.SyncRow // the one behind it; behind the last row, one of which the needs alone are known
	active bool          // the call takes part
	start  int64         // ideal time of the begin
	init   int64         // ideal time when MPI_Init is left
	fini   int64         // ideal time when MPI_Finalize is entered
	bounds [2]int        // the calls of MPI_Init and MPI_Finalize; -1: there is none

	rows  spill.Cursor[waits.SyncRow] // the tables of sync
	needs spill.Cursor[waits.CallKey]
}

// New returns the replay of a trace with zero-cost MPI. It makes ideal times of the clocks of sync.
func New(t *trace.Trace, s *scope.Scope, sync *waits.SyncTables) *Replay {
	r := &Replay{t: t, scope: s, sync: sync, state: make([]state, len(t.Calls)), whole: s.All(),
		meetings: spill.NewZeros[causal.Meeting](t.Store, t.Collectives.Len())}
	r.schedule = causal.New(r, len(t.Calls))
	r.schedule.Scan(t.Store, t.Members.Len(), r.scanned)
	for l := range t.Calls {
		if id := trace.LocationID(l); t.Span[l].Events > 0 && s.Has(id) {
			x := &r.state[l]
			x.start = r.startOf(id)
			x.rows, x.needs = sync.Rows[l].Cursor(), sync.Needs[l].Cursor()
			r.schedule.Start(id, sync.Rows[l].Len(), sync.Clocks[l], x.start)
			r.expectStartup(id)
		}
	}
	return r
}

// Release gives the memory of the replay back.
func (r *Replay) Release() {
	r.meetings.Release()
	r.schedule.Release()
}

// startOf returns the ticks from the begin of the selection to the begin of a location's process, or
// of the location itself if it begins earlier. When a process starts a later thread is not known here.
func (r *Replay) startOf(l trace.LocationID) int64 {
	first := r.t.Span[l].First
	if rank := r.t.Rank[l]; int(rank) < len(r.t.World) {
		if master := &r.t.Span[r.t.World[rank]]; master.Events > 0 {
			first = min(first, master.First)
		}
	}
	return r.scope.Clamp(first) - r.scope.From
}

// active reports whether a call takes part in the replay.
func (r *Replay) active(l trace.LocationID, c *trace.Call) bool {
	return r.scope.Has(l) && (!r.scope.Timed || c.Enter >= r.scope.From && c.Enter <= r.scope.To)
}

// expectStartup counts a location whose MPI_Init or MPI_Finalize is active.
func (r *Replay) expectStartup(l trace.LocationID) {
	for k, class := range [2]trace.CallClass{trace.ClassInit, trace.ClassFinalize} {
		i := trace.FindStartup(r.t.Calls[l], class)
		if r.state[l].bounds[k] = i; i < 0 {
			continue
		}
		if c := r.t.Calls[l].At(i); r.active(l, &c) {
			r.startup[k].Expected++
		}
	}
}

// startupOf returns the meeting at MPI_Init or MPI_Finalize if a call is that of the location, nil for other calls.
func (r *Replay) startupOf(l trace.LocationID, c *waits.SyncRow) *causal.Meeting {
	k := 0
	switch c.Class {
	case trace.ClassInit:
	case trace.ClassFinalize:
		k = 1
	default:
		return nil
	}
	if r.state[l].bounds[k] != int(c.Call) {
		return nil
	}
	return &r.startup[k]
}

// expectCollectives counts the members that arrive at each collective; none at a fence that makes nobody wait.
func (r *Replay) expectCollectives() {
	for l, table := range r.sync.Rows {
		if !r.scope.Has(trace.LocationID(l)) {
			continue
		}
		for _, rows := range table.Rows {
			for i := range rows {
				if c := &rows[i]; c.Arrives() && r.isActive(trace.LocationID(l), c.Call) {
					r.meetings.Ptr(int(c.Coll)).Expected++
				}
			}
		}
	}
	for first, rows := range r.t.Collectives.Rows {
		for i := range rows {
			if c := &rows[i]; c.Op.Pattern() == trace.PatternFence && !r.t.Together(c) {
				r.meetings.Ptr(first + i).Expected = 0
			}
		}
	}
}

// Run replays everything.
func (r *Replay) Run(ctx context.Context) error {
	r.expectCollectives()
	return r.schedule.Run(ctx)
}

// Stuck returns a finding about the first location that waits for what never happens, nil if all
// locations reach their ends.
func (r *Replay) Stuck() []trace.Finding {
	for l, step := range r.schedule.Stuck {
		call := r.t.Calls[l].Ptr(int(r.sync.Rows[l].Ptr(step).Call))
		return []trace.Finding{{Code: trace.CodeReplayStuck, Count: 1,
			First: trace.Place{Location: l, Seq: call.Seq(), Offset: -1},
			Text:  fmt.Sprintf("%s waits for a call of another rank that never comes", r.t.Defs.RegionLabel(r.t.Tree.Region(call.Path)))}}
	}
	return nil
}

// isActive reports whether a call takes part in the replay.
func (r *Replay) isActive(l trace.LocationID, call uint32) bool {
	return r.whole || r.active(l, r.t.Calls[l].Ptr(int(call)))
}

// Enter implements causal.Visitor: the steps are rows of sync.
func (r *Replay) Enter(l trace.LocationID, step int) (needs int) {
	s := &r.state[l]
	if s.row = s.after; step == 0 {
		s.row = *s.rows.Ptr(0)
	}
	if step+1 < r.sync.Rows[l].Len() {
		s.after = *s.rows.Ptr(step + 1)
	} else {
		s.after.Needs = uint32(r.sync.Needs[l].Len())
	}
	at := r.schedule.Enter(l, s.row.Call)
	if s.active = r.isActive(l, s.row.Call); !s.active {
		return 0
	}
	if s.row.Class == trace.ClassFinalize {
		s.fini = at
	}
	if a := r.startupOf(l, &s.row); a != nil {
		r.schedule.Arrive(a, at)
	}
	if s.row.Arrives() {
		r.schedule.Arrive(r.meetings.Ptr(int(s.row.Coll)), at)
	}
	needs = int(s.after.Needs - s.row.Needs)
	if s.row.Coll != trace.None || waits.Startups>>s.row.Class&1 != 0 {
		needs++
	}
	return needs
}

// Need implements causal.Visitor: the last need is for the members of the collective that a call takes part in.
func (r *Replay) Need(l trace.LocationID, _, k int) (at int64, ok bool) {
	s := &r.state[l]
	if k < int(s.after.Needs-s.row.Needs) {
		need := s.needs.Ptr(int(s.row.Needs) + k)
		if need.Location == trace.None {
			return r.collective(l, need.Call)
		}
		return r.posted(l, need.Location, need.Call)
	}
	c := &s.row
	if a := r.startupOf(l, c); a != nil {
		return r.schedule.All(l, a)
	}
	if c.Arrives() && c.Class != trace.ClassIcoll {
		return r.collective(l, c.Coll)
	}
	return causal.Anytime, true
}

// Leave implements causal.Visitor.
func (r *Replay) Leave(l trace.LocationID, _ int, wait int64) error {
	if s := &r.state[l]; s.active && s.row.Class == trace.ClassInit {
		s.init = r.schedule.At(l, s.row.Call) + wait
	}
	return nil
}

// posted returns the ideal time of entering a call.
func (r *Replay) posted(l, other trace.LocationID, call uint32) (at int64, ok bool) {
	switch {
	case call == trace.None || !r.isActive(other, call):
		return causal.Anytime, true
	case !r.schedule.Entered(l, other, call):
		return 0, false
	}
	return r.schedule.At(other, call), true
}

// collective returns when those have arrived for whom the pattern of a collective lets a member wait.
func (r *Replay) collective(l trace.LocationID, row uint32) (at int64, ok bool) {
	c := r.t.Collectives.Ptr(int(row))
	switch c.Op.Pattern() {
	default:
		return r.schedule.All(l, r.meetings.Ptr(int(row)))
	case trace.PatternFence:
		if m := r.meetings.Ptr(int(row)); m.Expected > 0 {
			return r.schedule.All(l, m)
		}
	case trace.PatternOneToAll:
		if root, ok := r.root(c); ok && root.Location != l {
			return r.posted(l, root.Location, root.Call)
		}
	case trace.PatternAllToOne:
		if root, ok := r.root(c); ok && root.Location == l {
			return r.schedule.All(l, r.meetings.Ptr(int(row)))
		}
	case trace.PatternScan:
		if member, ok := r.member(l, row); ok {
			return r.schedule.Before(l, c, member)
		}
	}
	return causal.Anytime, true
}

// member returns the row of the member that a location is of a collective that it has begun.
func (r *Replay) member(l trace.LocationID, row uint32) (member uint32, ok bool) {
	parts, leave := r.t.Parts[l], r.t.Calls[l].Ptr(int(r.state[l].row.Call)).Leave
	i := sort.Search(parts.Len(), func(i int) bool { return r.t.Members.Ptr(int(parts.Ptr(i).Member)).Begin > leave })
	for i--; i >= 0; i-- {
		if p := parts.Ptr(i); p.Collective == row {
			return p.Member, true
		}
	}
	return 0, false
}

// scanned returns a member of a scan.
func (r *Replay) scanned(row uint32) (causal.Member, bool) {
	m := r.t.Members.Ptr(int(row))
	return causal.Member{Location: m.Location, Call: m.Call}, m.Call != trace.None && r.isActive(m.Location, m.Call)
}

// root returns the member that is the root of a collective.
func (r *Replay) root(c *trace.Collective) (trace.Member, bool) {
	if c.Count == c.Size && c.Root < c.Count {
		if m := r.t.Members.At(int(c.First + c.Root)); m.Rank == c.Root {
			return m, true
		}
	}
	for k := c.First; k < c.First+c.Count; k++ {
		if m := r.t.Members.At(int(k)); m.Rank == c.Root {
			return m, true
		}
	}
	return trace.Member{}, false
}
