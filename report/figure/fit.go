package figure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
)

// Fit draws everything about a fit, and a histogram of each of the top keys. Points are the calls of each operation.
func Fit(ctx context.Context, d *outcome.Fit, p *fit.Profile, points map[string][]overhead.CallPoint, top int, add Add) error {
	draw := func(name string, f *plots.Figure, err error) error {
		if err == nil {
			add(name, f)
			err = ctx.Err()
		}
		return err
	}
	f, err := costPlot(fmt.Sprintf("t_max of calls on %s, %s quantile; %s", words.OrNotRecorded(p.Machine), words.Share(p.Quantile),
		d.Way()), p)
	if err := draw("costs", f, err); err != nil {
		return err
	}
	f, err = callsPlot(traceNames(d.Traces), points)
	if err := draw("calls", f, err); err != nil {
		return err
	}
	for _, rows := range surfaces(p) {
		f, err = surfacePlot(p, rows)
		if err := draw(path.Join("surfaces", fileName(rows.operation, rows.role)), f, err); err != nil {
			return err
		}
	}
	if len(d.Stability) > 0 {
		f, err = stabilityPlot("t_max against the number of calls that it was learned from; "+d.Way(), d.Stability)
		if err := draw("stability", f, err); err != nil {
			return err
		}
		f, err = acceptancePlot("χ² of the best law against the number of calls; "+d.Way(), d.Stability)
		if err := draw("stability_chi2", f, err); err != nil {
			return err
		}
	}
	keys := d.Shown(top)
	for i := range keys {
		f, err = histogramPlot(&keys[i], d.Paper)
		if err := draw(path.Join("histograms", keyFile(&keys[i])), f, err); err != nil {
			return err
		}
	}
	return nil
}

// traceNames names traces, shortly.
func traceNames(paths []string) string {
	var names []string
	for _, p := range paths {
		names = append(names, words.TraceName(p))
	}
	return strings.Join(names, ", ")
}

// mostClouds is how many operations have a color of their own in a picture of all calls.
const mostClouds = 9

// callsPlot is the paper's second figure: the duration of every call over the run.
func callsPlot(traces string, points map[string][]overhead.CallPoint) (*plots.Figure, error) {
	operations := slices.Sorted(maps.Keys(points))
	slices.SortStableFunc(operations, func(a, b string) int { return cmp.Compare(len(points[a]), len(points[b])) })
	others := plots.Series{}
	var series []plots.Series // the rarest operation first: it lies on top
	for i, name := range operations {
		s := &others
		if hidden := len(operations) - mostClouds; hidden <= 1 || i >= hidden {
			series = append(series, plots.Series{Name: name})
			s = &series[len(series)-1]
		} else {
			others.Name = fmt.Sprintf("%d other operations", hidden)
		}
		for _, p := range points[name] {
			s.X, s.Y = append(s.X, float64(p.At)), append(s.Y, float64(max(p.Duration, 1)))
		}
	}
	if others.Name != "" {
		series = append(series, others)
	}
	return plots.Scatter(plots.ScatterData{Title: "Duration of every call over the run, " + traces, Series: series,
		X:    plots.Axis{Label: "begin of the call", Unit: plots.Nanoseconds},
		Y:    plots.Axis{Label: "duration of the call, wait states included", Unit: plots.Nanoseconds, Log: true},
		Note: "One point a call; calls that fall on one pixel are one point."})
}

// A surface is what a profile knows of one operation in one role: T(p, b).
type surface struct {
	operation, role string
	processes       []int   // rows, descending
	bytes           []int64 // columns, ascending
}

