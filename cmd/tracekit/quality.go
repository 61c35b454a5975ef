package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/reconstruct/difference"
)

// fourTraces compares two runs and what is rebuilt of both from statistics (the AIMS paper's table 6).
func fourTraces(ctx context.Context, io *cli.Streams, opts *compareOptions, a, b *side, events *difference.Differences) (
	rows []outcome.QualityRow, err error) {
	dir, err := os.MkdirTemp("", "tracekit")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var rebuilt [2]*side
	for i, run := range []*side{a, b} {
		if rebuilt[i], err = rebuild(ctx, io, opts, run, filepath.Join(dir, []string{"1", "2"}[i]+".tkf")); err != nil {
			return nil, err
		}
		defer rebuilt[i].Close()
	}
	rows = append(rows, outcome.NewQualityRow("event 1", "event 2", events, events))
	for _, pair := range []struct {
		a, b         *side
		nameA, nameB string
	}{{a, rebuilt[0], "event 1", "stat 1"}, {b, rebuilt[1], "event 2", "stat 2"}, {rebuilt[0], rebuilt[1], "stat 1", "stat 2"}} {
		d, err := compareSides(ctx, io, opts, pair.a, pair.b)
		if err != nil {
			return nil, err
		}
		rows = append(rows, outcome.NewQualityRow(pair.nameA, pair.nameB, events, d))
	}
	return rows, nil
}

// rebuild writes the statistics of a run to a file, and opens what is rebuilt from it.
func rebuild(ctx context.Context, io *cli.Streams, opts *compareOptions, run *side, path string) (*side, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = tkf.Compress(ctx, run.t.Source, f, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: 1, Jobs: opts.Jobs})
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return openSide(ctx, io, opts, path)
}
