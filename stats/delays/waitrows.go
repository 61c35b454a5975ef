package delays

import (
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
)

// WaitRows makes the block of wait states; share is what all ranks run together, team what all
// threads do.
func WaitRows(w *waits.Finder, d *Finder, share, team int64) *waitstate.States {
	defs, x := w.T.Defs, scope.NewAxis(w.T)
	out := new(waitstate.States)
	for k, row := range out.All {
		s := &w.Sums[k]
		*row = waitstate.State{Count: s.Count, TimeNs: x.Ns(s.Time), Share: numbers.Ratio(s.Time, share), Top: []waitstate.Row{}}
		if k.Info().Caused {
			row.Causes = d.total[k].causes(x.Rate, row.TimeNs)
		}
		if k == waitstate.AtTeamBarrier {
			row.Share = numbers.Ratio(s.Time, team)
		}
		for _, i := range s.Top.Sorted() {
			row.Top = append(row.Top, waitstate.Row{Operation: defs.RegionLabel(w.T.Tree.Region(i.Path)),
				SourceLine: profile.Spell(defs, w.T.Tree.SourceLine(defs, i.Path)),
				CallPath:   field.Path(i.Path), Rank: field.Rank(w.T.Rank[i.Location]), StartNs: x.Instant(i.Start), TimeNs: x.Ns(i.Time)})
		}
		if a := w.T.Clock.Alignment; a != nil && len(row.Top) > 0 {
			row.ClockError = row.Top[0].TimeNs <= x.Ns(2*a.MaxBound)
		}
	}
	split := numbers.Splitter{Rate: x.Rate}
	same, different := split.Ns(w.Same), split.Ns(w.Different)
	out[waitstate.LateSenderWrongOrder].SameSourceNs, out[waitstate.LateSenderWrongOrder].DifferentSourceNs = &same, &different
	return out
}