// surfaces lists the operations that a profile knows for several numbers of processes and
// of bytes. Rows are those numbers of processes and, between them, the paper's base points 2^n and 1.5·2^n.
func surfaces(p *fit.Profile) (out []surface) {
	for i := 0; i < len(p.Entries); {
		s := surface{operation: p.Entries[i].Operation, role: p.Entries[i].Role}
		for ; i < len(p.Entries) && p.Entries[i].Operation == s.operation && p.Entries[i].Role == s.role; i++ {
			s.processes, s.bytes = append(s.processes, p.Entries[i].Processes), append(s.bytes, p.Entries[i].Bytes)
		}
		least, most := slices.Min(s.processes), slices.Max(s.processes)
		for base := 2; base <= most && base > 0; base *= 2 {
			for _, n := range []int{base, base / 2 * 3} {
				if n > least && n < most {
					s.processes = append(s.processes, n)
				}
			}
		}
		slices.SortFunc(s.processes, func(a, b int) int { return cmp.Compare(b, a) })
		slices.Sort(s.bytes)
		s.processes, s.bytes = slices.Compact(s.processes), slices.Compact(s.bytes)
		if len(s.processes) > 1 && len(s.bytes) > 1 {
			out = append(out, s)
		}
	}
	return out
}

// surfacePlot draws T(p, b) in colors; what lies outside of what was measured stays white.
func surfacePlot(p *fit.Profile, s surface) (*plots.Figure, error) {
	g := &rankGrid{rows: len(s.processes), columns: len(s.bytes)}
	d := plots.HeatMapData{Title: fmt.Sprintf("T(p, b) of %s, %s quantile; white: not measured", outcome.RoleName(s.operation, s.role),
		words.Share(p.Quantile)),
		Grid: g, RowLabel: "processes p", ColumnLabel: "bytes b", ScaleLabel: "t_max", Unit: plots.Nanoseconds, Log: true}
	for _, processes := range s.processes {
		d.Rows = append(d.Rows, words.Count(processes))
		for _, bytes := range s.bytes {
			at, _ := p.Limit(fit.Key{Operation: s.operation, Role: s.role, Processes: processes, Bytes: bytes})
			if at.Extrapolated {
				at.TMax = 0
			}
			g.values = append(g.values, float64(at.TMax))
		}
	}
	for _, bytes := range s.bytes {
		d.Columns = append(d.Columns, words.Bytes(uint64(bytes)))
	}
	return plots.HeatMap(d)
}

// costPlot draws t_max against bytes, a curve for each operation and number of processes.
func costPlot(title string, p *fit.Profile) (*plots.Figure, error) {
	var series []plots.Series
	for _, e := range p.Entries {
		name := fmt.Sprintf("%s, %d", outcome.RoleName(e.Operation, e.Role), e.Processes)
		if len(series) == 0 || series[len(series)-1].Name != name {
			series = append(series, plots.Series{Name: name})
		}
		s := &series[len(series)-1]
		s.X, s.Y = append(s.X, float64(max(e.Bytes, 1))), append(s.Y, float64(max(e.TMax, 1)))
	}
	return plots.CallCosts(title, series)
}

// stabilityPlot draws t_max against the number of calls that it was found with.
func stabilityPlot(title string, keys []outcome.StableKey) (*plots.Figure, error) {
	var series []plots.Series
	for _, k := range keys {
		s := plots.Series{Name: k.Name()}
		for _, r := range k.Rows {
			s.X, s.Y = append(s.X, float64(r.Calls)), append(s.Y, float64(r.TMaxNs))
		}
		series = append(series, s)
	}
	return plots.Stability(title, series, nil)
}

// acceptancePlot draws how χ² of the best law, against what is accepted, changes with the
// number of calls.
func acceptancePlot(title string, keys []outcome.StableKey) (*plots.Figure, error) {
	var series []plots.Series
	for _, k := range keys {
		s := plots.Series{Name: k.Name()}
		for _, r := range k.Rows {
			if r.Critical != nil && *r.Critical > 0 {
				s.X, s.Y = append(s.X, float64(r.Calls)), append(s.Y, *r.Chi2 / *r.Critical)
			}
		}
		series = append(series, s)
	}
	return plots.Acceptance(title, series)
}
