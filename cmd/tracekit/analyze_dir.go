package main

import (
	"context"
	"fmt"
	"io"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/page"
	"tracekit/plots"
	"tracekit/readers"
	"tracekit/reconstruct/diagram"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/parquet"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/waits"
	"tracekit/topology"
	"tracekit/trace"
)

// fillReport puts everything about an analysis into a directory: the report as text,
// the document as JSON, calls, messages and collectives as Parquet, the space-time diagram, the
// communication matrix and the overhead of MPI calls as pictures.
func fillReport(ctx context.Context, s *cli.Streams, opts *analyzeOptions, t *trace.Trace, a *analysis.Result, drawing *page.Drawing,
	out *cli.ReportDir) error {
	out.File("report.txt", func(w io.Writer) error {
		r := &report.Sections{W: text.Writer{W: w}, Width: 160, Top: opts.top, Analysis: &a.Analysis,
			Writer: readers.WrittenBy(a.Trace.Format, a.Trace.Creator)}
		opts.overview(r).Print()
		fmt.Fprintln(r.W)
		r.Print()
		return nil
	})
	out.JSON("analysis.json", a)
	index, err := newPage(&pageFlags{}, t, a, page.DefaultSize)
	if err != nil {
		return err
	}
	if a.Selection == nil {
		index.Timeline, err = drawing.Timeline(ctx, a, opts.Jobs)
	} else { // the analysis has not decoded all
		index.Timeline, err = page.NewTimeline(ctx, t, a, page.Bounds(page.DefaultSize), opts.Jobs)
	}
	if err != nil {
		return err
	}
	out.File("index.html", func(w io.Writer) error {
		index.Files = out.Names
		html, err := index.Encode(ctx)
		if err == nil {
			_, err = w.Write(html)
		}
		return err
	})
	for _, table := range parquet.Tables(t, a) {
		out.Table(table)
	}
	if len(t.World) > 0 && a.Trace.DurationNs > 0 {
		timeline, err := drawReport(ctx, s, opts, t, a.Waits)
		if err != nil {
			return err
		}
		out.Figure("spacetime", timeline.Figure())
	}
	if err := drawPlaces(opts, t, a, out); err != nil {
		return err
	}
	return figure.Analysis(a, len(t.World), opts.top, out.Figure)
}

// drawPlaces draws metrics of ranks on their topology, if there is one.
func drawPlaces(opts *analyzeOptions, t *trace.Trace, a *analysis.Result, out *cli.ReportDir) (err error) {
	top := topology.OfTrace(t.Defs, opts.topology)
	if top == nil && opts.topology != "" {
		if top, err = topology.At(opts.topology, len(t.World)); err != nil {
			return cli.Usagef("--topology: %w", err)
		}
	}
	if top == nil {
		return nil
	}
	metrics := opts.placed
	if len(metrics) == 0 {
		metrics = analysis.RankMetrics()
	}
	return figure.Topology(words.TraceName(a.Trace.Path), t, a, top, metrics, out.Figure)
}

func drawReport(ctx context.Context, io *cli.Streams, opts *analyzeOptions, t *trace.Trace, waits waits.ByCall) (*plots.Timeline, error) {
	return cli.Watch(io, opts.Quiet, "drawing", func(p *engine.Progress) (*plots.Timeline, error) {
		return diagram.Draw(ctx, t, waits, diagram.Options{
			Title: report.PictureTitle(t.Source.Info()), Ranks: opts.Ranks, From: opts.From, To: opts.To,
			ColorBy: diagram.ByRegion, Jobs: opts.Jobs, Progress: p,
		})
	})
}
