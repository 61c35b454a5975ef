package critical

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
)

// Names of what lies on the critical path and in no region.
const (
	outsideSelection = "(outside the selection)" // on ranks that are not selected

)

// A criticalSum adds up the critical path in one site, in ticks.
type criticalSum struct {
	row       document.CriticalRow
	time      int64
	imbalance int64
	unequal   int64
	visits    uint64 // to its call paths, on and off the path
	exclusive int64
}

// Rows makes the block of the document: the path's time by site, the site with the
// most time first. The imbalance of a site is the sum of that of its call paths.
func Rows(c *Finder, p *profile.Profiler, part *profile.Part, waits []int64) *document.CriticalPath {
	ranks := int64(max(1, p.Scope.Ranks(p.T)))
	index := make(map[profile.Site]int)
	var sums []criticalSum
	inside := int64(0)
	shortest := int64(numbers.Never)
	for i := range part.Paths {
		s := &part.Paths[i]
		if s.Count > 0 {
			shortest = min(shortest, s.Shortest)
		}
		if s.Critical == 0 {
			continue
		}
		inside += s.Critical
		at := p.SiteOfPath(s.Path)
		k, ok := index[at]
		if !ok {
			k = len(sums)
			index[at] = k
			sums = append(sums, criticalSum{row: document.CriticalRow{SourceLine: profile.Spell(p.T.Defs, at.Line),
				Operation: field.Name(p.T.Defs.RegionLabel(at.Operation))}})
		}
		sums[k].time += s.Critical
		sums[k].imbalance += max(0, s.Critical-max(0, s.Exclusive-waits[s.Path])/ranks)
		sums[k].visits += s.Count
		sums[k].exclusive += s.Exclusive
		sums[k].unequal += s.Unequal()
	}
	length := p.Scope.To - p.Scope.From
	gap, paused := int64(0), [2]int64{}
	for _, l := range part.Locations {
		gap = numbers.Plus(gap, l.Gap)
		for k := range paused {
			paused[k] += l.Paused[k].Critical
		}
	}
	bare := length - inside - c.missing - c.outside - paused[0] - paused[1]
	for k, time := range paused {
		sums = append(sums, criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: field.Name([2]string{field.BufferFlush,
			field.RecordingOff}[k])}}, time: time, unequal: time})
	}
	sums = append(sums,
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: field.NotRecorded}}, time: c.missing},
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: outsideSelection}}, time: c.outside},
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: field.OutsideRegions}}, time: bare,
			imbalance: max(0, bare-gap/ranks), unequal: bare})
	out := c.result(sums, length, numbers.Rate{Resolution: p.T.Defs.Clock.Resolution})
	if shortest < numbers.Never {
		out.ShortestNs = numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}.Ns(shortest)
	}
	return out
}

// result sorts and converts the sums so that they still add up to the length.
func (c *Finder) result(sums []criticalSum, length int64, r numbers.Rate) *document.CriticalPath {
	slices.SortStableFunc(sums, func(a, b criticalSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.row.Region, b.row.Region),
			cmp.Compare(a.row.Operation, b.row.Operation), cmp.Compare(a.row.Line, b.row.Line))
	})
	out := &document.CriticalPath{LengthNs: r.Ns(length), Regions: []document.CriticalRow{}, OvertakenNs: r.Ns(c.overtaken)}
	split := numbers.Splitter{Rate: r}
	for _, s := range sums {
		if s.time == 0 {
			continue
		}
		s.row.TimeNs, s.row.Share, s.row.ImbalanceNs, s.row.UnequalNs = split.Ns(s.time), numbers.Ratio(s.time, length), r.Ns(s.imbalance),
			r.Ns(s.unequal)
		if s.visits > 0 {
			s.row.Visits, s.row.VisitNs = s.visits, float64(r.Ns(s.exclusive))/float64(s.visits)
		}
		out.Regions = append(out.Regions, s.row)
	}
	return out
}
