package main

import (
	"cmp"
	"context"
	"fmt"
	stdio "io"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/page"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// reportSchema names the JSON document of report.
const reportSchema = "tracekit.report/1"

type reportOptions struct {
	analyzeOptions
	runFlags
	pageFlags
	output string
	bytes  int64 // size
}

// A reportDocument says what was written.
type reportDocument struct {
	Schema   string             `json:"schema"`
	Out      string             `json:"out"`
	Bytes    int64              `json:"bytes"`
	Rebuilt  *document.Rebuilt  `json:"rebuilt"` // null: the trace was recorded
	Findings []document.Finding `json:"findings"`
}

func newReport(io *streams, run func(context.Context, *streams, *reportOptions) error) *cobra.Command {
	opts := &reportOptions{}
	cmd := &cobra.Command{
		Use:   "report TRACE... -o FILE.html",
		Short: "Write the page: causes, timeline, call tree, tables",
		Long: `Report writes one self-contained HTML page. It has causes and what fixing each would save, and a
zoomable timeline. Call tree, source lines, waits, communication, profile and notes follow. All
views are linked. The page loads nothing and needs no server.

Several traces are several runs. The page shows their timelines on one time axis and what changed
from the first run to each other one. Runs of different sizes show how the program scales. A run
may be rebuilt from formulae. JSON files that belong to one trace are one run, unless --apart is
given.

The size of the page is bounded. A timeline that does not fit is shown in steps, and long tables
keep their first rows. The page says so.`,
		Example: `  tracekit report traces.otf2 -o run.html
  tracekit report --size 16MB traces.otf2 -o run.html
  tracekit report before.otf2 after.otf2 -o change.html
  tracekit report --source src/ traces.otf2 -o run.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.modelFlags.add(set)
	addAnalysisFlags(set, &opts.analyzeOptions)
	opts.runFlags.add(set)
	opts.pageFlags.add(set)
	cli.Var(set, &opts.bytes, cli.Parsed(parsePageSize), "size", "4MiB", "largest `size` of the page")
	cli.VarP(set, &opts.output, cli.File("html"), "output", "o", "", "`file` to write")
	set.BoolVar(&opts.force, "force", false, forceUsage)
	return cmd
}

// pageRows is how many rows the lists of a page's document have that are bounded.
const pageRows = 100

// parsePageSize reads how large a page may be.
func parsePageSize(text string) (int64, error) {
	n, err := cli.ParseSize(text)
	if err == nil && n < page.LeastSize {
		err = fmt.Errorf("a page needs at least %s", words.Bytes(page.LeastSize))
	}
	return n, err
}

// validate checks every flag before any file is opened.
func (o *reportOptions) validate() error {
	if o.output == "" {
		return usagef("report: name the page with -o FILE.html")
	}
	o.top, o.perLine = pageRows, true
	if err := cmp.Or(o.analyzeOptions.validate(), o.pageFlags.validate()); err != nil {
		return err
	}
	return cmp.Or(checkExtension(o.output, ".html", ".htm"), checkFile(o.output, o.force))
}

func runReport(ctx context.Context, io *streams, opts *reportOptions) error {
	paths, err := opts.runs(opts.paths)
	if err != nil {
		return err
	}
	share := page.Share(opts.bytes, len(paths))
	runs, err := analyzeRuns(ctx, io, opts.analyzeOptions, paths, func(r *shownRun) func(*trace.Trace) profile.Beside {
		return drawBeside(&r.drawing, share)
	})
	if err != nil {
		return err
	}
	defer closeRuns(runs)
	all := &page.Several{Size: opts.bytes}
	for _, r := range runs {
		p, err := newReportPage(ctx, opts, r, share)
		if err != nil {
			return err
		}
		all.Pages = append(all.Pages, p)
	}
	if err := relate(ctx, all, runs, opts.jobs); err != nil {
		return err
	}
	html, err := all.Encode(ctx)
	if err != nil {
		return err
	}
	err = writeAtomically(ctx, opts.output, opts.force, func(w stdio.Writer) error {
		_, err := w.Write(html)
		return err
	})
	if err != nil {
		return err
	}
	doc := &reportDocument{Schema: reportSchema, Out: opts.output, Bytes: int64(len(html))}
	doc.Findings, doc.Rebuilt = foundIn(runs)
	return opts.finish(io, doc, func() {
		text.Line(io.Out, "%s: %s", doc.Out, words.Bytes(uint64(doc.Bytes)))
		report.PrintFindings(io.Out, io.Width, "Findings", doc.Findings)
	}, doc.Findings)
}
