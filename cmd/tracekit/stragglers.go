package main

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/plots"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/stragglers"
	"tracekit/stats/whatif"
)

type stragglersOptions struct {
	mergeFlags
	gateFlags
	paths  []string
	output string
	force  bool
	top    int

	format plots.Format
}

func newStragglers(io *streams, run func(context.Context, *streams, *stragglersOptions) error) *cobra.Command {
	opts := &stragglersOptions{}
	cmd := &cobra.Command{
		Use:   "stragglers TRACE...",
		Short: "Show what slow workers cost, and since when they are slow",
		Long: `Stragglers replays a run as recorded, and with equal durations on all workers. The slowdown is the
first run time divided by the second. It names the slowest workers and what replacing them would
gain.

On a trace of a training job, it replays each step. Such a trace has operations with the columns
step, dp_rank and stage, and names such as forward-compute. It shows the slowdown by worker,
data-parallel rank, stage, type of operation and step. It shows pipeline bubbles, and whether a
worker is always slow, slow since a step, or slow at random. -o draws workers as a heat map.

On other traces, ranks are equal if each place takes the mean over ranks, visit by visit.`,
		Example: `  tracekit stragglers job
  tracekit stragglers job -o workers.svg
  tracekit stragglers --json --fail-if 'training.slowdown>1.1' job
  tracekit stragglers traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	cli.VarP(set, &opts.output, cli.File("png", "svg"), "output", "o", "", "also draw the slowdown by worker into this `file`, .png or "+
		".svg")
	set.BoolVar(&opts.force, "force", false, "overwrite the file if it exists")
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", "`rows` of each table")
	return cmd
}

func (o *stragglersOptions) validate() (err error) {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	if o.format, err = plots.FormatOf(o.output); err != nil {
		return usageError{err}
	}
	return checkFile(o.output, o.force)
}

func runStragglers(ctx context.Context, io *streams, opts *stragglersOptions) error {
	in, err := opts.readFlags.open(ctx, opts.paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	doc := &outcome.Stragglers{Schema: outcome.StragglersSchema}
	if stragglers.Is(in.Defs()) {
		doc.Training, err = stragglers.Find(ctx, in, opts.jobs)
		doc.Trace, doc.Findings = newInfoDocument(in).Trace, analysis.FindingRows(in.Findings())
	} else {
		err = opts.program(ctx, io, in, doc)
	}
	if err != nil {
		return err
	}
	if opts.output != "" {
		if err := opts.draw(ctx, doc); err != nil {
			return err
		}
	}
	return opts.finish(io, doc, func() {
		s := io.sections(opts.top)
		s.Analysis = &document.Analysis{Trace: doc.Trace}
		show.Stragglers(s, doc)
	}, doc.Findings, opts.gate(doc))
}

// program compares the ranks of any program.
func (o *stragglersOptions) program(ctx context.Context, io *streams, in *input, doc *outcome.Stragglers) error {
	t, err := o.reconcile(ctx, io, in)
	if err != nil {
		return err
	}
	a, err := o.analyze(ctx, io, t, analysis.Options{Top: 1})
	if err != nil {
		return err
	}
	m, err := whatif.New(ctx, t, a, o.jobs)
	if err != nil {
		return err
	}
	if m, _, _, err = settle(ctx, m); err != nil {
		return err
	}
	doc.Trace, doc.Findings = a.Trace, a.Findings
	doc.Program, err = m.Equal(ctx, a, whatif.SlowestShare)
	return err
}

// draw writes the heat map of the workers.
func (o *stragglersOptions) draw(ctx context.Context, doc *outcome.Stragglers) error {
	if doc.Training == nil {
		return errors.New("stragglers: only the workers of a training job are drawn, and this trace is none of such a job")
	}
	f, err := figure.Stragglers(doc.Training)
	if err != nil {
		return err
	}
	doc.Out = o.output
	return writeFigure(ctx, o.output, o.force, o.format, f)
}
