package main

import (
	"fmt"
	"hash/crc32"
	"strings"

	"tracekit/document"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
)

// keyName names a key for people.
func keyName(operation, role string, processes uint32, bytes uint64) string {
	return fmt.Sprintf("%s, %s, %s", roleName(operation, role), words.Plural(int(processes), "process", "processes"), words.Bytes(bytes))
}

func roleName(operation, role string) string {
	if role == "" {
		return operation
	}
	return operation + " (" + role + ")"
}

// keyFile names a key in a file name.
func keyFile(k *document.OverheadKey) string {
	return fmt.Sprintf("%s-%d-%d", fileName(k.Operation, k.Role), k.Processes, k.Bytes)
}

// longestName is how much of an operation's name a file name has.
const longestName = 80

// fileName names an operation in a role in a file name. Operations whose names a file name cannot
// hold are told apart by a checksum.
func fileName(operation, role string) string {
	if role != "" {
		operation += "-" + role
	}
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' {
			return r
		}
		return '_'
	}, operation)
	if name == operation && len(name) <= longestName {
		return name
	}
	return fmt.Sprintf("%s-%08x", name[:min(len(name), longestName)], crc32.ChecksumIEEE([]byte(operation)))
}

// mostBars bounds the bars that a histogram is drawn in.
const mostBars = 2000

// histogramPlot draws the durations of a key with all laws that were fitted to them, the
// cut above which they are not modelled, and t_max. In the paper's way wait states are in.
func histogramPlot(k *document.OverheadKey, paper bool) (*plots.Figure, error) {
	r := &k.Fit
	b := r.Bars(k.TMaxNs, mostBars)
	counts, beyond := r.Counts(b)
	waits, fitted := "without wait states", "calls below the cut"
	if paper {
		waits = "with its wait states"
	}
	if r.Cut == 0 {
		fitted = "all calls"
	}
	d := plots.HistogramData{
		Title:  fmt.Sprintf("%s: %s, laws fitted to %s", keyName(k.Operation, k.Role, k.Processes, k.Bytes), words.Plural(int(k.Calls), "call", "calls"), fitted),
		XLabel: "duration of a call " + waits, Unit: plots.Nanoseconds,
		Edges: make([]float64, b.N+1), Beyond: float64(beyond),
		Marks: []plots.Mark{{Name: markOf(k), Value: float64(k.TMaxNs)}},
	}
	for i := range d.Edges {
		d.Edges[i] = float64(b.Origin) + float64(i)*float64(b.Width)
	}
	for _, n := range counts {
		d.Counts = append(d.Counts, float64(n))
	}
	if r.Cut > 0 {
		d.Marks = append(d.Marks, plots.Mark{Name: "cut", Value: float64(r.Cut)})
	}
	for i := range r.Models {
		d.Models = append(d.Models, modelPlot(r, i, b))
	}
	return plots.Histogram(d)
}

// markOf names t_max by where it comes from.
func markOf(k *document.OverheadKey) string {
	name := "t_max (" + k.From + ")"
	if k.From == fit.FromLaw {
		name = "t_max"
	}
	if k.Unreliable {
		name += ", unreliable"
	}
	return name
}

// modelPlot is what law i expects in each bar.
func modelPlot(r *fit.Result, i int, b fit.Bars) plots.Model {
	m, by := r.Models[i], 0
	if i == r.Chosen {
		by = r.Estimate
	}
	test := m.TestOf(by)
	out := plots.Model{Name: string(m.Family), Verdict: fmt.Sprintf("p = %.2g", test.P), Rejected: !test.Accepted, Expected: r.Expected(i, by, b)}
	if by > 0 {
		out.Name += map[string]string{fit.ByAbsolute: ", least Σ|f-p|", fit.ByChiSquare: ", least χ²"}[m.Estimates[by].By]
	}
	if i == r.Chosen {
		out.Verdict += ", chosen"
	}
	return out
}

// costPlot draws t_max against bytes, a curve for each operation and number of processes.
func costPlot(title string, p *fit.Profile) (*plots.Figure, error) {
	var series []plots.Series
	for _, e := range p.Entries {
		name := fmt.Sprintf("%s, %d", roleName(e.Operation, e.Role), e.Processes)
		if len(series) == 0 || series[len(series)-1].Name != name {
			series = append(series, plots.Series{Name: name})
		}
		s := &series[len(series)-1]
		s.X, s.Y = append(s.X, float64(max(e.Bytes, 1))), append(s.Y, float64(max(e.TMax, 1)))
	}
	return plots.CallCosts(title, series)
}

// rankGrid is a table of overheads: lines by ranks.
type rankGrid struct {
	rows, columns int
	values        []float64
}

func (g *rankGrid) Dims() (rows, columns int) { return g.rows, g.columns }

func (g *rankGrid) Value(row, column int) float64 { return g.values[row*g.columns+column] }

// overheadByRank draws the overhead of the first lines, those that have some, on each rank.
func overheadByRank(a *analysis.Result, most int) (*plots.Figure, error) {
	o := a.Overhead
	lines := 0
	for lines < min(most, len(o.Lines)) && o.Lines[lines].OverheadNs > 0 {
		lines++
	}
	g := &rankGrid{rows: lines, columns: a.Trace.Processes, values: make([]float64, lines*a.Trace.Processes)}
	for i := range a.RankOverhead.Len() {
		if r := a.RankOverhead.At(i); r.Line < lines && int(r.Rank) < g.columns {
			g.values[r.Line*g.columns+int(r.Rank)] += float64(r.OverheadNs)
		}
	}
	d := plots.HeatMapData{Title: "Overhead by source line and rank, " + words.TraceName(a.Trace.Path), Grid: g,
		RowLabel: "source line", ColumnLabel: "rank", ScaleLabel: "overhead", Unit: plots.Nanoseconds}
	for _, l := range o.Lines[:lines] {
		name := l.Operation + " in " + text.WithoutFolders(words.Place(l.SourceLine))
		if 2*l.UnreliableCalls > l.Calls {
			name = "unreliable: " + name
		}
		d.Rows = append(d.Rows, name)
	}
	return plots.HeatMap(d)
}

// stabilityPlot draws t_max against the number of calls that it was found with.
func stabilityPlot(title string, keys []stableKey) (*plots.Figure, error) {
	var series []plots.Series
	for _, k := range keys {
		s := plots.Series{Name: k.name()}
		for _, r := range k.Rows {
			s.X, s.Y = append(s.X, float64(r.Calls)), append(s.Y, float64(r.TMaxNs))
		}
		series = append(series, s)
	}
	return plots.Stability(title, series, nil)
}

// acceptancePlot draws how χ² of the best law, against what is accepted, changes with the
// number of calls.
func acceptancePlot(title string, keys []stableKey) (*plots.Figure, error) {
	var series []plots.Series
	for _, k := range keys {
		s := plots.Series{Name: k.name()}
		for _, r := range k.Rows {
			if r.Critical != nil && *r.Critical > 0 {
				s.X, s.Y = append(s.X, float64(r.Calls)), append(s.Y, *r.Chi2 / *r.Critical)
			}
		}
		series = append(series, s)
	}
	return plots.Acceptance(title, series)
}
