package main

import (
	"cmp"
	"context"
	"fmt"
	goio "io"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
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
	mergeFlags
	selectFlags
	modelFlags
	paths     []string
	paper     bool
	stability bool
	library   string
	top       int
	output    string
	plots     string
	force     bool
}

func newFit(io *streams, run func(context.Context, *streams, *fitOptions) error) *cobra.Command {
	opts := &fitOptions{}
	cmd := &cobra.Command{
		Use:   "fit TRACE...",
		Short: "Learn the necessary time of MPI calls from a benchmark or a trace",
		Long: `Fit learns the necessary time of MPI calls, for each function, number of processes and number of
bytes. It fits laws to the durations of calls, tests them, and gives the limit t_max. A call
exceeds t_max only if something disturbs it. Wait states are subtracted first. --paper follows
the paper instead: whole benchmark runs, exponential and Poisson laws, and the accepted law with
the smallest χ². It also shows the fits that minimize Σ|f-p| (equation 10) and χ².

'tracekit analyze --profile' uses the profile that -o writes. A profile is valid for the machine
and MPI library of its traces. Several traces with different numbers of processes make one
profile.`,
		Example: `  tracekit fit mpibench-2 mpibench-4 -o node.json
  tracekit analyze --profile node.json traces.otf2
  tracekit fit --stability --plots plots/ mpibench-2`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func (o *fitOptions) addFlags(set *pflag.FlagSet) {
	o.mergeFlags.add(set)
	o.selectFlags.add(set)
	o.modelFlags.add(set)
	set.BoolVar(&o.paper, "paper", false, "follow the paper: keep waits in durations, fit exponential and Poisson laws, take the "+
		"smallest χ²")
	set.BoolVar(&o.stability, "stability", false, "also show how t_max and χ² settle with the number of calls")
	set.StringVar(&o.library, "library", "", "`name` and version of the MPI library, kept in the profile")
	cli.Var(set, &o.top, cli.Int(0, math.MaxInt), "top", "0", "`rows` of the table and number of histograms, by number of calls; 0: "+
		"all")
	cli.VarP(set, &o.output, cli.File("json"), "output", "o", "", "write the profile to this `file`")
	cli.Var(set, &o.plots, cli.Directory(), "plots", "", "draw histograms, every call over the run, costs, T(p, b) and stability into "+
		"this `directory`")
	set.BoolVar(&o.force, "force", false, forceUsage)
}

// validate checks every flag before any file is opened.
func (o *fitOptions) validate() error {
	if err := validate(&o.mergeFlags, &o.selectFlags); err != nil {
		return err
	}
	if o.output != "" {
		if err := cmp.Or(checkExtension(o.output, ".json"), refuseInput(o.output, o.paths), checkFile(o.output, o.force)); err != nil {
			return err
		}
	}
	if o.plots != "" {
		return checkReportDir(o.plots, o.force)
	}
	return nil
}

func (o *fitOptions) fitOptions(resolution int64) fit.Options {
	out := o.modelFlags.options()
	out.Resolution, out.Paper, out.SmallestChi2 = resolution, o.paper, o.paper
	if o.paper && out.Families == nil {
		out.Families = []fit.Family{fit.Exponential, fit.Poisson, fit.LocatedPoisson}
	}
	return out
}

func runFit(ctx context.Context, io *streams, opts *fitOptions) error {
	m := &measured{Measurement: overhead.Measurement{Samples: make(map[fit.Key]*fit.Sample), Order: make(map[fit.Key][]int64),
		Points: make(map[string][]overhead.CallPoint)}}
	for _, path := range opts.paths {
		if err := m.add(ctx, io, opts, path); err != nil {
			return err
		}
	}
	model := opts.fitOptions(m.tick)
	groups := fit.Groups(m.Samples)
	groups, err := engine.Map(ctx, opts.jobs, len(groups), func(_ context.Context, i int) (fit.Group, error) {
		return groups[i].Fit(model), nil
	})
	if err != nil {
		return err
	}
	profile := fit.ProfileOf(groups, model)
	profile.Machine, profile.Library, profile.Creator, profile.Processes = m.machine, opts.library, m.creator, m.processes
	doc := outcome.NewFit(&profile, groups)
	doc.Traces, doc.Rebuilt, doc.Alpha, doc.Paper, doc.Findings = opts.paths, m.rebuilt, opts.alpha, opts.paper, append(doc.Findings,
		m.findings...)
	if model.Families != nil {
		doc.Families = model.Families
	}
	if opts.stability {
		if doc.Stability, err = outcome.Stability(ctx, opts.jobs, m.Order, model); err != nil {
			return err
		}
	}
	if opts.output != "" {
		if err := writeAtomically(ctx, opts.output, opts.force, func(w goio.Writer) error {
			return profile.Write(text.Writer{W: w})
		}); err != nil {
			return err
		}
	}
	if opts.plots != "" {
		if err := drawFit(ctx, opts, m, doc, &profile); err != nil {
			return err
		}
	}
	return opts.finish(io, doc, func() {
		show.Fit(io.sections(opts.top), doc)
		for _, written := range []struct{ what, path string }{{"Profile", opts.output}, {"Plots", opts.plots}} {
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
func (m *measured) add(ctx context.Context, io *streams, opts *fitOptions, path string) error {
	t, err := opts.open(ctx, io, path)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	keep := 0
	if opts.stability {
		keep = stableCalls
	}
	part := opts.selectFlags // a phase of each trace has times of its own
	if err := part.choose(ctx, t, opts.jobs); err != nil {
		return err
	}
	one, err := overhead.Measure(ctx, t, scope.Selection{Ranks: part.ranks, From: part.from, To: part.to}, opts.jobs,
		overhead.MeasureOptions{WithWaits: opts.paper, Keep: keep, Points: opts.plots != ""})
	if err != nil {
		return err
	}
	m.describe(io, t, path)
	if m.rebuilt == nil {
		m.rebuilt = document.RebuiltOf(t.Source.Info())
	}
	for k, s := range one.Samples {
		if m.Samples[k] == nil {
			m.Samples[k] = s
			continue
		}
		m.Samples[k].Combine(s)
	}
	for k, order := range one.Order {
		m.Order[k] = append(m.Order[k], order...)
	}
	for operation, points := range one.Points {
		m.Points[operation] = append(m.Points[operation], points...)
	}
	m.findings = append(m.findings, analysis.FindingRows(findingsOf(t))...)
	return nil
}

// describe notes where a trace comes from, and warns if the one before came from elsewhere.
func (m *measured) describe(io *streams, t *trace.Trace, path string) {
	machine, creator := machineOf(t.Source), t.Source.Info().Creator
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

// drawFit draws everything about a fit.
func drawFit(ctx context.Context, opts *fitOptions, m *measured, d *outcome.Fit, p *fit.Profile) error {
	out := newReportDir(opts.plots)
	out.rebuilt = d.Rebuilt != nil
	return out.close(ctx, opts.jobs, figure.Fit(ctx, d, p, m.Points, opts.top, out.figure))
}
