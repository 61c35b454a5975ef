// Package whatif predicts the run time that a change of the program would give: the calibrated
// replay (DEFINITIONS 2.11).
//
// A Model is the run as a graph: each location runs its calls in recorded order, with computation between them. A call ends its own time
// after the latest event that it waits for. Own times and computation are those of the trace, and so are, with no change, all times that a
// replay finds.
package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/causal"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A Model is a run that can be replayed with changes, any number of times, also by several
// goroutines at a time. Its tables lie in the trace's Store.
type Model struct {
	t        *trace.Trace
	segments []*profile.Segments
	jobs     int
	network  *network
	waits    waits.ByCall
	overhead overhead.ByCall // nil: not known

	locations []location
	instances *spill.Table[causal.Meeting] // of collectives, as recorded; the last two are MPI_Init and MPI_Finalize
	members   *spill.Table[role]           // what each does in its instance
	before    *spill.Table[int64]          // by member that follows others: the latest time in ticks at which one of them arrived
	master    []trace.LocationID           // by location: that of its rank; None: the location moves on its own
	first     int64                        // begin of the run
	last      int64                        // its end
	from, to  int64                        // changes of time are of what passes then
	aside     []bool                       // by location: no part of the run
	names     []name                       // of call paths, in the tree and outside it
	mpi       []trace.MPIFunction          // by region

	deviceWaits map[name]bool // names of calls that only wait for an accelerator
	finishes    *atomic.Bool  // a replay of these needs has come to its end, and so do all
	backward    bool          // some call ends before what it needs

	// Negative counts the calls whose own time is below zero: clocks disagree there.
	Negative uint64

	// LeftOut counts the needs of calls that are met only after the calls end. They are left out
	// if no order of calls satisfies all of them.
	LeftOut uint64
}

// A location is what one location does.
//
//	clocks.At(i) is when call i is entered, less all waits before it
//	the needs and parts of a row end where those of the next row begin
type location struct {
	rows   *spill.Table[row]
	needs  *spill.Table[need]
	parts  *spill.Table[part]
	clocks *spill.Table[int64] // by call
	end    int64               // the last event, less all waits
}

// A row is a call that waits for others, or for which others wait at a collective.
type row struct {
	call   uint32
	needs  uint32 // first row in needs
	parts  uint32 // first row in parts
	before bool   // it is no call, but waits before call is entered
	wait   int64  // ticks
}

// rowAfter returns the row after row i, at the end one where nothing begins.
func (x *location) rowAfter(i int) row {
	if i+1 < x.rows.Len() {
		return x.rows.At(i + 1)
	}
	return row{needs: uint32(x.needs.Len()), parts: uint32(x.parts.Len())}
}

// A need is a call, nearly always of another location, that must have been entered the lag of a
// flight ago.
type need struct {
	location trace.LocationID
	call     uint32
	flight   uint32
}

// A part is what a call does in an instance of a collective: it arrives there, waits for
// others, or both.
type part struct {
	instance uint32
	member   uint32
	flight   uint32 // of what it waits for
	does     role
	head     int64 // ticks from the Enter of the call to the begin of the part
}

// A role says what a member does in its instance.
type role uint8

const (
	arrives role = 1 << iota // others wait for it
	awaits                   // it waits for all who arrive
	follows                  // it waits for those who arrive among the members before it
)

// New makes the model of a trace out of its analysis, which must be of the whole run, with so
// many goroutines (below 1: one per processor).
func New(ctx context.Context, t *trace.Trace, a *analysis.Result, jobs int) (*Model, error) {
	if a.Selection != nil {
		return nil, errors.New("only the whole run can be replayed, not a part of it")
	}
	if r := a.Trace.Reduced; r != nil && r.LeftOut != nil {
		return nil, fmt.Errorf("%.1f %% of the time was cut from this trace (%s), so it cannot be replayed; use the whole trace",
			100*r.CutShare, strings.Join(r.By, "; "))
	}
	if len(a.Delegated) != len(t.Calls) || len(a.Waits) != len(t.Calls) {
		return nil, errors.New("the analysis belongs to another trace")
	}
	m := &Model{t: t, from: math.MinInt64, to: math.MaxInt64, segments: a.Delegated, jobs: jobs, waits: a.Waits, overhead: a.CallOverhead,
		finishes: new(atomic.Bool), locations: make([]location, len(t.Calls))}
	m.first, m.last = scope.Run(t)
	m.aside, m.names, m.mpi = scope.Aside(t), namesOf(t), t.Defs.MPIFunctions()
	m.deviceWaits = deviceWaits(t, m.names)
	collectives, err := m.findRoles(ctx)
	if err == nil {
		m.network, err = m.calibrate(ctx, a, collectives)
	}
	if err != nil {
		return nil, fmt.Errorf("calibrating the replay: %w", err)
	}
	if err := m.buildAll(ctx, a.Waits); err != nil {
		return nil, fmt.Errorf("building the replay: %w", err)
	}
	m.findMasters()
	return m, t.Store.Err()
}

// buildAll builds all locations: if need be, a second time without what calls seem to need
// after their ends.
func (m *Model) buildAll(ctx context.Context, waits waits.ByCall) error {
	for _, keep := range []bool{true, false} {
		sum, err := m.build(ctx, waits, keep)
		if err != nil {
			return err
		}
		m.Negative, m.backward = sum.negative, sum.backward
		switch stuck := new(StuckError); {
		case !keep:
			m.LeftOut = sum.late
		case sum.late > 0:
			in, err := m.change(ctx, nil, false)
			if err == nil {
				_, err = m.run(ctx, in, false)
			}
			in.release()
			if errors.As(err, &stuck) {
				m.releaseLocations()
				continue
			}
			return err
		}
		return nil
	}
	return nil
}

// build makes the rows of all locations, which advance together: what they need of each other, and of
// collectives, lies near in time.
func (m *Model) build(ctx context.Context, found waits.ByCall, keep bool) (sum doubts, err error) {
	builders := make([]*builder, len(m.t.Calls))
	for l := range builders {
		builders[l] = m.newBuilder(trace.LocationID(l), found[l], keep)
	}
	_, err = waits.InWindows(ctx, m.t, m.jobs, func() *lookups { return new(lookups) }, func(k *lookups, l int, end int64) {
		k.list = k.list[:0] // of another location
		builders[l].lookups = k
		builders[l].until(end)
	}, func(k, _ *lookups) *lookups { return k })
	for l, b := range builders {
		m.locations[l] = b.finish()
		sum.negative += b.doubts.negative
		sum.late += b.doubts.late
		sum.backward = sum.backward || b.doubts.backward
	}
	return sum, err
}

// findMasters finds the threads that neither wait nor make others wait: they move with their
// rank's master.
func (m *Model) findMasters() {
	m.master = make([]trace.LocationID, len(m.locations))
	for l := range m.master {
		m.master[l] = trace.None
		rank := m.t.Rank[l]
		if m.locations[l].rows.Len() > 0 || int(rank) >= len(m.t.World) || m.aside[l] {
			continue
		}
		if at := m.t.World[rank]; int(at) < len(m.locations) && at != trace.LocationID(l) && m.t.Span[at].Events > 0 {
			m.master[l] = at
		}
	}
}

// Release gives the memory back.
func (m *Model) Release() {
	m.releaseLocations()
	m.instances.Release()
	m.members.Release()
	m.before.Release()
}

func (m *Model) releaseLocations() {
	for i := range m.locations {
		x := &m.locations[i]
		x.rows.Release()
		x.needs.Release()
		x.parts.Release()
		x.clocks.Release()
	}
}
