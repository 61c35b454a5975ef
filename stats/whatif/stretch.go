package whatif

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A stretch is time that passes in a call path between two calls, and how much it is with the changes. Gap is the number of calls before.
type stretch struct {
	gap, slot uint32
	old, new  int64
}

// An inner knot says of an instant between two calls how long after the first of them it is with the changes.
type innerKnot struct {
	gap   uint32
	from  int64
	after int64
}

// inner finds by location when, with the changes, what happens between calls whose time changes: each region keeps its own time unless it
// is changed itself. It goes over the events of these locations.
func (m *Model) inner(ctx context.Context, stretches []*spill.Table[stretch]) ([]*spill.Table[innerKnot], error) {
	var only []trace.LocationID
	for l, s := range stretches {
		if s.Len() > 0 {
			only = append(only, trace.LocationID(l))
		}
	}
	if only == nil {
		return make([]*spill.Table[innerKnot], len(stretches)), nil
	}
	return engine.Each(ctx, m.t.Source, engine.Options{Jobs: m.jobs, Only: only},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (*spill.Table[innerKnot], error) {
			x := &stretcher{Model: m, stretches: stretches[l], now: m.t.Span[l].First, knots: spill.NewTable[innerKnot](m.t.Store)}
			f := profile.Follower[stretched]{Enter: x.enter, Spend: x.spend}
			return x.knots, f.Follow(m.t, m.waits, l, batches)
		})
}

// stretched is what is kept of a region that is entered.
type stretched struct {
	path trace.PathID
	call bool // it is, or is in, a call
}

// A stretcher follows one location.
type stretcher struct {
	*Model
	stretches *spill.Table[stretch]
	row       int                // of the stretches, behind those of the present gap
	gap       uint32             // calls so far
	factors   map[uint32]float64 // of the present gap, by slot
	now       int64
	after     float64 // the last call, with the changes
	knots     *spill.Table[innerKnot]
}

func (x *stretcher) enter(caller *stretched, region trace.RegionID, site trace.SourceLocationID, call *trace.Call) stretched {
	v := stretched{path: trace.None}
	if caller != nil {
		v = *caller
	}
	if path := x.t.Tree.Find(trace.PathNode{Parent: v.path, Region: region, Site: site}); path != trace.None {
		v.path = path
	}
	if call != nil {
		v.call = true
		x.gap++
		x.factors = nil
	}
	return v
}

func (x *stretcher) spend(end int64, _ trace.RegionID, visit *stretched, _ waitstate.Kind) {
	passed := end - x.now
	x.now = end
	if visit != nil && visit.call {
		x.after = 0
		return
	}
	if x.factors == nil {
		x.load()
	}
	if len(x.factors) == 0 {
		return
	}
	path := trace.PathID(profile.PathOutside)
	if visit != nil {
		path = visit.path
	}
	factor, changed := x.factors[uint32(x.slot(path))]
	if !changed {
		factor = 1
	}
	x.after += factor * float64(passed)
	x.knots.Append(innerKnot{x.gap, end, int64(x.after)})
}

// load finds the factors of the present gap.
func (x *stretcher) load() {
	x.factors = make(map[uint32]float64)
	for ; x.row < x.stretches.Len() && x.stretches.Ptr(x.row).gap < x.gap; x.row++ {
	}
	old, changed := make(map[uint32]int64), make(map[uint32]int64)
	for ; x.row < x.stretches.Len() && x.stretches.Ptr(x.row).gap == x.gap; x.row++ {
		s := x.stretches.Ptr(x.row)
		old[s.slot] += s.old
		changed[s.slot] += s.new
	}
	for slot, ticks := range old {
		if ticks > 0 && ticks != changed[slot] {
			x.factors[slot] = float64(changed[slot]) / float64(ticks)
		}
	}
}
