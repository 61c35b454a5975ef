package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/reconstruct/difference"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/stats/studies/headers"
	"tracekit/trace"
)

type compareOptions struct {
	cli.MergeFlags
	cli.GateFlags
	cli.DirFlags
	runs    int // of A: the first of the paths
	file    string
	format  string
	kept    *compare.Baseline // what file has; nil: A is read from traces
	records bool
	repeat  string
	headers bool
	quality bool
	top     int
}

func newCompare(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "compare A B | --baseline FILE B...",
		Short: "Show what changed between two runs, and whether it is noise",
		Long: `Compare shows how two runs of a program differ: in ranks and communicators, run time,
efficiencies, and the time and waits of each place on each rank. It tests each change against
noise: the work of each place is cut into parts, paired between runs, and tested. Significant
changes are listed by what the run gains or loses, with the waits they cause on other ranks.

Equal programs can differ from run to run. With --runs N, the first N traces are runs of A and
all others runs of B. Differences between repeated runs then count as noise. With --baseline FILE,
the runs of A come from a file of 'tracekit baseline'. All traces are runs of B. For pages of a CI
system, --format markdown prints the verdict and what changed.

--records pairs the records one by one and prints how much their positions and the blocks
between them differ. Spreads are 2 √(ln 2) σ, next to the full width at half maximum. --repeat C
names a repeated run of A and prints quality factors: spread of C against A, divided by spread of
B against A. --quality compresses both runs in stat mode and prints the table of the AIMS paper:
how much events differ from events, statistics from events, and statistics from statistics.

--headers compares what 'tracekit headers' prints of both: hosts and path, what explains the time
beyond what messages need, counters and their margins.`,
		Example: `  tracekit compare before.otf2 after.otf2
  tracekit compare --runs 3 before-1 before-2 before-3 after-1 after-2 after-3
  tracekit compare --fail-if 'changes[interior own_ns].change>0.05' before.otf2 after.otf2
  tracekit baseline before.json before-1 before-2 before-3 && tracekit compare --baseline before.json after-1
  tracekit compare --baseline before.json --format markdown --fail-if 'slower>0' after-1 after-2
  tracekit compare --quality traces.otf2 run2.otf2
  tracekit compare --records traces.otf2 run.tkf --repeat run2.otf2 -o differences/
  tracekit compare --headers before.otf2 after.otf2`,
		Args: cobra.MinimumNArgs(1),
	}, &compareOptions{}, runCompare)
}

func (o *compareOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.GateFlags)
	set.IntVar(&o.runs, "runs", 0, "first `number` of traces are runs of A, the others of B (default: 1 of 2)")
	flags.Var(set, &o.file, flags.File("json"), "baseline", "", "`file` of 'tracekit baseline' that has the runs of A")
	flags.Var(set, &o.format, flags.Choice("text", "markdown"), "format", "text", "print `text` or markdown")
	set.BoolVar(&o.records, "records", false, "also pair the records of the first run of each side")
	set.StringVar(&o.repeat, "repeat", "", "`trace` of a repeated run of A, for quality factors (with --records)")
	set.BoolVar(&o.headers, "headers", false, "compare profiles of messages instead ('tracekit headers')")
	set.BoolVar(&o.quality, "quality", false, "also rebuild both runs from statistics, and print how much all four differ")
	o.AddDir(set, "also write JSON document and plots into this `directory`")
	flags.Top(set, &o.top, "10")
}

