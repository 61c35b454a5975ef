package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/readers"
	"tracekit/reconstruct"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// callTreeSchema names the JSON document of formulae.
const callTreeSchema = "tracekit.calltree/1"

type formulaeOptions struct {
	cli.ReadFlags
	formFlags
	top      int
	ranks    []uint32
	each     bool
	pictures cli.DirFlags
}

func newFormulae(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "formulae FILE.tkf",
		Short: "Print the call tree with its formulae",
		Long: `Formulae prints the content of a .tkf of the stat mode. For each construct it shows the formulae
of receivers, senders, tags, sizes, branches and iterations. The call tree has visits and total
durations. For any other trace it learns the formulae first. Without --ranks the text shows only
the tree of the first rank.

    IDENTITY   a^n                     a, n times
    GENERAL    a^r b^s c               runs
    ITERATION  (a, a+i, …, a+ki)^n     a progression, n times
    CYCLE      p (a^r b^s)^n a^r       a prologue, runs repeated n times,
                                       and an unfinished repetition

Partners are ranks, or relative to the own rank (self+1). L1 and L2 are loops of the call path.
After "where" they are loops within loops of a sequence.

With --each it compares traces. It says how large formulae are, and how much smaller than the trace.
It also says how far off rebuilt times are, and how long compressing takes. With -o it draws these.`,
		Example: `  tracekit formulae run.tkf
  tracekit formulae --ranks 3 --top 50 run.tkf
  tracekit formulae --formulae paper traces.otf2
  tracekit formulae --each run-4.otf2 run-8.otf2 run-16.otf2 -o pictures`,
		Args: cobra.MinimumNArgs(1),
	}, &formulaeOptions{}, runFormulae)
}

func (o *formulaeOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.ReadFlags, &o.formFlags)
	flags.Var(set, &o.ranks, flags.Ranks(), "ranks", "", cli.RanksUsage)
	flags.Top(set, &o.top, "40")
	set.BoolVar(&o.each, "each", false, "each TRACE is a run of its own: compare their sizes, errors and times to compress")
	o.pictures.AddDir(set, "with --each: also write pictures into this `directory`")
}

func (o *formulaeOptions) Validate() error {
	if o.pictures.Dir != "" && !o.each {
		return cli.Usagef("formulae: -o goes with --each")
	}
	if o.each && len(o.ranks) > 0 {
		return cli.Usagef("formulae: --ranks does not go with --each")
	}
	return cli.Validate(&o.ReadFlags, &o.formFlags, &o.pictures)
}

func runFormulae(ctx context.Context, io *cli.Streams, opts *formulaeOptions) error {
	if opts.each {
		return opts.compareRuns(ctx, io)
	}
	in, err := opts.Open(ctx)
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
	doc := &outcome.CallTrees{Schema: callTreeSchema, Path: about.Path, Format: about.Format, Creator: about.Creator,
		Terms: form.Memory(), Paper: form.Paper, Learned: formulae.LearnedOf(locations), Unlearned: formulae.UnlearnedOf(defs, locations),
		Trees: formulae.Annotate(defs, locations), Findings: analysis.FindingRows(in.Findings()), Lost: rebuilt}
	if !rebuilt {
		doc.Rebuilt = document.RebuiltOf(about)
	}
	others := 0
	if len(opts.ranks) > 0 || !opts.JSON {
		if others, err = choose(doc, defs, opts.ranks); err != nil {
			return err
		}
	}
	return opts.Finish(io, doc, func() {
		out := io.Sections(opts.top)
		out.Writer = readers.WrittenBy(doc.Format, doc.Creator)
		show.CallTrees(out, doc, defs, others)
	}, doc.Findings)
}

// learned returns the formulae of a file that holds some, and learns those of other traces.
func (o *formulaeOptions) learned(ctx context.Context, io *cli.Streams, in *cli.Input) ([]formulae.Location, sequence.Form, error) {
	if s, ok := in.Source.(*reconstruct.Source); ok {
		if o.given() {
			return nil, sequence.Form{}, cli.Usagef("%s has formulae already; --terms and --formulae are for other "+
				"traces", o.Paths[0])
		}
		if !s.Model().Exact() {
			return s.Model().Locations, s.Model().Form, nil
		}
		o.form = s.Model().Form // of the events that the file keeps
	}
	p, err := cli.Watch(io, o.Quiet, "learning", func(p *engine.Progress) (*formulae.Program, error) {
		return formulae.Learn(ctx, in, formulae.Options{Form: o.form, Jobs: o.Jobs, Progress: p, Store: in.Store})
	})
	if err != nil {
		return nil, o.form, err
	}
	return p.Locations, o.form, nil
}

// choose keeps the trees of the ranks, or of the first location, and returns how many others
// there are.
func choose(doc *outcome.CallTrees, defs *trace.Defs, ranks []uint32) (others int, err error) {
	wanted := []uint32{0}
	if len(ranks) > 0 {
		world := defs.World()
		wanted = wanted[:0]
		for _, r := range ranks {
			if int(r) >= len(world) {
				return 0, cli.Usagef("--ranks: %w", trace.NoRank(int(r), len(world)))
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
