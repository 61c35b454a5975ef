package replay

import (
	"context"
	"fmt"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Replay runs the trace again on an ideal network (DEFINITIONS 2.6): computation takes
// its useful time, MPI calls take none, sends never block. A receive completes when its
// send is posted; members of N×N operations (and of the management of communicators) go
// on when the last has arrived, those of 1×N with the root, the root of N×1 with the last,
// those of a scan with the last up to themselves. A process begins when it began in the
// run: no network starts it sooner. MPI_Init and MPI_Finalize count as N×N.
//
// Locations run one after the other, from one call that waits for others to the next,
// each until it must wait for one that is not so far.
//
//	sync.clocks[l].At(i) is the ideal time of entering call i for i < turns.Steps(l), before that
//	the useful time until then
type Replay struct {
	t        *trace.Trace
	scope    *scope.Scope
	sync     *waits.SyncTables
	state    []replayState // by location
	Arrivals *spill.Table[arrival]
	startup  [2]arrival    // at MPI_Init and MPI_Finalize
	turns    *engine.Turns // of locations, by calls that they have entered; groups are collectives
	whole    bool          // all calls take part
}

// replayState is how far one location is.
type replayState struct {
	next   int           // row in sync.rows of the call that it is at
	row    waits.SyncRow // that row
	after  waits.SyncRow // the one after it; of the last row, one of which the needs alone are known
	inside bool          // it has entered the call, at the ideal time at
	at     int64         //
	left   int64         // when it can leave the call for all needs before need
	need   int           //
	shift  int64         // what the ideal time is ahead of the useful time
	start  int64         // ideal time of the begin: the first shift
	init   int64         // ideal time when MPI_Init is left
	fini   int64         // ideal time when MPI_Finalize is entered
	bounds [2]int        // the calls of MPI_Init and MPI_Finalize; -1: there is none

	rows   spill.Cursor[waits.SyncRow] // the tables of sync
	needs  spill.Cursor[waits.CallKey]
	clocks spill.Cursor[int64]
}

// An arrival says who has arrived at a collective.
type arrival struct {
	last    int64 // latest ideal time
	waiting engine.Group
	missing uint32
	any     bool
}

func (a *arrival) arrive(at int64) {
	if !a.any || at > a.last {
		a.last, a.any = at, true
	}
	a.missing--
}

// New returns the replay of a trace on an ideal network.
func New(t *trace.Trace, s *scope.Scope, sync *waits.SyncTables) *Replay {
	r := &Replay{t: t, scope: s, sync: sync, state: make([]replayState, len(t.Calls)),
		turns: engine.NewTurns(len(t.Calls)), whole: s.All(),
		Arrivals: spill.NewZeros[arrival](t.Store, t.Collectives.Len())}
	for l := range t.Calls {
		if t.Span[l].Events > 0 && s.Has(trace.LocationID(l)) {
			r.turns.Start(l)
			r.state[l].start = r.startOf(trace.LocationID(l))
			r.state[l].shift = r.state[l].start
			r.expectStartup(trace.LocationID(l))
			r.begin(trace.LocationID(l))
		}
	}
	return r
}

// startOf returns when the process of a location begins, from the begin of the selection on, or the
// location itself, if it begins before its master. A thread that begins later does so when its
// process is so far, which is not known here.
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
		i := waits.FindStartup(r.t.Calls[l], class)
		if r.state[l].bounds[k] = i; i < 0 {
			continue
		}
		if c := r.t.Calls[l].At(i); r.active(l, &c) {
			r.startup[k].missing++
		}
	}
}

// startupOf returns who has arrived at MPI_Init or MPI_Finalize, if a call is the location's; else nil.
func (r *Replay) startupOf(l trace.LocationID, c *waits.SyncRow) *arrival {
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

// expectCollectives counts who must arrive at each collective.
func (r *Replay) expectCollectives() {
	for l, table := range r.sync.Rows {
		if !r.scope.Has(trace.LocationID(l)) {
			continue
		}
		for _, rows := range table.Rows {
			for i := range rows {
				if c := &rows[i]; c.Arrives() && r.isActive(trace.LocationID(l), c.Call) {
					r.Arrivals.Ptr(int(c.Coll)).missing++
				}
			}
		}
	}
}

// Run replays everything.
func (r *Replay) Run(ctx context.Context) error {
	r.expectCollectives()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, ok := r.turns.Next()
		if !ok {
			return ctx.Err()
		}
		r.advance(ctx, trace.LocationID(l))
	}
}

// Stuck says which is the first location that could not go on and the call that it is at;
// nil if all have come to their ends.
func (r *Replay) Stuck() []trace.Finding {
	for l := range r.state {
		if s := &r.state[l]; r.scope.Has(trace.LocationID(l)) && r.t.Span[l].Events > 0 && s.next < r.sync.Rows[l].Len() {
			call := r.t.Calls[l].Ptr(int(s.row.Call))
			return []trace.Finding{{Code: trace.CodeReplayStuck, Count: 1,
				First: trace.Place{Location: trace.LocationID(l), Seq: call.Seq, Offset: -1},
				Text:  fmt.Sprintf("%s waits for what never happens", r.t.Defs.RegionLabel(call.Region))}}
		}
	}
	return nil
}

// advance runs a location until it must wait or is at its end.
func (r *Replay) advance(ctx context.Context, l trace.LocationID) {
	s, end := &r.state[l], r.sync.Rows[l].Len()
	for s.next < end {
		if !r.call(l, s) {
			return
		}
		s.next++
		s.row = s.after
		s.peek(r.sync, l)
		if s.next%4096 == 0 && ctx.Err() != nil {
			return
		}
	}
	r.enter(l, s, r.t.Calls[l].Len())
}

