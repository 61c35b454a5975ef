package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/cause"
	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestFirstScreen states that the answer fits a screen of any usual width, on a terminal too. The first cause and its ranks stand
// in what one reads in ten seconds. Causes have headlines of at most ten words.
func TestFirstScreen(t *testing.T) {
	const lines, headline, tenSeconds = 40, 10, 12
	traces, err := filepath.Glob(filepath.Join(filepath.Dir(sampleArchive(t, "ring-4")), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(traces, tracetest.MoreTraces(t, "otf2/*", "paraver/*", "json/*", "recorders/*/*")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			a, opts := screenOf(t, path)
			if a == nil {
				return // no trace
			}
			for _, width := range []int{60, 80, 120, 200} {
				var plain, terminal bytes.Buffer
				printAnalysis(&cli.Streams{Out: &plain, Width: width}, opts, a)
				printAnalysis(&cli.Streams{Out: io.Discard, Terminal: &terminal, Width: width}, opts, a)
				for _, out := range []string{plain.String(), terminal.String()} {
					read, what := out, firstCauseOf(a)
					if rows := strings.SplitAfterN(out, "\n", tenSeconds+1); width >= 80 {
						read = strings.Join(rows[:min(tenSeconds, len(rows))], "")
					} else if len(what) > 0 {
						what = what[1:] // the headline is cut
					}
					read = strings.ToLower(strings.Join(strings.Fields(read), " "))
					for _, said := range what {
						if !strings.Contains(read, strings.ToLower(said)) {
							t.Errorf("%d columns: the first lines do not say %s", width, said)
						}
					}
					if n := strings.Count(out, "\n"); n > lines {
						t.Errorf("%d columns: %d lines", width, n)
					}
					for line := range strings.SplitSeq(out, "\n") {
						if utf8.RuneCountInString(line) > width {
							t.Errorf("%d columns: wider: %s", width, line)
						}
					}
				}
			}
			for _, c := range a.Diagnosis {
				if n := len(strings.Fields(c.Headline)); n == 0 || n > headline {
					t.Errorf("a headline of %d words: %s", n, c.Headline)
				}
			}
		})
	}
}

// firstCauseOf returns the headline of the first cause on the screen, and the ranks that it is about, unless it is about all.
func firstCauseOf(a *analysis.Result) []string {
	for _, c := range a.Diagnosis {
		switch {
		case c.Kind == cause.Startup:
			continue
		case len(c.Ranks) > 0 && len(c.Ranks) < a.Trace.Processes-a.Trace.ProcessesMissing:
			return []string{c.Headline, words.Ranks(c.Ranks)}
		}
		return []string{c.Headline}
	}
	return nil
}

// screenOf returns the analysis of a trace, nil if it is none.
func screenOf(t *testing.T, path string) (*analysis.Result, *analyzeOptions) {
	t.Helper()
	opts := &analyzeOptions{}
	opts.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
	opts.Keep([]string{path})
	if err := opts.Validate(); err != nil {
		t.Fatal(err)
	}
	tr, a, err := opts.analyze(t.Context(), &cli.Streams{Out: io.Discard, Err: io.Discard})
	switch {
	case errors.Is(err, trace.ErrNotATrace):
		return nil, nil
	case err != nil:
		t.Fatal(err)
	}
	tr.Source.Close()
	return a, opts
}
