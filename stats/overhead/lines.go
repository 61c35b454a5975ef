package overhead

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A lineSum adds up one operation called from one source line, times in ticks.
type lineSum struct {
	site     profile.Site
	calls    uint64
	time     int64
	wait     int64
	together int64 // of wait, in collectives
	startup  bool
	critical int64
	bytes    uint64
	overhead overheadSum
}

// LineSums joins what is known of the call paths of MPI functions by source line, in
// order of call paths; o may be nil.
func LineSums(p *profile.Profiler, part *profile.Part, w *waits.Finder, o *Finder) []lineSum {
	classes := p.T.Defs.MPIFunctions()
	var sums []lineSum
	for s, at := range p.MpiPaths(part) {
		if at.Index == len(sums) {
			sums = append(sums, lineSum{site: at.Site})
		}
		sum := &sums[at.Index]
		sum.calls += s.Count
		sum.time = numbers.Plus(sum.time, s.Inclusive)
		sum.critical += s.Critical
		sum.bytes += w.Bytes[s.Path]
		class := classes[at.Operation].Class
		sum.startup = class == trace.ClassInit || class == trace.ClassFinalize
		sum.wait = numbers.Plus(sum.wait, w.ByPath[s.Path])
		sum.together = numbers.Plus(sum.together, w.Together[s.Path])
		if o != nil {
			sum.overhead.merge(&o.Paths[s.Path])
		}
	}
	return sums
}

// LineRows makes the block of the document, the line with the most time first.
func LineRows(p *profile.Profiler, sums []lineSum, o *Finder, delays []waitstate.Delay) []document.LineRow {
	sums = slices.Clone(sums)
	slices.SortStableFunc(sums, func(a, b lineSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), p.CompareSites(a.site, b.site))
	})
	causes := make(map[field.Site]int64)
	for i := range delays {
		causes[field.Site{SourceLine: delays[i].SourceLine, Operation: delays[i].Operation}] = delays[i].TotalNs
	}
	r := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	rows := []document.LineRow{}
	for i := range sums {
		s := &sums[i]
		row := document.LineRow{SourceLine: profile.Spell(p.T.Defs, s.site.Line), Operation: field.Name(p.T.Defs.RegionLabel(s.site.Operation)),
			Calls:  s.calls,
			TimeNs: r.Ns(s.time), LatePartnerNs: r.Ns(s.wait - s.together), ImbalanceNs: r.Ns(s.together), CriticalPathNs: r.Ns(s.critical),
			Bytes: s.bytes}
		row.CausesNs = causes[field.Site{SourceLine: row.SourceLine, Operation: row.Operation}]
		if !s.startup {
			row.WaitNs = row.LatePartnerNs + row.ImbalanceNs
		}
		if o != nil && s.overhead.calls > 0 {
			row.OverheadNs, row.TransferNs, row.UnexplainedNs = &s.overhead.Overhead, s.overhead.transfer, s.overhead.unexplained
			row.OverheadSource = s.overhead.source()
			row.Unreliable = 2*s.overhead.unreliable > s.overhead.calls
		}
		row.OwnNs = row.TimeNs - row.LatePartnerNs - row.ImbalanceNs - row.TransferNs - row.UnexplainedNs
		rows = append(rows, row)
	}
	return rows
}
