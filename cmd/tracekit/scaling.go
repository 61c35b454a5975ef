package main

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/scaling"
)

type scalingOptions struct {
	mergeFlags
	gateFlags
	runs   []string
	mode   string
	at     int
	outDir string
	force  bool
	top    int
}

func newScaling(io *streams, run func(context.Context, *streams, *scalingOptions) error) *cobra.Command {
	opts := &scalingOptions{}
	cmd := &cobra.Command{
		Use:   "scaling RUN...",
		Short: "Show how a program scales, from runs of several sizes",
		Long: `Scaling compares the efficiencies of several runs of one program, like BSC's modelfactors. It
adds the scalability of the computation and, with hardware counters, its factors: instructions,
instructions per cycle, frequency.

For each call path it finds how the time of a process grows with the number p of processes: a
constant and terms p^(i/j) log2(p)^k, chosen by cross-validation over sizes. Places with the most
time at --at processes come first. Ranges cover 95 of 100 measurements if the form of the model is
right.

Runs of one size are repetitions, and their mean counts. Two sizes give the table, three give
models, five or more give trustworthy models.`,
		Example: `  tracekit scaling run-1.otf2 run-2.otf2 run-4.otf2 run-8.otf2 run-16.otf2
  tracekit scaling --at 1024 -o scaling/ run-*.prv.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.runs, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	cli.Var(set, &opts.mode, cli.Choice("auto", "strong", "weak"), "scaling", "auto", "kind of `scaling`: strong (same problem), "+
		"weak (same work per rank), or auto")
	cli.Var(set, &opts.at, cli.Int(0, mostProcesses), "at", "0", "predict for this number of `processes` (default: twice the "+
		"largest run)")
	cli.VarP(set, &opts.outDir, cli.Directory(), "output", "o", "", "also write JSON document and plots into this `directory`")
	set.BoolVar(&opts.force, "force", false, forceUsage)
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", topUsage)
	return cmd
}

// mostProcesses bounds what a model is asked for.
const mostProcesses = 1 << 30

func (o *scalingOptions) validate() error {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	switch {
	case o.outDir != "":
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

func runScaling(ctx context.Context, io *streams, opts *scalingOptions) error {
	doc := &outcome.Scaling{Findings: []outcome.RunFinding{}}
	var analyses []*analysis.Result
	var findings []document.Finding
	for _, path := range opts.runs {
		a, err := analyzeRun(ctx, io, &opts.mergeFlags, path)
		if err != nil {
			return err
		}
		analyses = append(analyses, a)
		for _, f := range a.Findings {
			doc.Findings = append(doc.Findings, outcome.RunFinding{Path: path, Finding: f})
		}
		findings = append(findings, a.Findings...)
	}
	var err error
	if doc.Scaling, err = scaling.New(ctx, analyses, scaling.Options{Mode: scaling.Mode(opts.mode), At: opts.at,
		Jobs: opts.jobs}); err != nil {
		return err
	}
	if opts.outDir != "" {
		if err := writeScaling(ctx, opts, doc); err != nil {
			return err
		}
	}
	return opts.finish(io, doc, func() { show.Scaling(io.sections(opts.top), doc) }, findings, opts.gate(doc))
}

// analyzeRun analyses one of several traces, whose tables are given back.
func analyzeRun(ctx context.Context, io *streams, flags *mergeFlags, path string) (*analysis.Result, error) {
	t, err := flags.open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	a, err := flags.analyze(ctx, io, t, analysis.Options{Top: 1})
	if err = errors.Join(err, t.Source.Close()); err != nil {
		return nil, err
	}
	*a = analysis.Result{Analysis: a.Analysis} // the tables lie in the store
	a.CriticalPath = nil
	return a, nil
}

// writeScaling writes the document and its pictures.
func writeScaling(ctx context.Context, opts *scalingOptions, doc *outcome.Scaling) error {
	out := newReportDir(opts.outDir)
	out.json("scaling.json", doc)
	return out.close(ctx, opts.jobs, figure.Scaling(doc, out.figure))
}
