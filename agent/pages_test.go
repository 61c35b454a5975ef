package agent

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/report"
)

// TestPages states that the pages of an answer are the answer.
func TestPages(t *testing.T) {
	text := strings.Repeat("äöü 1234\n", 2000) + strings.Repeat("é", 9000)
	all := ""
	for page := 1; ; page++ {
		part, err := paged(text, "END", page)
		if err != nil {
			break
		}
		if len(part) > pageBytes || !strings.HasSuffix(part, "END") {
			t.Fatalf("page %d has %d bytes", page, len(part))
		}
		part = strings.TrimSuffix(part, "END")
		if at := strings.Index(part, " more lines: page "); at >= 0 {
			part = part[:strings.LastIndexByte(part[:at], '\n')]
		}
		all += part
	}
	if all != text {
		t.Errorf("the pages have %d bytes, the answer %d", len(all), len(text))
	}
}

// TestPagesOfNumbers states that a page of short numbers has at most 2,000 tokens, though each digit and each comma is one, and that
// text of the usual kind fills it.
func TestPagesOfNumbers(t *testing.T) {
	for line, least := range map[string]int{"1,0,2\n": 1800, "MPI_Waitall takes 1234 us of rank 3\n": 3700} {
		part, err := paged(strings.Repeat(line, 5000), "END", 2)
		if n, _ := tokens(part, math.MaxInt); err != nil || n > pageTokens || len(part) < least {
			t.Errorf("%q: %d tokens, %d bytes: %v", line, n, len(part), err)
		}
	}
	for text, want := range map[string]int{"": 0, "1,0,2\n": 6, "1234 abcde": 5, "a        b": 3, "é中": 3} {
		if n, size := tokens(text, 100); n != want || size != len(text) {
			t.Errorf("%q has %d tokens, want %d", text, n, want)
		}
	}
}

// TestHearOfLongNames states that findings of any length leave room for the answer.
func TestHearOfLongNames(t *testing.T) {
	long := document.Finding{Code: "x", Severity: "warning", Count: 1, Text: strings.Repeat("ä", 1<<16)}
	got, err := paged(strings.Repeat("line\n", 5000), evidence(Answer{Findings: slices.Repeat([]document.Finding{long}, 9)}), 1)
	if err != nil || len(got) > pageBytes || strings.Count(got, "line\n") < 100 || !strings.Contains(got, "4 further findings") {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	doubtful := Answer{Document: &outcome.SQL{Notes: []string{"a: " + report.Doubtful + "clocks."}}}
	if got := evidence(doubtful); !strings.Contains(got, "doubtful") {
		t.Errorf("of a doubtful measurement: %s", got)
	}
}
