package diagnosis

import (
	"cmp"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// A place is a region outside MPI as some callers call it.
type place struct {
	row     waitstate.Delay // what it makes others wait
	callers []field.Site    // none: all that there are
	paths   map[trace.PathID]bool
	path    float64  // time on the critical path, ns
	unequal int64    // of that more than as many mean visits take, ns
	times   []int64  // by rank, waits left out, ns
	visits  []uint64 // by rank
	late    *rare    // what rarely has found, if it was asked
	asked   bool
}

// at returns the call paths of the place.
func (p *place) at() whatif.Place { return func(path trace.PathID) bool { return p.paths[path] } }

// split divides the places of rows by their callers.
func (f *finder) split(rows []waitstate.Delay) {
	type part struct{ at, caller field.Site }
	parts, of := make(map[part]*place), make(map[trace.PathID]*place)
	add := func(path trace.PathID, row waitstate.Delay, caller field.Site) {
		k := part{placeOf(row), caller}
		p := parts[k]
		if p == nil {
			p = &place{paths: make(map[trace.PathID]bool), times: make([]int64, len(f.t.World)), visits: make([]uint64, len(f.t.World))}
			p.row.SourceLine, p.callers = row.SourceLine, []field.Site{caller}
			parts[k], f.parts[k.at] = p, append(f.parts[k.at], p)
		}
		p.paths[path], of[path] = true, p
	}
	wanted := make(map[field.Site]waitstate.Delay)
	for _, row := range rows {
		wanted[placeOf(row)] = row
	}
	for path, at := range f.places {
		if row, ok := wanted[at]; ok && at.Operation == "" {
			add(trace.PathID(path), row, f.caller(trace.PathID(path)))
		}
	}
	for path, name := range beside {
		if row, ok := wanted[field.Site{SourceLine: field.SourceLine{Region: field.Name(name)}}]; ok {
			add(path, row, field.Site{})
			p := of[path]
			p.row, p.path, p.unequal = row, float64(f.critical[placeOf(row)]), f.unequal[placeOf(row)]
		}
	}
	for _, c := range f.a.PathCosts {
		if p := of[c.Path]; p != nil {
			p.addCost(c.Delay)
			p.path += float64(c.CriticalNs)
			p.unequal += c.UnequalNs
		}
	}
	f.sum(of)
}

// caller returns the place that a call path is called from; none: that of nothing.
func (f *finder) caller(path trace.PathID) (at field.Site) {
	if parent := f.t.Tree.Nodes[path].Parent; int(parent) < len(f.places) {
		at = f.places[parent]
	}
	return at
}

// sum sums the times of places by rank. Threads that make no calls are left out: nobody waits for
// them but their own master.
func (f *finder) sum(of map[trace.PathID]*place) {
	if len(of) == 0 {
		return
	}
	inTree := make([]*place, len(f.places))
	for path, p := range of {
		if int(path) < len(inTree) {
			inTree[path] = p
		}
	}
	for l, segments := range f.a.Segments {
		rank := f.t.Rank[l]
		if int(rank) >= len(f.t.World) || f.t.World[rank] != trace.LocationID(l) && f.t.Calls[l].Len() == 0 {
			continue
		}
		for s := range segments.Sums {
			p := (*place)(nil)
			if int(s.Path) < len(inTree) {
				p = inTree[s.Path]
			} else {
				p = of[s.Path]
			}
			if p != nil {
				p.times[rank] += s.Time
				p.visits[rank] += uint64(s.Visits)
			}
		}
	}
	for _, parts := range f.parts {
		for _, p := range parts {
			for r, ticks := range p.times {
				p.times[r] = f.t.Defs.Clock.Nanoseconds(ticks)
			}
		}
	}
}

// addCost adds what other call paths make others wait.
func (p *place) addCost(d waitstate.Delay) {
	p.row.TotalNs += d.TotalNs
	for k, ns := range d.By {
		p.row.By[k] += ns
		p.row.AtOnce[k] += d.AtOnce[k]
	}
	p.row.ShortNs += d.ShortNs
	if d.Longest.TimeNs > p.row.Longest.TimeNs {
		p.row.Longest = d.Longest
	}
	for _, r := range d.Ranks {
		i := slices.IndexFunc(p.row.Ranks, func(x field.RankTime) bool { return x.Rank == r.Rank })
		if i < 0 {
			i, p.row.Ranks = len(p.row.Ranks), append(slices.Clip(p.row.Ranks), field.RankTime{Rank: r.Rank})
		}
		p.row.Ranks[i].TimeNs += r.TimeNs
	}
	slices.SortStableFunc(p.row.Ranks, func(a, b field.RankTime) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Rank, b.Rank))
	})
}

