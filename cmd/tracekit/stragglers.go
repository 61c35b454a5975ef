package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/stragglers"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

type stragglersOptions struct {
	cli.MergeFlags
	cli.GateFlags
	cli.FileFlags
	top int
}

func newStragglers(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
	}, &stragglersOptions{}, runStragglers)
}

func (o *stragglersOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.GateFlags)
	o.AddFile(set, "also draw the slowdown by worker into this `file`, .png or .svg", "png", "svg")
	flags.Top(set, &o.top, "10")
}

func (o *stragglersOptions) Validate() error { return cli.Validate(&o.MergeFlags, &o.FileFlags) }

func runStragglers(ctx context.Context, io *cli.Streams, opts *stragglersOptions) error {
	in, err := opts.ReadFlags.Open(ctx, opts.Paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	doc := &outcome.Stragglers{Schema: outcome.StragglersSchema}
	switch {
	case in.Defs().IsTraining(), stragglers.Profiled(in.Defs()):
		err = opts.job(ctx, io, in, doc)
	default:
		err = opts.program(ctx, io, in, doc)
	}
	if err != nil {
		return err
	}
	if opts.Output != "" {
		if err := opts.picture(ctx, doc); err != nil {
			return err
		}
	}
	return opts.Finish(io, doc, func() {
		s := io.Sections(opts.top)
		s.Analysis = &document.Analysis{Trace: doc.Trace}
		show.Stragglers(s, doc)
	}, doc.Findings, opts.Gate(doc))
}

// job finds the training job in a table or in what a profiler has recorded, or else compares the ranks of any program. The trace is only
// reconciled where clocks contradict each other.
func (o *stragglersOptions) job(ctx context.Context, io *cli.Streams, in *cli.Input, doc *outcome.Stragglers) error {
	var missing *stragglers.MissingError
	if o.Clock == "auto" && o.MinLatency == 0 && o.Align != "collectives" {
		found, agree, err := stragglers.FindRecorded(ctx, in, o.Jobs)
		if err == nil && agree {
			doc.Training, doc.Trace, doc.Findings = found, outcome.NewInfo(in).Trace, analysis.FindingRows(in.Findings())
			return nil
		}
		if err != nil && (in.Defs().IsTraining() || !errors.As(err, &missing)) {
			return err
		}
	}
	t, err := o.Reconcile(ctx, io, in)
	if err != nil {
		return err
	}
	doc.Training, _, err = stragglers.FindIn(ctx, t, o.Jobs)
	if errors.As(err, &missing) {
		doc.Missing = missing.Record
		return o.ranks(ctx, io, t, doc)
	}
	doc.Trace, doc.Findings = outcome.NewInfo(in).Trace, analysis.FindingRows(cli.FindingsOf(t))
	return err
}

// program compares the ranks of any program.
func (o *stragglersOptions) program(ctx context.Context, io *cli.Streams, in *cli.Input, doc *outcome.Stragglers) error {
	t, err := o.Reconcile(ctx, io, in)
	if err != nil {
		return err
	}
	return o.ranks(ctx, io, t, doc)
}

// ranks compares the ranks of a reconciled trace.
func (o *stragglersOptions) ranks(ctx context.Context, io *cli.Streams, t *trace.Trace, doc *outcome.Stragglers) error {
	a, err := o.Analyze(ctx, io, t, analysis.Options{Top: 1})
	if err != nil {
		return err
	}
	m, err := whatif.New(ctx, t, a, o.Jobs)
	if err != nil {
		return err
	}
	if m, _, _, err = settle(ctx, m); err != nil {
		return err
	}
	doc.Trace, doc.Findings = a.Trace, a.Findings
	doc.Program, err = m.Equal(ctx, a, stragglers.SlowestShare)
	return err
}

// picture writes the heat map of the workers.
func (o *stragglersOptions) picture(ctx context.Context, doc *outcome.Stragglers) error {
	if doc.Training == nil {
		return errors.New("stragglers: only the workers of a training job are drawn, and this trace is none of such a job")
	}
	f, err := figure.Stragglers(doc.Training)
	if err != nil {
		return err
	}
	doc.Out = o.Output
	return o.Draw(ctx, f)
}
