package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/page"
	"tracekit/readers"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/stats/profile"
	"tracekit/stats/scaling"
	"tracekit/trace"
)

// runsOptions are the flags of commands that make a page of runs.
type runsOptions struct {
	analyzeOptions
	pageFlags
	apart bool // every trace is a run of its own
}

// Add adds what an analysis for a page is told.
func (o *runsOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.ModelFlags)
	addAnalysisFlags(set, &o.analyzeOptions)
	set.BoolVar(&o.apart, "apart", false, "every TRACE is a separate run (default: files of one kind are parts of one run, folders are runs)")
	o.pageFlags.Add(set)
}

// pageRows is how many rows the lists of a page's document have that are bounded.
const pageRows = 100

// Validate checks what the analyses are told.
func (o *runsOptions) Validate() error {
	o.top, o.perLine = pageRows, true
	return cli.Validate(&o.analyzeOptions, &o.pageFlags)
}

// mostRuns is how many runs a page shows at most.
const mostRuns = 16

// runs returns the paths of each run.
func (o *runsOptions) runs() ([][]string, error) {
	noFolder := func(path string) bool { i, err := os.Stat(path); return err != nil || !i.IsDir() }
	apart := o.apart || len(o.Paths) > 1 && !slices.ContainsFunc(o.Paths, noFolder)
	if parts, err := readers.Parts(o.Paths); err != nil || parts && !apart {
		return [][]string{o.Paths}, nil // the error is that of opening them
	}
	if len(o.Paths) > mostRuns {
		return nil, cli.Usagef("%d runs: a page shows at most %d", len(o.Paths), mostRuns)
	}
	var out [][]string
	for _, p := range o.Paths {
		out = append(out, []string{p})
	}
	return out, nil
}

// A shownRun is one run of a page.
type shownRun struct {
	t      *trace.Trace
	a      *analysis.Result
	sample *compare.Sample // nil: it is the only one

	drawing  *page.Drawing  // for a page in one file
	indexing *page.Indexing // for one that is served
}

// analyzeRuns opens and analyses each run, with what it says of each beside; the caller closes them.
func analyzeRuns(ctx context.Context, io *cli.Streams, opts analyzeOptions, runs [][]string,
	beside func(*shownRun) func(*trace.Trace) profile.Observer) (out []*shownRun, err error) {
	opts.MergeFlags.Traces = len(runs)
	defer func() {
		if err != nil {
			closeRuns(out)
		}
	}()
	for _, paths := range runs {
		opts.Paths = paths
		r := &shownRun{}
		opts.beside = beside(r)
		if r.t, r.a, err = opts.analyze(ctx, io); err != nil {
			return out, err
		}
		out = append(out, r)
		if len(runs) > 1 {
			if r.sample, err = compare.Take(ctx, r.t, r.a, opts.Jobs); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func closeRuns(runs []*shownRun) {
	for _, r := range runs {
		r.t.Source.Close()
	}
}

// relate adds to a page what runs say beside one another: how each differs from the first, and
// how those of different sizes scale.
func relate(ctx context.Context, s *page.Several, runs []*shownRun, jobs int) error {
	first, sizes, analyses := runs[0], map[string]bool{}, []*analysis.Result{}
	for _, r := range runs {
		sizes[fmt.Sprint(r.a.Trace.Processes, r.a.Trace.Locations)] = true
		analyses = append(analyses, r.a)
	}
	for _, r := range runs[1:] {
		a, b := []*compare.Sample{first.sample}, []*compare.Sample{r.sample}
		doc := outcome.NewCompare(a, b, compare.Of(a, b))
		doc.Changes = doc.Changes[:min(len(doc.Changes), pageRows)]
		s.Comparisons = append(s.Comparisons, doc)
	}
	if len(sizes) < 2 {
		return nil
	}
	scales, err := scaling.New(ctx, analyses, scaling.Options{Mode: scaling.Auto, Jobs: jobs})
	if err != nil {
		return err
	}
	scales.Models = scales.Models[:min(len(scales.Models), pageRows)]
	scales.Unmodelled = scales.Unmodelled[:min(len(scales.Unmodelled), pageRows)]
	s.Scaling = scales
	return nil
}

// foundIn returns the findings of all runs, and what the first one of them that was rebuilt is of.
func foundIn(runs []*shownRun) (findings []document.Finding, rebuilt *document.Rebuilt) {
	findings = []document.Finding{}
	for _, r := range runs {
		for _, f := range r.a.Findings {
			if len(runs) > 1 {
				f.Text = words.TraceName(r.a.Trace.Path) + ": " + f.Text
			}
			findings = append(findings, f)
		}
		if rebuilt == nil {
			rebuilt = r.a.Trace.Rebuilt
		}
	}
	return findings, rebuilt
}
