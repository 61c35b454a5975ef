package page

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tracekit/reduce"
	"tracekit/report"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/sampling"
	"tracekit/trace"
)

// mostViews is how many call paths the pane of views has.
const mostViews = 50

// AddViews adds the pane that compares, by call path, what all ranks say with the path of messages, with a sample (nil: none) and with what
// rules keep (none: nothing is said of them).
func (m *More) AddViews(ctx context.Context, t *trace.Trace, a *analysis.Result, sample *sampling.Config, rules []reduce.Rule,
	jobs int) error {
	v := &report.Views{Rules: []string{}}
	whole, err := reduce.Apply(ctx, t, rules, reduce.Options{Jobs: jobs})
	if err != nil {
		return err
	}
	defer whole.Cuts.Release()
	for _, r := range rules {
		v.Rules = append(v.Rules, r.Name())
	}
	onPath, sampled := make(map[trace.PathID]int64), make(map[trace.PathID]sampling.PathRow)
	for _, c := range a.PathCosts {
		onPath[c.Path] = c.CriticalNs
	}
	if sample != nil {
		v.Sampled = sample.String()
		rows, err := sampling.ByPath(ctx, t, *sample, jobs)
		if err != nil {
			return err
		}
		for _, r := range rows {
			sampled[r.Path] = r
		}
	}
	for p, time := range whole.ByPath(t) {
		if time.All == 0 {
			continue
		}
		id := trace.PathID(p)
		row := report.ViewRow{CallPath: pathText(t, id), TimeNs: t.Defs.Clock.Nanoseconds(time.All), PathNs: onPath[id]}
		if s, ok := sampled[id]; ok {
			row.LatencyNs, row.SampledNs, row.LowNs, row.HighNs = &s.Latency.True, s.Latency.Estimate, s.Latency.Low, s.Latency.High
		}
		if len(rules) > 0 {
			kept := float64(time.Kept) / float64(time.All)
			row.Kept = &kept
		}
		v.Rows = append(v.Rows, row)
	}
	slices.SortStableFunc(v.Rows, func(a, b report.ViewRow) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	v.Rows = v.Rows[:min(len(v.Rows), mostViews)]
	m.tables.Views = v
	return nil
}

// pathText names a call path, outermost first.
func pathText(t *trace.Trace, p trace.PathID) string {
	var names []string
	for _, r := range t.Tree.Regions(p) {
		names = append(names, t.Defs.RegionName(r))
	}
	return strings.Join(names, " > ")
}
