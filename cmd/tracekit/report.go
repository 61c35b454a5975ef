package main

import (
	"context"
	"fmt"
	stdio "io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/page"
	"tracekit/reduce"
	"tracekit/report/show"
	"tracekit/stats/profile"
	"tracekit/stats/studies/sampling"
	"tracekit/trace"
)

// reportSchema names the JSON document of report.
const reportSchema = "tracekit.report/1"

type reportOptions struct {
	runsOptions
	cli.FileFlags
	bytes int64 // size

	sampled string   // --sampled
	rules   []string // --kept-by
	read    []ruleFile
	sample  *sampling.Config
}

func newReport(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
  tracekit report --source src/ traces.otf2 -o run.html
  tracekit report --sampled P-0.05-STAT --kept-by first.star traces.otf2 -o views.html`,
		Args: cobra.MinimumNArgs(1),
	}, &reportOptions{}, runReport)
}

func (o *reportOptions) Add(set *pflag.FlagSet) {
	o.runsOptions.Add(set)
	flags.Var(set, &o.bytes, flags.Parsed(parsePageSize), "size", "4MiB", "largest `size` of the page")
	flags.Var(set, &o.sampled, flags.Text(), "sampled", "", "also show by call path what this `configuration` would sample, such as P-0.05-STAT")
	flags.Var(set, &o.rules, flags.Repeated(flags.File("star")), "kept-by", "",
		"also show by call path what this rule `file` would keep; repeatable")
	o.AddFile(set, "`file` to write", "html", "htm")
}

// parsePageSize reads how large a page may be.
func parsePageSize(text string) (int64, error) {
	n, err := flags.ParseSize(text)
	if err == nil && n < page.LeastSize {
		err = fmt.Errorf("a page needs at least %s", words.Bytes(page.LeastSize))
	}
	return n, err
}

// Validate checks every flag before any file is opened.
func (o *reportOptions) Validate() error {
	if o.Output == "" {
		return cli.Usagef("report: name the page with -o FILE.html")
	}
	if o.sampled != "" {
		c, err := sampling.Parse(o.sampled, sampling.Defaults{Seed: sampling.DefaultSeed})
		if err != nil {
			return cli.Usagef("--sampled: %w", err)
		}
		o.sample = &c
	}
	var err error
	if o.read, err = ruleFiles(o.rules); err != nil {
		return err
	}
	if _, err := scripts(o.read, reduce.ScriptOptions{}); err != nil {
		return err
	}
	return cli.Validate(&o.runsOptions, &o.FileFlags)
}

func runReport(ctx context.Context, io *cli.Streams, opts *reportOptions) error {
	paths, err := opts.runs()
	if err != nil {
		return err
	}
	share := page.Share(opts.bytes, len(paths))
	runs, err := analyzeRuns(ctx, io, opts.analyzeOptions, paths, func(r *shownRun) func(*trace.Trace) profile.Observer {
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
	if err := relate(ctx, all, runs, opts.Jobs); err != nil {
		return err
	}
	content, err := all.Content(ctx)
	if err != nil {
		return err
	}
	doc := &outcome.Report{Schema: reportSchema, Out: opts.Output}
	if err := opts.Write(ctx, func(w stdio.Writer) (err error) {
		doc.Bytes, err = content.WriteHTML(w, all.Served)
		return err
	}); err != nil {
		return err
	}
	doc.Findings, doc.Rebuilt = foundIn(runs)
	return opts.Finish(io, doc, func() { show.Report(io.Sections(0), doc) }, doc.Findings)
}
