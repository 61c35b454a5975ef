package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/page"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/distributed"
	"tracekit/stats/fit"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// analyzeOptions are the dependencies and flags of analyze.
type analyzeOptions struct {
	mergeFlags
	selectFlags
	modelFlags
	gateFlags
	paths    []string
	overhead bool
	diagnose bool
	perLine  bool // count the calls of lines, for a page
	profile  string
	top      int
	sections []string // to print; none: the first screen
	full     bool     // print all sections
	startup  bool     // it counts as a part of the run
	outDir   string
	force    bool
	shard    shardFlag
	workers  *distributed.Workers // of the second pass; nil: this process

	beside func(*trace.Trace) profile.Beside // makes what else hears the events of the trace; nil: nothing
}

func newAnalyze(io *streams, run func(context.Context, *streams, *analyzeOptions) error) *cobra.Command {
	opts := &analyzeOptions{}
	cmd := &cobra.Command{
		Use:   "analyze TRACE...",
		Short: "Show where the time goes, what wastes it, and why",
		Long: `Analyze prints one screen: is the trace sound, how efficient is the run, and where does the time
go? It lists what to fix, and how much time that would save. --section and --full print details:
wait states and their causes, the critical path, source lines, overhead, profiles, messages,
devices, files. --json and -o contain everything.

The screen leaves startup (MPI_Init, the first work of devices) out of efficiencies and causes.
--with-startup includes it.

The necessary time of calls is learned from the trace itself. With --profile it comes from
'tracekit fit', which learned it from a benchmark on the same machine.

Several paths are the files of one trace, if the recorder writes one file for each rank.`,
		Example: `  tracekit analyze traces.otf2
  tracekit analyze --section waits,path traces.otf2
  tracekit analyze --from 10% --to 90% --ranks 0-63 traces.otf2
  tracekit analyze --json --fail-if 'efficiency.parallel_efficiency<0.8' traces.otf2
  tracekit analyze -o report/ traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: sharded(io, opts, &opts.shard, func(args []string) { opts.paths = args }, run),
	}
	opts.addFlags(cmd.Flags())
	opts.shard.add(cmd.Flags(), "decode")
	return cmd
}

func (o *analyzeOptions) addFlags(set *pflag.FlagSet) {
	o.mergeFlags.add(set)
	o.selectFlags.add(set)
	o.modelFlags.add(set)
	o.gateFlags.add(set)
	addAnalysisFlags(set, o)
	cli.Var(set, &o.sections, cli.List(cli.Choice(append(report.SectionNames(), "all")...)), "section", "", "print these `sections` "+
		"instead of the first screen: "+
		strings.Join(report.SectionNames(), ", ")+" or all")
	set.BoolVar(&o.full, "full", false, "print all sections")
	set.BoolVar(&o.startup, "with-startup", false, "include startup (MPI_Init, devices) on the first screen")
	cli.Var(set, &o.top, cli.Int(1, math.MaxInt), "top", "10", topUsage)
	cli.VarP(set, &o.outDir, cli.Directory(), "output", "o", "", "also write report, JSON document, plots and tables into this "+
		"`directory`")
	set.BoolVar(&o.force, "force", false, forceUsage)
}

// addAnalysisFlags adds what an analysis is told by every command that makes one.
func addAnalysisFlags(set *pflag.FlagSet, o *analyzeOptions) {
	addPartFlags(set, &o.overhead, &o.diagnose)
	cli.Var(set, &o.profile, cli.File("json"), "profile", "", "`file` with the necessary time of calls, from 'tracekit fit' "+
		"(default: learned from the trace)")
}

// addPartFlags adds what can be left out of an analysis.
func addPartFlags(set *pflag.FlagSet, overhead, diagnosis *bool) {
	set.BoolVar(overhead, "overhead", true, "find the overhead of MPI calls; --overhead=false skips it and saves time")
	set.BoolVar(diagnosis, "diagnosis", true, "find causes and what fixing each would save; --diagnosis=false skips it and saves time")
}

// validate checks every flag before any file is opened.
func (o *analyzeOptions) validate() error {
	if err := validate(&o.mergeFlags, &o.selectFlags); err != nil {
		return err
	}
	if !o.overhead && o.profile != "" {
		return usagef("--profile needs the overhead, which --overhead=false skips")
	}
	if o.outDir != "" {
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

func runAnalyze(ctx context.Context, io *streams, opts *analyzeOptions) error {
	var drawing *page.Drawing
	if opts.outDir != "" {
		opts.beside = drawBeside(&drawing, page.DefaultSize)
	}
	t, a, err := opts.analyze(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if opts.outDir != "" {
		if err := writeReport(ctx, io, opts, t, a, drawing); err != nil {
			return err
		}
	}
	return opts.finish(io, a, func() { printAnalysis(io, opts, a) }, a.Findings, opts.gate(a))
}

// analyze opens the trace and analyses it as the flags say. The caller closes its source.
func (o *analyzeOptions) analyze(ctx context.Context, io *streams) (t *trace.Trace, a *analysis.Result, err error) {
	profile, err := readProfile(o.profile)
	if err != nil {
		return nil, nil, err
	}
	if t, err = o.open(ctx, io, o.paths...); err != nil {
		return nil, nil, err
	}
	if err = o.choose(ctx, t, o.jobs); err == nil {
		warnOfProfile(io, profile, t.Source, o.quantile)
		a, err = analyzeTrace(ctx, io, o, t, profile)
	}
	if err != nil {
		t.Source.Close()
		return t, a, err
	}
	if o.shards != nil {
		damage := damageSince(t, t.Source.Findings())
		if o.workers != nil && len(damage) == 0 {
			damage = damageSince(t, o.workers.Findings())
		}
		a.Findings = append(analysis.FindingRows(damage), a.Findings...)
	}
	return t, a, nil
}

func analyzeTrace(ctx context.Context, io *streams, opts *analyzeOptions, t *trace.Trace, profile *fit.Profile) (*analysis.Result, error) {
	bar := startProgress(io, opts.quiet, "analyzing")
	defer bar.done()
	o := analysis.Options{Jobs: opts.jobs, Ranks: opts.ranks, From: opts.from, To: opts.to,
		Top: opts.top, Progress: &bar.Progress, Overhead: opts.overheadOptions(profile)}
	if opts.workers != nil {
		o.Workers = opts.workers
	}
	if opts.beside != nil {
		o.Beside = append(o.Beside, opts.beside(t))
	}
	return stats.Analyze(ctx, t, o, opts.diagnose)
}

// overview returns the first screen of an analysis.
func (o *analyzeOptions) overview(r *report.Sections) *report.Overview {
	first := &report.Overview{Sections: r, WithStartup: o.startup}
	if len(o.paths) == 1 {
		first.Path = o.paths[0]
	}
	return first
}

func printAnalysis(io *streams, opts *analyzeOptions, a *analysis.Result) {
	r := &report.Sections{W: io.Out, Width: io.Width, Top: opts.top, Analysis: &a.Analysis,
		Writer: writtenBy(a.Trace.Format, a.Trace.Creator)}
	switch {
	case opts.full || slices.Contains(opts.sections, "all"):
		r.Print()
	case len(opts.sections) > 0:
		r.Print(opts.sections...)
	default:
		o := opts.overview(r)
		o.Terminal, o.Colors = io.Terminal, io.Colors
		o.Print()
	}
	if opts.outDir != "" {
		fmt.Fprintln(io.Out)
		text.Line(io.Out, "Report, plots and tables: %s", opts.outDir)
	}
}