// union returns several parts of a place as one.
func union(parts []*place) *place {
	if len(parts) == 1 {
		return parts[0]
	}
	u := &place{paths: make(map[trace.PathID]bool), times: make([]int64, len(parts[0].times)), visits: make([]uint64, len(parts[0].times))}
	u.row.SourceLine = parts[0].row.SourceLine
	for _, p := range parts {
		u.addCost(p.row)
		u.callers = append(u.callers, p.callers...)
		u.path += p.path
		u.unequal += p.unequal
		for path := range p.paths {
			u.paths[path] = true
		}
		for r := range u.times {
			u.times[r] += p.times[r]
			u.visits[r] += p.visits[r]
		}
	}
	return u
}

// alike are the parts of a place at which the same is wrong, with what that is.
type alike struct {
	wrong candidate
	parts []*place
}

// computing judges a place outside MPI that makes others wait, by its callers: those at which the
// same is wrong are one candidate.
func (f *finder) computing(row waitstate.Delay) (out []candidate) {
	all := f.parts[placeOf(row)]
	var groups []*alike
	for _, p := range all {
		if p.path == 0 || p.row.TotalNs == 0 || len(f.visitors(p.times)) == 0 {
			continue
		}
		c := f.at(p)
		i := slices.IndexFunc(groups, func(g *alike) bool { return c.like(&g.wrong) })
		if i < 0 {
			i, groups = len(groups), append(groups, &alike{wrong: c})
		}
		groups[i].parts = append(groups[i].parts, p)
	}
	for _, g := range groups {
		p := union(g.parts)
		if len(g.parts) == len(all) {
			p.callers = nil
		}
		out = append(out, f.at(p))
	}
	return out
}

// like reports whether the same is wrong.
func (c *candidate) like(o *candidate) bool {
	return c.mended == o.mended && (c.mended == equalVisits || slices.Equal(c.cause.Ranks, o.cause.Ranks))
}

// peers returns of some other ranks those that are at a place as often as ranks are in the mean;
// all if there are none.
func (p *place) peers(ranks, others []uint32) []uint32 {
	visits := 0.0
	for _, r := range ranks {
		visits += float64(p.visits[r]) / float64(len(ranks))
	}
	var out []uint32
	for _, r := range others {
		if n := float64(p.visits[r]); math.Max(n, visits) <= unlike*math.Min(n, visits) {
			out = append(out, r)
		}
	}
	if out == nil {
		return others
	}
	return out
}

// A slowness says how long culprits take at a place, and others.
type slowness struct {
	where       string
	here, there float64 // ns
	often       bool    // others are those that are there as often
	at          whatif.Place
	rare        *rare // nil: they are late most times
}

func (s *slowness) factor() float64 { return s.here / s.there }

// sameFactor is how much factors less one may differ that have one reason.
const sameFactor = 1.25

// joined joins candidates whose culprits are the same ranks and take longer by about the same
// factor: they are slow, or have more to do, wherever they are. The one that may gain most is first.
func joined(all []candidate) (out []candidate) {
	slices.SortStableFunc(all, byBound)
	for _, c := range all {
		i := slices.IndexFunc(out, func(o candidate) bool {
			if c.slow == nil || o.slow == nil || c.loss != o.loss || !slices.Equal(c.cause.Ranks, o.cause.Ranks) {
				return false
			}
			if (c.slow[0].rare == nil) != (o.slow[0].rare == nil) {
				return false
			}
			a, b := c.slow[0].factor()-1, o.slow[0].factor()-1
			return math.Max(a, b) <= sameFactor*math.Min(a, b)
		})
		if i < 0 {
			out = append(out, c)
			continue
		}
		o := &out[i]
		o.add(c)
		o.changes, o.slow = append(o.changes, c.changes...), append(o.slow, c.slow...)
	}
	return out
}

// add adds what another candidate costs.
func (c *candidate) add(o candidate) {
	c.bound += o.bound
	c.cause.WaitsCausedNs += o.cause.WaitsCausedNs
	for key, x := range o.cause.Evidence {
		c.cause.Evidence[key] += x
	}
}