func (o *compareOptions) Validate() error {
	if err := o.MergeFlags.Validate(); err != nil {
		return err
	}
	for _, c := range o.Conditions {
		if err := c.ByName(); err != nil {
			return cli.Usagef("--fail-if %s: %w", c, err)
		}
	}
	if o.JSON && o.format == "markdown" {
		return cli.Usagef("--json and --format markdown: choose one")
	}
	if o.headers && (len(o.Paths) != 2 || o.runs > 1 || o.records || o.quality || o.repeat != "" || o.file != "" || o.format != "text" ||
		o.Dir != "") {
		return cli.Usagef("--headers compares two traces: leave out further traces and all of --runs, --records, --quality, --repeat, " +
			"--baseline, --format and -o")
	}
	if o.file != "" {
		if o.runs != 0 || o.records || o.repeat != "" || o.quality {
			return cli.Usagef("--baseline has the runs of A, without records: leave out --runs, --records, --repeat and --quality")
		}
		if err := o.readBaseline(); err != nil {
			return err
		}
		return o.DirFlags.Validate()
	}
	if o.runs == 0 && len(o.Paths) == 2 {
		o.runs = 1
	}
	switch {
	case len(o.Paths) < 2:
		return cli.Usagef("compare: 1 argument given: want 'tracekit compare A B' or --baseline FILE")
	case o.runs == 0:
		return cli.Usagef("%d traces: --runs must say how many are runs of A", len(o.Paths))
	case o.runs < 1 || o.runs >= len(o.Paths):
		return cli.Usagef("--runs %d of %d traces: each side needs at least one trace", o.runs, len(o.Paths))
	}
	if o.records = o.records || o.repeat != "" || o.quality; o.records {
		o.MergeFlags.Traces = 3
	}
	if o.quality {
		o.MergeFlags.Traces = 4
	}
	return o.DirFlags.Validate()
}

// readBaseline reads the runs of A, if they can be compared with traces that the flags read.
func (o *compareOptions) readBaseline() (err error) {
	if o.kept, err = readBaseline(o.file); err == nil {
		err = o.kept.Alike(o.Clock, o.MinLatency)
	}
	if err != nil {
		return cli.Usagef("--baseline %s: %w", o.file, err)
	}
	return nil
}

// side is one of the traces, opened, reconciled and analyzed.
type side struct {
	t *trace.Trace
	a *analysis.Result
}

func (s *side) Close() error { return s.t.Source.Close() }

