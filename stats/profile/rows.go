package profile

import (
	"cmp"
	"iter"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// ProfileRows makes the flat profile of the sums of call paths, the region with the most
// exclusive time first.
func ProfileRows(p *Profiler, part *Part) []document.ProfileRow {
	d, r := p.T.Defs, numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	sums := make([]regionSum, len(d.Regions)+1) // the last: regions that are not defined
	for i := range part.Paths {
		s := &part.Paths[i]
		region := min(int(p.T.Tree.Nodes[s.Path].Region), len(d.Regions))
		sums[region].count += s.Count
		sums[region].exclusive = numbers.Plus(sums[region].exclusive, s.Exclusive)
		if !recursive(p.T.Tree, s.Path) {
			sums[region].inclusive = numbers.Plus(sums[region].inclusive, s.Inclusive)
		}
		sums[region].counters = mergeCounters(sums[region].counters, slices.Clone(s.Counters))
	}
	spreadOverRanks(part.regions, sums)
	// Regions that are defined and never visited have no row.
	rows := []document.ProfileRow{}
	for id, s := range sums {
		if s.count == 0 && s.exclusive == 0 {
			continue
		}
		def, name := trace.Region{File: trace.None}, unknownRegion
		if id < len(d.Regions) {
			def = d.Regions[id]
			name = d.RegionLabel(trace.RegionID(id))
		}
		counters := CounterRows(d, name, s.counters, &p.Ledger)
		rows = append(rows, document.ProfileRow{
			Region: name, File: field.Name(d.String(def.File)), Line: field.Line(def.BeginLine), Paradigm: paradigmOf(def),
			Count: s.count, InclusiveNs: r.Ns(s.inclusive), ExclusiveNs: r.Ns(s.exclusive),
			MinNs: r.Ns(s.low.TimeNs), MaxNs: r.Ns(s.high.TimeNs), MeanNs: r.Mean(s.byRank, uint64(max(1, s.ranks))),
			MinRank: s.low.Rank, MaxRank: s.high.Rank, Ranks: s.ranks,
			Rates: ratesOf(counters), Counters: counters,
		})
	}
	slices.SortStableFunc(rows, func(a, b document.ProfileRow) int {
		return cmp.Or(cmp.Compare(b.ExclusiveNs, a.ExclusiveNs), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Line, b.Line))
	})
	return rows
}

// paradigmOf names what a region belongs to: code by its paradigm, and apart from that the ranges that a program names.
func paradigmOf(r trace.Region) string {
	if r.Role == trace.RoleArtificial && r.Paradigm == trace.ParadigmUser {
		return "annotation"
	}
	return r.Paradigm.String()
}

// unknownRegion is the name of regions that have no definition.
const unknownRegion = "(unknown)"

// A regionSum adds up a region over its call paths, in ticks.
type regionSum struct {
	count                uint64
	inclusive, exclusive int64
	ranks                int           // that visit it
	byRank               int64         // exclusive on those, together
	low, high            field.Extreme // exclusive on one of those
	counters             []counterSum
}

// recursive reports whether a call path enters its last region for the second time.
func recursive(tree *trace.CallTree, path trace.PathID) bool {
	region := tree.Nodes[path].Region
	for q := tree.Nodes[path].Parent; q != trace.None; q = tree.Nodes[q].Parent {
		if tree.Nodes[q].Region == region {
			return true
		}
	}
	return false
}

// spreadOverRanks finds minimum, maximum and mean of the regions' exclusive times over
// the selected ranks that visit them.
func spreadOverRanks(times []regionTime, sums []regionSum) {
	slices.SortFunc(times, func(a, b regionTime) int {
		return cmp.Or(cmp.Compare(a.region, b.region), cmp.Compare(a.rank, b.rank))
	})
	for i := range sums {
		sums[i].low.Rank, sums[i].high.Rank = trace.None, trace.None
	}
	for len(times) > 0 {
		n := 0
		for n < len(times) && times[n].region == times[0].region {
			n++
		}
		sums[min(int(times[0].region), len(sums)-1)].spread(times[:n])
		times = times[n:]
	}
}

