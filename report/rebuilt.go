package report

import (
	"io"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/trace"
)

// RebuiltLine says that a trace was rebuilt, and from what; "" of one that was recorded. It is
// the first line of what is printed of it.
func RebuiltLine(which string, r *document.Rebuilt) string {
	if r == nil {
		return ""
	}
	line := which + "rebuilt, not recorded"
	if r.From != "" {
		line += "; from " + strings.Join(strings.Fields(r.From), " ") // one line, whatever the file says
	}
	if which == "" {
		line = "R" + line[1:]
	}
	return line + ". " + text.Modelled + "marks what a model made: times of single events, and so waits and latencies."
}

// PrintRebuilt prints the first line about a rebuilt trace.
func PrintRebuilt(w io.Writer, which string, r *document.Rebuilt) {
	if line := RebuiltLine(which, r); line != "" {
		text.Line(w, "%s", line)
	}
}

// Mark returns the mark if a trace was rebuilt.
func Mark(r *document.Rebuilt) string {
	if r == nil {
		return ""
	}
	return text.Modelled
}

// Which tables, columns and rows of a report are a model's if the trace was rebuilt: see
// document.Rebuilt. Tables are told by how their headings begin.
var (
	modelledTables = []string{"Wait states", "What makes others wait", "Critical path", "The location that ends last", "Senders and receivers", "What calls need", "Two views", "Headers at", "Sampling by", "Derived", "What the sample"}
	modelledTitles = []string{"own", "late partner", "imbalance", "unexplained", "causes", "of path", "min", "p50", "p99", "max", "skew", "transfer", "completion", "latency", "mean off", "after pause"}
	modelledRows   = []string{"serialization", "transfer"}
)

// markModelled marks what a model made in a table about a rebuilt trace.
func markModelled(g *text.Grid) {
	for _, heading := range modelledTables {
		if strings.HasPrefix(g.Heading, heading) {
			g.Heading = text.Modelled + g.Heading
			return
		}
	}
	for i, title := range g.Titles {
		if slices.Contains(modelledTitles, title) {
			g.Titles[i] = text.Modelled + title
		}
	}
	for _, row := range g.Rows {
		if name := strings.TrimLeft(row[0], " "); slices.Contains(modelledRows, name) {
			row[0] = row[0][:len(row[0])-len(name)] + text.Modelled + name
		}
	}
}

// RebuiltSuffix is what a title has behind the name of a rebuilt trace.
func RebuiltSuffix(t document.TraceInfo) string {
	if t.Rebuilt == nil {
		return ""
	}
	return " (rebuilt)"
}

// PictureTitle is the title of a picture of a trace.
func PictureTitle(about trace.Info) string {
	switch {
	case about.Properties[trace.PropertyRegenerated] != "":
		return words.TraceName(about.Path) + ", with what repeats made again"
	case about.Properties[trace.PropertyCut] != "":
		return words.TraceName(about.Path) + ", without what repeats"
	case about.Reconstructed():
		return words.TraceName(about.Path) + ", rebuilt from statistics, not recorded"
	}
	return words.TraceName(about.Path)
}
