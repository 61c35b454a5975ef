package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// evidence says what of an analyzed trace makes answers doubtful, or that nothing does.
func evidence(a Answer) string {
	if lacking := lacks(a.Findings); lacking != "" {
		return lacking
	}
	doubtful := false
	switch doc := a.Document.(type) {
	case *analysis.Result:
		doubtful = len(doc.Doubts) > 0
	case *outcome.SQL:
		doubtful = slices.ContainsFunc(doc.Notes, func(n string) bool { return strings.Contains(n, report.Doubtful) })
	}
	if doubtful {
		return "\nEvidence lacks: the measurement is doubtful.\n"
	}
	return "\nEvidence: no record of the trace is missing or contradicts another.\n"
}

// lacks says what of a trace makes answers doubtful, in at most half a page.
func lacks(findings []document.Finding) string {
	const most, longest = 5, pageBytes / 12
	var b strings.Builder
	shown := 0
	for _, f := range findings {
		if f.Severity == trace.SeverityInfo.String() {
			continue
		}
		if shown++; shown == 1 {
			b.WriteString("\nEvidence lacks:\n")
		}
		if shown <= most {
			said := text.Plain(f.Text)
			if len(said) > longest {
				said = said[:whole(said, longest)] + "…"
			}
			fmt.Fprintf(&b, "* %s (%s): %s\n", f.Code, words.Count(f.Count), said)
		}
	}
	if shown > most {
		fmt.Fprintf(&b, "* %s: analyze with sections notes\n", words.Plural(shown-most, "further finding", "further findings"))
	}
	return b.String()
}

// whole returns the length of the first bytes of a text, at most so many, that cut no character.
func whole(text string, most int) int {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// A page has at most so many bytes, and at most so many tokens.
const (
	pageBytes  = 4000
	pageTokens = 2000
)

// tokens returns how many tokens the first bytes of a text have, and how many bytes those are: all, unless there are more than most tokens.
// A token is up to three digits, four letters or eight blanks or hyphens, or one other character; characters of three bytes or more count
// twice. The vocabularies of agents need about as many for tables, and fewer for prose.
func tokens(text string, most int) (count, size int) {
	kind, run := rune(0), 0 // of the last token
	for i, r := range text {
		k, longest := rune(-1), 1
		switch {
		case '0' <= r && r <= '9':
			k, longest = '0', 3
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			k, longest = 'a', 4
		case r == ' ' || r == '-':
			k, longest = r, 8
		}
		if run++; k == kind && run <= longest {
			continue
		}
		kind, run = k, 1
		n := 1
		if utf8.RuneLen(r) > 2 {
			n = 2
		}
		if count+n > most {
			return count, i
		}
		count += n
	}
	return count, len(text)
}

// paged returns a page of an answer, with its end behind it, and says how to get the others.
func paged(text, end string, page int) (string, error) {
	page = max(1, page)
	used, _ := tokens(end, pageTokens)
	for number := 1; ; number++ {
		_, room := tokens(text[:min(len(text), pageBytes-len(end)-200)], pageTokens-used-50)
		cut := len(text)
		if cut > room {
			if cut = strings.LastIndexByte(text[:room], '\n') + 1; cut == 0 {
				cut = whole(text, room)
			}
		}
		if number < page && cut == len(text) {
			return "", fmt.Errorf("the answer has %s", words.Plural(number, "page", "pages"))
		}
		if number < page {
			text = text[cut:]
			continue
		}
		rest := ""
		if cut < len(text) {
			rest = fmt.Sprintf("\n%d more lines: page %d has the next ones.\n", strings.Count(text[cut:], "\n"), page+1)
		}
		return text[:cut] + rest + end, nil
	}
}
