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
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/scaling"
	"tracekit/stats/scope"
	"tracekit/trace"
)

type scalingOptions struct {
	cli.MergeFlags
	cli.GateFlags
	cli.DirFlags
	cli.ModelFlags
	mode     string
	at       int
	top      int
	overhead bool
	profile  string
}

func newScaling(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "scaling RUN...",
		Short: "Show how a program scales, from runs of several sizes",
		Long: `Scaling compares the efficiencies of several runs of one program, like BSC's modelfactors. It
adds the scalability of the computation and, with hardware counters, its factors: instructions,
instructions per cycle, frequency.

For each call path it finds how the time of a process grows with the number p of processes: a
constant and terms p^(i/j) log2(p)^k, chosen by cross-validation over sizes. Places with the most
time at --at processes come first. Ranges cover 95 of 100 measurements if the form of the model is
right.

With --overhead it also shows what MPI calls need and what they take beyond that, by source line
and size. It says whether senders or receivers are late.

Runs of one size are repetitions, and their mean counts. Two sizes give the table, three give
models, five or more give trustworthy models.`,
		Example: `  tracekit scaling run-1.otf2 run-2.otf2 run-4.otf2 run-8.otf2 run-16.otf2
  tracekit scaling --at 1024 -o scaling/ run-*.prv.gz
  tracekit scaling --overhead --profile node.json run-*.otf2`,
		Args: cobra.MinimumNArgs(1),
	}, &scalingOptions{}, runScaling)
}

func (o *scalingOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.GateFlags, &o.ModelFlags)
	flags.Var(set, &o.mode, flags.Choice("auto", "strong", "weak"), "scaling", "auto", "kind of `scaling`: strong (same problem), "+
		"weak (same work per rank), or auto")
	flags.Var(set, &o.at, flags.Int(0, mostProcesses), "at", "0", "predict for this number of `processes` (default: twice the "+
		"largest run)")
	o.AddDir(set, "also write JSON document and plots into this `directory`")
	flags.Top(set, &o.top, "10")
	addOverheadFlag(set, &o.overhead, false)
	addProfileFlag(set, &o.profile)
}

// mostProcesses bounds what a model is asked for.
const mostProcesses = 1 << 30

func (o *scalingOptions) Validate() error {
	if !o.overhead && o.profile != "" {
		return cli.Usagef("--profile needs --overhead")
	}
	return cli.Validate(&o.MergeFlags, &o.DirFlags)
}

func runScaling(ctx context.Context, io *cli.Streams, opts *scalingOptions) error {
	doc := &outcome.Scaling{Findings: []outcome.RunFinding{}}
	var analyses []*analysis.Result
	var findings []document.Finding
	profile, err := cli.ReadProfile(opts.profile)
	if err != nil {
		return err
	}
	var wanted *overhead.Options
	if opts.overhead {
		wanted = &overhead.Options{Fit: opts.Brief(), Profile: profile}
	}
	samples := make(map[fit.Key]*fit.Sample)
	for _, path := range opts.Paths {
		a, err := analyzeRun(ctx, io, opts, path, wanted, samples)
		if err != nil {
			return err
		}
		analyses = append(analyses, a)
		for _, f := range a.Findings {
			doc.Findings = append(doc.Findings, outcome.RunFinding{Path: path, Finding: f})
		}
		findings = append(findings, a.Findings...)
	}
	if profile != nil {
		doc.Next = overhead.NextPoints(samples, profile)
	}
	if doc.Scaling, err = scaling.New(ctx, analyses, scaling.Options{Mode: scaling.Mode(opts.mode), At: opts.at,
		Jobs: opts.Jobs}); err != nil {
		return err
	}
	if err := opts.Fill(ctx, opts.Jobs, false, func(out *cli.ReportDir) error {
		out.JSON("scaling.json", doc)
		return figure.Scaling(doc, out.Figure)
	}); err != nil {
		return err
	}
	return opts.Finish(io, doc, func() { show.Scaling(io.Sections(opts.top), doc) }, findings, opts.Gate(doc))
}

// analyzeRun analyses one of several traces, whose tables are given back. With a profile it adds the durations of its calls to samples.
func analyzeRun(ctx context.Context, io *cli.Streams, opts *scalingOptions, path string, wanted *overhead.Options,
	samples map[fit.Key]*fit.Sample) (*analysis.Result, error) {
	t, err := opts.Open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	if wanted != nil {
		cli.WarnOfProfile(io, wanted.Profile, t.Source, opts.Quantile)
	}
	a, err := opts.Analyze(ctx, io, t, analysis.Options{Top: 1, Overhead: wanted})
	if err == nil && wanted != nil && wanted.Profile != nil {
		err = addSamples(ctx, t, opts.Jobs, samples)
	}
	if err = errors.Join(err, t.Source.Close()); err != nil {
		return nil, err
	}
	*a = analysis.Result{Analysis: a.Analysis} // the tables lie in the store
	a.CriticalPath = nil
	return a, nil
}

// addSamples adds the durations of a run's calls, wait states included.
func addSamples(ctx context.Context, t *trace.Trace, jobs int, samples map[fit.Key]*fit.Sample) error {
	m, err := overhead.Measure(ctx, t, scope.Selection{}, jobs, overhead.MeasureOptions{WithWaits: true})
	if err != nil {
		return err
	}
	for k, s := range m.Samples {
		if samples[k] == nil {
			samples[k] = s
			continue
		}
		samples[k].Combine(s)
	}
	return nil
}
