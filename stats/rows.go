package stats

import (
	"cmp"
	"iter"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/trace"
)

// profileRows makes the flat profile of the sums of call paths, the region with the most
// exclusive time first.
func profileRows(p *profiler, part *profilePart) []document.ProfileRow {
	d, r := p.t.Defs, rate{p.t.Defs.Clock.Resolution}
	sums := make([]regionSum, len(d.Regions)+1) // the last: regions that are not defined
	for i := range part.paths {
		s := &part.paths[i]
		region := min(int(p.t.Tree.Nodes[s.path].Region), len(d.Regions))
		sums[region].count += s.count
		sums[region].exclusive = Plus(sums[region].exclusive, s.exclusive)
		if !recursive(p.t.Tree, s.path) {
			sums[region].inclusive = Plus(sums[region].inclusive, s.inclusive)
		}
		sums[region].counters = mergeCounters(sums[region].counters, slices.Clone(s.counters))
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
		counters := counterRows(d, name, s.counters, &p.ledger)
		rows = append(rows, document.ProfileRow{
			Region: name, File: field.Name(d.String(def.File)), Line: field.Line(def.BeginLine), Paradigm: def.Paradigm.String(),
			Count: s.count, InclusiveNs: r.ns(s.inclusive), ExclusiveNs: r.ns(s.exclusive),
			MinNs: r.ns(s.low.TimeNs), MaxNs: r.ns(s.high.TimeNs), MeanNs: r.mean(s.byRank, uint64(max(1, s.ranks))),
			MinRank: s.low.Rank, MaxRank: s.high.Rank, Ranks: s.ranks,
			Rates: ratesOf(counters), Counters: counters,
		})
	}
	slices.SortStableFunc(rows, func(a, b document.ProfileRow) int {
		return cmp.Or(cmp.Compare(b.ExclusiveNs, a.ExclusiveNs), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Line, b.Line))
	})
	return rows
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
			t.TimeNs = Plus(t.TimeNs, times[0].time)
			times = times[1:]
		}
		if s.ranks == 0 || t.TimeNs < s.low.TimeNs {
			s.low = t
		}
		if s.ranks == 0 || t.TimeNs > s.high.TimeNs {
			s.high = t
		}
		s.ranks++
		s.byRank = Plus(s.byRank, t.TimeNs)
	}
}

// callPathRows lists the call paths, the one with the most inclusive time first.
func callPathRows(p *profiler, part *profilePart) []document.CallPathRow {
	d, r := p.t.Defs, rate{p.t.Defs.Clock.Resolution}
	paths := slices.Clone(part.paths)
	slices.SortFunc(paths, func(a, b pathSum) int {
		return cmp.Or(cmp.Compare(b.inclusive, a.inclusive), cmp.Compare(a.path, b.path))
	})
	labels := make([]string, len(d.Regions)+1) // the last: a region that is not defined
	for id := range d.Regions {
		labels[id] = d.RegionLabel(trace.RegionID(id))
	}
	rows := make([]document.CallPathRow, len(paths))
	for i, s := range paths {
		n := p.t.Tree.Nodes[s.path]
		rows[i] = document.CallPathRow{ID: field.Path(s.path), Parent: field.Path(n.Parent), Region: labels[min(int(n.Region), len(d.Regions))], Count: s.count,
			InclusiveNs: r.ns(s.inclusive), ExclusiveNs: r.ns(s.exclusive)}
		if int(n.Site) < len(d.SourceLocations) {
			rows[i].File, rows[i].Line = field.Name(d.String(d.SourceLocations[n.Site].File)), field.Line(d.SourceLocations[n.Site].Line)
		}
	}
	return rows
}

// A site is where an MPI function is called from, or a region outside MPI.
type site struct {
	operation trace.RegionID // None: outside MPI
	line      trace.SourceLine
}

// siteOfPath returns the site that a call path belongs to.
func (p *profiler) siteOfPath(path trace.PathID) site {
	region := p.t.Tree.Nodes[path].Region
	if p.isMPI(region) {
		return site{region, p.t.Tree.SourceLine(p.t.Defs, path)}
	}
	s := site{trace.None, trace.SourceLine{Region: region, File: trace.None}}
	if int(region) < len(p.t.Defs.Regions) {
		s.line.File, s.line.Line = p.t.Defs.Regions[region].File, p.t.Defs.Regions[region].BeginLine
	}
	return s
}

// Sites returns the sites of all call paths of a trace.
func Sites(t *trace.Trace) []field.Site {
	p := newProfiler(t, nil, nil, nil)
	out := make([]field.Site, len(t.Tree.Nodes))
	for path := range out {
		s := p.siteOfPath(trace.PathID(path))
		out[path] = field.Site{SourceLine: spell(t.Defs, s.line), Operation: field.Name(t.Defs.RegionLabel(s.operation))}
	}
	return out
}

// A siteIndex is a site and its number in order of its first call path.
type siteIndex struct {
	site
	index int
}

// mpiPaths iterates over the call paths of MPI functions that were called, in order, each
// with its site.
func (p *profiler) mpiPaths(part *profilePart) iter.Seq2[*pathSum, siteIndex] {
	return func(yield func(*pathSum, siteIndex) bool) {
		index := make(map[site]int)
		for i := range part.paths {
			s := &part.paths[i]
			if s.calls == nil || s.count == 0 {
				continue
			}
			at := p.siteOfPath(s.path)
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

// callSiteRows sums the calls of MPI functions by source line, the row with the most time
// first. Sites are taken in order of call paths, so that equal rows keep one order.
func callSiteRows(p *profiler, part *profilePart, bytes []uint64) []document.CallSiteRow {
	type sum struct {
		site  site
		calls uint64
		time  int64
		bytes uint64
		law   *callSum
		paths []field.Path
	}
	var sums []sum
	for s, at := range p.mpiPaths(part) {
		k := at.index
		if k == len(sums) {
			sums = append(sums, sum{site: at.site, law: &callSum{min: s.calls.min, max: s.calls.max, minRank: s.calls.minRank, maxRank: s.calls.maxRank}})
		}
		sums[k].calls += s.count
		sums[k].time = Plus(sums[k].time, s.inclusive)
		sums[k].bytes += bytes[s.path]
		sums[k].paths = append(sums[k].paths, field.Path(s.path))
		sums[k].law.merge(s.calls)
	}
	d, r := p.t.Defs, rate{p.t.Defs.Clock.Resolution}
	rows := []document.CallSiteRow{}
	for _, s := range sums {
		quantile := func(q float64) int64 { return r.ns(quantileOf(s.law.buckets, s.calls, q, s.law.min, s.law.max)) }
		rows = append(rows, document.CallSiteRow{
			Operation: d.RegionLabel(s.site.operation), SourceLine: spell(d, s.site.line), CallPaths: s.paths,
			Calls: s.calls, TimeNs: r.ns(s.time), MinNs: r.ns(s.law.min), MeanNs: r.mean(s.time, s.calls), MaxNs: r.ns(s.law.max),
			P50Ns: quantile(0.5), P99Ns: quantile(0.99), Bytes: s.bytes, MinRank: field.Rank(s.law.minRank), MaxRank: field.Rank(s.law.maxRank),
		})
	}
	slices.SortStableFunc(rows, func(a, b document.CallSiteRow) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return rows
}

// spell spells a source line out.
func spell(d *trace.Defs, s trace.SourceLine) field.SourceLine {
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
