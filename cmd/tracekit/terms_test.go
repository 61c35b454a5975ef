package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestTermsAreExplained states that the help explains the words of a report that are no
// plain English, and that each table of times says whose they are.
func TestTermsAreExplained(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "zoo-4")
	help, stderr, code := tracekit(t, dir, "help", "terms")
	if code != exitDone {
		t.Fatal(stderr)
	}
	report, stderr, code := tracekit(t, dir, "analyze", "--top", "1", archive)
	if code != exitDone {
		t.Fatal(stderr)
	}
	for _, word := range []string{"imbalance", "key", "N×N", "completion", "late sender", "wrong order", "t_max", "skew", "critical path", "serialization", "p99"} {
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
