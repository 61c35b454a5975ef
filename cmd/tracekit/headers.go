package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/studies/headers"
)

// headersOptions are the dependencies and flags of headers.
type headersOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.GateFlags
	cli.FileFlags
	layout    int
	mask      []string
	transfers string
	costs     measurement.Costs
	top       int
	pair      [2]uint32
}

func newHeaders(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "headers TRACE...",
		Short: "Show what delayed each message",
		Long: `Headers replays the measurement of IMPuLSE. Every message carries a header of a few counters:
how the time on the path to this message was spent. A rank that waits for a message takes over
its header. So headers at the end of the run describe the run, while a host profile mostly
shows waiting.

It prints both views side by side, also by message size. The final header of each rank follows,
with eight explicit counters, and its distance from the critical path. A last table shows what two
ranks see that sample the run in rounds.

Traces do not record the time of the wire or of copying. Both are estimated from the smallest
times over bytes.`,
		Example: `  tracekit headers traces.otf2
  tracekit headers traces.otf2 -o views.png
  tracekit headers --mask wire --mask 'compute: interior' traces.otf2
  tracekit headers --json --fail-if 'path.error_share>0.1' traces.otf2`,
		Args: cobra.MinimumNArgs(1),
	}, &headersOptions{}, runHeaders)
}

func (o *headersOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags, &o.GateFlags)
	flags.Var(set, &o.layout, flags.Choice(int(headers.Layout92), int(headers.Layout96)), "layout", "92", "`bytes` of a header: 92 with "+
		"a hop count, 96 with a counter of monitoring time")
	flags.Var(set, &o.mask, flags.Repeated(flags.Text()), "mask", "", "`metric` without a counter of its own, such as wire or 'compute: "+
		"solve'; repeatable")
	flags.Var(set, &o.transfers, flags.Choice("model", "trace"), "transfers", "model", "transfer times in headers: from the `model`, as "+
		"a rank could know them, or from the trace")
	cli.AddMeasurement(set, &o.costs, measurement.Costs{})
	flags.Var(set, &o.pair, flags.Parsed(parsePair), "sample", "", "the two `ranks` that sample, such as 0,15 (default: two opposite "+
		"ranks)")
	flags.Top(set, &o.top, "10")
	o.AddFile(set, "also draw both views into this `file`, .png or .svg", "png", "svg")
}

// Validate checks every flag before any file is opened.
func (o *headersOptions) Validate() error {
	return cli.Validate(&o.MergeFlags, &o.SelectFlags, &o.FileFlags)
}

// parsePair reads two ranks such as "0,15"; nothing is twice the same.
func parsePair(s string) (pair [2]uint32, err error) {
	if s == "" {
		return pair, nil
	}
	words := strings.Split(s, ",")
	for i := 0; i < len(words) && len(words) == 2 && err == nil; i++ {
		var r uint64
		r, err = strconv.ParseUint(strings.TrimSpace(words[i]), 10, 31)
		pair[i] = uint32(r)
	}
	if err != nil || len(words) != 2 || pair[0] == pair[1] {
		return pair, errors.New("want two different ranks such as 0,15")
	}
	return pair, nil
}

func runHeaders(ctx context.Context, io *cli.Streams, opts *headersOptions) error {
	t, err := opts.Open(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if err := opts.Choose(ctx, t, opts.Jobs); err != nil {
		return err
	}
	a, err := opts.Analyze(ctx, io, t, analysis.Options{From: opts.From, To: opts.To, Top: 1})
	if err != nil {
		return err
	}
	p, err := headers.Make(ctx, t, a, headers.Options{Jobs: opts.Jobs, Layout: headers.Layout(opts.layout), Mask: opts.mask,
		Exact: opts.transfers == "trace", Cost: opts.costs, Ranks: opts.Ranks, Pair: opts.pair})
	if err != nil {
		return err
	}
	if opts.Output != "" {
		picture, err := figure.Views(report.PictureTitle(t.Source.Info()), p)
		if err != nil {
			return err
		}
		if err := opts.Draw(ctx, picture); err != nil {
			return err
		}
	}
	return opts.Finish(io, p, func() {
		r := io.Sections(opts.top)
		r.Writer = readers.WrittenBy(a.Trace.Format, a.Trace.Creator)
		show.Headers(r, p, a.Analysis)
		if opts.Output != "" {
			fmt.Fprintf(io.Out, "\nPicture: %s\n", opts.Output)
		}
		io.Explain()
	}, p.Findings, opts.Gate(p))
}
