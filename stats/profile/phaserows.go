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

// phaseChunk is how many phases are an item of work: enough for those of a rank to be read in order.
const phaseChunk = 256

// phaseTimes sums up the phases, with the useful times at which the profile has seen calls entered.
func (p *Profiler) phaseTimes(ctx context.Context, jobs int, found *phases.Phases) ([]phaseTime, error) {
	out := make([]phaseTime, found.Count())
	for k := range out {
		out[k] = phaseTime{from: numbers.Never, to: numbers.Never}
	}
	chunks := slices.Collect(slices.Chunk(out, phaseChunk))
	_, err := engine.Map(ctx, jobs, len(chunks), func(_ context.Context, c int) (none struct{}, err error) {
		for l, visits := range found.Visits {
			calls, clock, visits := p.T.Calls[l], p.clocks[l], visits[c*phaseChunk:]
			begin, before := calls.Ptr(int(visits[0])).Enter, clock.At(int(visits[0]))
			for k := range chunks[c] {
				end, useful := calls.Ptr(int(visits[k+1])).Enter, clock.At(int(visits[k+1]))
				chunks[c][k].add(begin, end, useful-before)
				begin, before = end, useful
			}
		}
		return none, nil
	})
	return out, err
}

// add adds a rank that begins the phase and the next one at these times.
func (t *phaseTime) add(begin, end, useful int64) {
	t.from, t.to = min(t.from, begin), min(t.to, end)
	t.useful, t.own, t.mostUseful = t.useful+useful, t.own+end-begin, max(t.mostUseful, useful)
}

// phaseRows makes the block of the phases.
func phaseRows(p *Profiler, found *phases.Phases, times []phaseTime) *document.Phases {
	x := scope.NewAxis(p.T)
	n, ranks := found.Count(), int64(len(found.Visits))
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
		for l, visits := range found.Visits {
			tick = min(tick, t.Calls[l].Ptr(int(visits[k])).Enter)
		}
		return scope.Instant{Kind: scope.AfterNs, Ns: numbers.Rate{Resolution: t.Defs.Clock.Resolution}.Ns(tick - first)}
	}
	return at(phase - 1), at(phase), nil
}
