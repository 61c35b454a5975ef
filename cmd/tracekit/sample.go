package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/words"
	"tracekit/readers"
	"tracekit/report/show"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/overhead"
	"tracekit/stats/studies/sampling"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// sampleOptions are the dependencies and flags of sample.
type sampleOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.GateFlags
	pictures cli.DirFlags // -o

	names                      []string // --config
	strategy, period, analysis string
	threshold                  float64
	variance, since            string
	seed                       uint64
	site                       string
	goalText                   string
	analyses                   bool
	costs                      measurement.Costs
	benchmarks                 []string
	sweep                      bool
	callPath                   string
	top                        int
	written                    cli.OutFlags // --write-trace

	configs            []sampling.Config
	goal               *sampling.Goal
	minBytes, maxBytes int64
}

func newSample(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "sample TRACE...",
		Short: "Predict accuracy and cost of message sampling",
		Long: `Sample replays PHOTON's message sampling on a trace that has all messages. At each send a rank
decides whether to sample the message: at random, by a counter, or by a timer. For each
configuration it prints what would be seen and the estimates for all messages. It also prints
what would never be seen, the difference from a random sample, and the cost. Estimates have 95 % intervals where
these are valid.

A configuration has a name as in the paper: strategy, parameter, analysis. P-0.01-FREQ samples
1 % of messages at random and counts latencies by decade. C-256-V32-STAT samples after 224 to
288 sends and keeps count, total, minimum and maximum. T-0.001-WRITE samples a message that is
sent more than 1 ms after the previous send, and writes the message itself.
T-0.001-SAMPLE-WRITE measures from the previous sample instead. P-0-OFF decides and keeps nothing,
NOPROF has no sampling layer, ORIG nothing at all.

With --sweep it tries thresholds and periods with many seeds, and replays the run with the cost
of each.`,
		Example: `  tracekit sample --config P-0.01-FREQ --config C-256-V32-STAT traces.otf2
  tracekit sample --strategy timer --period 1ms traces.otf2
  tracekit sample --plan 'error<5%' traces.otf2
  tracekit sample --sweep -o pictures traces.otf2
  tracekit sample --config P-0.05-WRITE -o pictures --write-trace sampled.otf2 traces.otf2`,
		Args: cobra.MinimumNArgs(1),
	}, &sampleOptions{}, runSample)
}

func (o *sampleOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags, &o.GateFlags)
	flags.Var(set, &o.names, flags.Repeated(flags.Text()), "config", "", "`name` of a configuration, such as P-0.01-FREQ; repeatable")
	flags.Var(set, &o.strategy, flags.Choice("random", "counter", "timer"), "strategy", "random", "strategy without --config: random, "+
		"counter or timer")
	set.Float64Var(&o.threshold, "threshold", 0.01, "random: `share` of sampled messages, above 0 and up to 1")
	flags.Var(set, &o.period, flags.Text(), "period", "", "period of a counter in `messages` (default 256) or of a timer in time "+
		"(default 1ms)")
	flags.Var(set, &o.analysis, flags.Text().Offering("stat", "freq", "write"), "analysis", "stat", "use of sampled messages: stat, "+
		"freq or write")
	flags.Var(set, &o.variance, flags.Text(), "variance", "", "random deviation from the period of counters and timers: `messages`, "+
		"seconds, or a share such as 50%")
	set.Uint64Var(&o.seed, "seed", sampling.DefaultSeed, cli.SeedUsage)
	flags.Var(set, &o.since, flags.Choice("send", "sample"), "since", "send", "timers count from the last `send`, as in the paper, or "+
		"from the last sample")
	flags.Var(set, &o.minBytes, flags.Size(), "min-bytes", "", "only messages of this `size` or larger")
	flags.Var(set, &o.maxBytes, flags.Size(), "max-bytes", "", "only messages of this `size` or smaller")
	flags.Var(set, &o.site, flags.Text(), "site", "", "only messages sent at this `place`: a region, an operation, or a line (halo.c:80)")
	flags.Var(set, &o.goalText, flags.Text(), "plan", "", "find the cheapest configuration with this `error`: 'error<5%', or of "+
		"messages, bytes or latency alone")
	set.BoolVar(&o.analyses, "analyses", false, "also show wait states and overhead as the sample alone shows them")
	flags.Top(set, &o.top, "10")
	flags.VarP(set, &o.pictures.Dir, flags.Directory(), "output", "o", "", "also write pictures, and tables of messages sampled with WRITE, "+
		"into this `directory`")
	set.StringVar(&o.written.Out, "write-trace", "", "`trace` to write with only the messages that the first WRITE configuration "+
		"sampled")
	set.BoolVar(&o.written.Force, "force", false, cli.ForceUsage)
	flags.Var(set, &o.callPath, flags.Text(), "call-path", "", "only messages sent in this call `path`, such as 'main > solve'")
	set.BoolVar(&o.sweep, "sweep", false, "try thresholds and periods: accuracy, cost, run time and data volume of each")
	cli.AddMeasurement(set, &o.costs, measurement.Photon())
	flags.Var(set, &o.benchmarks, flags.Repeated(flags.Parsed(parseBenchmark).Offering("baseline=", "layer=", "sample=", "write=")), "benchmark",
		"",
		"measure a cost from a ping-pong trace: `KIND=TRACE` with kind baseline, layer, sample or write; repeatable")
}

