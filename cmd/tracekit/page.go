package main

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/page"
	"tracekit/reduce"
	"tracekit/report"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// pageFlags are the flags of commands that make a page.
type pageFlags struct {
	source string // directory
}

// Add adds the flag.
func (f *pageFlags) Add(set *pflag.FlagSet) {
	flags.Var(set, &f.source, flags.Directory(), "source", "", "`directory` with the program's source, to show lines with their costs")
}

// Validate refuses what is no directory.
func (f *pageFlags) Validate() error {
	if f.source == "" {
		return nil
	}
	if info, err := os.Stat(f.source); err != nil {
		return cli.Usagef("--source: %w", err)
	} else if !info.IsDir() {
		return cli.Usagef("--source %s: want a directory", f.source)
	}
	return nil
}

// sourceShare is which part of a page's bytes the text of source files may take before it is
// compressed.
const sourceShare = 2

// more gathers what a page of so many bytes shows besides.
func (f *pageFlags) more(t *trace.Trace, a *analysis.Result, size int64) (*page.More, error) {
	if f.source == "" {
		return page.NewMore(t, a, nil, 0), nil
	}
	sources, err := page.OpenSources(f.source)
	if err != nil {
		return nil, cli.Usagef("--source: %w", err)
	}
	defer sources.Close()
	return page.NewMore(t, a, sources, int(size/sourceShare)), nil
}

// newPage makes a page of an analysis, but for its timeline.
func newPage(opts *pageFlags, t *trace.Trace, a *analysis.Result, size int64) (*page.Page, error) {
	more, err := opts.more(t, a, size)
	return &page.Page{Title: report.PictureTitle(t.Source.Info()), Trace: t, Document: a, More: more, Costs: a.PathCosts, Size: size}, err
}

// drawBeside says what hears the events for a page of so many bytes, and where it is then found.
func drawBeside(drawing **page.Drawing, size int64) func(*trace.Trace) profile.Observer {
	return func(t *trace.Trace) profile.Observer {
		*drawing = page.NewDrawing(t, page.Bounds(size))
		return *drawing
	}
}

// newReportPage makes a page of a run that needs no server.
func newReportPage(ctx context.Context, opts *reportOptions, r *shownRun, size int64) (*page.Page, error) {
	p, err := newPage(&opts.pageFlags, r.t, r.a, size)
	if err != nil {
		return nil, err
	}
	if opts.sample != nil || len(opts.read) > 0 {
		rules, err := scripts(opts.read, reduce.ScriptOptions{Costs: measurement.Assumed()})
		if err != nil {
			return nil, err
		}
		if err := p.More.AddViews(ctx, r.t, r.a, opts.sample, rules, opts.Jobs); err != nil {
			return nil, err
		}
	}
	p.Timeline, err = r.drawing.Timeline(ctx, r.a, opts.Jobs)
	return p, err
}
