package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/report"
	"tracekit/trace"
)

// longestSentence is the number of words that a sentence for people has at most.
const longestSentence = 20

var (
	sentenceEnd = regexp.MustCompile(`[.;:!?]\s+`)
	columnGap   = regexp.MustCompile(`\S {2,}\S`)
	listed      = regexp.MustCompile(`(?m)^ .*$`) // examples, programs, formats
)

// sentences holds a text to the longest sentence.
func sentences(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range sentenceEnd.Split(text, -1) {
		if n := len(wordForm.FindAllString(s, -1)); n > longestSentence {
			t.Errorf("%s: %d words: %s", where, n, s)
		}
	}
}

// TestSentences says that help, the glossary and findings have no long sentence.
func TestSentences(t *testing.T) {
	for _, term := range report.Terms() {
		sentences(t, term.Word, term.Meaning)
	}
	for _, c := range trace.Codes() {
		sentences(t, string(c.Code), c.Text)
		sentences(t, string(c.Code), c.Try)
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, paragraph := range strings.Split(c.Long, "\n\n") {
			for s := range strings.SplitSeq(listed.ReplaceAllString(paragraph, ""), ". ") {
				sentences(t, c.Name(), s)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(f.Usage, ",") { // no list
				sentences(t, c.Name()+" --"+f.Name, f.Usage)
			}
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot(&cli.Streams{}))
}

// TestReportedSentences says the same of what analyses print, tables left out.
func TestReportedSentences(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(filepath.Dir(sampleArchive(t, "halo2d-8")), "*"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, path := range archives {
		for _, flags := range [][]string{{"-q"}, {"-q", "--full"}} {
			var out, log bytes.Buffer
			run(t.Context(), &cli.Streams{Out: &out, Err: &log, Width: 100_000}, append(append([]string{"analyze"}, flags...), path))
			if out.Len() == 0 {
				t.Fatal(path, log.String())
			}
			for line := range strings.Lines(out.String()) {
				if line = strings.TrimSpace(line); !columnGap.MatchString(line) && !strings.HasPrefix(line, "Messages: ") {
					sentences(t, filepath.Base(path), line)
				}
			}
		}
	}
}

var (
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	target   = regexp.MustCompile(`\]\([^)]*\)`)
	code     = regexp.MustCompile(`(X[ ,]*)+`)
	bracket  = regexp.MustCompile(`\(([^()]*)\)`)
	newPart  = regexp.MustCompile(`(?m)\n\s*\n|^\s*([*#]|\d+\.) |\|`)
)

// TestDocumentSentences says the same of pages for users and of CONTRIBUTING.md. A list of code is one word; what stands in brackets
// is a sentence of its own.
func TestDocumentSentences(t *testing.T) {
	for _, page := range pages(t, "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/howto/*.md", "docs/reference/*.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		plain := code.ReplaceAllString(codeSpan.ReplaceAllString(target.ReplaceAllString(string(text), "]"), " X "), "X ")
		for _, part := range newPart.Split(plain, -1) {
			for inner := bracket.FindStringSubmatch(part); inner != nil; inner = bracket.FindStringSubmatch(part) {
				sentences(t, filepath.Base(page), inner[1])
				part = strings.Replace(part, inner[0], " ", 1)
			}
			sentences(t, filepath.Base(page), part)
		}
	}
}