// spread walks over the times of one region, which ascend by rank. Locations outside MPI,
// which have none, are the last.
func (s *regionSum) spread(times []regionTime) {
	for len(times) > 0 && times[0].rank != trace.None {
		t := field.Extreme{Rank: field.Rank(times[0].rank)}
		for len(times) > 0 && times[0].rank == uint32(t.Rank) {
			t.TimeNs = numbers.Plus(t.TimeNs, times[0].time)
			times = times[1:]
		}
		if s.ranks == 0 || t.TimeNs < s.low.TimeNs {
			s.low = t
		}
		if s.ranks == 0 || t.TimeNs > s.high.TimeNs {
			s.high = t
		}
		s.ranks++
		s.byRank = numbers.Plus(s.byRank, t.TimeNs)
	}
}

// CallPathRows lists the call paths, the one with the most inclusive time first.
func CallPathRows(p *Profiler, part *Part) []document.CallPathRow {
	d, r := p.T.Defs, numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	paths := slices.Clone(part.Paths)
	slices.SortFunc(paths, func(a, b pathSum) int {
		return cmp.Or(cmp.Compare(b.Inclusive, a.Inclusive), cmp.Compare(a.Path, b.Path))
	})
	labels := make([]string, len(d.Regions)+1) // the last: a region that is not defined
	for id := range d.Regions {
		labels[id] = d.RegionLabel(trace.RegionID(id))
	}
	rows := make([]document.CallPathRow, len(paths))
	for i, s := range paths {
		n := p.T.Tree.Nodes[s.Path]
		rows[i] = document.CallPathRow{ID: field.Path(s.Path), Parent: field.Path(n.Parent), Region: labels[min(int(n.Region), len(d.Regions))],
			Count:       s.Count,
			InclusiveNs: r.Ns(s.Inclusive), ExclusiveNs: r.Ns(s.Exclusive)}
		if int(n.Site) < len(d.SourceLocations) {
			rows[i].File, rows[i].Line = field.Name(d.String(d.SourceLocations[n.Site].File)), field.Line(d.SourceLocations[n.Site].Line)
		}
	}
	return rows
}

// A Site is where an MPI function is called from, or a region outside MPI.
type Site struct {
	Operation trace.RegionID // None: outside MPI
	Line      trace.SourceLine
}

// SiteOfPath returns the site that a call path belongs to.
func (p *Profiler) SiteOfPath(path trace.PathID) Site {
	region := p.T.Tree.Nodes[path].Region
	if p.isMPI(region) {
		return Site{region, p.T.Tree.SourceLine(p.T.Defs, path)}
	}
	s := Site{trace.None, trace.SourceLine{Region: region, File: trace.None}}
	if int(region) < len(p.T.Defs.Regions) {
		s.Line.File, s.Line.Line = p.T.Defs.Regions[region].File, p.T.Defs.Regions[region].BeginLine
	}
	return s
}

// Sites returns the sites of all call paths of a trace.
func Sites(t *trace.Trace) []field.Site {
	p := New(t, nil, nil, nil)
	out := make([]field.Site, len(t.Tree.Nodes))
	for path := range out {
		s := p.SiteOfPath(trace.PathID(path))
		out[path] = field.Site{SourceLine: Spell(t.Defs, s.Line), Operation: field.Name(t.Defs.RegionLabel(s.Operation))}
	}
	return out
}

// A siteIndex is a site and its number in order of its first call path.
type siteIndex struct {
	Site
	Index int
}

// MpiPaths iterates over the call paths of MPI functions that were called, in order, each
// with its site.
func (p *Profiler) MpiPaths(part *Part) iter.Seq2[*pathSum, siteIndex] {
	return func(yield func(*pathSum, siteIndex) bool) {
		index := make(map[Site]int)
		for i := range part.Paths {
			s := &part.Paths[i]
			if s.calls == nil || s.Count == 0 {
				continue
			}
			at := p.SiteOfPath(s.Path)
			k, ok := index[at]
			if !ok {
				k = len(index)
				index[at] = k
			}
			if !yield(s, siteIndex{at, k}) {
				return
			}
		}
	}
}

