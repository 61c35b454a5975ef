package main

import (
	"context"
	"fmt"
	"io"

	"tracekit/page"
	"tracekit/plots"
	"tracekit/reconstruct/diagram"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/parquet"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// writeReport writes everything about an analysis into a directory: the report as text,
// the document as JSON, calls, messages and collectives as Parquet, the space-time diagram, the
// communication matrix and the overhead of MPI calls as pictures.
func writeReport(ctx context.Context, s *streams, opts *analyzeOptions, t *trace.Trace, a *analysis.Result, drawing *page.Drawing) error {
	out := newReportDir(opts.outDir)
	out.rebuilt = a.Trace.Rebuilt != nil
	return out.close(ctx, opts.jobs, fillReport(ctx, s, opts, t, a, drawing, out))
}

func fillReport(ctx context.Context, s *streams, opts *analyzeOptions, t *trace.Trace, a *analysis.Result, drawing *page.Drawing,
	out *reportDir) error {
	out.file("report.txt", func(w io.Writer) error {
		r := &report.Sections{W: text.Writer{W: w}, Width: 160, Top: opts.top, Analysis: &a.Analysis,
			Writer: writtenBy(a.Trace.Format, a.Trace.Creator)}
		opts.overview(r).Print()
		fmt.Fprintln(r.W)
		r.Print()
		return nil
	})
	out.json("analysis.json", a)
	index, err := newPage(&pageFlags{}, t, a, page.DefaultSize)
	if err != nil {
		return err
	}
	if a.Selection == nil {
		index.Timeline, err = drawing.Timeline(ctx, a, opts.jobs)
	} else { // the analysis has not decoded all
		index.Timeline, err = page.NewTimeline(ctx, t, a, page.Bounds(page.DefaultSize), opts.jobs)
	}
	if err != nil {
		return err
	}
	out.file("index.html", func(w io.Writer) error {
		index.Files = out.names
		html, err := index.Encode(ctx)
		if err == nil {
			_, err = w.Write(html)
		}
		return err
	})
	for _, table := range parquet.Tables(t, a) {
		out.table(table)
	}
	if len(t.World) > 0 && a.Trace.DurationNs > 0 {
		timeline, err := drawReport(ctx, s, opts, t, a.Waits)
		if err != nil {
			return err
		}
		out.figure("spacetime", timeline.Figure())
	}
	return figure.Analysis(a, len(t.World), opts.top, out.figure)
}

func drawReport(ctx context.Context, io *streams, opts *analyzeOptions, t *trace.Trace, waits waits.ByCall) (*plots.Timeline, error) {
	bar := startProgress(io, opts.quiet, "drawing")
	defer bar.done()
	return diagram.Draw(ctx, t, waits, diagram.Options{
		Title: report.PictureTitle(t.Source.Info()), Ranks: opts.ranks, From: opts.from, To: opts.to,
		ColorBy: diagram.ByRegion, Jobs: opts.jobs, Progress: &bar.Progress,
	})
}
