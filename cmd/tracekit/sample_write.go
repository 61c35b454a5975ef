package main

import (
	"context"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/readers/arrowdir"
	"tracekit/reduce"
	"tracekit/report/figure"
	"tracekit/report/parquet"
	"tracekit/stats/studies/sampling"
	"tracekit/trace"
)

// writeSampleDir writes pictures of all configurations and the messages that WRITE has sampled.
func writeSampleDir(ctx context.Context, opts *sampleOptions, t *trace.Trace, d *sampling.Document) error {
	return opts.pictures.Fill(ctx, opts.Jobs, d.Trace.Rebuilt != nil, func(dir *cli.ReportDir) error {
		dir.JSON("sample.json", d)
		for _, x := range d.Results() {
			if x.Settings.Analysis == sampling.Write.String() {
				dir.Table(newMessageTable(t, x))
			}
		}
		return figure.Sample(d, dir.Figure)
	})
}

// newMessageTable returns the table of the messages that a configuration has sampled: as
// the table of all messages of a report, with what is known of both ends.
func newMessageTable(t *trace.Trace, x *sampling.Result) arrowdir.Table {
	m := parquet.NewMaker(t, nil)
	table := m.Messages()
	table.Name = x.Configuration
	table.Fill = func(r *arrowdir.Rows) {
		for l, i := range x.Messages {
			if !m.Message(r, l, i).End() {
				return
			}
		}
	}
	return table
}

// A writtenTrace says what was written.
type writtenTrace struct {
	configuration string
	events        uint64
	lost          map[string]uint64
}

// writeSampledTrace writes the trace of the messages that a configuration has sampled.
func writeSampledTrace(ctx context.Context, io *cli.Streams, opts *sampleOptions, t *trace.Trace,
	x *sampling.Result) (*writtenTrace, error) {
	r, err := reduce.Apply(ctx, t, []reduce.Rule{x.Rule()}, reduce.Options{Jobs: opts.Jobs})
	if err != nil {
		return nil, err
	}
	events, lost, err := opts.written.WriteTrace(ctx, io, &opts.ReadFlags, r.Source(t.Source), t.Store)
	return &writtenTrace{x.Configuration, events, lost}, err
}
