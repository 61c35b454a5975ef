package diagnosis

import (
	"cmp"
	"math"
	"slices"

	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// A rare says that culprits are late a few times, and as fast as others else.
type rare struct {
	times, of int // instances that are late, and all
	changes   []whatif.Change
	longest   int64 // ns
	until     int64 // when that ends, ns since the begin of the run; only if something is called after it
}

// fewOf is how many instances there are for each one that is late, at least.
const fewOf = 10

// An instance is what passes at a place between two calls.
type instance struct {
	ticks int64
	until uint32 // the call after it
}

// instances returns those of a rank at a place.
func (f *finder) instances(p *place, rank uint32) (visits []instance) {
	call := uint32(0) // the next one
	for of, s := range f.a.Segments[f.t.World[rank]].All() {
		switch {
		case of != trace.None:
			call = of + 1
		case !p.paths[s.Path]:
		case len(visits) > 0 && visits[len(visits)-1].until == call:
			visits[len(visits)-1].ticks += s.Time
		default:
			visits = append(visits, instance{s.Time, call})
		}
	}
	return visits
}

// rarely reports whether few instances of a place, each longer than any of other ranks, hold most of what ranks take longer than others,
// which take there ns each; nil if not.
func (f *finder) rarely(p *place, ranks, others []uint32, there float64) *rare {
	var out rare
	clock, least := &f.t.Defs.Clock, int64(math.MaxInt64)
	for _, r := range ranks {
		l, visits := f.t.World[r], f.instances(p, r)
		if len(visits) < fewOf {
			return nil
		}
		slices.SortStableFunc(visits, func(a, b instance) int { return cmp.Compare(b.ticks, a.ticks) })
		usual := there / float64(len(visits))
		longer, late := 0.0, 0
		for longer < culprit*(float64(p.times[r])-there) && late < len(visits) {
			longer, late = longer+float64(clock.Nanoseconds(visits[late].ticks))-usual, late+1
		}
		if late == 0 || fewOf*late > len(visits) {
			return nil
		}
		out.times, out.of, least = out.times+late, out.of+len(visits), min(least, visits[late-1].ticks)
		out.changes = append(out.changes, whatif.Shorten(p.at(), visits[late-1].ticks, int64(usual*float64(clock.Resolution)/1e9), r))
		if longest := clock.Nanoseconds(visits[0].ticks); longest > out.longest {
			out.longest, out.until = longest, 0
			if calls := f.t.Calls[l]; int(visits[0].until) < calls.Len() {
				out.until = scope.NewAxis(f.t).Instant(calls.Ptr(int(visits[0].until)).Enter)
			}
		}
	}
	for _, r := range others {
		if slices.ContainsFunc(f.instances(p, r), func(x instance) bool { return x.ticks >= least }) {
			return nil
		}
	}
	return &out
}
