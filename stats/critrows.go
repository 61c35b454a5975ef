package stats

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
)

// Names of what lies on the critical path and in no region.
const (
	NotRecorded      = field.NotRecorded         // before the first event of the path
	outsideSelection = "(outside the selection)" // on ranks that are not selected
	OutsideRegions   = field.OutsideRegions      // where nothing is entered
	BufferFlush      = "(writing the trace)"     // the measurement writes its buffer, wherever
	RecordingOff     = "(recording off)"         // it is switched off, wherever
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

// criticalRows makes the block of the document: the path's time by site, the site with the
// most time first. The imbalance of a site is the sum of that of its call paths.
func criticalRows(c *criticalPath, p *profiler, part *profilePart, waits []int64) *document.CriticalPath {
	ranks := int64(max(1, p.scope.ranks(p.t)))
	index := make(map[site]int)
	var sums []criticalSum
	inside := int64(0)
	shortest := int64(never)
	for i := range part.paths {
		s := &part.paths[i]
		if s.count > 0 {
			shortest = min(shortest, s.shortest)
		}
		if s.critical == 0 {
			continue
		}
		inside += s.critical
		at := p.siteOfPath(s.path)
		k, ok := index[at]
		if !ok {
			k = len(sums)
			index[at] = k
			sums = append(sums, criticalSum{row: document.CriticalRow{SourceLine: spell(p.t.Defs, at.line), Operation: field.Name(p.t.Defs.RegionLabel(at.operation))}})
		}
		sums[k].time += s.critical
		sums[k].imbalance += max(0, s.critical-max(0, s.exclusive-waits[s.path])/ranks)
		sums[k].visits += s.count
		sums[k].exclusive += s.exclusive
		sums[k].unequal += s.unequal()
	}
	length := p.scope.to - p.scope.from
	gap, paused := int64(0), [2]int64{}
	for _, l := range part.locations {
		gap = Plus(gap, l.gap)
		for k := range paused {
			paused[k] += l.paused[k].critical
		}
	}
	bare := length - inside - c.missing - c.outside - paused[0] - paused[1]
	for k, time := range paused {
		sums = append(sums, criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: field.Name([2]string{BufferFlush, RecordingOff}[k])}}, time: time, unequal: time})
	}
	sums = append(sums,
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: NotRecorded}}, time: c.missing},
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: outsideSelection}}, time: c.outside},
		criticalSum{row: document.CriticalRow{SourceLine: field.SourceLine{Region: OutsideRegions}}, time: bare, imbalance: max(0, bare-gap/ranks), unequal: bare})
	out := c.result(sums, length, rate{p.t.Defs.Clock.Resolution})
	if shortest < never {
		out.ShortestNs = rate{p.t.Defs.Clock.Resolution}.ns(shortest)
	}
	return out
}

// unequal returns the path's time on the critical path above what as many visits take in the mean.
func (s *pathSum) unequal() int64 {
	mean := 0.0
	if s.count > 0 {
		mean = float64(s.exclusive) / float64(s.count)
	}
	return max(0, s.critical-int64(float64(s.met)*mean))
}

// result sorts and converts the sums so that they still add up to the length.
func (c *criticalPath) result(sums []criticalSum, length int64, r rate) *document.CriticalPath {
	slices.SortStableFunc(sums, func(a, b criticalSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.row.Region, b.row.Region),
			cmp.Compare(a.row.Operation, b.row.Operation), cmp.Compare(a.row.Line, b.row.Line))
	})
	out := &document.CriticalPath{LengthNs: r.ns(length), Regions: []document.CriticalRow{}, OvertakenNs: r.ns(c.overtaken)}
	split := splitter{rate: r}
	for _, s := range sums {
		if s.time == 0 {
			continue
		}
		s.row.TimeNs, s.row.Share, s.row.ImbalanceNs, s.row.UnequalNs = split.ns(s.time), ratio(s.time, length), r.ns(s.imbalance), r.ns(s.unequal)
		if s.visits > 0 {
			s.row.Visits, s.row.VisitNs = s.visits, float64(r.ns(s.exclusive))/float64(s.visits)
		}
		out.Regions = append(out.Regions, s.row)
	}
	return out
}
