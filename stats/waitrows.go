package stats

import (
	"tracekit/document/field"
	"tracekit/document/waitstate"
)

// waitRows makes the block of wait states; share is what all ranks run together, team what all
// threads do.
func waitRows(w *waiting, d *delays, share, team int64) *waitstate.States {
	defs, x := w.t.Defs, newAxis(w.t)
	out := new(waitstate.States)
	for k, row := range out.All {
		s := &w.sums[k]
		*row = waitstate.State{Count: s.count, TimeNs: x.ns(s.time), Share: ratio(s.time, share), Top: []waitstate.Row{}}
		if k.Info().Caused {
			row.Causes = d.total[k].causes(x.rate, row.TimeNs)
		}
		if k == waitstate.AtTeamBarrier {
			row.Share = ratio(s.time, team)
		}
		for _, i := range s.top.sorted() {
			row.Top = append(row.Top, waitstate.Row{Operation: defs.RegionLabel(i.region), SourceLine: spell(defs, w.t.Tree.SourceLine(defs, i.path)),
				CallPath: field.Path(i.path), Rank: field.Rank(w.t.Rank[i.location]), StartNs: x.instant(i.start), TimeNs: x.ns(i.time)})
		}
	}
	split := splitter{rate: x.rate}
	same, different := split.ns(w.same), split.ns(w.different)
	out[waitstate.LateSenderWrongOrder].SameSourceNs, out[waitstate.LateSenderWrongOrder].DifferentSourceNs = &same, &different
	return out
}
