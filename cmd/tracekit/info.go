package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/readers"
	"tracekit/report/show"
	"tracekit/stats/analysis"
)

type infoOptions struct {
	cli.ReadFlags
	counts bool
}

func newInfo(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "info TRACE...",
		Short: "Show what a trace contains",
		Long: `Info prints the content of a trace: format, recorder, processes, threads, communicators, time
span, clock, notes. It reads only definitions. --counts reads all events and counts them by
kind, including snapshots, markers and thumbnails of an OTF2 archive.

TRACE is

  ` + strings.Join(readers.Known(), "\n  ") + `

The format is recognized by content, also in gzip files. Any file of a trace, or a directory with
one trace, may be named instead.`,
		Example: `  tracekit info scorep-20261121/traces.otf2
  tracekit info --counts --json scorep-20261121`,
		Args: cobra.MinimumNArgs(1),
	}, &infoOptions{}, runInfo)
}

func (o *infoOptions) Add(set *pflag.FlagSet) {
	o.ReadFlags.Add(set)
	set.BoolVar(&o.counts, "counts", false, "read all events and count them by kind")
}

func runInfo(ctx context.Context, io *cli.Streams, opts *infoOptions) error {
	src, err := opts.Open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	doc := outcome.NewInfo(src)
	if opts.counts {
		if _, err := cli.Watch(io, opts.Quiet, "counting", func(p *engine.Progress) (any, error) {
			return nil, doc.Count(ctx, src, readers.ExtraCounts(src), engine.Options{Jobs: opts.Jobs, Progress: p})
		}); err != nil {
			return err
		}
	}
	doc.Findings = analysis.FindingRows(src.Findings())
	return opts.Finish(io, doc, func() { show.Info(io.Sections(0), doc, readers.Label(doc.Trace.Format)) }, doc.Findings)
}