// CallSiteRows sums the calls of MPI functions by source line, the row with the most time
// first. Sites are taken in order of call paths, so that equal rows keep one order.
func CallSiteRows(p *Profiler, part *Part, bytes []uint64) []document.CallSiteRow {
	type sum struct {
		site  Site
		calls uint64
		time  int64
		bytes uint64
		law   *callSum
		paths []field.Path
	}
	var sums []sum
	for s, at := range p.MpiPaths(part) {
		k := at.Index
		if k == len(sums) {
			sums = append(sums, sum{site: at.Site,
				law: &callSum{min: s.calls.min, max: s.calls.max, minRank: s.calls.minRank, maxRank: s.calls.maxRank}})
		}
		sums[k].calls += s.Count
		sums[k].time = numbers.Plus(sums[k].time, s.Inclusive)
		sums[k].bytes += bytes[s.Path]
		sums[k].paths = append(sums[k].paths, field.Path(s.Path))
		sums[k].law.merge(s.calls)
	}
	d, r := p.T.Defs, numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	rows := []document.CallSiteRow{}
	for _, s := range sums {
		quantile := func(q float64) int64 {
			return r.Ns(numbers.QuantileOf(s.law.buckets, s.calls, q, s.law.min, s.law.max))
		}
		rows = append(rows, document.CallSiteRow{
			Operation: d.RegionLabel(s.site.Operation), SourceLine: Spell(d, s.site.Line), CallPaths: s.paths,
			Calls: s.calls, TimeNs: r.Ns(s.time), MinNs: r.Ns(s.law.min), MeanNs: r.Mean(s.time, s.calls), MaxNs: r.Ns(s.law.max),
			P50Ns: quantile(0.5), P99Ns: quantile(0.99), Bytes: s.bytes, MinRank: field.Rank(s.law.minRank), MaxRank: field.Rank(s.law.maxRank),
		})
	}
	slices.SortStableFunc(rows, func(a, b document.CallSiteRow) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line))
	})
	return rows
}

// Spell spells a source line out.
func Spell(d *trace.Defs, s trace.SourceLine) field.SourceLine {
	out := field.SourceLine{Region: field.Name(d.RegionLabel(s.Region)), File: field.Name(d.String(s.File)), Line: field.Line(s.Line)}
	switch {
	case out.Line == 0:
	case s.Exact:
		out.LineOf = field.LineOfCall
	default:
		out.LineOf = field.LineOfRegion
	}
	return out
}

// PlaceOf returns the site of a call path, or the name of a place that is none.
func (p *Profiler) PlaceOf(path trace.PathID) (Site, string) {
	switch path {
	case PathOutside:
		return Site{Line: trace.SourceLine{Region: trace.RegionID(path)}}, field.OutsideRegions
	case PathNotRecorded:
		return Site{Line: trace.SourceLine{Region: trace.RegionID(path)}}, field.NotRecorded
	case PathFlush:
		return Site{Line: trace.SourceLine{Region: trace.RegionID(path)}}, field.BufferFlush
	case PathOff:
		return Site{Line: trace.SourceLine{Region: trace.RegionID(path)}}, field.RecordingOff
	}
	return p.SiteOfPath(path), ""
}

// CompareSites orders sites by operation, file and line.
func (p *Profiler) CompareSites(a, b Site) int {
	d := p.T.Defs
	return cmp.Or(cmp.Compare(d.RegionLabel(a.Operation), d.RegionLabel(b.Operation)),
		cmp.Compare(d.String(a.Line.File), d.String(b.Line.File)),
		cmp.Compare(a.Line.Line, b.Line.Line), cmp.Compare(d.RegionLabel(a.Line.Region), d.RegionLabel(b.Line.Region)))
}

// EndOf returns the site of a path that may be missing.
func (p *Profiler) EndOf(path trace.PathID) Site {
	if int(path) >= len(p.T.Tree.Nodes) {
		return Site{trace.None, trace.SourceLine{Region: trace.None, File: trace.None}}
	}
	return p.SiteOfPath(path)
}

// PairEnd names one end of the messages between two sites.
func (p *Profiler) PairEnd(s Site) document.PairEnd {
	return document.PairEnd{SourceLine: Spell(p.T.Defs, s.Line), Operation: field.Name(p.T.Defs.RegionLabel(s.Operation))}
}
