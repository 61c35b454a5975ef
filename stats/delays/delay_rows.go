package delays

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/numbers"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A delaySum adds up the costs of a place.
type delaySum struct {
	path        trace.PathID // the first
	at          profile.Site
	name        string // of a place that is none of the call tree
	short, long float64
	by, atOnce  [waitstate.Kinds]float64
	ranks       map[uint32]rankCost
	longest     delayedMost
}

// A rankCost is what a place on one rank costs: all, and what of that are waits at startup, or outside of steps.
type rankCost struct{ all, startup, outside float64 }

// Rows makes the blocks of the document, the place that costs most first.
func Rows(d *Finder, p *profile.Profiler, keys []costKey) ([]waitstate.Delay, *waitstate.DelayTotals) {
	rows := []waitstate.Delay{}
	for _, s := range sumDelays(d, p, keys, func(path trace.PathID) profile.Site { at, _ := p.PlaceOf(path); return at }) {
		if row := s.row(p); row.TotalNs > 0 {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b waitstate.Delay) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	totals, r := new(waitstate.DelayTotals), numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	for k := range totals {
		x := &d.total[k]
		s := floatSplitter{Rate: r}
		totals[k] = waitstate.DelayTotal{ShortNs: s.ns(x.short), LongNs: s.ns(x.long), UnexplainedNs: s.ns(x.unexplained)}
	}
	return rows, totals
}

// Keys returns what has costs, in order.
func (d *Finder) Keys() []costKey {
	return slices.SortedFunc(maps.Keys(d.index), func(a, b costKey) int {
		return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.path, b.path))
	})
}

// sumDelays sums the costs of places by a key of their call paths, in order.
func sumDelays[K comparable](d *Finder, p *profile.Profiler, keys []costKey, by func(trace.PathID) K) (sums []*delaySum) {
	index := make(map[K]*delaySum)
	for _, key := range keys {
		c, k := d.cost(key), by(key.path)
		sum := index[k]
		if sum == nil {
			sum = &delaySum{path: c.path, ranks: make(map[uint32]rankCost)}
			sum.at, sum.name = p.PlaceOf(c.path)
			index[k], sums = sum, append(sums, sum)
		}
		sum.add(c, p.T.Rank[c.location])
	}
	return sums
}

// A PathCost is a call path that makes others wait, lies on the critical path, takes longer than it needs or
// in which counters count: part of the rows that its place has in Delays, CriticalPath, Overhead and Profile.
type PathCost struct {
	Path       trace.PathID
	Delay      waitstate.Delay
	CriticalNs int64                 // time on the critical path
	UnequalNs  int64                 // above what as many visits take in the mean
	OverheadNs int64                 // of its calls; 0 without Overhead
	Counters   []document.CounterRow // that have a sum
}

// PathCosts returns the costs of each call path that has some, in order of paths. o may be nil.
func PathCosts(d *Finder, p *profile.Profiler, keys []costKey, part *profile.Part, o *overhead.Finder) []PathCost {
	delays := make(map[trace.PathID]waitstate.Delay)
	for _, s := range sumDelays(d, p, keys, func(path trace.PathID) trace.PathID { return path }) {
		if s.name == "" {
			delays[s.path] = s.row(p)
		}
	}
	var out []PathCost
	r := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	for i := range part.Paths {
		s := &part.Paths[i]
		delay, costs := delays[s.Path]
		overhead := int64(0)
		if o != nil && int(s.Path) < len(o.Paths) {
			overhead = o.Paths[s.Path].Overhead
		}
		var told trace.Ledger // the profile says what is wrong with counters
		counters := slices.DeleteFunc(profile.CounterRows(p.T.Defs, "", s.Counters, &told), func(c document.CounterRow) bool {
			return c.Sum == nil
		})
		if costs || s.Critical > 0 || overhead > 0 || len(counters) > 0 {
			out = append(out, PathCost{s.Path, delay, r.Ns(s.Critical), r.Ns(s.Unequal()), overhead, counters})
		}
	}
	return out
}

