package show

import (
	"fmt"
	"math"
	"strings"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/text"
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
			found = " (found from the work that they do; --scaling says otherwise)"
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
	var findings []document.Finding
	for _, f := range doc.Findings {
		if f.Severity != "info" {
			f.Text = words.TraceName(f.Path) + ": " + f.Text
			findings = append(findings, f.Finding)
		}
	}
	report.PrintFindings(w, out.Width, "Findings", findings)
}

// printFactors prints the table of modelfactors.
func printFactors(out *report.Sections, doc *outcome.Scaling) {
	g := &text.Grid{Heading: "Efficiencies and scalabilities by processes", Titles: []string{"<"}}
	if len(doc.Sizes) > 1 && doc.Comparable.Alike {
		g.Note("Scalabilities and speedup refer to the smallest size. In per cent.")
	}
	for i := range doc.Sizes {
		g.Titles = append(g.Titles, runSizeName(&doc.Sizes[i]))
	}
	row := func(name string, text func(*scaling.Size) string) {
		cells, some := []string{name}, false
		for i := range doc.Sizes {
			cell := text(&doc.Sizes[i])
			some = some || cell != "-"
			cells = append(cells, cell)
		}
		if some {
			g.Add(cells...)
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
	g.Print(out.W, out.Width)
}

// printModels prints the places that take most at the wanted size.
func printModels(out *report.Sections, doc *outcome.Scaling) {
	if doc.At == 0 {
		return
	}
	if m := doc.Runtime; m != nil {
		said := fmt.Sprintf("Run time: %s; with %s processes %s", modelFormula(m), words.Count(doc.At), words.Nanoseconds(m.Predicted))
		if m.Low != nil {
			said += fmt.Sprintf(", 95 of 100 times within %s to %s", words.Nanoseconds(*m.Low), words.Nanoseconds(*m.High))
		}
		fmt.Fprintln(out.W)
		fmt.Fprintln(out.W, text.Wrap(said+".", out.Width, 2))
	}
	last := len(doc.Sizes) - 1
	g := &text.Grid{Heading: fmt.Sprintf("Where the time goes with %s processes: time of a process in the mean, without what is called",
		words.Count(doc.At)),
		Titles: []string{"<place", "with " + runSizeName(&doc.Sizes[last]), "with " + words.Count(doc.At), "share", "at least", "at most",
			"error", "model"}}
	g.Note("Error: leave-one-out cross-validation, 0 to 200 %. At least, at most: range of 95 of 100 measurements if the form of " +
		"the model is right.")
	for i := range doc.Models[:min(out.Top, len(doc.Models))] {
		m := &doc.Models[i]
		low, high := "-", "-"
		if m.Low != nil {
			low, high = words.Nanoseconds(*m.Low), words.Nanoseconds(*m.High)
		}
		g.Add(m.PlaceRow.Name(), words.Nanoseconds(m.Values[last]), words.Nanoseconds(m.Predicted), words.ShareOrDash(m.Share), low, high,
			words.Share(m.SMAPE), modelFormula(m))
	}
	g.Print(out.W, out.Width)
	if len(doc.Unmodelled) == 0 {
		return
	}
	g = &text.Grid{Heading: "Places without a model: they have time in fewer than three sizes", Titles: []string{"<place"}}
	for i := range doc.Sizes {
		g.Titles = append(g.Titles, "with "+runSizeName(&doc.Sizes[i]))
	}
	for i := range doc.Unmodelled[:min(out.Top, len(doc.Unmodelled))] {
		cells := []string{doc.Unmodelled[i].Name()}
		for _, v := range doc.Unmodelled[i].Values {
			cells = append(cells, words.Nanoseconds(v))
		}
		g.Add(cells...)
	}
	g.Print(out.W, out.Width)
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
