package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/reconstruct/diagram"
	"tracekit/report"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// spacetimeSchema names the JSON document of spacetime.
const spacetimeSchema = "tracekit.spacetime/1"

type spacetimeOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.FileFlags
	colorBy       string
	profile       string
	messages      string
	rows, sort    string
	whole         bool
	width, height int
	beside        string

	mode plots.MessageMode
}

func newSpacetime(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "spacetime TRACE -o FILE.png|FILE.svg",
		Short: "Draw the space-time diagram",
		Long: `Spacetime draws one bar for each rank and each device stream, with time from left to right. Colors
show what runs (computing, MPI by kind, kernels by class) and where a rank waits. A color depends
on the name and class of a region, so runs of a program look alike. Lines are messages and
collectives; more than 2,000 messages become a density behind the bars. If there are more events
than pixels, a column of pixels shows the largest shares of time.

Ranks that other ranks wait for most are marked. They stand on top if rows are thin.

MPI_Init and MPI_Finalize are left out if they take more than 2 % of the run. --whole, --from and
--to include them. Threads and streams of a process share one row if each would have less
than 3 pixels.`,
		Example: `  tracekit spacetime traces.otf2 -o run.png
  tracekit spacetime --from 40% --to 42% --ranks 0-15 --messages all traces.otf2 -o detail.svg
  tracekit spacetime --side-by-side run.tkf traces.otf2 -o both.png`,
		Args: cobra.MinimumNArgs(1),
	}, &spacetimeOptions{}, runSpacetime)
}

func (o *spacetimeOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags)
	o.AddFile(set, "`file` to write, .png or .svg", "png", "svg")
	flags.Var(set, &o.colorBy, flags.Choice("region", "paradigm", "wait", "overhead"), "color-by", "region", "meaning of colors: region, "+
		"paradigm, wait or overhead (MPI calls by their time beyond what they need)")
	addProfileFlag(set, &o.profile)
	flags.Var(set, &o.messages, flags.Choice("auto", "all", "none"), "messages", "auto", "message lines: auto, all (up to 65,536, "+
		"then a density) or none")
	flags.Var(set, &o.rows, flags.Choice("auto", "processes", "threads", "devices", "all"), "rows", "auto", "rows: auto (processes "+
		"and device streams), processes, threads, devices or all")
	flags.Var(set, &o.sort, flags.Choice("none", "time", "wait", "name"), "sort", "none", "order of ranks: time (most computation "+
		"first), wait (most waiting first), name or none")
	set.BoolVar(&o.whole, "whole", false, "also draw startup and end")
	flags.Var(set, &o.width, flags.Int(200, 20000), "width", "1600", "width in `pixels`")
	flags.Var(set, &o.height, flags.Int(0, 20000), "height", "0", "height in `pixels`; 0: chosen by the number of ranks")
	set.StringVar(&o.beside, "side-by-side", "", "draw this second `trace` (or .tkf) below the first, on the same time axis")
}

func (o *spacetimeOptions) Validate() error {
	if o.Output == "" {
		return cli.Usagef("spacetime: name the picture with -o FILE.png or -o FILE.svg")
	}
	if o.profile != "" && o.colorBy != string(diagram.ByOverhead) {
		return cli.Usagef("--profile needs --color-by overhead")
	}
	o.mode = map[string]plots.MessageMode{"auto": plots.AutoMessages, "all": plots.AllMessages, "none": plots.NoMessages}[o.messages]
	if err := cli.Validate(&o.MergeFlags, &o.SelectFlags, &o.FileFlags); err != nil {
		return err
	}
	if o.beside != "" {
		o.Traces = 2
	}
	return nil
}

