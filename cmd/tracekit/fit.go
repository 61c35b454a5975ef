package main

import (
	"context"
	"fmt"
	goio "io"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// fitOptions are the flags of fit.
type fitOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.ModelFlags
	cli.FileFlags
	paper     bool
	stability bool
	sample    int
	seed      uint64
	base      float64 // tolerance; below 0: all points are kept
	library   string
	top       int
	plots     cli.DirFlags
}

func newFit(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "fit TRACE...",
		Short: "Learn the necessary time of MPI calls from a benchmark or a trace",
		Long: `Fit learns the necessary time of MPI calls, for each function, number of processes and number of
bytes. It fits laws to the durations of calls, tests them, and gives the limit t_max. A call
exceeds t_max only if something disturbs it. Wait states are subtracted first. --paper follows
the paper instead: whole benchmark runs, exponential and Poisson laws, and the accepted law with
the smallest χ². It also shows the fits that minimize Σ|f-p| (equation 10) and χ². --sample 200 is
the number of calls of the paper.

'tracekit analyze --profile' uses the profile that -o writes. A profile is valid for the machine
and MPI library of its traces. Several traces with different numbers of processes make one
profile.`,
		Example: `  tracekit fit mpibench-2 mpibench-4 -o node.json
  tracekit analyze --profile node.json traces.otf2
  tracekit fit --paper --sample 200 --base-points 0.05 mpibench-2 -o node.json
  tracekit fit --stability --plots plots/ mpibench-2`,
		Args: cobra.MinimumNArgs(1),
	}, &fitOptions{}, runFit)
}

func (o *fitOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags, &o.ModelFlags)
	set.BoolVar(&o.paper, "paper", false, "follow the paper: keep waits in durations, fit exponential and Poisson laws, take the "+
		"smallest χ²")
	set.BoolVar(&o.stability, "stability", false, "also show how t_max and χ² settle with the number of calls")
	flags.Var(set, &o.sample, flags.Int(0, math.MaxInt32), "sample", "0", "fit this `number` of calls of each key, drawn at random, and draw "+
		"again if no law is accepted; 0: all calls")
	set.Uint64Var(&o.seed, "seed", 1, cli.SeedUsage)
	flags.Var(set, &o.base, flags.NumberIn("a share from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 || v == -1 }), "base-points",
		"-1",
		"keep only points of T(p, b) where it bends: interpolation misses no measured t_max by more than this `share`; -1: keep all")
	set.StringVar(&o.library, "library", "", "`name` and version of the MPI library, kept in the profile")
	flags.Var(set, &o.top, flags.Int(0, math.MaxInt), "top", "0", "`rows` of the table and number of histograms, by number of calls; 0: "+
		"all")
	o.AddFile(set, "write the profile to this `file`", "json")
	flags.Var(set, &o.plots.Dir, flags.Directory(), "plots", "", "draw histograms, every call over the run, costs, T(p, b) and stability into "+
		"this `directory`")
}

// Validate checks every flag before any file is opened.
func (o *fitOptions) Validate() error {
	if err := o.RefuseInput(o.Paths); err != nil {
		return err
	}
	o.plots.Force = o.Force
	return cli.Validate(&o.MergeFlags, &o.SelectFlags, &o.FileFlags, &o.plots)
}

func (o *fitOptions) fitOptions(resolution int64) fit.Options {
	out := o.ModelFlags.Options()
	out.Resolution, out.Paper, out.SmallestChi2 = resolution, o.paper, o.paper
	out.Draw, out.Seed = o.sample, o.seed
	if o.paper && out.Families == nil {
		out.Families = []fit.Family{fit.Exponential, fit.Poisson, fit.LocatedPoisson}
	}
	return out
}

