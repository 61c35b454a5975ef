package figure

import (
	"fmt"
	"hash/crc32"
	"strings"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
)

// drawOverhead draws the overhead of the top lines by rank, and the laws behind it.
func drawOverhead(add Add, a *analysis.Result, top int) error {
	figure, err := overheadByRank(a, top)
	if err != nil {
		return err
	}
	add("overhead_by_rank", figure)
	keys := a.Overhead.Keys
	for i := range keys {
		if i == keysDrawn || keys[i].OverheadNs == 0 {
			break
		}
		figure, err := histogramPlot(&keys[i], false)
		if err != nil {
			return err
		}
		add(fmt.Sprintf("overhead_%d_%s", i+1, keyFile(&keys[i])), figure)
	}
	return nil
}

// keysDrawn is how many keys, those with the most overhead, have a histogram in a report.
const keysDrawn = 6

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

// histogramPlot draws the durations of a key with the law that was accepted of those fitted to them, the
// cut above which they are not modelled, and t_max; other laws are named in a note. In the paper's way wait states are in.
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
		Title: fmt.Sprintf("%s: %s, law fitted to %s", outcome.KeyName(k.Operation, k.Role, k.Processes, k.Bytes),
			words.Plural(int(k.Calls), "call", "calls"), fitted),
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
	if r.Chosen >= 0 {
		d.Models = []plots.Model{chosenModel(r, b)}
	}
	d.Note = otherLaws(r)
	return plots.Histogram(d)
}

// otherLaws says how the laws did that were not chosen.
func otherLaws(r *fit.Result) string {
	var accepted, open, rejected []string
	for i, m := range r.Models {
		test := m.TestOf(0)
		switch name := string(m.Family); {
		case i == r.Chosen:
		case !test.Testable():
			open = append(open, name)
		case test.Accepted:
			accepted = append(accepted, fmt.Sprintf("%s (p = %.2g)", name, test.P))
		default:
			rejected = append(rejected, name)
		}
	}
	var out []string
	if r.Chosen < 0 && len(r.Models) > 0 {
		out = append(out, "No law is accepted.")
	}
	say := func(what string, laws []string) {
		if len(laws) > 0 {
			out = append(out, what+": "+strings.Join(laws, ", ")+".")
		}
	}
	say("Also accepted", accepted)
	say("Rejected", rejected)
	say("Too few calls to judge", open)
	return strings.Join(out, " ")
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

// chosenModel is what the accepted law expects in each bar.
func chosenModel(r *fit.Result, b fit.Bars) plots.Model {
	m := r.Models[r.Chosen]
	out := plots.Model{Name: string(m.Family), Verdict: fmt.Sprintf("p = %.2g", m.TestOf(r.Estimate).P),
		Expected: r.Expected(r.Chosen, r.Estimate, b)}
	if r.Estimate > 0 {
		out.Name += map[string]string{fit.ByAbsolute: ", least Σ|f-p|", fit.ByChiSquare: ", least χ²"}[m.Estimates[r.Estimate].By]
	}
	return out
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
		name := words.Call(l.Operation, l.SourceLine)
		if 2*l.UnreliableCalls > l.Calls {
			name = "unreliable: " + name
		}
		d.Rows = append(d.Rows, name)
	}
	return plots.HeatMap(d)
}

// phasesPlot draws the efficiencies of phases against the time at which they begin.
func phasesPlot(title string, a *analysis.Result) (*plots.Figure, error) {
	d := plots.CurvesData{Title: "Efficiency of phases, " + title, X: plots.Axis{Label: "time", Unit: plots.Nanoseconds},
		Y: plots.Axis{Label: "efficiency"}}
	for _, of := range []struct {
		name string
		get  func(document.PhaseRow) *float64
	}{
		{"parallel efficiency", func(x document.PhaseRow) *float64 { return x.ParallelEfficiency }},
		{"load balance", func(x document.PhaseRow) *float64 { return x.LoadBalance }},
		{"communication", func(x document.PhaseRow) *float64 { return x.CommunicationEfficiency }},
	} {
		s := plots.Series{Name: of.name}
		for _, row := range a.Phases.Rows {
			if y := of.get(row); y != nil {
				s.X, s.Y = append(s.X, float64(row.FromNs-a.Trace.StartNs)), append(s.Y, *y)
			}
		}
		d.Series = append(d.Series, s)
	}
	return plots.Curves(d)
}

func matrixPlot(a *analysis.Result, ranks int) plots.MatrixData {
	d := plots.MatrixData{Title: "Bytes sent, " + words.TraceName(a.Trace.Path), Ranks: ranks, ScaleLabel: "bytes sent", Unit: plots.Bytes}
	for _, c := range a.CommMatrix {
		d.Entries = append(d.Entries, plots.MatrixEntry{From: int(c.From), To: int(c.To), Value: float64(c.Bytes)})
	}
	return d
}

// Analysis draws the phases, how many bytes ranks send each other, and the overhead of the top lines by rank.
func Analysis(a *analysis.Result, ranks, top int, add Add) error {
	if a.Phases != nil {
		figure, err := phasesPlot(words.TraceName(a.Trace.Path), a)
		if err != nil {
			return err
		}
		add("phases", figure)
	}
	if len(a.CommMatrix) > 0 {
		figure, err := plots.CommMatrix(matrixPlot(a, ranks))
		if err != nil {
			return err
		}
		add("comm_matrix", figure)
	}
	if a.Overhead != nil && a.Overhead.OverheadNs > 0 {
		return drawOverhead(add, a, top)
	}
	return nil
}
