package show

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/overhead"
	"tracekit/stats/scaling"
)

// Scaling prints how a program scales, with Top rows in each table.
func Scaling(out *report.Sections, doc *outcome.Scaling) {
	w := out.W
	line := func(format string, args ...any) {
		fmt.Fprintln(w, text.Wrap(fmt.Sprintf(format, args...), out.Width, 2))
	}
	switch {
	case len(doc.Sizes) > 1 && doc.Comparable.Alike:
		found := ""
		if doc.Detected {
			found = " (detected from their work; --scaling sets it)"
		}
		same := "the same problem for all sizes"
		if doc.Mode == scaling.Weak {
			same = "the same work for each process"
		}
		line("%s of %s: %s scaling, %s%s", words.Plural(len(doc.Runs), "run", "runs"), words.Plural(len(doc.Sizes), "size", "sizes"),
			doc.Mode, same, found)
	default:
		line("%s", words.Plural(len(doc.Runs), "run", "runs"))
	}
	for _, reason := range doc.Comparable.Reasons {
		line("! %s; nothing is said about how they scale", reason)
	}
	for _, note := range doc.Notes {
		line("  %s", note)
	}
	printFactors(out, doc)
	printModels(out, doc)
	printOverheads(out, doc)
	printNext(out, doc)
	var findings []document.Finding
	for _, f := range doc.Findings {
		if f.Severity != "info" {
			f.Text = words.TraceName(f.Path) + ": " + f.Text
			findings = append(findings, f.Finding)
		}
	}
	report.PrintFindings(w, out.Width, "Findings", findings)
}

// A factorRow is a factor of each size.
type factorRow struct {
	Name  string   `json:"name"`
	Sizes []string `json:"sizes"`
}

// printFactors prints the table of modelfactors.
func printFactors(out *report.Sections, doc *outcome.Scaling) {
	t := &report.Table{Key: "factors", Title: "Efficiencies and scalabilities by processes",
		Columns: []report.Column{{Key: "name", Unit: unit.Label}}}
	if len(doc.Sizes) > 1 && doc.Comparable.Alike {
		t.Note = "Scalabilities and speedup refer to the smallest size. In per cent."
	}
	for i := range doc.Sizes {
		t.Columns = append(t.Columns, report.Column{Key: fmt.Sprintf("sizes.%d", i), Title: runSizeName(&doc.Sizes[i]),
			Unit: unit.Remarks})
	}
	var rows []report.Row
	row := func(name string, text func(*scaling.Size) string) {
		r, some := &factorRow{Name: name}, false
		for i := range doc.Sizes {
			cell := text(&doc.Sizes[i])
			some = some || cell != "-"
			r.Sizes = append(r.Sizes, cell)
		}
		if some {
			rows = append(rows, report.Row{r})
		}
	}
	for _, f := range figure.Factors {
		row(strings.Repeat("  ", f.Depth)+f.Name, func(s *scaling.Size) string { return fixed(f.Of(&s.Factors), 100, 2) })
	}
	row("speedup", func(s *scaling.Size) string { return fixed(s.Speedup, 1, 3) })
	row("average IPC", func(s *scaling.Size) string { return fixed(s.IPC, 1, 3) })
	row("average frequency, GHz", func(s *scaling.Size) string { return fixed(s.FrequencyGHz, 1, 3) })
	row("run time", func(s *scaling.Size) string { return words.Time(s.RuntimeNs) })
	row("  runs", func(s *scaling.Size) string {
		if len(doc.Runs) == len(doc.Sizes) {
			return "-"
		}
		return words.Count(s.Runs)
	})
	row("  standard deviation", func(s *scaling.Size) string { return fixed(s.RuntimeSpread, 100, 2) })
	out.Table(t, rows)
}

// printModels prints the places that take most at the wanted size.
func printModels(out *report.Sections, doc *outcome.Scaling) {
	if doc.At == 0 {
		return
	}
	if m := doc.Runtime; m != nil {
		said := fmt.Sprintf("Run time: %s; with %s processes %s", modelFormula(m), words.Count(doc.At), words.Nanoseconds(m.Predicted))
		if m.Low != nil {
			said += fmt.Sprintf(" (95 %% interval: %s to %s)", words.Nanoseconds(*m.Low), words.Nanoseconds(*m.High))
		}
		fmt.Fprintln(out.W)
		fmt.Fprintln(out.W, text.Wrap(said+".", out.Width, 2))
	}
	last := len(doc.Sizes) - 1
	with := func(size int) report.Column {
		return report.Column{Key: fmt.Sprintf("values.%d", size), Title: "with " + runSizeName(&doc.Sizes[size]), Unit: unit.Mean}
	}
	out.Table(&report.Table{Key: "models", Title: fmt.Sprintf("Where the time goes with %s processes: time of a process in the mean, "+
		"without what is called", words.Count(doc.At)),
		Note: "Error: leave-one-out cross-validation, 0 to 200 %. At least, at most: range of 95 of 100 measurements if the form of the " +
			"model is right.",
		Columns: []report.Column{
			{Title: "place", Value: report.Of(func(m *scaling.PlaceModel) any { return m.PlaceRow.Name() })},
			with(last),
			{Key: "predicted", Title: "with " + words.Count(doc.At), Unit: unit.Mean},
			{Key: "share", Title: "share", Unit: unit.Share},
			{Key: "low", Title: "at least", Unit: unit.Mean},
			{Key: "high", Title: "at most", Unit: unit.Mean},
			{Key: "smape", Title: "error", Unit: unit.Share},
			{Title: "model", Unit: unit.Remarks, Value: report.Of(func(m *scaling.PlaceModel) any { return modelFormula(m) })},
		}}, report.RowsOf(doc.Models[:min(out.Top, len(doc.Models))]))
	unmodelled := &report.Table{Key: "unmodelled", Title: "Places without a model: they have time in fewer than three sizes",
		Columns: []report.Column{{Title: "place", Value: report.Of(func(p *scaling.PlaceRow) any { return p.Name() })}}}
	for i := range doc.Sizes {
		unmodelled.Columns = append(unmodelled.Columns, with(i))
	}
	out.Table(unmodelled, report.RowsOf(doc.Unmodelled[:min(out.Top, len(doc.Unmodelled))]))
}