func runFit(ctx context.Context, io *cli.Streams, opts *fitOptions) error {
	m := &measured{}
	for _, path := range opts.Paths {
		if err := m.Add(ctx, io, opts, path); err != nil {
			return err
		}
	}
	model := opts.fitOptions(m.tick)
	groups := fit.Groups(m.Samples)
	groups, err := engine.Map(ctx, opts.Jobs, len(groups), func(_ context.Context, i int) (fit.Group, error) {
		return groups[i].Fit(model), nil
	})
	if err != nil {
		return err
	}
	profile := fit.ProfileOf(groups, model)
	profile.Machine, profile.Library, profile.Creator, profile.Processes = m.machine, opts.library, m.creator, m.processes
	doc := outcome.NewFit(&profile, groups)
	doc.Sample, doc.Seed = opts.sample, opts.seed
	if opts.base >= 0 {
		profile = profile.Thinned(opts.base)
		doc.Base, doc.BasePoints = profile.Base, len(profile.Entries)
	}
	doc.Traces, doc.Rebuilt, doc.Alpha, doc.Paper, doc.Findings = opts.Paths, m.rebuilt, opts.Alpha, opts.paper, append(doc.Findings,
		m.findings...)
	if model.Families != nil {
		doc.Families = model.Families
	}
	if opts.stability {
		model.Draw = 0 // it has samples of its own
		if doc.Stability, err = outcome.Stability(ctx, opts.Jobs, m.Order, model); err != nil {
			return err
		}
	}
	if err := opts.Write(ctx, func(w goio.Writer) error { return profile.Write(text.Writer{W: w}) }); err != nil {
		return err
	}
	if err := opts.plots.Fill(ctx, opts.Jobs, doc.Rebuilt != nil, func(out *cli.ReportDir) error {
		return figure.Fit(ctx, doc, &profile, m.Points, opts.top, out.Figure)
	}); err != nil {
		return err
	}
	return opts.Finish(io, doc, func() {
		show.Fit(io.Sections(opts.top), doc)
		for _, written := range []struct{ what, path string }{{"Profile", opts.Output}, {"Plots", opts.plots.Dir}} {
			if written.path != "" {
				fmt.Fprintln(io.Out)
				text.Line(io.Out, "%s: %s", written.what, written.path)
			}
		}
	}, doc.Findings)
}

// measured is what the traces hold together.
type measured struct {
	overhead.Measurement
	machine, creator string
	processes        int
	tick             int64 // ns, of the coarsest clock
	findings         []document.Finding
	rebuilt          *document.Rebuilt // of the first trace that was rebuilt
}

// stableCalls is how many durations of each key are kept for the study of stability.
const stableCalls = 5000

// add reads one more trace.
func (m *measured) Add(ctx context.Context, io *cli.Streams, opts *fitOptions, path string) error {
	t, err := opts.Open(ctx, io, path)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	keep := 0
	if opts.stability {
		keep = stableCalls
	}
	part := opts.SelectFlags // a phase of each trace has times of its own
	if err := part.Choose(ctx, t, opts.Jobs); err != nil {
		return err
	}
	one, err := overhead.Measure(ctx, t, scope.Selection{Ranks: part.Ranks, From: part.From, To: part.To}, opts.Jobs,
		overhead.MeasureOptions{WithWaits: opts.paper, Keep: keep, Points: opts.plots.Dir != ""})
	if err != nil {
		return err
	}
	m.describe(io, t, path)
	if m.rebuilt == nil {
		m.rebuilt = document.RebuiltOf(t.Source.Info())
	}
	m.Measurement.Add(one)
	m.findings = append(m.findings, analysis.FindingRows(cli.FindingsOf(t))...)
	return nil
}

// describe notes where a trace comes from, and warns if the one before came from elsewhere.
func (m *measured) describe(io *cli.Streams, t *trace.Trace, path string) {
	machine, creator := cli.MachineOf(t.Source), t.Source.Info().Creator
	if m.processes > 0 && (machine != m.machine || creator != m.creator) {
		text.Line(io.Err, "tracekit: warning: %s was made on %q with %q, the traces before on %q with %q", path, machine, creator,
			m.machine, m.creator)
	} else {
		m.machine, m.creator = machine, creator
	}
	m.processes = max(m.processes, len(t.World))
	tick := int64((1_000_000_000-1)/t.Defs.Clock.Resolution) + 1
	m.tick = max(m.tick, tick)
}
