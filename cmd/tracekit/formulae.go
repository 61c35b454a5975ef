package main

import (
	"context"
	"fmt"
	stdio "io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/reconstruct"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// callTreeSchema names the JSON document of formulae.
const callTreeSchema = "tracekit.calltree/1"

type formulaeOptions struct {
	readFlags
	formFlags
	paths []string
	top   int

	ranks []uint32
	given bool // the form of formulae is on the command line
}

// A callTreeDocument is the annotated call tree: the paper's table 4 and figure 6.
type callTreeDocument struct {
	Schema    string                   `json:"schema"`
	Path      string                   `json:"path"`
	Format    string                   `json:"format"`
	Creator   string                   `json:"creator"`
	Terms     int                      `json:"terms"` // memory allowed to each formula
	Paper     bool                     `json:"paper"` // the paper's kinds of formulae alone
	Learned   *formulae.Learned        `json:"learned"`
	Unlearned []formulae.Unlearned     `json:"unlearned"`
	Trees     []formulae.AnnotatedTree `json:"trees"` // of the selected ranks, each once
	Findings  []document.Finding       `json:"findings"`
	lost      bool                     // what was not learned is not in the file
	Rebuilt   *document.Rebuilt        `json:"rebuilt"` // the formulae were learned from a trace that was rebuilt
}

func newFormulae(io *streams, run func(context.Context, *streams, *formulaeOptions) error) *cobra.Command {
	opts := &formulaeOptions{}
	cmd := &cobra.Command{
		Use:   "formulae FILE.tkf",
		Short: "Print the call tree with its formulae",
		Long: `Formulae prints what a .tkf of the stat mode holds: for each construct the formulae of its
receivers, senders, tags, sizes, branches and iterations, and the call tree with visits and
total duration. Of any other trace it learns the formulae first.

    IDENTITY   a^n                     a, n times
    GENERAL    a^r b^s c               runs
    ITERATION  (a, a+i, …, a+ki)^n     a progression, n times
    CYCLE      p (a^r b^s)^n a^r       after a prologue runs that come again, n times,
                                       and what was begun once more

Partners are ranks, or relative to the own one (self+1). L1, L2 are loops of the call path,
or, behind "where", loops within loops of a sequence.`,
		Example: `  tracekit formulae run.tkf
  tracekit formulae --ranks 3 --top 50 run.tkf
  tracekit formulae --formulae paper traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.paths = args
			opts.given = c.Flags().Changed("terms") || c.Flags().Changed("formulae")
			if err := opts.validate(); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	set := cmd.Flags()
	opts.readFlags.add(set)
	opts.formFlags.add(set)
	cli.Var(set, &opts.ranks, cli.Ranks(), "ranks", "", "only the trees of these `ranks`, such as 0-3,8 (default: in text, that of the "+
		"first)")
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "40", "`rows` of the table of formulae")
	return cmd
}

func (o *formulaeOptions) validate() error {
	return validate(&o.readFlags, &o.formFlags)
}

func runFormulae(ctx context.Context, io *streams, opts *formulaeOptions) error {
	in, err := opts.open(ctx, opts.paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	locations, form, err := opts.learned(ctx, io, in)
	if err != nil {
		return err
	}
	about, defs := in.Info(), in.Defs()
	_, rebuilt := in.Source.(*reconstruct.Source)
	doc := &callTreeDocument{Schema: callTreeSchema, Path: about.Path, Format: about.Format, Creator: about.Creator,
		Terms: form.Memory(), Paper: form.Paper, Learned: formulae.LearnedOf(locations), Unlearned: formulae.UnlearnedOf(defs, locations),
		Trees: formulae.Annotate(defs, locations), Findings: analysis.FindingRows(in.Findings()), lost: rebuilt}
	if !rebuilt {
		doc.Rebuilt = document.RebuiltOf(about)
	}
	others := 0
	if len(opts.ranks) > 0 || !opts.json {
		if others, err = doc.choose(defs, opts.ranks); err != nil {
			return err
		}
	}
	return opts.finish(io, doc, func() { doc.print(io, defs, others, opts.top) }, doc.Findings)
}

// learned returns the formulae of a file that holds some, and learns those of other traces.
func (o *formulaeOptions) learned(ctx context.Context, io *streams, in *input) ([]formulae.Location, sequence.Form, error) {
	if s, ok := in.Source.(*reconstruct.Source); ok {
		if o.given {
			return nil, sequence.Form{}, usagef("%s has its formulae; --terms and --formulae are for traces that have none", o.paths[0])
		}
		return s.Model().Locations, s.Model().Form, nil
	}
	bar := startProgress(io, o.quiet, "learning")
	defer bar.done()
	p, err := formulae.Learn(ctx, in, formulae.Options{Form: o.form, Jobs: o.jobs, Progress: &bar.Progress, Store: in.store})
	if err != nil {
		return nil, o.form, err
	}
	return p.Locations, o.form, nil
}

// choose keeps the trees of the ranks, or of the first location, and returns how many others
// there are.
func (doc *callTreeDocument) choose(defs *trace.Defs, ranks []uint32) (others int, err error) {
	wanted := []uint32{0}
	if len(ranks) > 0 {
		world := defs.World()
		wanted = wanted[:0]
		for _, r := range ranks {
			if int(r) >= len(world) {
				return 0, usagef("--ranks %d: the trace has %s", r, words.Plural(len(world), "rank", "ranks"))
			}
			wanted = append(wanted, uint32(world[r]))
		}
	}
	all := len(doc.Trees)
	doc.Trees = slices.DeleteFunc(doc.Trees, func(t formulae.AnnotatedTree) bool {
		return !slices.ContainsFunc(t.Locations, func(l uint32) bool { return slices.Contains(wanted, l) })
	})
	return all - len(doc.Trees), nil
}

func (doc *callTreeDocument) print(io *streams, defs *trace.Defs, others, top int) {
	w := io.Out
	report.PrintRebuilt(io.Out, "Formulae of a trace that was ", doc.Rebuilt)
	kinds := ""
	if doc.Paper {
		kinds = "the paper's kinds of "
	}
	text.Line(w, "%s: %sformulae of at most %s; %s", doc.Path, kinds, words.Plural(doc.Terms, "term", "terms"), writtenBy(doc.Format, doc.Creator))
	learnedGrid(doc.Learned).Print(w, io.Width)
	heading := "Not learned"
	if doc.lost {
		heading = lostHeading
	}
	unlearnedGrid(heading, doc.Unlearned).Print(w, io.Width)
	for i := range doc.Trees {
		t := &doc.Trees[i]
		fmt.Fprintln(w)
		text.Line(w, "%s", treeHeading(defs, t))
		formulaeGrid(t, top).Print(w, io.Width)
		printTree(w, t, io.Width)
	}
	if others > 0 {
		fmt.Fprintf(w, "\n%s not shown: --ranks selects, --json has all\n", words.Plural(others, "different call tree is", "different call trees are"))
	}
	report.PrintFindings(w, io.Width, "Findings", doc.Findings)
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

// formulaeGrid has a row for each sequence that is about communication (the paper's table 4).
func formulaeGrid(t *formulae.AnnotatedTree, top int) *text.Grid {
	g := &text.Grid{Heading: "Formulae of communication", Titles: []string{"<call path", "<sequence", "<kind", "values", "terms", "<formula"}}
	rows := 0
	for n := range t.Nodes {
		for _, s := range t.Nodes[n].Sequences {
			if s.What != "to" && s.What != "from" && s.What != "tag" && s.Category != "sizes" && s.Category != "roots" {
				continue
			}
			if rows++; rows <= top {
				g.Add(callPath(t, n), s.What, kindText(&s), words.Count(s.Values), words.Count(s.Terms), s.Formula)
			}
		}
	}
	if rows > top {
		g.Heading += fmt.Sprintf(" (first %d of %s)", top, words.Count(rows))
	}
	return g
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

// mostIndent is the depth from which on nodes tell their depth instead of being indented.
const mostIndent = 100

func indented(n *formulae.AnnotatedNode) string {
	if n.Depth > mostIndent {
		return fmt.Sprintf("%s(%d) %s", strings.Repeat("  ", mostIndent), n.Depth, nodeName(n))
	}
	return strings.Repeat("  ", n.Depth) + nodeName(n)
}

// printTree prints the call tree with what is known of each call path (the paper's figure 6).
func printTree(w stdio.Writer, t *formulae.AnnotatedTree, width int) {
	names := 0
	for n := range t.Nodes {
		names = max(names, utf8.RuneCountInString(indented(&t.Nodes[n])))
	}
	times := "time, waiting included; arguments and attributes that are always the same are left out"
	if len(t.Locations) > 1 {
		times += ": mean of " + words.Plural(len(t.Locations), "location", "locations")
	}
	fmt.Fprintf(w, "\nAnnotated call tree (%s)\n%-*s %9s %10s %10s\n%s\n", times, names, "call path", "visits", "total", "own",
		strings.Repeat("-", names+32))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		fmt.Fprintf(w, "%-*s %9s %10s %10s\n", names, indented(n), words.Count(n.Visits), words.Time(meanOf(n.InclusiveNs)), words.Time(meanOf(n.ExclusiveNs)))
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

// atSite returns a name with where it is called, if that is known.
func atSite(name, site string) string {
	if site == "" {
		return name
	}
	return name + " (" + site + ")"
}

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
func printFolded(w stdio.Writer, indent, said string, width int) {
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
