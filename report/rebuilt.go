package report

import (
	"io"
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

// unmark takes the mark of a model from a table of a trace that was recorded.
func unmark(g *text.Grid) {
	g.Heading = strings.TrimPrefix(g.Heading, text.Modelled)
	for i, title := range g.Titles {
		g.Titles[i] = strings.TrimPrefix(title, text.Modelled)
	}
	for _, row := range g.Rows {
		row[0] = strings.Replace(row[0], text.Modelled, "", 1)
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
