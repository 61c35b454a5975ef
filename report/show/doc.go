// Package show prints the documents of the commands other than analyze for people.
package show

import (
	"io"
	"maps"
	"slices"

	"tracekit/document/words"
	"tracekit/report/text"
)

// Lost prints a line for all that a format cannot express, by what it is.
func Lost(w io.Writer, lost map[string]uint64, line string) {
	for _, what := range slices.Sorted(maps.Keys(lost)) {
		text.Line(w, "  "+line, words.Count(lost[what]), what)
	}
}
