package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/reconstruct/difference"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// studySchema names the JSON document of formulae --each.
const studySchema = "tracekit.formulaestudy/1"

// compareRuns says of several traces what formulae of each are worth.
func (o *formulaeOptions) compareRuns(ctx context.Context, io *cli.Streams) (err error) {
	dir, err := os.MkdirTemp("", "tracekit")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	doc := &outcome.FormulaeStudy{Schema: studySchema}
	for _, path := range o.Paths {
		row, err := o.studied(ctx, io, path, filepath.Join(dir, "x.tkf"), doc)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		doc.Runs = append(doc.Runs, *row)
	}
	slices.SortStableFunc(doc.Runs, func(a, b outcome.StudiedRun) int {
		return cmp.Or(cmp.Compare(a.Processes, b.Processes), cmp.Compare(a.Records, b.Records))
	})
	err = o.pictures.Fill(ctx, o.Jobs, false, func(dir *cli.ReportDir) error {
		dir.JSON("formulae.json", doc)
		return figure.FormulaeStudy(doc, dir.Figure)
	})
	if err != nil {
		return err
	}
	return o.Finish(io, doc, func() { show.FormulaeStudy(io.Sections(o.top), doc, o.pictures.Dir) }, doc.Findings)
}

// studied compresses a trace with laws and with means, and compares what is rebuilt with it.
func (o *formulaeOptions) studied(ctx context.Context, io *cli.Streams, path, file string,
	doc *outcome.FormulaeStudy) (*outcome.StudiedRun, error) {
	t, err := o.reconciled(ctx, io, path)
	if err != nil {
		return nil, err
	}
	defer t.Store.Close()
	defer t.Source.Close()
	row := &outcome.StudiedRun{Path: path, Processes: len(t.World), Bytes: t.Source.Info().Bytes}
	for _, s := range t.Span {
		row.Records += s.Events
	}
	for _, durations := range []formulae.Durations{formulae.Means, formulae.Laws} {
		begin := time.Now()
		report, err := o.compress(ctx, io, t.Source, file, durations)
		if err != nil {
			return nil, err
		}
		took := time.Since(begin)
		d, err := o.rebuiltFrom(ctx, io, t, file)
		if err != nil {
			return nil, err
		}
		kept := outcome.StudiedFile{Bytes: report.Sizes.File, Bound: *report.Sizes.Bound, PositionSpread: d.Position.Spread(),
			BlockSpread: d.Block.Spread(), Compress: took.Nanoseconds()}
		if durations == formulae.Means {
			row.Means = kept
		} else {
			row.Laws = kept
		}
	}
	doc.Findings = append(doc.Findings, analysis.FindingRows(t.Findings)...)
	return row, nil
}

// compress writes the statistics of a trace.
func (o *formulaeOptions) compress(ctx context.Context, io *cli.Streams, src trace.Source, file string, durations formulae.Durations) (
	*tkf.Report, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	report, err := cli.Watch(io, o.Quiet, "compressing", func(p *engine.Progress) (*tkf.Report, error) {
		return tkf.Compress(ctx, src, f, tkf.Options{Mode: tkf.Statistics, Form: o.form, Durations: durations, Seed: 1, Jobs: o.Jobs,
			Progress: p})
	})
	return report, errors.Join(err, f.Close())
}

// rebuiltFrom compares what is rebuilt from a file with the trace.
func (o *formulaeOptions) rebuiltFrom(ctx context.Context, io *cli.Streams, t *trace.Trace, file string) (*difference.Differences, error) {
	again, err := o.reconciled(ctx, io, file)
	if err != nil {
		return nil, err
	}
	defer again.Store.Close()
	defer again.Source.Close()
	return cli.Watch(io, o.Quiet, "comparing", func(p *engine.Progress) (*difference.Differences, error) {
		return difference.Find(ctx, t, again, difference.Options{Jobs: o.Jobs, Progress: p})
	})
}

// reconciled opens a trace and reconciles it.
func (o *formulaeOptions) reconciled(ctx context.Context, io *cli.Streams, path string) (*trace.Trace, error) {
	m := cli.MergeFlags{ReadFlags: o.ReadFlags, Clock: string(merge.ClockAuto)}
	return m.Open(ctx, io, path)
}
