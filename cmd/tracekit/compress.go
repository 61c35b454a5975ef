package main

import (
	"context"
	"fmt"
	stdio "io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/formulae/tkf"
	"tracekit/report/show"
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

// formFlags say what formulae may be.
type formFlags struct {
	kinds string

	form sequence.Form
}

func (f *formFlags) add(set *pflag.FlagSet) {
	cli.Var(set, &f.form.Terms, cli.Int(1, sequence.MostTerms), "terms", strconv.Itoa(sequence.DefaultTerms), "most `terms` of a "+
		"formula")
	cli.Var(set, &f.kinds, cli.Choice("all", "paper"), "formulae", "all", "`kinds` of formulae: all, or paper for the four kinds of "+
		"the AIMS paper")
}

func (f *formFlags) validate() error {
	f.form.Paper = f.kinds == "paper"
	return nil
}

func newCompress(io *streams, run func(context.Context, *streams, *compressOptions) error) *cobra.Command {
	opts := &compressOptions{}
	cmd := &cobra.Command{
		Use:   "compress TRACE... -o FILE.tkf",
		Short: "Compress a trace to formulae (.tkf)",
		Long: `Compress writes a trace as formulae, and prints what was learned and how large the parts are.

The lossless mode (default) keeps all events: structure exactly, times exactly or within
--time-error. The stat mode keeps formulae of bounded size with means or laws of durations. Its
file does not grow with the run; the bound is printed. Waiting times are left out of durations:
they come back when events are rebuilt. Every command reads a .tkf like any trace. Where no
formula fits, the rebuilt trace is approximate, and --strict refuses it.

--shard compresses only a share of the locations; 'tracekit combine' joins the shards.`,
		Example: `  tracekit compress traces.otf2 -o run.tkf
  tracekit compress --time-error 1us traces.otf2 -o run.tkf
  tracekit compress --mode stat --terms 18 traces.otf2 -o run.tkf`,
		Args: cobra.MinimumNArgs(1),
		RunE: sharded(io, opts, &opts.shard, func(args []string) { opts.paths = args }, run),
	}
	set := cmd.Flags()
	opts.readFlags.add(set)
	cli.VarP(set, &opts.output, cli.File("tkf"), "output", "o", "", "`file` to write")
	set.BoolVar(&opts.force, "force", false, forceUsage)
	cli.Var(set, &opts.mode, cli.Choice("lossless", "stat"), "mode", "lossless", "lossless keeps every event; stat keeps formulae "+
		"of bounded size")
	cli.Var(set, &opts.timeError, cli.Text(), "time-error", "0", "largest `error` of times in lossless mode, such as 1us or 1%")
	opts.formFlags.add(set)
	cli.Var(set, &opts.durations, cli.Choice("mean", "law"), "durations", "mean", "durations in stat mode: mean, or law (a "+
		"distribution) where most time is spent")
	set.Uint64Var(&opts.options.Seed, "seed", 1, seedUsage)
	set.BoolVar(&opts.byMemory, "by-memory", false, "also print the learned share over the number of terms")
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
		return usagef("--time-error is for lossless mode; stat mode does not keep single times")
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
	doc, findings := &outcome.Compress{Rebuilt: document.RebuiltOf(src.Info())}, []trace.Finding(nil)
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
	return opts.finish(io, doc, func() { show.Compress(io.sections(0), doc, opts.output) }, doc.Findings, func() ([]string, error) {
		if !opts.strict || doc.Statistics == nil {
			return nil, nil
		}
		return lostOf(doc), nil
	})
}

func learnedByMemory(ctx context.Context, io *streams, opts *compressOptions, src trace.Source) ([]formulae.MemoryRow, error) {
	bar := startProgress(io, opts.quiet, "learning")
	defer bar.done()
	return formulae.LearnedByMemory(ctx, src, formulae.MemoryTerms(), opts.options.Form.Paper,
		engine.Options{Jobs: opts.jobs, Progress: &bar.Progress})
}

// lostOf says why a file in stat mode is not the trace: what was not learned, what was left out.
func lostOf(doc *outcome.Compress) (reasons []string) {
	for _, a := range formulae.Approximations(doc.Unlearned) {
		reasons = append(reasons, "--strict: formulae do not describe all "+a)
	}
	if s := doc.Statistics; s.DroppedEvents+s.DroppedAttributes > 0 {
		reasons = append(reasons, fmt.Sprintf("--strict: not kept: %s, %s",
			words.Plural(int(s.DroppedEvents), "event", "events"), words.Plural(int(s.DroppedAttributes), "attribute", "attributes")))
	}
	return reasons
}
