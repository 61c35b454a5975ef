package main

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/report"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/trace"
)

// compareSchema names the JSON document of compare.
const compareSchema = "tracekit.compare/1"

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
		Short: "Say what changed between two runs, where, and whether it is more than noise",
		Long: `Compare says in what two runs of a program differ: first in shape (ranks, program,
communicators), then how long they take and how their efficiencies moved, then which places
take more or less time of their own or wait longer, on which ranks, and whether that is more
than noise: the work of each place is cut into parts, paired, and tested, many places at
once. Changes that count are listed by what the run loses or gains by them, with the waits
that a place causes others.

Two runs can differ for reasons that lie in neither: with --runs N the first N traces are
runs of A and all others runs of B, and what repeated runs differ by is noise too.

With --records, their records are paired one by one, and it is printed by how much their
positions and the blocks between them differ. Spreads are 2 √(ln 2) σ; the full width at half
maximum of a Gaussian stands beside them. With --repeat C, a repeated run of A, quality
factors are printed: the spread of C against A divided by that of B against A.`,
		Example: `  tracekit compare before/traces.otf2 after/traces.otf2
  tracekit compare --runs 3 before-1 before-2 before-3 after-1 after-2 after-3
  tracekit compare --fail-if 'changes[solve own_ns].change>0.05' before.otf2 after.otf2
  tracekit compare --records traces.otf2 run.tkf --repeat run2/traces.otf2 -o differences/`,
		Args: cobra.MinimumNArgs(2),
		RunE: validated(io, opts, &opts.traces, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	set.IntVar(&opts.runs, "runs", 0, "`number` of traces that are runs of A; those behind are runs of B (default: of two traces, the first)")
	set.BoolVar(&opts.records, "records", false, "also pair the records, of the first run of each side")
	set.StringVar(&opts.repeat, "repeat", "", "a repeated run of A: the `trace` that quality factors refer to (with --records)")
	cli.VarP(set, &opts.outDir, cli.Directory(), "output", "o", "", "also write document and plots into this `directory`")
	set.BoolVar(&opts.force, "force", false, "replace what tracekit wrote into the directory before, and nothing else")
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", "`rows` of each table")
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
		return usagef("%d traces: say with --runs how many are runs of A", len(o.traces))
	case o.runs < 1 || o.runs >= len(o.traces):
		return usagef("--runs %d of %d traces: at least one must be left on each side", o.runs, len(o.traces))
	}
	if o.records = o.records || o.repeat != ""; o.records {
		o.mergeFlags.traces = 3
	}
	if o.outDir != "" {
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

// A compareDocument says how two sides differ. Times are in ns; A and B are the first runs.
type compareDocument struct {
	Schema string             `json:"schema"`
	A      document.TraceInfo `json:"a"`
	B      document.TraceInfo `json:"b"`
	*compare.Comparison
	recordsBlock
	Results []resultChange `json:"results"`

	FindingsA []document.Finding `json:"findings_a"` // of all runs of A
	FindingsB []document.Finding `json:"findings_b"`
}

// A resultChange is one number of both analyses, named by its path in their documents.
type resultChange struct {
	Name   string   `json:"name"`
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	Change *float64 `json:"change"` // (B - A) / A; null if A is 0

	// What a model made of a trace that was rebuilt; see document.Rebuilt.
	ModelledA bool `json:"modelled_a"`
	ModelledB bool `json:"modelled_b"`
}

// side is one of the traces, opened, reconciled and analysed.
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
	doc := newComparison(a.first, b.first, compare.Of(a.samples, b.samples))
	doc.FindingsA, doc.FindingsB = slices.Concat([]document.Finding{}, a.findings), slices.Concat([]document.Finding{}, b.findings)
	if opts.records {
		if doc.recordsBlock, err = recordsOf(ctx, io, opts, a.open, b.open); err != nil {
			return err
		}
	}
	if opts.outDir != "" {
		if err := writeComparison(ctx, opts, doc); err != nil {
			return err
		}
	}
	findings := slices.Concat(doc.FindingsA, doc.FindingsB)
	return opts.finish(io, doc, func() { doc.print(io, opts.top) }, findings, opts.gate(doc))
}

// addResults lists the headline numbers of both analyses.
func (doc *compareDocument) addResults(a, b *analysis.Result) {
	add := func(name string, x, y float64) {
		c := resultChange{Name: name, A: x, B: y}
		if x != 0 {
			r := (y - x) / x
			c.Change = &r
		}
		doc.Results = append(doc.Results, c)
	}
	add("trace.duration_ns", float64(a.Trace.DurationNs), float64(b.Trace.DurationNs))
	add("trace.events", float64(a.Trace.Events), float64(b.Trace.Events))
	if x, y := a.Efficiency, b.Efficiency; x != nil && y != nil && x.ParallelEfficiency != nil && y.ParallelEfficiency != nil {
		add("efficiency.parallel_efficiency", *x.ParallelEfficiency, *y.ParallelEfficiency)
	}
	if x, y := a.Counters, b.Counters; x != nil && y != nil {
		for _, c := range []struct {
			name string
			x, y *float64
		}{{"instructions", x.Instructions, y.Instructions}, {"ipc", x.IPC, y.IPC}, {"frequency_ghz", x.FrequencyGHz, y.FrequencyGHz}} {
			if c.x != nil && c.y != nil {
				add("counters."+c.name, *c.x, *c.y)
			}
		}
	}
	if x, y := a.Messages, b.Messages; x != nil && y != nil {
		add("messages.count", float64(x.Count), float64(y.Count))
		add("messages.bytes", float64(x.Bytes), float64(y.Bytes))
	}
	if x, y := a.WaitStates, b.WaitStates; x != nil && y != nil {
		first := len(doc.Results)
		for k, w := range x.All {
			if other := &y[k]; w.Count+other.Count > 0 {
				add("wait_states."+k.Info().Key+".time_ns", float64(w.TimeNs), float64(other.TimeNs))
			}
		}
		for i := range doc.Results[first:] {
			r := &doc.Results[first+i]
			r.ModelledA, r.ModelledB = a.Trace.Rebuilt != nil, b.Trace.Rebuilt != nil
		}
	}
}

// writeComparison writes the document, the bars of what changed and, if records are paired, the
// histograms of their differences.
func writeComparison(ctx context.Context, opts *compareOptions, doc *compareDocument) error {
	out := newReportDir(opts.outDir)
	out.rebuilt = doc.A.Rebuilt != nil || doc.B.Rebuilt != nil
	out.json("compare.json", doc)
	title := words.TraceName(doc.B.Path) + report.RebuiltSuffix(doc.B) + " against " + words.TraceName(doc.A.Path) + report.RebuiltSuffix(doc.A)
	figure, err := plots.Bars(changeBars(title, doc.Changes))
	if err == nil {
		out.figure("changes", figure)
		if doc.Paired != nil {
			if figure, err = doc.histograms(title); err == nil {
				out.figure("differences", figure)
			}
		}
	}
	return out.close(ctx, opts.jobs, err)
}