// overheadRow is a source line in one size.
type overheadRow struct {
	*scaling.OverheadPlace
	*scaling.OverheadAt
	Verdict string `json:"verdict"`
}

// overheadShares is a source line in all sizes.
type overheadShares struct {
	*scaling.OverheadPlace
	Shares []string `json:"shares"`
}

// printOverheads prints what MPI calls need and take, by source line and size.
func printOverheads(out *report.Sections, doc *outcome.Scaling) {
	o := doc.Overhead
	if o == nil || len(o.Lines) == 0 {
		return
	}
	learned := "learned from each trace"
	if o.Source == "profile" {
		learned = "of the profile"
	}
	first, second := *report.ScalingOverhead, *report.ScalingShares
	first.Note = fmt.Sprintf("Beyond what %s of like calls need, %s. Times are sums over ranks.", words.Share(o.Quantile), learned)
	second.Columns = slices.Clone(second.Columns)
	for i := range o.Sizes {
		second.Columns = append(second.Columns, report.Column{Key: fmt.Sprintf("shares.%d", i), Title: runSizeName(&doc.Sizes[i]),
			Unit: unit.Remarks})
	}
	var rows, shares []report.Row
	for i := range o.Lines[:min(out.Top, len(o.Lines))] {
		place := &o.Lines[i]
		all := &overheadShares{OverheadPlace: place}
		for _, at := range place.Sizes {
			all.Shares = append(all.Shares, overheadShare(at))
			if at != nil {
				rows = append(rows, report.Row{&overheadRow{place, at, overheadVerdict(at)}})
			}
		}
		shares = append(shares, report.Row{all})
	}
	out.Table(&first, rows)
	every := &overheadShares{OverheadPlace: &scaling.OverheadPlace{Operation: "all"}}
	for i := range o.Sizes {
		every.Shares = append(every.Shares, overheadShare(&o.Sizes[i]))
	}
	out.Table(&second, append(shares, report.Row{every}))
}

var nextPoints = &report.Table{Key: "measure_next", Title: "What a benchmark should still measure",
	Note: "Points that the profile interpolates, in order of how much overhead depends on it. T_max: of the profile, and where it may lie. " +
		"Overhead: at the far ends. Verdict: of all messages, and what it would be at either end.",
	Columns: []report.Column{
		{Key: "operation", Title: "operation"},
		{Key: "role", Title: "role"},
		{Key: "processes", Title: "processes", Unit: unit.Count},
		{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
		{Key: "calls", Title: "calls", Unit: unit.Count},
		{Key: "t_max_ns", Title: "t_max", Unit: unit.Time},
		{Key: "low_ns", Title: "low", Unit: unit.Time},
		{Key: "high_ns", Title: "high", Unit: unit.Time},
		{Key: "low_overhead_ns", Title: "overhead from", Unit: unit.Time},
		{Key: "high_overhead_ns", Title: "to", Unit: unit.Time},
		{Key: "says", Title: "verdict", Unit: unit.Remarks},
	}}

// A nextRow is a point that a profile lacks, with what the verdict depends on it.
type nextRow struct {
	*overhead.Unmeasured
	Says string `json:"says"`
}

// printNext prints which points a benchmark should still measure.
func printNext(out *report.Sections, doc *outcome.Scaling) {
	var rows []report.Row
	for i := range doc.Next[:min(out.Top, len(doc.Next))] {
		u := &doc.Next[i]
		row := &nextRow{u, u.Verdict}
		for _, other := range []string{u.IfLow, u.IfHigh} {
			if other != u.Verdict && !strings.HasSuffix(row.Says, other) {
				row.Says += " or " + other
			}
		}
		if u.Extrapolated {
			row.Says += "; extrapolated"
		}
		rows = append(rows, report.Row{row})
	}
	if len(rows) > 0 {
		out.Table(nextPoints, rows)
	}
}

func overheadShare(at *scaling.OverheadAt) string {
	if at == nil || at.Share == nil {
		return "-"
	}
	s := words.Share(*at.Share)
	if at.Unreliable() {
		s += " ?"
	}
	return s
}

// overheadVerdict says who is late, by what, or why that is open.
func overheadVerdict(at *scaling.OverheadAt) string {
	switch {
	case at.Reason != "":
		return at.Verdict + ": " + at.Reason
	case at.ByWaits:
		return at.Verdict + ", by wait states"
	}
	return at.Verdict
}

// runSizeName names a size in the head of a column.
func runSizeName(s *scaling.Size) string {
	if s.Threads > s.Processes {
		return fmt.Sprintf("%s (%s threads)", words.Count(s.Processes), words.Count(s.Threads))
	}
	return words.Count(s.Processes)
}

// modelFormula writes a model with the unit that fits its largest part.
func modelFormula(m *scaling.PlaceModel) string {
	largest := math.Abs(m.Constant)
	for _, t := range m.Terms {
		largest = max(largest, math.Abs(t.Coefficient))
	}
	for _, s := range []struct {
		factor float64
		unit   string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if largest >= s.factor {
			return m.Model.Formula(s.factor, " "+s.unit)
		}
	}
	return m.Model.Formula(1, " ns")
}