func openSide(ctx context.Context, io *cli.Streams, opts *compareOptions, path string) (*side, error) {
	t, err := opts.Open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	s := &side{t: t}
	s.a, err = cli.Watch(io, opts.Quiet, "analyzing", func(p *engine.Progress) (*analysis.Result, error) {
		return stats.Analyze(ctx, t, analysis.Options{Top: 1, Jobs: opts.Jobs, Progress: p}, false)
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// findings are those of the analysis, and what was noticed of a trace that was read again.
func (s *side) findings() []document.Finding {
	changed := func(f document.Finding) bool { return f.Code == string(trace.CodeChangedMeanwhile) }
	if slices.ContainsFunc(s.a.Findings, changed) {
		return s.a.Findings
	}
	return append(slices.Clip(s.a.Findings), analysis.FindingRows(cli.ChangesOf(s.t))...)
}

// sample reduces the trace to what a comparison needs.
func (s *side) sample(ctx context.Context, jobs int) (*compare.Sample, error) {
	sample, err := compare.Take(ctx, s.t, s.a, jobs)
	if err == nil {
		sample.Findings = s.findings()
	}
	return sample, err
}

// A sampled side holds the samples of its runs, the first one open if its records are wanted.
type sampledSide struct {
	samples []*compare.Sample
	open    *side // nil: closed
}

func (s *sampledSide) Close() {
	if s.open != nil {
		s.open.Close()
	}
}

func sampleSide(ctx context.Context, io *cli.Streams, opts *compareOptions, paths []string) (*sampledSide, error) {
	out := &sampledSide{}
	for i, path := range paths {
		s, err := openSide(ctx, io, opts, path)
		if err != nil {
			out.Close()
			return nil, err
		}
		sample, err := s.sample(ctx, opts.Jobs)
		out.samples = append(out.samples, sample)
		if i == 0 && opts.records && err == nil {
			out.open = s
		} else if err = errors.Join(err, s.Close()); err != nil {
			out.Close()
			return nil, err
		}
	}
	return out, nil
}

func runCompare(ctx context.Context, io *cli.Streams, opts *compareOptions) error {
	if opts.headers {
		return compareHeaders(ctx, io, opts)
	}
	a := &sampledSide{}
	if opts.kept != nil {
		a.samples = opts.kept.Samples()
	} else {
		var err error
		if a, err = sampleSide(ctx, io, opts, opts.Paths[:opts.runs]); err != nil {
			return err
		}
	}
	defer a.Close()
	b, err := sampleSide(ctx, io, opts, opts.Paths[opts.runs:])
	if err != nil {
		return err
	}
	defer b.Close()
	doc := outcome.NewCompare(a.samples, b.samples, compare.Of(a.samples, b.samples))
	doc.Baseline = opts.file
	if opts.records {
		if doc.Records, err = recordsOf(ctx, io, opts, a.open, b.open); err != nil {
			return err
		}
	}
	if opts.quality {
		if doc.Statistics, err = fourTraces(ctx, io, opts, a.open, b.open, doc.Records.Differences); err != nil {
			return err
		}
	}
	if err := writeComparison(ctx, opts, doc); err != nil {
		return err
	}
	findings := slices.Concat(doc.FindingsA, doc.FindingsB)
	print := show.Compare
	if opts.format == "markdown" {
		print = show.CompareMarkdown
	}
	return opts.Finish(io, doc, func() { print(io.Sections(opts.top), doc) }, findings, opts.Gate(doc))
}

// compareHeaders compares the profiles of messages of two traces.
func compareHeaders(ctx context.Context, io *cli.Streams, opts *compareOptions) error {
	var profiles []*headers.Profile
	for _, path := range opts.Paths {
		s, err := openSide(ctx, io, opts, path)
		if err != nil {
			return err
		}
		p, err := headers.Make(ctx, s.t, s.a, headers.Options{Jobs: opts.Jobs, Layout: headers.Layout92})
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
		profiles = append(profiles, p)
	}
	doc := headers.Compare(profiles[0], profiles[1])
	return opts.Finish(io, doc, func() { show.HeadersComparison(io.Sections(opts.top), doc) }, slices.Concat(doc.FindingsA, doc.FindingsB),
		opts.Gate(doc))
}

// writeComparison writes the document, the bars of what changed and, if records are paired, the
// histograms of their differences.
func writeComparison(ctx context.Context, opts *compareOptions, doc *outcome.Compare) error {
	return opts.Fill(ctx, opts.Jobs, doc.A.Rebuilt != nil || doc.B.Rebuilt != nil, func(out *cli.ReportDir) error {
		out.JSON("compare.json", doc)
		title := words.TraceName(doc.B.Path) + report.RebuiltSuffix(doc.B) + " against " + words.TraceName(doc.A.Path) +
			report.RebuiltSuffix(doc.A)
		return figure.Compare(doc, title, out.Figure)
	})
}

// recordsOf pairs the records of the first runs of both sides and, if there is one, of a repeated
// run of A.
func recordsOf(ctx context.Context, io *cli.Streams, opts *compareOptions, a, b *side) (r outcome.Records, err error) {
	d, err := compareSides(ctx, io, opts, a, b)
	if err != nil {
		return r, err
	}
	r = outcome.NewRecords(d)
	if opts.repeat != "" {
		r.Quality, err = qualityOf(ctx, io, opts, a, d)
	}
	return r, err
}

func compareSides(ctx context.Context, io *cli.Streams, opts *compareOptions, a, b *side) (*difference.Differences, error) {
	return cli.Watch(io, opts.Quiet, "comparing", func(p *engine.Progress) (*difference.Differences, error) {
		return difference.Find(ctx, a.t, b.t, difference.Options{Jobs: opts.Jobs, Progress: p})
	})
}

func qualityOf(ctx context.Context, io *cli.Streams, opts *compareOptions, a *side, d *difference.Differences) (*outcome.Quality, error) {
	c, err := openSide(ctx, io, opts, opts.repeat)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := compareSides(ctx, io, opts, a, c)
	if err != nil {
		return nil, err
	}
	return outcome.NewQuality(opts.repeat, r, d), nil
}
