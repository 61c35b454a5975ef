package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/trace"
)

// CallTrees prints formulae, and trees with Top rows each. So many other trees are not in the document.
func CallTrees(out *report.Sections, doc *outcome.CallTrees, defs *trace.Defs, others int) {
	w := out.W
	report.PrintRebuilt(out.W, "Formulae of a trace that was ", doc.Rebuilt)
	kinds := ""
	if doc.Paper {
		kinds = "the paper's kinds of "
	}
	fmt.Fprintln(w, text.Wrap(fmt.Sprintf("%s: %sformulae of at most %s; %s", doc.Path, kinds, words.Plural(doc.Terms, "term", "terms"),
		out.Writer), out.Width, 2))
	out.Table(learnedTable, learnedRows(doc.Learned))
	heading := "Not learned"
	if doc.Lost {
		heading = lostHeading
	}
	printUnlearned(out, heading, doc.Unlearned)
	for i := range doc.Trees {
		t := &doc.Trees[i]
		fmt.Fprintln(w)
		text.Line(w, "%s", treeHeading(defs, t))
		printFormulae(out, t)
		printTree(w, t, out.Width)
	}
	if others > 0 {
		fmt.Fprintf(w, "\n%s not shown: --ranks selects, --json has all\n",
			words.Plural(others, "different call tree is", "different call trees are"))
	}
	report.PrintFindings(w, out.Width, "Findings", doc.Findings)
}

// treeHeading says whose tree it is.
func treeHeading(defs *trace.Defs, t *formulae.AnnotatedTree) string {
	ranks := defs.Ranks()
	var names []string
	for _, l := range t.Locations[:min(len(t.Locations), 16)] {
		name := defs.String(defs.Locations[l].Name)
		if r := ranks[l]; r != trace.None {
			name = fmt.Sprintf("rank %d", r)
			if world := defs.World(); int(r) >= len(world) || uint32(world[r]) != l {
				name += " " + defs.String(defs.Locations[l].Name)
			}
		}
		names = append(names, name)
	}
	if len(t.Locations) > len(names) {
		names = append(names, "…")
	}
	return words.Plural(len(t.Locations), "location", "locations") + " with this call tree: " + strings.Join(names, ", ")
}

// A sequenceOf is a sequence of a call path.
type sequenceOf struct {
	Path string `json:"path"`
	*formulae.AnnotatedSequence
}

var formulaeTable = &report.Table{Key: "formulae", Title: "Formulae of communication", Columns: []report.Column{
	{Key: "path", Title: "call path"},
	{Key: "what", Title: "sequence"},
	{Title: "kind", Value: report.Of(func(s *sequenceOf) any { return kindText(s.AnnotatedSequence) })},
	{Key: "values", Title: "values", Unit: unit.Count},
	{Key: "terms", Title: "terms", Unit: unit.Count},
	{Key: "formula", Title: "formula"},
}}

// printFormulae prints a row for each sequence that is about communication (the paper's table 4).
func printFormulae(out *report.Sections, tree *formulae.AnnotatedTree) {
	var rows []sequenceOf
	for n := range tree.Nodes {
		for i := range tree.Nodes[n].Sequences {
			s := &tree.Nodes[n].Sequences[i]
			if slices.Contains([]string{"to", "from", "tag"}, s.What) || s.Category == "sizes" || s.Category == "roots" {
				rows = append(rows, sequenceOf{callPath(tree, n), s})
			}
		}
	}
	t := *formulaeTable
	if len(rows) > out.Top {
		t.Title += fmt.Sprintf(" (first %d of %s)", out.Top, words.Count(len(rows)))
	}
	out.Table(&t, report.RowsOf(rows[:min(out.Top, len(rows))]))
}

// kindText returns the kind of a formula; of one that failed, how far it went.
func kindText(s *formulae.AnnotatedSequence) string {
	if s.Kind != sequence.Failed.String() {
		return strings.ToUpper(s.Kind)
	}
	return fmt.Sprintf("not learned behind %s", words.Count(s.Learned))
}

// callPath returns the names on the way to a node, at most mostIndent of them.
func callPath(t *formulae.AnnotatedTree, n int) string {
	path, depth := nodeName(&t.Nodes[n]), 1
	for p := t.Nodes[n].Parent; p != nil && *p > 0; p = t.Nodes[*p].Parent {
		if depth++; depth > mostIndent {
			return "…/" + path
		}
		path = t.Nodes[*p].Name + "/" + path
	}
	return path
}

func indented(n *formulae.AnnotatedNode) string {
	if n.Depth > mostIndent {
		return fmt.Sprintf("%s(%d) %s", strings.Repeat("  ", mostIndent), n.Depth, nodeName(n))
	}
	return strings.Repeat("  ", n.Depth) + nodeName(n)
}

// printTree prints the call tree with what is known of each call path (the paper's figure 6).
func printTree(w io.Writer, t *formulae.AnnotatedTree, width int) {
	names := 0
	for n := range t.Nodes {
		names = max(names, utf8.RuneCountInString(indented(&t.Nodes[n])))
	}
	note := "Time includes waiting. Arguments and attributes that are always the same are left out."
	if n := len(t.Locations); n > 1 {
		note = fmt.Sprintf("Mean of %d locations. %s", n, note)
	}
	fmt.Fprintf(w, "\nAnnotated call tree\n%s\n%-*s %9s %10s %10s\n%s\n", text.Wrap(note, width, 0), names, "call path", "visits", "total",
		"own", strings.Repeat("-", names+32))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		fmt.Fprintf(w, "%-*s %9s %10s %10s\n", names, indented(n), words.Count(n.Visits), words.Time(meanOf(n.InclusiveNs)),
			words.Time(meanOf(n.ExclusiveNs)))
		for k := range n.Sequences {
			s := &n.Sequences[k]
			if s.Constant {
				continue
			}
			printFolded(w, strings.Repeat("  ", min(n.Depth, mostIndent)+2), sequenceText(s), width)
		}
	}
}

func nodeName(n *formulae.AnnotatedNode) string { return text.Plain(atSite(n.Name, n.Site)) }

// sequenceText is a line about a sequence.
func sequenceText(s *formulae.AnnotatedSequence) string {
	of := s.Of
	if of == "" || strings.HasPrefix(s.What, of+" =") {
		of = ""
	} else {
		of += " "
	}
	return fmt.Sprintf("%s%s  %s  %s", of, s.What, kindText(s), s.Formula)
}

// printFolded prints text between words, lines after the first further to the right.
func printFolded(w io.Writer, indent, said string, width int) {
	line := indent
	for i, word := range strings.Split(text.Plain(said), " ") {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = indent + "    " + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

func meanOf(list []int64) int64 {
	sum := 0.0
	for _, v := range list {
		sum += float64(v)
	}
	return int64(sum / float64(max(len(list), 1)))
}

// mostIndent is the depth from which on nodes tell their depth instead of being indented.
const mostIndent = 100
