package stats

import (
	"context"
	"fmt"

	"tracekit/stats/phases"
	"tracekit/trace"
)

// Phases are the iterations of the program (DEFINITIONS 2.15): from one visit of a call site to the
// next, on each rank.
type Phases struct {
	Operation string `json:"operation"` // the call that begins a phase
	SourceLine
	CallPath Path       `json:"callpath"`
	Every    int        `json:"every"` // visits of the call in a phase
	Count    int        `json:"count"`
	Period   Period     `json:"period_ns"`
	Outliers int        `json:"outliers"` // phases whose duration is far from the others'
	Rows     []PhaseRow `json:"rows"`     // in order of time
}

// A Period describes the durations of phases.
type Period struct {
	Min int64 `json:"min"`
	P50 int64 `json:"p50"`
	Max int64 `json:"max"`
}

// A PhaseRow is one phase. It lasts from the first rank that begins it until the first one that
// begins the next; DurationNs is the mean over ranks of their own times from one to the other, on
// which the efficiencies rest: parallel = Σ useful / Σ own, load balance = mean / most useful time.
type PhaseRow struct {
	Phase                   int      `json:"phase"` // from 1
	FromNs                  int64    `json:"from_ns"`
	ToNs                    int64    `json:"to_ns"`
	DurationNs              int64    `json:"duration_ns"`
	ParallelEfficiency      *float64 `json:"parallel_efficiency"`
	LoadBalance             *float64 `json:"load_balance"`
	CommunicationEfficiency *float64 `json:"communication_efficiency"`
	Outlier                 bool     `json:"outlier"`
}

// phases finds the phases of the whole run; nil if there are none.
func (p *profiler) phases(ctx context.Context, jobs int) (*Phases, error) {
	for r, missing := range p.scope.missing {
		if p.scope.timed || !missing && !p.scope.hasRank(uint32(r)) {
			return nil, nil
		}
	}
	found, err := phases.Find(ctx, p.t, jobs)
	if err != nil || found == nil {
		return nil, err
	}
	return phaseRows(p, found), nil
}

// phaseRows makes the block of the phases, with the useful times at which the profile has seen
// calls entered.
func phaseRows(p *profiler, found *phases.Phases) *Phases {
	x := newAxis(p.t)
	n := found.Count()
	out := &Phases{Operation: p.t.Defs.RegionLabel(p.t.Tree.Nodes[found.Path].Region), SourceLine: spell(p.t.Defs, p.t.Tree.SourceLine(p.t.Defs, found.Path)),
		CallPath: Path(found.Path), Every: found.Stride, Count: n}
	durations := make([]int64, n)
	for k := range n {
		var useful, own, most int64
		from, to := int64(never), int64(never)
		for l, visits := range found.Visits {
			begin, end := p.t.Calls[l].Ptr(int(visits[k])).Enter, p.t.Calls[l].Ptr(int(visits[k+1])).Enter
			u := p.clocks[l].At(int(visits[k+1])) - p.clocks[l].At(int(visits[k]))
			from, to = min(from, begin), min(to, end)
			useful, own, most = useful+u, own+end-begin, max(most, u)
		}
		ranks := int64(len(found.Visits))
		durations[k] = x.mean(own, uint64(ranks))
		out.Rows = append(out.Rows, PhaseRow{Phase: k + 1, FromNs: x.instant(from), ToNs: x.instant(to), DurationNs: durations[k],
			ParallelEfficiency: ratio(useful, own), LoadBalance: ratio(useful, ranks*most), CommunicationEfficiency: ratio(ranks*most, own)})
	}
	for k, far := range phases.Outliers(durations) {
		if out.Rows[k].Outlier = far; far {
			out.Outliers++
		}
	}
	out.Period = Period{Min: durations[0], P50: phases.Median(durations), Max: durations[0]}
	for _, d := range durations {
		out.Period.Min, out.Period.Max = min(out.Period.Min, d), max(out.Period.Max, d)
	}
	return out
}

// PhaseWindow returns when a phase of a run begins and ends, for Options.From and To.
func PhaseWindow(ctx context.Context, t *trace.Trace, phase, jobs int) (from, to Instant, err error) {
	found, err := phases.Find(ctx, t, jobs)
	switch {
	case err != nil:
		return from, to, err
	case found == nil:
		return from, to, fmt.Errorf("selecting phase %d: the ranks repeat nothing at equal distances, so that phases are not known", phase)
	case phase < 1 || phase > found.Count():
		return from, to, fmt.Errorf("selecting phase %d: there are phases 1 to %d", phase, found.Count())
	}
	first, _ := runOf(t)
	at := func(k int) Instant {
		tick := int64(never)
		for l, visits := range found.Visits {
			tick = min(tick, t.Calls[l].Ptr(int(visits[k])).Enter)
		}
		return Instant{Kind: AfterNs, Ns: rate{t.Defs.Clock.Resolution}.ns(tick - first)}
	}
	return at(phase - 1), at(phase), nil
}
