package stats

import (
	"cmp"
	"slices"
)

// Names of what lies on the critical path and in no region.
const (
	NotRecorded      = "(not recorded)"          // before the first event of the path
	outsideSelection = "(outside the selection)" // on ranks that are not selected
	OutsideRegions   = "(outside any region)"    // where nothing is entered
)

// A criticalSum adds up the critical path in one site, in ticks.
type criticalSum struct {
	row       CriticalRow
	time      int64
	imbalance int64
}

// criticalRows makes the block of the document: the path's time by site, the site with the
// most time first. The imbalance of a site is the sum of that of its call paths.
func criticalRows(c *criticalPath, p *profiler, part *profilePart, waits []int64) *CriticalPath {
	ranks := int64(max(1, p.scope.ranks(p.t)))
	index := make(map[site]int)
	var sums []criticalSum
	inside := int64(0)
	for i := range part.paths {
		s := &part.paths[i]
		if s.critical == 0 {
			continue
		}
		inside += s.critical
		at := p.siteOfPath(s.path)
		k, ok := index[at]
		if !ok {
			k = len(sums)
			index[at] = k
			sums = append(sums, criticalSum{row: CriticalRow{SourceLine: spell(p.t.Defs, at.line), Operation: Name(p.t.Defs.RegionLabel(at.operation))}})
		}
		sums[k].time += s.critical
		sums[k].imbalance += max(0, s.critical-(s.exclusive-waits[s.path])/ranks)
	}
	length := p.scope.to - p.scope.from
	bare := length - inside - c.missing - c.outside
	gap := int64(0)
	for _, l := range part.locations {
		gap = plus(gap, l.gap)
	}
	sums = append(sums,
		criticalSum{row: CriticalRow{SourceLine: SourceLine{Region: NotRecorded}}, time: c.missing},
		criticalSum{row: CriticalRow{SourceLine: SourceLine{Region: outsideSelection}}, time: c.outside},
		criticalSum{row: CriticalRow{SourceLine: SourceLine{Region: OutsideRegions}}, time: bare, imbalance: max(0, bare-gap/ranks)})
	return c.result(sums, length, rate{p.t.Defs.Clock.Resolution})
}

// result sorts and converts the sums so that they still add up to the length.
func (c *criticalPath) result(sums []criticalSum, length int64, r rate) *CriticalPath {
	slices.SortStableFunc(sums, func(a, b criticalSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.row.Region, b.row.Region),
			cmp.Compare(a.row.Operation, b.row.Operation), cmp.Compare(a.row.Line, b.row.Line))
	})
	out := &CriticalPath{LengthNs: r.ns(length), Regions: []CriticalRow{}, Segments: c.segments}
	split := splitter{rate: r}
	for _, s := range sums {
		if s.time == 0 {
			continue
		}
		s.row.TimeNs, s.row.Share, s.row.ImbalanceNs = split.ns(s.time), ratio(s.time, length), r.ns(s.imbalance)
		out.Regions = append(out.Regions, s.row)
	}
	return out
}
