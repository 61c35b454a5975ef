package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tracekit/report"
	"tracekit/trace/tracetest"
)

// TestTermsAreExplained states that the help explains the words of a report that are no
// plain English, and that each table of times says whose they are.
func TestTermsAreExplained(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "zoo-4")
	help := succeed(t, dir, "help", "terms")
	report := succeed(t, dir, "analyze", "--full", "--top", "1", archive)
	for _, word := range []string{"imbalance", "key", "N×N", "completion", "late sender", "wrong order", "t_max", "skew", "critical path",
		"serialization", "p99"} {
		if !strings.Contains(report, word) {
			t.Errorf("the report does not say %q: the test is out of date", word)
		}
		if !regexp.MustCompile(`(?m)^([^ ].*)?` + regexp.QuoteMeta(word)).MatchString(help) {
			t.Errorf("the help does not explain %q", word)
		}
	}
	// A table is a heading, notes, titles, a rule of dashes.
	for _, block := range strings.Split(report, "\n\n") {
		head, rows, table := strings.Cut(block, "\n---")
		if !table || !regexp.MustCompile(`[0-9] ([nµm]s|s)( |$)`).MatchString(rows) {
			continue
		}
		if !regexp.MustCompile(`(?i)sums? over|wall time|single calls`).MatchString(head) {
			t.Errorf("does not say whose times they are:\n%s", block)
		}
	}
}

// TestPageTermsExist: every word that the page asks the meaning of is explained.
func TestPageTermsExist(t *testing.T) {
	known := map[string]bool{}
	for _, x := range report.Terms() {
		known[x.Word] = true
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "web", "src", "*.tsx"))
	if err != nil || len(files) == 0 {
		t.Fatal("no sources of the page: ", err)
	}
	for _, file := range files {
		text := tracetest.ReadFile(t, file)
		for _, m := range regexp.MustCompile(`\bterm\('([^']*)'\)`).FindAllSubmatch(text, -1) {
			if !known[string(m[1])] {
				t.Errorf("%s: nothing explains %q", filepath.Base(file), m[1])
			}
		}
	}
}
