package stats

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/trace"
)

// A lineSum adds up one operation called from one source line, times in ticks.
type lineSum struct {
	site     site
	calls    uint64
	time     int64
	wait     int64
	together int64 // of wait, in collectives
	startup  bool
	critical int64
	bytes    uint64
	overhead overheadSum
}

// lineSums joins what is known of the call paths of MPI functions by source line, in
// order of call paths; o may be nil.
func lineSums(p *profiler, part *profilePart, w *waiting, o *overheads) []lineSum {
	classes := p.t.Defs.MPIFunctions()
	var sums []lineSum
	for s, at := range p.mpiPaths(part) {
		if at.index == len(sums) {
			sums = append(sums, lineSum{site: at.site})
		}
		sum := &sums[at.index]
		sum.calls += s.count
		sum.time = Plus(sum.time, s.inclusive)
		sum.critical += s.critical
		sum.bytes += w.bytes[s.path]
		class := classes[at.operation].Class
		sum.startup = class == trace.ClassInit || class == trace.ClassFinalize
		sum.wait = Plus(sum.wait, w.byPath[s.path])
		sum.together = Plus(sum.together, w.together[s.path])
		if o != nil {
			sum.overhead.merge(&o.paths[s.path])
		}
	}
	return sums
}

// lineRows makes the block of the document, the line with the most time first.
func lineRows(p *profiler, sums []lineSum, o *overheads, delays []waitstate.Delay) []document.LineRow {
	sums = slices.Clone(sums)
	slices.SortStableFunc(sums, func(a, b lineSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), p.compareSites(a.site, b.site))
	})
	causes := make(map[field.Site]int64)
	for i := range delays {
		causes[field.Site{SourceLine: delays[i].SourceLine, Operation: delays[i].Operation}] = delays[i].TotalNs
	}
	r := rate{p.t.Defs.Clock.Resolution}
	rows := []document.LineRow{}
	for i := range sums {
		s := &sums[i]
		row := document.LineRow{SourceLine: spell(p.t.Defs, s.site.line), Operation: field.Name(p.t.Defs.RegionLabel(s.site.operation)), Calls: s.calls,
			TimeNs: r.ns(s.time), LatePartnerNs: r.ns(s.wait - s.together), ImbalanceNs: r.ns(s.together), CriticalPathNs: r.ns(s.critical), Bytes: s.bytes}
		row.CausesNs = causes[field.Site{SourceLine: row.SourceLine, Operation: row.Operation}]
		if !s.startup {
			row.WaitNs = row.LatePartnerNs + row.ImbalanceNs
		}
		if o != nil && s.overhead.calls > 0 {
			row.OverheadNs, row.TransferNs, row.UnexplainedNs = &s.overhead.overhead, s.overhead.transfer, s.overhead.unexplained
			row.OverheadSource = s.overhead.source()
			row.Unreliable = 2*s.overhead.unreliable > s.overhead.calls
		}
		row.OwnNs = row.TimeNs - row.LatePartnerNs - row.ImbalanceNs - row.TransferNs - row.UnexplainedNs
		rows = append(rows, row)
	}
	return rows
}

// compareSites orders sites by operation, file and line.
func (p *profiler) compareSites(a, b site) int {
	d := p.t.Defs
	return cmp.Or(cmp.Compare(d.RegionLabel(a.operation), d.RegionLabel(b.operation)), cmp.Compare(d.String(a.line.File), d.String(b.line.File)),
		cmp.Compare(a.line.Line, b.line.Line), cmp.Compare(d.RegionLabel(a.line.Region), d.RegionLabel(b.line.Region)))
}
