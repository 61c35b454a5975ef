package main

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/reconstruct/difference"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/trace"
)

type compareOptions struct {
	mergeFlags
	gateFlags
	traces  []string // those of A, then those of B
	runs    int      // of A
	records bool
	repeat  string
	outDir  string
	force   bool
	top     int
}

func newCompare(io *streams, run func(context.Context, *streams, *compareOptions) error) *cobra.Command {
	opts := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Show what changed between two runs, and whether it is noise",
		Long: `Compare shows how two runs of a program differ: in ranks and communicators, run time,
efficiencies, and the time and waits of each place on each rank. It tests each change against
noise: the work of each place is cut into parts, paired between runs, and tested. Significant
changes are listed by what the run gains or loses, with the waits they cause on other ranks.

Equal programs can differ from run to run. With --runs N, the first N traces are runs of A and
all others runs of B. Differences between repeated runs then count as noise.

--records pairs the records one by one and prints how much their positions and the blocks
between them differ. Spreads are 2 √(ln 2) σ, next to the full width at half maximum. --repeat C
names a repeated run of A and prints quality factors: spread of C against A, divided by spread of
B against A.`,
		Example: `  tracekit compare before.otf2 after.otf2
  tracekit compare --runs 3 before-1 before-2 before-3 after-1 after-2 after-3
  tracekit compare --fail-if 'changes[interior own_ns].change>0.05' before.otf2 after.otf2
  tracekit compare --records traces.otf2 run.tkf --repeat run2.otf2 -o differences/`,
		Args: cobra.MinimumNArgs(2),
		RunE: validated(io, opts, &opts.traces, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	set.IntVar(&opts.runs, "runs", 0, "first `number` of traces are runs of A, the others of B (default: 1 of 2)")
	set.BoolVar(&opts.records, "records", false, "also pair the records of the first run of each side")
	set.StringVar(&opts.repeat, "repeat", "", "`trace` of a repeated run of A, for quality factors (with --records)")
	cli.VarP(set, &opts.outDir, cli.Directory(), "output", "o", "", "also write JSON document and plots into this `directory`")
	set.BoolVar(&opts.force, "force", false, forceUsage)
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", topUsage)
	return cmd
}

func (o *compareOptions) validate() error {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	for _, c := range o.conditions {
		if err := c.ByName(); err != nil {
			return usagef("--fail-if %s: %w", c, err)
		}
	}
	if o.runs == 0 && len(o.traces) == 2 {
		o.runs = 1
	}
	switch {
	case o.runs == 0:
		return usagef("%d traces: --runs must say how many are runs of A", len(o.traces))
	case o.runs < 1 || o.runs >= len(o.traces):
		return usagef("--runs %d of %d traces: each side needs at least one trace", o.runs, len(o.traces))
	}
	if o.records = o.records || o.repeat != ""; o.records {
		o.mergeFlags.traces = 3
	}
	if o.outDir != "" {
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

// side is one of the traces, opened, reconciled and analyzed.
type side struct {
	t *trace.Trace
	a *analysis.Result
}

func (s *side) close() error { return s.t.Source.Close() }

func openSide(ctx context.Context, io *streams, opts *compareOptions, path string) (*side, error) {
	t, err := opts.open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	s := &side{t: t}
	if s.a, err = opts.analyze(ctx, io, t, analysis.Options{Top: 1}); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// findings are those of the analysis, and what was noticed of a trace that was read again.
func (s *side) findings() []document.Finding {
	changed := func(f document.Finding) bool { return f.Code == string(trace.CodeChangedMeanwhile) }
	if slices.ContainsFunc(s.a.Findings, changed) {
		return s.a.Findings
	}
	return append(slices.Clip(s.a.Findings), analysis.FindingRows(changesOf(s.t))...)
}

// A sampled side holds the samples of its runs, the first one open if its records are wanted.
type sampledSide struct {
	samples  []*compare.Sample
	first    *analysis.Result
	open     *side // nil: closed
	findings []document.Finding
}

func (s *sampledSide) close() {
	if s.open != nil {
		s.open.close()
	}
}

func sampleSide(ctx context.Context, io *streams, opts *compareOptions, paths []string) (*sampledSide, error) {
	out := &sampledSide{}
	for i, path := range paths {
		s, err := openSide(ctx, io, opts, path)
		if err != nil {
			out.close()
			return nil, err
		}
		sample, err := compare.Take(ctx, s.t, s.a, opts.jobs)
		out.samples, out.findings = append(out.samples, sample), append(out.findings, s.findings()...)
		if i == 0 {
			out.first = s.a
		}
		if i == 0 && opts.records && err == nil {
			out.open = s
		} else if err = errors.Join(err, s.close()); err != nil {
			out.close()
			return nil, err
		}
	}
	return out, nil
}

func runCompare(ctx context.Context, io *streams, opts *compareOptions) error {
	a, err := sampleSide(ctx, io, opts, opts.traces[:opts.runs])
	if err != nil {
		return err
	}
	defer a.close()
	b, err := sampleSide(ctx, io, opts, opts.traces[opts.runs:])
	if err != nil {
		return err
	}
	defer b.close()
	doc := outcome.NewCompare(a.first, b.first, compare.Of(a.samples, b.samples))
	doc.FindingsA, doc.FindingsB = slices.Concat([]document.Finding{}, a.findings), slices.Concat([]document.Finding{}, b.findings)
	if opts.records {
		if doc.Records, err = recordsOf(ctx, io, opts, a.open, b.open); err != nil {
			return err
		}
	}
	if opts.outDir != "" {
		if err := writeComparison(ctx, opts, doc); err != nil {
			return err
		}
	}
	findings := slices.Concat(doc.FindingsA, doc.FindingsB)
	return opts.finish(io, doc, func() { show.Compare(io.sections(opts.top), doc) }, findings, opts.gate(doc))
}

// writeComparison writes the document, the bars of what changed and, if records are paired, the
// histograms of their differences.
func writeComparison(ctx context.Context, opts *compareOptions, doc *outcome.Compare) error {
	out := newReportDir(opts.outDir)
	out.rebuilt = doc.A.Rebuilt != nil || doc.B.Rebuilt != nil
	out.json("compare.json", doc)
	title := words.TraceName(doc.B.Path) + report.RebuiltSuffix(doc.B) + " against " + words.TraceName(doc.A.Path) +
		report.RebuiltSuffix(doc.A)
	return out.close(ctx, opts.jobs, figure.Compare(doc, title, out.figure))
}

// recordsOf pairs the records of the first runs of both sides and, if there is one, of a repeated
// run of A.
func recordsOf(ctx context.Context, io *streams, opts *compareOptions, a, b *side) (r outcome.Records, err error) {
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

func compareSides(ctx context.Context, io *streams, opts *compareOptions, a, b *side) (*difference.Differences, error) {
	bar := startProgress(io, opts.quiet, "comparing")
	defer bar.done()
	return difference.Find(ctx, a.t, b.t, difference.Options{Jobs: opts.jobs, Progress: &bar.Progress})
}

func qualityOf(ctx context.Context, io *streams, opts *compareOptions, a *side, d *difference.Differences) (*outcome.Quality, error) {
	c, err := openSide(ctx, io, opts, opts.repeat)
	if err != nil {
		return nil, err
	}
	defer c.close()
	r, err := compareSides(ctx, io, opts, a, c)
	if err != nil {
		return nil, err
	}
	return outcome.NewQuality(opts.repeat, r, d), nil
}
