package diagnosis

import (
	"cmp"
	"iter"
	"slices"

	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// A rare says that culprits are late at times, and as fast as others else.
type rare struct {
	times, of int // instances that are late, and all
	changes   []whatif.Change
	longest   int64 // ns
	until     int64 // when that ends, ns since the begin of the run; only if something is called after it
	first     int64 // likewise of the first that is late
}

// fewVisits is how many instances there are at least where some are told from the others.
const fewVisits = 10

// slightly is the share of the most that a late instance takes longer from which on others are late, too.
const slightly = 0.1

// An instance is what passes at a place between two calls.
type instance struct {
	ticks int64
	until uint32 // the call after it
}

// instances iterates over those of a rank at a place.
func (f *finder) instances(p *place, rank uint32) iter.Seq[instance] {
	in := make([]bool, len(f.places)) // of the tree
	for path := range in {
		in[path] = p.paths[trace.PathID(path)]
	}
	return func(yield func(instance) bool) {
		x, some, call := instance{}, false, uint32(0) // the next one
		for of, s := range f.a.Segments[f.t.World[rank]].All() {
			switch {
			case of != trace.None:
				call = of + 1
			case int(s.Path) < len(in) && !in[s.Path] || int(s.Path) >= len(in) && !p.paths[s.Path]:
			case some && x.until == call:
				x.ticks += s.Time
			case some && !yield(x):
				return
			default:
				x, some = instance{s.Time, call}, true
			}
		}
		if some {
			yield(x)
		}
	}
}

// rarely reports whether at most half of the instances of a place, each longer than any of other ranks, hold most of what ranks take longer
// than others, which take there ns each; nil if not. Those are late that are longer than any of others, and not slightly.
func (f *finder) rarely(p *place, ranks, others []uint32, there float64) *rare {
	var out rare
	clock, most := &f.t.Defs.Clock, int64(0) // of others
	for _, r := range others {
		for x := range f.instances(p, r) {
			most = max(most, x.ticks)
		}
	}
	for _, r := range ranks {
		l, visits := f.t.World[r], slices.Collect(f.instances(p, r))
		if len(visits) < fewVisits {
			return nil
		}
		slices.SortStableFunc(visits, func(a, b instance) int { return cmp.Compare(b.ticks, a.ticks) })
		usual := there / float64(len(visits))
		longer, late := 0.0, 0
		excess := func(i int) float64 { return float64(clock.Nanoseconds(visits[i].ticks)) - usual }
		for late < len(visits) && visits[late].ticks > most && excess(late) >= slightly*excess(0) {
			longer, late = longer+excess(late), late+1
		}
		if late == 0 || 2*late > len(visits) || longer < culprit*(float64(p.times[r])-there) {
			return nil
		}
		out.times, out.of = out.times+late, out.of+len(visits)
		out.changes = append(out.changes, whatif.Shorten(p.at(), visits[late-1].ticks, int64(usual*float64(clock.Resolution)/1e9), r))
		ends := func(x instance) int64 { // 0: nothing is called after it
			if calls := f.t.Calls[l]; int(x.until) < calls.Len() {
				return scope.NewAxis(f.t).Instant(calls.Ptr(int(x.until)).Enter)
			}
			return 0
		}
		if longest := clock.Nanoseconds(visits[0].ticks); longest > out.longest {
			out.longest, out.until = longest, ends(visits[0])
		}
		for _, x := range visits[:late] {
			if at := ends(x); at > 0 && (out.first == 0 || at < out.first) {
				out.first = at
			}
		}
	}
	return &out
}