// Validate checks every flag before any file is opened.
func (o *sampleOptions) Validate() (err error) {
	if err := cli.Validate(&o.MergeFlags, &o.SelectFlags); err != nil {
		return err
	}
	if err := o.settle(); err != nil {
		return err
	}
	if o.sweep && o.variance != "" && !strings.HasSuffix(o.variance, "%") {
		return cli.Usagef("--sweep: --variance %s: want a share of the period such as 50%%", o.variance)
	}
	if analysis, err := sampling.ParseAnalysis(o.analysis); o.sweep && (err != nil || analysis == sampling.Off) {
		return cli.Usagef("--sweep: --analysis %s: want stat, freq or write", o.analysis)
	}
	if o.goalText != "" {
		goal, err := sampling.ParseGoal(o.goalText)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		o.goal = &goal
	}
	if set := o.Set.Lookup("max-bytes"); set.Value.String() != "" && (o.maxBytes < o.minBytes || o.maxBytes == 0) {
		return cli.Usagef("--max-bytes %s: want more than 0 and more than --min-bytes", set.Value)
	}
	return o.validateOutput()
}

// settle reads the configurations.
func (o *sampleOptions) settle() error {
	if len(o.names) == 0 {
		name, err := o.single()
		if err != nil {
			return err
		}
		o.names = []string{name}
	}
	o.configs = nil
	for _, name := range o.names {
		c, err := sampling.Parse(name, sampling.Defaults{Variance: o.variance, Seed: o.seed, SinceSample: o.since == "sample"})
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if slices.Contains(o.configs, c) {
			return cli.Usagef("--config %s is given twice", c)
		}
		o.configs = append(o.configs, c)
	}
	return nil
}

// single returns the name of the configuration that the flags describe.
func (o *sampleOptions) single() (string, error) {
	c := sampling.Config{Seed: sampling.DefaultSeed}
	var err error
	if c.Analysis, err = sampling.ParseAnalysis(o.analysis); err != nil {
		return "", cli.Usagef("--analysis: %w", err)
	}
	switch o.strategy {
	case "random":
		if !(o.threshold > 0) {
			return "", cli.Usagef("--threshold %g: want more than 0, up to 1", o.threshold)
		}
		c.Strategy, c.Threshold = sampling.Random, o.threshold
	case "counter":
		c.Strategy, c.Period = sampling.Counter, 256
		if o.period != "" {
			c.Period, err = strconv.ParseInt(o.period, 10, 64)
		}
	case "timer":
		period := time.Millisecond
		if o.period != "" {
			period, err = time.ParseDuration(o.period)
		}
		c.Strategy, c.Period = sampling.Timer, period.Nanoseconds()
	}
	if err != nil || c.Period < 0 {
		return "", cli.Usagef("--period %q: want a number of messages for counters, a time such as 1ms for timers", o.period)
	}
	return c.String(), nil
}