// begin puts a location at the first of its calls that wait.
func (r *Replay) begin(l trace.LocationID) {
	s := &r.state[l]
	s.rows, s.needs, s.clocks = r.sync.Rows[l].Cursor(), r.sync.Needs[l].Cursor(), r.sync.Clocks[l].Cursor()
	if r.sync.Rows[l].Len() > 0 {
		s.row = *s.rows.Ptr(0)
		s.peek(r.sync, l)
	}
}

// peek finds the row after the one that the location is at.
func (s *replayState) peek(sync *waits.SyncTables, l trace.LocationID) {
	if s.next+1 < sync.Rows[l].Len() {
		s.after = *s.rows.Ptr(s.next + 1)
	} else {
		s.after.Needs = uint32(sync.Needs[l].Len())
	}
}

// isActive reports whether a call takes part in the replay.
func (r *Replay) isActive(l trace.LocationID, call uint32) bool {
	return r.whole || r.active(l, r.t.Calls[l].Ptr(int(call)))
}

// call enters and, if all it waits for is there, leaves the call that a location is at; it
// reports false if the location must wait.
func (r *Replay) call(l trace.LocationID, s *replayState) (ok bool) {
	if !s.inside {
		r.enter(l, s, int(s.row.Call)+1)
		if !r.whole && !r.isActive(l, s.row.Call) {
			return true
		}
		s.inside, s.at, s.need = true, *s.clocks.Ptr(int(s.row.Call)), int(s.row.Needs)
		s.left = s.at
		r.arrive(l, s)
	}
	for end := int(s.after.Needs); s.need < end; s.need++ {
		if need := s.needs.Ptr(s.need); need.Location == trace.None {
			s.left, ok = r.collective(l, need.Call, s.left)
		} else {
			s.left, ok = r.posted(l, need.Location, need.Call, s.left)
		}
		if !ok {
			return false
		}
	}
	left := s.left
	if s.row.Coll != trace.None || waits.Startups>>s.row.Class&1 != 0 {
		if left, ok = r.synchronise(l, s, left); !ok {
			return false
		}
	}
	s.inside, s.shift = false, s.shift+left-s.at
	switch s.row.Class {
	case trace.ClassInit:
		s.init = left
	case trace.ClassFinalize:
		s.fini = s.at
	}
	return true
}

// enter fixes the ideal times of entering the calls before call end, and makes it known
// that the location has entered them.
func (r *Replay) enter(l trace.LocationID, s *replayState, end int) {
	if s.shift != 0 {
		for i := r.turns.Steps(int(l)); i < end; i++ {
			*s.clocks.Ptr(i) += s.shift
		}
	}
	r.turns.Reach(int(l), end)
}

// arrive counts the call that a location is at at its collective.
func (r *Replay) arrive(l trace.LocationID, s *replayState) {
	if a := r.startupOf(l, &s.row); a != nil {
		r.count(a, s.at)
	}
	if s.row.Arrives() {
		r.count(r.Arrivals.Ptr(int(s.row.Coll)), s.at)
	}
}

func (r *Replay) count(a *arrival, at int64) {
	if a.arrive(at); a.missing == 0 {
		r.turns.Complete(&a.waiting)
	}
}

// posted returns max(at, ideal time of entering a call); ok is false, and l waits, if it
// is not entered yet.
func (r *Replay) posted(l, other trace.LocationID, call uint32, at int64) (int64, bool) {
	if call == trace.None || !r.whole && !r.isActive(other, call) {
		return at, true
	}
	if r.turns.Steps(int(other)) <= int(call) {
		r.turns.Await(int(l), int(other), int(call)+1)
		return at, false
	}
	return max(at, *r.state[other].clocks.Ptr(int(call))), true
}

// synchronise waits for the members of the collective that a call takes part in, if it blocks.
func (r *Replay) synchronise(l trace.LocationID, s *replayState, at int64) (int64, bool) {
	c := &s.row
	if a := r.startupOf(l, c); a != nil {
		return r.all(l, a, at)
	}
	if c.Coll != trace.None && c.Class != trace.ClassIcoll && c.Class != trace.ClassWait && c.Class != trace.ClassTest {
		return r.collective(l, c.Coll, at)
	}
	return at, true
}

// all waits until nobody is missing.
func (r *Replay) all(l trace.LocationID, a *arrival, at int64) (int64, bool) {
	if a.missing > 0 {
		r.turns.AwaitGroup(int(l), &a.waiting)
		return at, false
	}
	if a.any {
		at = max(at, a.last)
	}
	return at, true
}

// collective waits for those whom the pattern of a collective names.
func (r *Replay) collective(l trace.LocationID, row uint32, at int64) (int64, bool) {
	c := r.t.Collectives.Ptr(int(row))
	switch c.Op.Pattern() {
	default:
		return r.all(l, r.Arrivals.Ptr(int(row)), at)
	case trace.PatternOneToAll:
		if root, ok := r.root(c); ok && root.Location != l {
			return r.posted(l, root.Location, root.Call, at)
		}
	case trace.PatternAllToOne:
		if root, ok := r.root(c); ok && root.Location == l {
			return r.all(l, r.Arrivals.Ptr(int(row)), at)
		}
	case trace.PatternScan:
		ok := true
		for k := c.First; k < c.First+c.Count && ok; k++ {
			m := r.t.Members.At(int(k))
			if m.Location == l {
				break
			}
			at, ok = r.posted(l, m.Location, m.Call, at)
		}
		return at, ok
	}
	return at, true
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
