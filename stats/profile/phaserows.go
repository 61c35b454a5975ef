package profile

import (
	"context"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/engine"
	"tracekit/stats/numbers"
	"tracekit/stats/phases"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// Phases finds the phases of the whole run; nil if there are none.
func (p *Profiler) Phases(ctx context.Context, jobs int) (*document.Phases, error) {
	for r, missing := range p.Scope.Missing {
		if p.Scope.Timed || !missing && !p.Scope.HasRank(uint32(r)) {
			return nil, nil
		}
	}
	found, err := phases.Find(ctx, p.T, jobs)
	if err != nil || found == nil {
		return nil, err
	}
	times, err := p.phaseTimes(ctx, jobs, found)
	if err != nil {
		return nil, err
	}
	return phaseRows(p, found, times), nil
}

// A phaseTime is one phase on all ranks, in ticks.
type phaseTime struct {
	from, to    int64 // of the first ranks
	useful, own int64 // sums
	mostUseful  int64
}

// phaseTimes sums up the phases, with the useful times at which the profile has seen calls entered.
func (p *Profiler) phaseTimes(ctx context.Context, jobs int, found *phases.Phases) ([]phaseTime, error) {
	return engine.Fold(ctx, jobs, len(found.Ranks), func() []phaseTime {
		return slices.Repeat([]phaseTime{{from: numbers.Never, to: numbers.Never}}, found.Count())
	}, func(times []phaseTime, i int) error {
		l, k := found.Ranks[i], 0
		clock, begin, before := p.clocks[l].Cursor(), int64(0), int64(0)
		for row, c := range found.Begins(p.T.Calls[l]) {
			useful := *clock.Ptr(row)
			if k > 0 {
				times[k-1].add(phaseTime{begin, c.Enter, useful - before, c.Enter - begin, useful - before})
			}
			k, begin, before = k+1, c.Enter, useful
		}
		return nil
	}, func(a, b []phaseTime) []phaseTime {
		for k := range a {
			a[k].add(b[k])
		}
		return a
	})
}

// add adds the phase on other ranks.
func (t *phaseTime) add(o phaseTime) {
	t.from, t.to = min(t.from, o.from), min(t.to, o.to)
	t.useful, t.own, t.mostUseful = t.useful+o.useful, t.own+o.own, max(t.mostUseful, o.mostUseful)
}

// phaseRows makes the block of the phases.
func phaseRows(p *Profiler, found *phases.Phases, times []phaseTime) *document.Phases {
	x := scope.NewAxis(p.T)
	n, ranks := found.Count(), int64(len(found.Ranks))
	out := &document.Phases{Operation: p.T.Defs.RegionLabel(p.T.Tree.Nodes[found.Path].Region),
		SourceLine: Spell(p.T.Defs, p.T.Tree.SourceLine(p.T.Defs, found.Path)),
		CallPath:   field.Path(found.Path), Every: found.Stride, Count: n}
	durations := make([]int64, n)
	for k, t := range times {
		durations[k] = x.Mean(t.own, uint64(ranks))
		out.Rows = append(out.Rows, document.PhaseRow{Phase: k + 1, FromNs: x.Instant(t.from), ToNs: x.Instant(t.to), DurationNs: durations[k],
			ParallelEfficiency: numbers.Ratio(t.useful, t.own), LoadBalance: numbers.Ratio(t.useful, ranks*t.mostUseful),
			CommunicationEfficiency: numbers.Ratio(ranks*t.mostUseful, t.own)})
	}
	for k, far := range phases.Outliers(durations) {
		if out.Rows[k].Outlier = far; far {
			out.Outliers++
		}
	}
	out.Period = document.Period{Min: durations[0], P50: phases.Median(durations), Max: durations[0]}
	for _, d := range durations {
		out.Period.Min, out.Period.Max = min(out.Period.Min, d), max(out.Period.Max, d)
	}
	return out
}

// PhaseWindow returns when a phase of a run begins and ends, for Options.From and To.
func PhaseWindow(ctx context.Context, t *trace.Trace, phase, jobs int) (from, to scope.Instant, err error) {
	found, err := phases.Find(ctx, t, jobs)
	switch {
	case err != nil:
		return from, to, err
	case found == nil:
		return from, to, fmt.Errorf("selecting phase %d: no phases were found, because the ranks do not repeat the same "+
			"operations", phase)
	case phase < 1 || phase > found.Count():
		return from, to, fmt.Errorf("selecting phase %d: the run has phases 1 to %d", phase, found.Count())
	}
	first, _ := scope.Run(t)
	at := func(k int) scope.Instant {
		tick := int64(numbers.Never)
		for _, l := range found.Ranks {
			n := 0
			for _, c := range found.Begins(t.Calls[l]) {
				if n == k {
					tick = min(tick, c.Enter)
					break
				}
				n++
			}
		}
		return scope.Instant{Kind: scope.AfterNs, Ns: numbers.Rate{Resolution: t.Defs.Clock.Resolution}.Ns(tick - first)}
	}
	return at(phase - 1), at(phase), nil
}
