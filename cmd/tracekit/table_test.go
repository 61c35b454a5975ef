package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"tracekit/cmd/tracekit/internal/cli"
)

// TestReportsFitTheTerminal: no line of a report is wider than the terminal, but for words
// that have no place to break, and the names of functions are whole or end as they do.
func TestReportsFitTheTerminal(t *testing.T) {
	for _, name := range []string{"zoo-4", "halo2d-8", "masterworker-4"} {
		archive := sampleArchive(t, name)
		for _, width := range []int{60, 80, 140} {
			for _, command := range []string{"analyze", "info", "fit"} {
				var out, errs bytes.Buffer
				if code := run(context.Background(), &cli.Streams{Out: &out, Err: &errs, Width: width}, []string{command, archive}); code != exitDone {
					t.Fatal(errs.String())
				}
				for line := range strings.Lines(out.String()) {
					line = strings.TrimRight(line, "\n")
					if n := utf8.RuneCountInString(line); n > width && strings.Contains(strings.TrimSpace(line), " ") && !strings.Contains(line, archive) {
						t.Errorf("%s %s: a line of %d columns on %d:\n%s", command, name, n, width, line)
					}
				}
			}
		}
	}
}
