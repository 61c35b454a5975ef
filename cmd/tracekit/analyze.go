package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/page"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/distributed"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// analyzeOptions are the dependencies and flags of analyze.
type analyzeOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.ModelFlags
	cli.GateFlags
	cli.DirFlags
	cli.ShardFlag
	overhead bool
	diagnose bool
	perLine  bool // count the calls of lines, for a page
	profile  string
	top      int
	sections []string             // to print; none: the first screen
	full     bool                 // print all sections
	startup  bool                 // it counts as a part of the run
	topology string               // file, grid or name
	placed   []string             // metrics to draw on it; none: all
	workers  *distributed.Workers // of the second pass; nil: this process

	beside func(*trace.Trace) profile.Observer // makes what else hears the events of the trace; nil: nothing
}

func newAnalyze(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
	}, &analyzeOptions{}, runAnalyze)
}

func (o *analyzeOptions) Add(set *pflag.FlagSet) {
	o.addAnalysis(set)
	o.AddShard(set, "decode")
}

// addAnalysis adds the flags of an analysis of a whole trace.
func (o *analyzeOptions) addAnalysis(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags, &o.ModelFlags, &o.GateFlags)
	addAnalysisFlags(set, o)
	flags.Var(set, &o.sections, flags.List(flags.Choice(append(report.SectionNames(), "all")...)), "section", "", "print these `sections` "+
		"instead of the first screen: "+
		strings.Join(report.SectionNames(), ", ")+" or all")
	set.BoolVar(&o.full, "full", false, "print all sections")
	set.BoolVar(&o.startup, "with-startup", false, "include startup (MPI_Init, devices) on the first screen")
	flags.Top(set, &o.top, "10")
	o.AddDir(set, "also write report, JSON document, plots and tables into this `directory`")
	set.StringVar(&o.topology, "topology", "", topologyUsage)
	flags.Var(set, &o.placed, flags.List(flags.Choice(analysis.RankMetrics()...)), "topology-metric", "",
		"`metrics` to draw on the topology (with -o): "+
			strings.Join(analysis.RankMetrics(), ", ")+" (default: all)")
}

// addAnalysisFlags adds what an analysis is told by every command that makes one.
func addAnalysisFlags(set *pflag.FlagSet, o *analyzeOptions) {
	addPartFlags(set, &o.overhead, &o.diagnose)
	addProfileFlag(set, &o.profile)
}

func addProfileFlag(set *pflag.FlagSet, profile *string) {
	flags.Var(set, profile, flags.File("json"), "profile", "", "`file` with the necessary time of calls, from 'tracekit fit' "+
		"(default: learned from the trace)")
}

// addPartFlags adds what can be left out of an analysis.
func addPartFlags(set *pflag.FlagSet, overhead, diagnosis *bool) {
	addOverheadFlag(set, overhead, true)
	set.BoolVar(diagnosis, "diagnosis", true, "find causes and what fixing each would save; --diagnosis=false skips it and saves time")
}

func addOverheadFlag(set *pflag.FlagSet, overhead *bool, wanted bool) {
	set.BoolVar(overhead, "overhead", wanted, "find the overhead of MPI calls, which takes time; --overhead=false skips it")
}

// Validate checks every flag before any file is opened.
func (o *analyzeOptions) Validate() error {
	if err := cli.Validate(&o.MergeFlags, &o.SelectFlags); err != nil {
		return err
	}
	if !o.overhead && o.profile != "" {
		return cli.Usagef("--profile needs the overhead, which --overhead=false skips")
	}
	if o.Dir == "" && (o.topology != "" || len(o.placed) > 0) {
		return cli.Usagef("--topology and --topology-metric draw pictures: name a directory with -o")
	}
	return o.DirFlags.Validate()
}

func runAnalyze(ctx context.Context, io *cli.Streams, opts *analyzeOptions) error {
	var drawing *page.Drawing
	if opts.Dir != "" {
		opts.beside = drawBeside(&drawing, page.DefaultSize)
	}
	t, a, err := opts.analyze(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if err := opts.Fill(ctx, opts.Jobs, a.Trace.Rebuilt != nil, func(out *cli.ReportDir) error {
		return fillReport(ctx, io, opts, t, a, drawing, out)
	}); err != nil {
		return err
	}
	return opts.Finish(io, a, func() { printAnalysis(io, opts, a) }, a.Findings, opts.Gate(a))
}

// analyze opens the trace and analyses it as the flags say. The caller closes its source.
func (o *analyzeOptions) analyze(ctx context.Context, io *cli.Streams) (t *trace.Trace, a *analysis.Result, err error) {
	profile, err := cli.ReadProfile(o.profile)
	if err != nil {
		return nil, nil, err
	}
	if t, err = o.Open(ctx, io); err != nil {
		return nil, nil, err
	}
	if err = o.Choose(ctx, t, o.Jobs); err == nil {
		cli.WarnOfProfile(io, profile, t.Source, o.Quantile)
		a, err = analyzeTrace(ctx, io, o, t, profile)
	}
	if err != nil {
		t.Source.Close()
		return t, a, err
	}
	if o.Shards != nil {
		damage := cli.DamageSince(t, t.Source.Findings())
		if o.workers != nil && len(damage) == 0 {
			damage = cli.DamageSince(t, o.workers.Findings())
		}
		a.Findings = append(analysis.FindingRows(damage), a.Findings...)
	}
	return t, a, nil
}

func analyzeTrace(ctx context.Context, io *cli.Streams, opts *analyzeOptions, t *trace.Trace,
	profile *fit.Profile) (*analysis.Result, error) {
	o := analysis.Options{Jobs: opts.Jobs, Ranks: opts.Ranks, From: opts.From, To: opts.To, Top: opts.top,
		Overhead: opts.overheadOptions(profile)}
	if opts.workers != nil {
		o.Workers = opts.workers
	}
	if opts.beside != nil {
		o.Observers = append(o.Observers, opts.beside(t))
	}
	return cli.Watch(io, opts.Quiet, "analyzing", func(p *engine.Progress) (*analysis.Result, error) {
		o.Progress = p
		return stats.Analyze(ctx, t, o, opts.diagnose)
	})
}

// overview returns the first screen of an analysis.
func (o *analyzeOptions) overview(r *report.Sections) *report.Overview {
	first := &report.Overview{Sections: r, WithStartup: o.startup}
	if len(o.Paths) == 1 {
		first.Path = o.Paths[0]
	}
	return first
}

func printAnalysis(io *cli.Streams, opts *analyzeOptions, a *analysis.Result) {
	r := &report.Sections{W: io.Out, Width: io.Width, Top: opts.top, Analysis: &a.Analysis,
		Writer: readers.WrittenBy(a.Trace.Format, a.Trace.Creator)}
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
	if opts.Dir != "" {
		fmt.Fprintln(io.Out)
		text.Line(io.Out, "Report, plots and tables: %s", opts.Dir)
	}
}

// overheadOptions returns what analyze is told about overhead.
func (o *analyzeOptions) overheadOptions(p *fit.Profile) *overhead.Options {
	if !o.overhead {
		return nil
	}
	return &overhead.Options{Fit: o.Brief(), Profile: p, PerCall: o.Dir != "" || o.diagnose, PerLine: o.Dir != "" || o.perLine}
}