func (s *delaySum) add(c *delayCost, rank uint32) {
	if c.longest.time > s.longest.time {
		s.longest = c.longest
	}
	of := s.ranks[rank]
	of.startup += c.short[waitstate.AtStartup] + c.long[waitstate.AtStartup]
	of.outside += c.outside
	for k := range c.short {
		s.short += c.short[k]
		s.long += c.long[k]
		s.atOnce[k] += c.short[k]
		s.by[k] += c.short[k] + c.long[k]
		of.all += c.short[k] + c.long[k]
	}
	s.ranks[rank] = of
}

func (s *delaySum) row(p *profile.Profiler) waitstate.Delay {
	r := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	row := waitstate.Delay{SourceLine: field.SourceLine{Region: field.Name(s.name)}, MostRank: trace.None, Ranks: []field.RankTime{}}
	if s.name == "" {
		row.SourceLine, row.Operation = profile.Spell(p.T.Defs, s.at.Line), field.Name(p.T.Defs.RegionLabel(s.at.Operation))
	}
	parts := floatSplitter{Rate: r}
	row.ShortNs, row.LongNs = parts.ns(s.short), parts.ns(s.long)
	row.TotalNs = row.ShortNs + row.LongNs
	parts = floatSplitter{Rate: r}
	for k, time := range s.by {
		row.By[k] = parts.ns(time)
	}
	parts = floatSplitter{Rate: r}
	for k, time := range s.atOnce {
		row.AtOnce[k] = parts.ns(time)
	}
	parts = floatSplitter{Rate: r}
	for _, rank := range slices.Sorted(maps.Keys(s.ranks)) {
		if ns := parts.ns(s.ranks[rank].all); ns > 0 {
			row.Ranks = append(row.Ranks, field.RankTime{Rank: field.Rank(rank), TimeNs: ns})
		}
	}
	slices.SortStableFunc(row.Ranks, func(a, b field.RankTime) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	for _, of := range row.Ranks {
		cost := s.ranks[uint32(of.Rank)]
		row.StartupNs = append(row.StartupNs, min(of.TimeNs, r.Ns(whole(cost.startup))))
		row.OutsideNs = append(row.OutsideNs, min(of.TimeNs, r.Ns(whole(cost.outside))))
	}
	if s.longest.time > 0 {
		at, _ := p.PlaceOf(s.longest.path)
		row.Longest = waitstate.Delayed{SourceLine: profile.Spell(p.T.Defs, at.Line), Operation: field.Name(p.T.Defs.RegionLabel(at.Operation)),
			Kind: s.longest.kind, TimeNs: r.Ns(whole(s.longest.time))}
	}
	if len(row.Ranks) > 0 {
		row.MostRank, row.MostRankNs = row.Ranks[0].Rank, row.Ranks[0].TimeNs
	}
	return row
}

// A floatSplitter converts parts of a whole in fractions of ticks as a splitter does those in
// ticks.
type floatSplitter struct {
	numbers.Rate
	sum float64
}

func (s *floatSplitter) ns(part float64) int64 {
	before := s.Rate.Ns(whole(s.sum))
	s.sum += part
	return s.Rate.Ns(whole(s.sum)) - before
}

// whole returns a time in ticks, rounded, the largest int64 if it is too large for one.
func whole(ticks float64) int64 {
	if ticks >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(ticks))
}

// causes divides the time of the waits.
func (x *delayTotal) causes(r numbers.Rate, time int64) *waitstate.Causes {
	indirect := min(time, r.Ns(whole(x.indirect)))
	propagating := min(time, r.Ns(whole(x.propagating)))
	return &waitstate.Causes{DirectNs: time - indirect, IndirectNs: indirect, PropagatingNs: propagating, TerminalNs: time - propagating}
}
