package main

import (
	"context"
	"fmt"
	stdio "io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
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
	cli.ReadFlags
	formFlags
	cli.FileFlags
	cli.ShardFlag
	mode      string
	timeError string
	durations string
	byMemory  bool

	options tkf.Options
	shards  *shards.Set // what was compressed before; nil: nothing
}

// formFlags say what formulae may be.
type formFlags struct {
	set   *pflag.FlagSet
	kinds string

	form sequence.Form
}

// Add adds the flags.
func (f *formFlags) Add(set *pflag.FlagSet) {
	f.set = set
	flags.Var(set, &f.form.Terms, flags.Int(1, sequence.MostTerms), "terms", strconv.Itoa(sequence.DefaultTerms), "most `terms` of a "+
		"formula")
	flags.Var(set, &f.kinds, flags.Choice("all", "paper"), "formulae", "all", "`kinds` of formulae: all, or paper for the four kinds of "+
		"the AIMS paper")
}

// given reports whether the form is on the command line.
func (f *formFlags) given() bool { return f.set.Changed("terms") || f.set.Changed("formulae") }

// Validate settles the form.
func (f *formFlags) Validate() error {
	f.form.Paper = f.kinds == "paper"
	return nil
}

func newCompress(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
	}, &compressOptions{}, runCompress)
}

func (o *compressOptions) Add(set *pflag.FlagSet) {
	o.ReadFlags.Add(set)
	o.AddFile(set, "`file` to write", "tkf")
	flags.Var(set, &o.mode, flags.Choice("lossless", "stat"), "mode", "lossless", "lossless keeps every event; stat keeps formulae "+
		"of bounded size")
	flags.Var(set, &o.timeError, flags.Text(), "time-error", "0", "largest `error` of times in lossless mode, such as 1us or 1%")
	o.formFlags.Add(set)
	flags.Var(set, &o.durations, flags.Choice("mean", "law"), "durations", "law", "durations in stat mode: law (a distribution) "+
		"where most time is spent, or mean")
	set.Uint64Var(&o.options.Seed, "seed", 1, cli.SeedUsage)
	set.BoolVar(&o.byMemory, "by-memory", false, "also print the learned share over the number of terms")
	o.AddShard(set, "compress")
}

func (o *compressOptions) Validate() error {
	if err := o.validateOutput(); err != nil {
		return err
	}
	return o.validateForm()
}

func (o *compressOptions) validateOutput() error {
	if o.Output == "" {
		return cli.Usagef("compress: name the file with -o FILE.tkf")
	}
	return o.FileFlags.Validate()
}

// validateForm checks what says how the trace is read and what is kept of it.
func (o *compressOptions) validateForm() (err error) {
	if err := cli.Validate(&o.ReadFlags, &o.formFlags); err != nil {
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
		return cli.Usagef("%w", err)
	}
	if o.mode == "stat" && o.timeError != "0" {
		return cli.Usagef("--time-error is for lossless mode; stat mode does not keep single times")
	}
	o.options.Form, o.options.Jobs, o.options.Learn = o.form, o.Jobs, true
	return nil
}

func runCompress(ctx context.Context, io *cli.Streams, opts *compressOptions) error {
	src, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	doc, findings := &outcome.Compress{Rebuilt: document.RebuiltOf(src.Info())}, []trace.Finding(nil)
	err = opts.Write(ctx, func(w stdio.Writer) (err error) {
		doc.Report, err = cli.Watch(io, opts.Quiet, "compressing", func(p *engine.Progress) (report *tkf.Report, err error) {
			if opts.shards != nil {
				parts, err := shards.Read(ctx, opts.shards, src, src.Store, opts.Jobs, func() *tkf.Parts { return new(tkf.Parts) })
				if err == nil {
					report, findings, err = parts.Write(src, w)
				}
				return report, err
			}
			opts.options.Progress, opts.options.Store = p, src.Store
			report, err = tkf.Compress(ctx, src, w, opts.options)
			findings = src.Findings()
			return report, err
		})
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
	return opts.Finish(io, doc, func() { show.Compress(io.Sections(0), doc, opts.Output) }, doc.Findings, func() ([]string, error) {
		if !opts.Strict || doc.Statistics == nil {
			return nil, nil
		}
		return lostOf(doc), nil
	})
}

func learnedByMemory(ctx context.Context, io *cli.Streams, opts *compressOptions, src trace.Source) ([]formulae.MemoryRow, error) {
	return cli.Watch(io, opts.Quiet, "learning", func(p *engine.Progress) ([]formulae.MemoryRow, error) {
		return formulae.LearnedByMemory(ctx, src, formulae.MemoryTerms(), opts.options.Form.Paper,
			engine.Options{Jobs: opts.Jobs, Progress: p})
	})
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
