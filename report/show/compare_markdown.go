package show

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/compare"
)

// CompareMarkdown prints how two sides differ as GitHub's and GitLab's Markdown: the verdict, what makes it doubtful, then tables, with
// Top rows in each.
func CompareMarkdown(out *report.Sections, doc *outcome.Compare) {
	w := out.W
	fmt.Fprintf(w, "### %s\n\n%s\n", headline(doc), verdict(doc))
	for _, reason := range doc.Comparable.Reasons {
		fmt.Fprintf(w, "\n> **The runs differ in shape:** %s\n", codeSpan(reason))
	}
	for _, l := range losses(doc) {
		fmt.Fprintf(w, "\n> **%s:** %s\n", l.said, codeSpan(l.lost))
	}
	for i, rebuilt := range []*document.Rebuilt{doc.A.Rebuilt, doc.B.Rebuilt} {
		if rebuilt != nil {
			fmt.Fprintf(w, "\n> **%c was not recorded:** %s\n", 'A'+i, codeSpan(report.RebuiltLine("", rebuilt)))
		}
	}
	if few := fewRuns(doc.RunsA); few != "" && doc.Baseline != "" {
		fmt.Fprintf(w, "\n> **The baseline has few runs.** %s\n", few)
	}
	count, rest := split(doc.Changes)
	markdownChanges(w, doc, count, out.Top)
	if len(rest) > 0 {
		fmt.Fprintf(w, "\n<details><summary>Not beyond noise, or too small: %s</summary>\n",
			words.Plural(len(rest), "time of a place", "times of places"))
		markdownChanges(w, doc, rest, out.Top)
		fmt.Fprintln(w, "\n</details>")
	}
	if len(doc.Efficiencies) > 0 {
		fmt.Fprintln(w, "\n| Efficiency, % | A | B | points | ± noise |\n|---|--:|--:|--:|--:|")
		for _, e := range doc.Efficiencies {
			points := "-"
			if e.Change != nil {
				points = fmt.Sprintf("%+.2f", 100**e.Change)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", strings.ReplaceAll(e.Name, "_", " "), fixed(e.A, 100, 2), fixed(e.B, 100, 2),
				points, fixed(e.Noise, 100, 2))
		}
	}
	from := ""
	if doc.Baseline != "" {
		from = ", from " + codeSpan(doc.Baseline)
	}
	fmt.Fprintf(w, "\nA: %s%s, first %s. B: %s, first %s. Times are sums over ranks.\n", words.Plural(doc.RunsA, "run", "runs"), from,
		codeSpan(doc.A.Path), words.Plural(doc.RunsB, "run", "runs"), codeSpan(doc.B.Path))
}

// headline says in a few words what a reader must know first.
func headline(doc *outcome.Compare) string {
	said := "Nothing changed beyond noise"
	judged := slices.ContainsFunc(doc.Changes, func(c compare.Change) bool { return c.Significant != nil })
	run := doc.Run.BeyondNoise()
	switch {
	case !doc.Comparable.Alike:
		said = "The runs differ in shape"
	case doc.Slower > 0:
		said = "Slower beyond noise: " + changed(doc, func(c *compare.Change) bool { return c.B > c.A })
	case run && doc.Run.B > doc.Run.A:
		said = "Slower beyond noise, spread over many places"
	case doc.Significant > 0:
		said = "Faster beyond noise: " + changed(doc, func(c *compare.Change) bool { return c.B < c.A })
	case run:
		said = "Faster beyond noise, spread over many places"
	case !judged && doc.Run.Significant == nil:
		said = "Too few iterations to tell"
	}
	if losses(doc) != nil {
		said += " (doubtful: data are lost)"
	}
	return said
}

// changed names the first of such changes beyond noise, and how many there are.
func changed(doc *outcome.Compare, such func(*compare.Change) bool) string {
	var first *compare.Change
	more := -1
	for i := range doc.Changes {
		if c := &doc.Changes[i]; c.BeyondNoise() && such(c) {
			first = cmp.Or(first, c)
			more++
		}
	}
	what := markdownPlace(first)
	if first.Operation != "" {
		what = codeSpan(string(first.Operation)) + " in " + what
	}
	if first.Kind == compare.KindWait {
		what = "waits of " + what
	}
	said := what + " " + changeText(first)
	if more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

func markdownChanges(w io.Writer, doc *outcome.Compare, changes []compare.Change, top int) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintln(w, "\n| Where | Operation | What | A | B | Change | ± noise | Beyond noise | Others wait for it | Ranks |\n"+
		"|---|---|---|--:|--:|--:|--:|---|--:|---|")
	begins := false
	for i := range changes[:min(top, len(changes))] {
		c := &changes[i]
		begins = begins || c.LineOf == field.LineOfRegion
		beyond, caused := "not known", "-"
		switch {
		case c.BeyondNoise():
			beyond = "**yes**"
		case c.Significant != nil:
			beyond = "no"
		}
		if waits := c.WeightNs - math.Abs(c.B-c.A); waits >= 0.5 {
			caused = "changes by " + words.Nanoseconds(waits)
		}
		operation := "outside MPI"
		if c.Operation != "" {
			operation = codeSpan(string(c.Operation))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", markdownPlace(c), operation, quantity(c),
			report.Mark(doc.A.Rebuilt)+words.Nanoseconds(c.A), report.Mark(doc.B.Rebuilt)+words.Nanoseconds(c.B), changeText(c),
			words.ShareOrDash(c.Noise), beyond, caused, rankList(c.Ranks))
	}
	if begins {
		fmt.Fprintln(w, "\n`+`: somewhere in the region that begins at this line; the line itself is not recorded")
	}
	if more := len(changes) - top; more > 0 {
		fmt.Fprintf(w, "\n%d more; `--top` shows them.\n", more)
	}
}

func markdownPlace(c *compare.Change) string {
	const width = 100
	return codeSpan(text.Shorten(words.Place(c.SourceLine), width))
}

// codeSpan writes a text from a trace so that nothing in it is Markdown or HTML, also in a cell of a table.
func codeSpan(s string) string {
	s = cmp.Or(strings.Join(strings.Fields(s), " "), " ")
	if !strings.ContainsAny(s, "`|\\") {
		return "`" + s + "`"
	}
	var b strings.Builder
	for _, r := range s { // what a span cannot hold, or cells not as it is: as entities
		if r < 0x80 && r != ' ' && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return "<code>" + b.String() + "</code>"
}
