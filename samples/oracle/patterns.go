package oracle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A Pattern is a trace of a few events whose wait states were worked out by hand: a file
// of samples/testdata/patterns with the story and the arithmetic, the trace in the text
// form of package trace, and the lines of FormatWaits.
type Pattern struct {
	Name  string
	Trace *trace.MemorySource
	Want  string
}

// ReadPatterns reads all patterns of a folder, in order of name.
func ReadPatterns(dir string) ([]Pattern, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there are no patterns in %s", dir)
	}
	var list []Pattern
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			return nil, err
		}
		p := Pattern{Name: strings.TrimSuffix(filepath.Base(name), ".txtar")}
		for _, f := range ar.Files {
			switch f.Name {
			case "trace":
				if p.Trace, err = tracetest.Parse(string(f.Data)); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			case "want":
				p.Want = withoutComments(string(f.Data))
			}
		}
		if p.Trace == nil {
			return nil, fmt.Errorf("%s has no trace", name)
		}
		list = append(list, p)
	}
	return list, nil
}

// withoutComments drops what follows a #, and empty lines.
func withoutComments(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// WaitLine is the line of a wait state in a pattern: "late_sender 1/0 30" is a late
// sender of 30 ticks in the call that is event 0 of location 1.
func WaitLine(kind WaitKind, location trace.LocationID, seq uint64, time int64) string {
	return fmt.Sprintf("%s %d/%d %d", kind, location, seq, time)
}

// FormatWaits returns the sorted lines of a list of waits.
func FormatWaits(waits []Wait) string {
	var lines []string
	for _, w := range waits {
		lines = append(lines, WaitLine(w.Kind, w.Call.Location, w.Call.Seq, w.Time)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
