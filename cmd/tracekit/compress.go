package main

import (
	"cmp"
	"context"
	"fmt"
	stdio "io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/formulae/tkf"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/shards"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

type compressOptions struct {
	readFlags
	formFlags
	paths     []string
	output    string
	force     bool
	mode      string
	timeError string
	durations string
	byMemory  bool
	shard     shardFlag

	options tkf.Options
	shards  *shards.Set // what was compressed before; nil: nothing
}

// A compressDocument is the report of compressing, with the learned share against the
// memory allowed if it was asked for, and what is wrong with the trace.
type compressDocument struct {
	*tkf.Report
	Rebuilt  *document.Rebuilt    `json:"rebuilt"` // null: what was compressed was recorded
	ByMemory []formulae.MemoryRow `json:"learned_by_memory,omitempty"`
	Findings []document.Finding   `json:"findings"` // of reading
}

// formFlags say what formulae may be.
type formFlags struct {
	kinds string

	form sequence.Form
}

func (f *formFlags) add(set *pflag.FlagSet) {
	cli.Var(set, &f.form.Terms, cli.Int(1, sequence.MostTerms), "terms", strconv.Itoa(sequence.DefaultTerms), "memory allowed to each "+
		"formula, in `terms`")
	cli.Var(set, &f.kinds, cli.Choice("all", "paper"), "formulae", "all", "`kinds` of formulae: all, or paper for the four of the "+
		"paper alone, without loops in loops and without more terms for straight-line code")
}

func (f *formFlags) validate() error {
	f.form.Paper = f.kinds == "paper"
	return nil
}

func newCompress(io *streams, run func(context.Context, *streams, *compressOptions) error) *cobra.Command {
	opts := &compressOptions{}
	cmd := &cobra.Command{
		Use:   "compress TRACE... -o FILE.tkf",
		Short: "Write a trace as formulae",
		Long: `Compress writes a trace as formulae and says what was learned and how large the parts are.

The lossless mode (the default) keeps all event tables: structure exactly, times exactly or
within --time-error. The stat mode keeps formulae of bounded size and the durations' means
or laws, so that the file does not grow with the run; its bound is printed. Waiting for
partners is left out of durations: it comes back when the events are rebuilt. Every command
reads a .tkf as it reads a trace. Sequences for which no formula fits are listed: there a
rebuilt trace is approximate, and --strict refuses.

With --shard it only compresses a share of the locations, for 'tracekit combine' to join.`,
		Example: `  tracekit compress traces.otf2 -o run.tkf
  tracekit compress --time-error 1us traces.otf2 -o run.tkf
  tracekit compress --mode stat --terms 18 traces.otf2 -o run.tkf`,
		Args: cobra.MinimumNArgs(1),
		RunE: sharded(io, opts, &opts.shard, func(args []string) { opts.paths = args }, run),
	}
	set := cmd.Flags()
	opts.readFlags.add(set)
	cli.VarP(set, &opts.output, cli.File("tkf"), "output", "o", "", "`file` to write")
	set.BoolVar(&opts.force, "force", false, "overwrite it if it exists")
	cli.Var(set, &opts.mode, cli.Choice("lossless", "stat"), "mode", "lossless", "what is kept: lossless or stat")
	cli.Var(set, &opts.timeError, cli.Text(), "time-error", "0", "largest `error` of times in lossless mode: 0 (default), 1us, 1%")
	opts.formFlags.add(set)
	cli.Var(set, &opts.durations, cli.Choice("mean", "law"), "durations", "mean", "what stat mode keeps of durations: mean, or law "+
		"where the most time goes")
	set.Uint64Var(&opts.options.Seed, "seed", 1, "of the order in which durations are drawn from laws")
	set.BoolVar(&opts.byMemory, "by-memory", false, "also print the learned share against the memory allowed")
	opts.shard.add(set, "compress")
	return cmd
}

func (o *compressOptions) validate() error {
	if err := o.validateOutput(); err != nil {
		return err
	}
	return o.validateForm()
}

func (o *compressOptions) validateOutput() error {
	if o.output == "" {
		return usagef("compress: name the file with -o FILE.tkf")
	}
	if err := checkExtension(o.output, ".tkf"); err != nil {
		return err
	}
	return checkFile(o.output, o.force)
}

// validateForm checks what says how the trace is read and what is kept of it.
func (o *compressOptions) validateForm() (err error) {
	if err := validate(&o.readFlags, &o.formFlags); err != nil {
		return err
	}
	switch o.mode {
	case "lossless":
		o.options.Mode = tkf.Lossless
	case "stat":
		o.options.Mode = tkf.Statistics
	}
	switch o.durations {
	case "mean":
		o.options.Durations = formulae.Means
	case "law":
		o.options.Durations = formulae.Laws
	}
	if o.options.TimeError, err = tkf.ParseTimeError(o.timeError); err != nil {
		return usageError{err}
	}
	if o.mode == "stat" && o.timeError != "0" {
		return usagef("--time-error is for the lossless mode; the stat mode keeps no single times")
	}
	o.options.Form, o.options.Jobs, o.options.Learn = o.form, o.jobs, true
	return nil
}

func runCompress(ctx context.Context, io *streams, opts *compressOptions) error {
	src, err := opts.open(ctx, opts.paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	doc, findings := &compressDocument{Rebuilt: document.RebuiltOf(src.Info())}, []trace.Finding(nil)
	err = writeAtomically(ctx, opts.output, opts.force, func(w stdio.Writer) (err error) {
		bar := startProgress(io, opts.quiet, "compressing")
		defer bar.done()
		if opts.shards != nil {
			parts, err := shards.Read(ctx, opts.shards, src, src.store, opts.jobs, func() *tkf.Parts { return new(tkf.Parts) })
			if err == nil {
				doc.Report, findings, err = parts.Write(src, w)
			}
			return err
		}
		opts.options.Progress, opts.options.Store = &bar.Progress, src.store
		doc.Report, err = tkf.Compress(ctx, src, w, opts.options)
		findings = src.Findings()
		return err
	})
	if err != nil {
		return err
	}
	if opts.byMemory {
		if doc.ByMemory, err = learnedByMemory(ctx, io, opts, src); err != nil {
			return err
		}
	}
	doc.Findings = analysis.FindingRows(findings)
	return opts.finish(io, doc, func() { doc.print(io, opts.output) }, doc.Findings, func() ([]string, error) {
		if !opts.strict || doc.Statistics == nil {
			return nil, nil
		}
		return doc.lost(), nil
	})
}

func learnedByMemory(ctx context.Context, io *streams, opts *compressOptions, src trace.Source) ([]formulae.MemoryRow, error) {
	bar := startProgress(io, opts.quiet, "learning")
	defer bar.done()
	return formulae.LearnedByMemory(ctx, src, formulae.MemoryTerms(), opts.options.Form.Paper, engine.Options{Jobs: opts.jobs, Progress: &bar.Progress})
}

func (doc *compressDocument) print(io *streams, output string) {
	s, w := doc.Sizes, io.Out
	report.PrintRebuilt(io.Out, "Compressed was a trace that was ", doc.Rebuilt)
	fmt.Fprintf(w, "%s: %s of %s", text.Plain(output), words.Bytes(uint64(s.File)), words.Bytes(uint64(s.Trace)))
	if s.File > 0 {
		fmt.Fprintf(w, ", %.1f to 1", float64(s.Trace)/float64(s.File))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  structure %s, times %s, definitions %s", words.Bytes(uint64(s.Structure)),
		words.Bytes(uint64(s.Times)), words.Bytes(uint64(s.Definitions)))
	if s.Bound != nil {
		fmt.Fprintf(w, "; bound for any length of a run with these formulae %s", words.Bytes(uint64(*s.Bound)))
	}
	fmt.Fprintf(w, "\n  %s with %s\n", words.Plural(doc.Ranks.Ranks, "location", "locations"),
		words.Plural(doc.Ranks.RankClasses, "different sequence of events", "different sequences of events"))
	if doc.Error.Time.Max > 0 {
		fmt.Fprintf(w, "  times are off by at most %s, %s in the mean\n", words.Time(doc.Error.Time.Max), words.Nanoseconds(doc.Error.Time.Mean))
	}
	doc.printStatistics(w)
	if l := doc.Learned; l != nil {
		learnedGrid(l).Print(w, io.Width)
		heading := "Not learned; the file keeps it as it is"
		if doc.Statistics != nil {
			heading = lostHeading
		}
		unlearnedGrid(heading, doc.Unlearned).Print(w, io.Width)
		if doc.Unseen > 0 {
			fmt.Fprintf(w, "\nNot looked at for formulae: %s (leaves without an enter, or beyond what is kept of a location's call tree)\n", words.Plural(int(doc.Unseen), "event", "events"))
		}
	}
	byMemoryGrid(doc.ByMemory, "static", func(s formulae.NamedShare) float64 { return s.Static }).Print(w, io.Width)
	byMemoryGrid(doc.ByMemory, "dynamic", func(s formulae.NamedShare) float64 { return s.Dynamic }).Print(w, io.Width)
	report.PrintFindings(w, io.Width, "Findings", doc.Findings)
}

// lost says why a file in stat mode is not the trace: what was not learned, what was left out.
func (doc *compressDocument) lost() (reasons []string) {
	for _, a := range formulae.Approximations(doc.Unlearned) {
		reasons = append(reasons, "--strict: formulae do not describe all "+a)
	}
	if s := doc.Statistics; s.DroppedEvents+s.DroppedAttributes > 0 {
		reasons = append(reasons, fmt.Sprintf("--strict: not kept: %s, %s",
			words.Plural(int(s.DroppedEvents), "event", "events"), words.Plural(int(s.DroppedAttributes), "attribute", "attributes")))
	}
	return reasons
}

// printStatistics says what stat mode kept of durations and fields, and what it lost.
func (doc *compressDocument) printStatistics(w stdio.Writer) {
	s := doc.Statistics
	if s == nil {
		return
	}
	d := s.Durations
	fmt.Fprintf(w, "  %s of waiting for partners left out, to be made again\n", words.Time(s.WaitedNs))
	if s.Guessed > 0 {
		fmt.Fprintf(w, "  %s whose partners or tags were not learned: they will be guessed\n", words.Plural(int(s.Guessed), "message", "messages"))
	}
	if d.Kept == formulae.Laws.String() {
		fmt.Fprintf(w, "  durations: fitted laws for %s of the calls and %s of the time, quantiles of samples for %s and %s, means for the rest\n",
			words.Share(d.Fitted.Calls), words.Share(d.Fitted.Time), words.Share(d.Sampled.Calls), words.Share(d.Sampled.Time))
	}
	if f := s.Fields; f.Constructs > 0 {
		fmt.Fprintf(w, "  %s of arguments and attributes, %s learned\n", words.Plural(int(f.Constructs), "sequence", "sequences"), words.Share(f.Static))
	}
	if s.Disordered > 0 {
		fmt.Fprintf(w, "  %s whose order was not learned: it will be made up\n", words.Plural(int(s.Disordered), "event", "events"))
	}
	if s.DroppedEvents+s.DroppedAttributes > 0 {
		fmt.Fprintf(w, "  not kept: %s, %s\n", words.Plural(int(s.DroppedEvents), "event", "events"), words.Plural(int(s.DroppedAttributes), "attribute", "attributes"))
	}
}

func learnedGrid(l *formulae.Learned) *text.Grid {
	g := &text.Grid{Heading: "Learned: static is the share of constructs, dynamic weighs them by how often they took place",
		Titles: []string{"<sequences", "constructs", "static", "dynamic", "identity", "general", "iteration", "cycle", "not learned"}}
	for _, s := range withPaper(l) {
		if s.Constructs == 0 {
			continue
		}
		k := s.ByKind
		g.Add(s.Name, words.Count(s.Constructs), words.Share(s.Static), words.Share(s.Dynamic), words.Count(k.Identity),
			words.Count(k.General), words.Count(k.Iteration), words.Count(k.Cycle), words.Count(k.Failed))
	}
	return g
}

// withPaper returns the shares of all categories, after the paper's six these together.
func withPaper(l *formulae.Learned) []formulae.NamedShare {
	const papers = 6 // categories, the first ones
	return slices.Insert(l.All(), papers, formulae.NamedShare{Name: "all these", Share: &l.Paper})
}

// lostHeading is said of what a file of formulae alone does not hold.
const lostHeading = "Not learned: what is rebuilt there is not what was recorded"

// unlearnedGrid lists what was not learned.
func unlearnedGrid(heading string, list []formulae.Unlearned) *text.Grid {
	g := &text.Grid{Heading: heading,
		Titles: []string{"<sequences", "<call path", "locations", "values", "learned before", "of messages", "of bytes"}}
	for _, u := range list {
		g.Add(u.Category, atSite(cmp.Or(strings.Join(u.CallPath, "/"), "(location)"), u.Site), words.Count(len(u.Locations)), words.Count(u.Values),
			words.Share(float64(u.Described)/float64(max(u.Values, 1))), words.Share(u.Messages), words.Share(u.Bytes))
	}
	return g
}

// byMemoryGrid has a row for each category and a column for each memory allowed.
func byMemoryGrid(rows []formulae.MemoryRow, what string, share func(formulae.NamedShare) float64) *text.Grid {
	g := &text.Grid{Heading: "Learned share (" + what + ") against the memory allowed, in terms", Titles: []string{"<sequences"}}
	lines := map[string][]string{}
	var names []string
	for i := range rows {
		g.Titles = append(g.Titles, strconv.Itoa(rows[i].Terms))
		for _, s := range withPaper(&rows[i].Learned) {
			if s.Constructs == 0 {
				continue
			}
			if lines[s.Name] == nil {
				names = append(names, s.Name)
				lines[s.Name] = []string{s.Name}
			}
			lines[s.Name] = append(lines[s.Name], words.Share(share(s)))
		}
	}
	for _, name := range names {
		g.Add(lines[name]...)
	}
	return g
}