// parseBenchmark checks KIND=TRACE.
func parseBenchmark(text string) (string, error) {
	if kind, path, ok := strings.Cut(text, "="); !ok || path == "" || !slices.Contains(benchmarkKinds, kind) {
		return "", fmt.Errorf("want one of %s, =, and a trace", strings.Join(benchmarkKinds, ", "))
	}
	return text, nil
}

func (o *sampleOptions) validateOutput() (err error) {
	o.pictures.Force = o.written.Force
	if err := o.pictures.Validate(); err != nil {
		return err
	}
	if o.written.Out == "" {
		return nil
	}
	if o.firstWrite() < 0 {
		return cli.Usagef("--write-trace: no configuration ends in WRITE")
	}
	if err := o.written.Validate(); err != nil {
		return err
	}
	// an archive has files beside its anchor
	for _, path := range []string{o.written.Out, strings.TrimSuffix(o.written.Out, filepath.Ext(o.written.Out))} {
		if o.pictures.Dir != "" && filepath.Clean(path) == filepath.Clean(o.pictures.Dir) {
			return cli.Usagef("-o %s and --write-trace %s use the same directory; choose another name", o.pictures.Dir, o.written.Out)
		}
	}
	return nil
}

// firstWrite returns the number of the first configuration with WRITE, -1 if there is none.
func (o *sampleOptions) firstWrite() int {
	return slices.IndexFunc(o.configs, func(c sampling.Config) bool { return c.Analysis == sampling.Write })
}

// benchmarkKinds are the costs that a benchmark's trace may give.
var benchmarkKinds = []string{"baseline", "layer", "sample", "write"}

// cost returns the cost model, with what benchmarks say.
func (o *sampleOptions) cost(ctx context.Context, io *cli.Streams) (measurement.Costs, error) {
	var err error
	c := o.costs
	latency := make(map[string]float64)
	for _, b := range o.benchmarks {
		kind, path, _ := strings.Cut(b, "=")
		if latency[kind], err = o.benchmark(ctx, io, path); err != nil {
			return c, err
		}
	}
	// Each is what its benchmark has beyond those before.
	if ns, ok := latency["baseline"]; ok {
		c.Baseline = ns
	}
	if ns, ok := latency["layer"]; ok {
		c.Layer = max(0, ns-c.Baseline)
	}
	if ns, ok := latency["sample"]; ok {
		c.Sample = max(0, ns-c.Baseline-c.Layer)
	}
	if ns, ok := latency["write"]; ok {
		c.Write = max(0, ns-c.Baseline-c.Layer)
	}
	return c, nil
}

func (o *sampleOptions) benchmark(ctx context.Context, io *cli.Streams, path string) (float64, error) {
	t, err := o.MergeFlags.Open(ctx, io, path)
	if err != nil {
		return 0, err
	}
	defer t.Source.Close()
	ns, _, err := sampling.Benchmark(ctx, t, o.Jobs)
	return ns, err
}

// place returns the places of sends that take part; nil: all.
func (o *sampleOptions) place(t *trace.Trace) (func(trace.PathID) bool, error) {
	var site, path whatif.Place
	var err error
	if o.site != "" {
		if site, err = whatif.FindPlace(t, o.site); err != nil {
			return nil, fmt.Errorf("--site: %w", err)
		}
	}
	if o.callPath != "" {
		if path, err = whatif.FindCallPath(t, o.callPath); err != nil {
			return nil, fmt.Errorf("--call-path: %w", err)
		}
	}
	if site == nil {
		return path, nil
	}
	return func(p trace.PathID) bool {
		if path != nil && !path(p) {
			return false
		}
		for ; p != trace.None; p = t.Tree.Nodes[p].Parent {
			if site(p) {
				return true
			}
		}
		return false
	}, nil
}