func runSpacetime(ctx context.Context, io *cli.Streams, opts *spacetimeOptions) error {
	inputs := [][]string{opts.Paths}
	if opts.beside != "" {
		inputs = append(inputs, []string{opts.beside})
	}
	var sides []*trace.Trace
	for _, paths := range inputs {
		t, err := opts.Open(ctx, io, paths...)
		if err != nil {
			return err
		}
		defer t.Source.Close()
		sides = append(sides, t)
	}
	if err := opts.Choose(ctx, sides[0], opts.Jobs); err != nil {
		return err
	}
	figure, err := drawSides(ctx, io, opts, sides)
	if err != nil {
		return err
	}
	if err := opts.Draw(ctx, figure); err != nil {
		return err
	}
	doc := &outcome.Spacetime{Schema: spacetimeSchema, Out: opts.Output, Findings: []document.Finding{}}
	doc.Width, doc.Height = figure.Size()
	for _, t := range sides {
		doc.Findings = append(doc.Findings, analysis.FindingRows(cli.FindingsOf(t))...)
		doc.Rebuilt = append(doc.Rebuilt, document.RebuiltOf(t.Source.Info()))
	}
	return opts.Finish(io, doc, func() {
		show.Spacetime(io.Sections(0), doc, func(i int) string { return sides[i].Source.Info().Path })
	}, doc.Findings)
}

// drawSides draws the traces one above the other.
func drawSides(ctx context.Context, io *cli.Streams, opts *spacetimeOptions, sides []*trace.Trace) (*plots.Figure, error) {
	if len(sides) > 1 {
		opts.fix(sides)
	}
	var drawn []*plots.Timeline
	for _, t := range sides {
		timeline, err := drawTrace(ctx, io, opts, t)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, timeline)
	}
	return plots.Stack(drawn...)
}

func drawTrace(ctx context.Context, io *cli.Streams, opts *spacetimeOptions, t *trace.Trace) (*plots.Timeline, error) {
	waits, overheads, err := waitsOf(ctx, io, opts, t)
	if err != nil {
		return nil, err
	}
	return cli.Watch(io, opts.Quiet, "drawing", func(p *engine.Progress) (*plots.Timeline, error) {
		return diagram.Draw(ctx, t, waits, diagram.Options{
			Title: report.PictureTitle(t.Source.Info()), Ranks: opts.Ranks, From: opts.From, To: opts.To, Whole: opts.whole,
			Rows: diagram.Rows(opts.rows), Sort: diagram.Sort(opts.sort), ColorBy: diagram.ColorBy(opts.colorBy),
			Overhead: overheads, Messages: opts.mode, Width: opts.width, Height: opts.height, Jobs: opts.Jobs, Progress: p,
		})
	})
}

// waitsOf finds wait states and, if colors say it, the overhead of calls.
func waitsOf(ctx context.Context, io *cli.Streams, opts *spacetimeOptions, t *trace.Trace) (waits.ByCall, overhead.ByCall, error) {
	if opts.colorBy != string(diagram.ByOverhead) {
		w, err := waits.Find(ctx, t, opts.Jobs)
		return w, nil, err
	}
	profile, err := cli.ReadProfile(opts.profile)
	if err != nil {
		return nil, nil, err
	}
	cli.WarnOfProfile(io, profile, t.Source, cli.DefaultQuantile)
	a, err := opts.Analyze(ctx, io, t, analysis.Options{Top: 1,
		Overhead: &overhead.Options{Fit: fit.Options{Quantile: cli.DefaultQuantile, Brief: true}, Profile: profile, PerCall: true}})
	if err != nil {
		return nil, nil, err
	}
	return a.Waits, a.CallOverhead, nil
}

// fix makes the selected stretch of the first trace that of all: the same times, not the
// same shares of their runs. An open end is that of the longest run.
func (o *spacetimeOptions) fix(sides []*trace.Trace) {
	longest := int64(0)
	for _, t := range sides {
		longest = max(longest, runLength(t))
	}
	at := func(i scope.Instant, unset int64) scope.Instant {
		return scope.Instant{Kind: scope.AfterNs, Ns: i.At(runLength(sides[0]), unset)}
	}
	o.From, o.To = at(o.From, 0), at(o.To, longest)
}

// runLength returns the time from the first event to the last in ns.
func runLength(t *trace.Trace) int64 {
	first, last := scope.Run(t)
	return t.Defs.Clock.Nanoseconds(last - first)
}
