package show

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/whatif"
)

// curves prints the run time over the network.
func curves(out *report.Sections, doc *outcome.Whatif) {
	network := "than recorded"
	if len(doc.Changes) > 0 {
		network = "with the changes above"
	}
	if doc.Latency != nil {
		curve(out, doc.Latency, curveWords{"Latency curve", "Run time by how much longer each message takes " + network, "message longer by",
			"messages", "how many lie on the longest path, one after the other", words.Nanoseconds})
	}
	if doc.Bandwidth != nil {
		curve(out, doc.Bandwidth, curveWords{"Bandwidth curve", "Run time by how much longer each byte takes " + network, "byte longer by",
			"bytes", "how many lie on the longest path, one after the other",
			func(x float64) string { return fmt.Sprintf("%.4g ns", x) }})
	}
}

// curveWords are what a curve is called, and how its x is written.
type curveWords struct {
	heading, note, x, slope, slopes string
	write                           func(x float64) string
}

func curve(out *report.Sections, c *whatif.Curve, w curveWords) {
	g := &text.Grid{Heading: w.heading, Titles: []string{"run longer by", w.x}}
	g.Note(w.note + ".")
	for _, t := range c.Tolerance {
		x := "more than " + w.write(c.To)
		if t.At != nil {
			x = w.write(*t.At)
		}
		g.Add(fmt.Sprintf("%g %%", 100*t.Share), x)
	}
	g.Print(out.W, out.Width)
	pieces := slices.Clone(c.Pieces)
	rows := "The run time grows evenly between rows."
	if n := len(pieces); n > out.Top {
		slices.SortStableFunc(pieces, func(a, b whatif.Piece) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
		pieces = pieces[:out.Top]
		slices.SortFunc(pieces, func(a, b whatif.Piece) int { return cmp.Compare(a.From, b.From) })
		rows = fmt.Sprintf("The longest of %d pieces, in each of which the run time grows evenly.", n)
	}
	g = &text.Grid{Heading: "Pieces", Titles: []string{w.x, "run time", "longer by", w.slope}}
	g.Note(fmt.Sprintf("%s %s: %s.", rows, words.Capital(w.slope), w.slopes))
	for _, note := range curveNotes(c) {
		g.Note(note)
	}
	longer := func(x float64) string { return words.PartOfFloat(c.At(x)-float64(c.RunTime), float64(c.RunTime)) }
	for _, p := range pieces {
		g.Add(w.write(p.From), words.Nanoseconds(c.At(p.From)), longer(p.From), fmt.Sprintf("%.6g", p.Slope))
	}
	g.Add(w.write(c.To), words.Nanoseconds(c.At(c.To)), longer(c.To), "")
	g.Print(out.W, out.Width)
}

// curveNotes say what a reader should know about a curve.
func curveNotes(c *whatif.Curve) (notes []string) {
	if c.Collectives > 0 {
		notes = append(notes, "The shortest call of each collective operation keeps its time: the trace does not show how much of it is latency.")
	}
	if len(c.Unsized) > 0 {
		notes = append(notes, fmt.Sprintf("No size is recorded for some of these operations: %s. They keep their time.",
			strings.Join(c.Unsized, ", ")))
	}
	if c.Rounding > 0 {
		notes = append(notes, fmt.Sprintf("Each message takes whole ticks: run times are exact to %s.", words.Nanoseconds(c.Rounding)))
	}
	if c.Gap > 0 {
		notes = append(notes, fmt.Sprintf("After %d replays some pieces are not resolved: run times there may be up to %s longer.", c.Replays,
			words.Nanoseconds(c.Gap)))
	}
	if o := c.Otherwise; o != nil && math.Abs(float64(*o)-c.At(c.To)) > c.At(c.To)/200 {
		notes = append(notes, fmt.Sprintf("The run does not show whether some sends wait for their receivers. If the other way is true, it "+
			"takes %s in the last row.", words.Time(*o)))
	}
	return notes
}