// grid returns the configurations of --sweep.
func (o *sampleOptions) grid() []sampling.Config {
	analysis, _ := sampling.ParseAnalysis(o.analysis)
	share, _ := strings.CutSuffix(o.variance, "%")
	percent, _ := strconv.ParseFloat(share, 64)
	return sampling.SweepGrid(analysis, percent/100)
}

// replay returns what replays the run with costs; nil if the trace cannot be replayed.
func (o *sampleOptions) replay(ctx context.Context, io *cli.Streams, t *trace.Trace, a *analysis.Result) (sampling.Replay, error) {
	if a == nil || a.Selection != nil {
		var err error
		if a, err = o.Analyze(ctx, io, t, analysis.Options{Top: 1}); err != nil {
			return nil, err
		}
	}
	m, err := whatif.New(ctx, t, a, o.Jobs)
	if err != nil {
		return nil, ctx.Err()
	}
	return func(ctx context.Context, loads measurement.Loads) (int64, error) {
		p, err := m.Predict(ctx, whatif.Measure(loads, false))
		return p.RunTime, err
	}, nil
}

func runSample(ctx context.Context, io *cli.Streams, opts *sampleOptions) error {
	cost, err := opts.cost(ctx, io)
	if err != nil {
		return err
	}
	t, err := opts.MergeFlags.Open(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if err := opts.Choose(ctx, t, opts.Jobs); err != nil {
		return err
	}
	o := sampling.Options{Jobs: opts.Jobs, Ranks: opts.Ranks, From: opts.From, To: opts.To,
		MinBytes: uint64(opts.minBytes), MaxBytes: uint64(opts.maxBytes), Cost: cost}
	if o.Site, err = opts.place(t); err != nil {
		return err
	}
	o.SiteText, o.PathText = opts.site, opts.callPath
	if opts.analyses {
		o.Analysis, err = opts.Analyze(ctx, io, t, analysis.Options{Ranks: opts.Ranks, From: opts.From, To: opts.To, Top: 1,
			Overhead: &overhead.Options{PerCall: true}})
		if err != nil {
			return err
		}
	}
	d, err := sampling.Make(ctx, t, opts.configs, o)
	if err != nil {
		return err
	}
	replay, err := opts.replay(ctx, io, t, o.Analysis)
	if err != nil {
		return err
	}
	if err := sampling.RunTimes(ctx, t, d, opts.configs, o, replay); err != nil {
		return err
	}
	if opts.sweep {
		if d.Sweep, err = sampling.MakeSweep(ctx, t, opts.grid(), o, replay); err != nil {
			return err
		}
	}
	if opts.goal != nil {
		if d.Plan, err = sampling.MakePlan(ctx, t, *opts.goal, sampling.Grid(sampling.Stat), o); err != nil {
			return err
		}
	}
	if err := writeSampleDir(ctx, opts, t, d); err != nil {
		return err
	}
	var written *writtenTrace
	if opts.written.Out != "" {
		if written, err = writeSampledTrace(ctx, io, opts, t, d.Results()[opts.firstWrite()]); err != nil {
			return err
		}
	}
	return opts.Finish(io, d, func() {
		r := io.Sections(opts.top)
		r.Writer = readers.WrittenBy(d.Trace.Format, d.Trace.Creator)
		show.Sample(r, d, analysis.Clock(t))
		if opts.pictures.Dir != "" {
			fmt.Fprintln(io.Out)
			text.Line(io.Out, "Pictures and tables: %s", opts.pictures.Dir)
		}
		if written != nil {
			fmt.Fprintln(io.Out)
			text.Line(io.Out, "Trace of the messages that %s has sampled: %s (%s), %s", written.configuration, opts.written.Out,
				opts.written.Format,
				words.Plural(int(written.events), "event", "events"))
			show.Lost(io.Out, written.lost, "%s %s: the format cannot express that")
		}
		io.Explain()
	}, d.Findings, opts.Gate(d))
}
