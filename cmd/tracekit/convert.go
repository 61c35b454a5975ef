package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce/pattern"
	"tracekit/report/show"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// convertSchema names the JSON document of convert.
const convertSchema = "tracekit.convert/1"

type convertOptions struct {
	mergeFlags
	in     []string
	out    string
	format string
	plain  bool
	force  bool
	shard  shardFlag
}

func newConvert(io *streams, run func(context.Context, *streams, *convertOptions) error) *cobra.Command {
	opts := &convertOptions{}
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Write a trace in another format",
		Long: text.Wrap("Convert writes a trace in another format: "+strings.Join(readers.Formats(),
			", ")+". The name of the output selects it: it ends in "+
			readers.Extensions()+". A name without extension is a directory for "+readers.FormatOf("X")+". --format overrides the name. "+
			"JSON has Chrome's trace events; Arrow and Parquet are directories of tables. "+
			"What the target format cannot express is counted and printed. The output appears complete or not at all.", helpWidth, 0) + `

Times are copied as recorded, with the measured clock offsets. Paraver has one time axis only,
so its traces get corrected times, as in an analysis. --clock writes corrected times into any
format. It prints the correction, and how many messages run backwards before and after.

--shard writes only a share of the locations: of ` + strings.Join(readers.PartFormats(), " or ") + ` as a part of OUT, which
'tracekit combine OUT' completes; of an OTF2 archive as a file in the directory OUT, which
'tracekit combine OUT -o ARCHIVE' joins.`,
		Example: `  tracekit convert traces.otf2 run.prv
  tracekit convert --clock auto traces.otf2 run.json.gz
  tracekit convert rank*.json.gz run.parquet
  duckdb -c "select k.name, count(*) from 'run.parquet/events/flow.parquet' e
             join 'run.parquet/defs/kind.parquet' k on e.kind = k.id group by k.name"`,
		Args: cobra.MinimumNArgs(2),
		RunE: sharded(io, opts, &opts.shard, func(args []string) { opts.in, opts.out = args[:len(args)-1], args[len(args)-1] }, run),
	}
	opts.addFlags(cmd.Flags())
	cli.Var(cmd.Flags(), &opts.shard.text, cli.Text(), "shard", "", "only write `share` i/n of the trace, 1/n to n/n, into the "+
		"directory OUT for 'tracekit combine'")
	return cmd
}

func newReconstruct(io *streams, run func(context.Context, *streams, *convertOptions) error) *cobra.Command {
	opts := &convertOptions{}
	cmd := &cobra.Command{
		Use:   "reconstruct FILE.tkf -o TRACE",
		Short: "Rebuild a trace from formulae",
		Long: `Reconstruct writes the trace that a .tkf file contains, in any format of 'tracekit convert'.
Files of the lossless mode give the same events. Files of the stat mode give a reconstruction:
the structure is as recorded, durations are means or drawn from laws. Ranks wait for messages and
collectives as in the recorded run.`,
		Example: `  tracekit reconstruct run.tkf -o again
  tracekit reconstruct run.tkf -o again.prv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.in = args
			if opts.out == "" {
				return usagef("reconstruct: name the trace with -o TRACE")
			}
			if err := opts.validate(); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	cmd.Flags().StringVarP(&opts.out, "output", "o", "", "`trace` to write")
	return cmd
}

func (o *convertOptions) addFlags(set *pflag.FlagSet) {
	o.mergeFlags.addClock(set, copyClock, "clock `correction` of the times that are written: none, auto, offsets or clc (default: auto for Paraver, for others a copy of times and offsets)")
	cli.Var(set, &o.format, cli.Choice(readers.Formats()...), "format", "", "`format` to write: "+strings.Join(readers.Formats(),
		", ")+" (default: as the name says)")
	set.BoolVar(&o.plain, "plain", false, "Paraver only: leave out the extra event types that keep what Extrae cannot express")
	set.BoolVar(&o.force, "force", false, forceUsage)
}

// copyClock is the default of --clock: it depends on the format.
const copyClock = ""

// validate also settles the format.
func (o *convertOptions) validate() error {
	var err error
	if o.format, err = outputFormat(o.out, o.format); err != nil {
		return err
	}
	if o.plain && !readers.Foreign(o.format) {
		return usagef("--plain: format %s has no extra event types; it is for Paraver", readers.Label(o.format))
	}
	if o.clock == copyClock && readers.Foreign(o.format) {
		o.clock = "auto"
	}
	check := o.mergeFlags.validate
	if o.clock == copyClock {
		if check = o.readFlags.validate; o.minLatency != 0 {
			return usagef("--min-latency needs corrected times: add --clock auto or clc")
		}
	}
	if err := check(); err != nil {
		return err
	}
	return checkTrace(o.out, o.force)
}

func runConvert(ctx context.Context, io *streams, opts *convertOptions) error {
	in, err := opts.readFlags.open(ctx, opts.in...)
	if err != nil {
		return err
	}
	defer in.Close()
	src, clock, err := opts.timed(ctx, io, in)
	if err != nil {
		return err
	}
	w, err := readers.Create(opts.out, src.Info(), src.Defs(),
		readers.CreateOptions{Format: opts.format, Plain: opts.plain, Force: opts.force, Jobs: opts.jobs, Store: in.store, Context: ctx})
	if errors.Is(err, fs.ErrExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	events, err := opts.copyEvents(ctx, io, src, w)
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	if err := w.Close(); err != nil {
		return err
	}
	return opts.report(io, in, src.Defs(), events, clock, lostBy(w), in.Findings())
}

// report says what was written, with these definitions.
func (opts *convertOptions) report(io *streams, in *input, defs *trace.Defs, events uint64, clock *document.Clock, lost map[string]uint64,
	findings []trace.Finding) error {
	doc := &outcome.Convert{
		Schema: convertSchema, In: in.Info().Path, InFormat: in.Info().Format, Out: opts.out, OutFormat: opts.format,
		Events: events, Rebuilt: document.RebuiltOf(in.Info()), Clock: clock, Measured: withOffsets(defs), Lost: lost, Findings: analysis.FindingRows(findings),
	}
	return opts.finish(io, doc, func() { show.Convert(io.sections(0), doc) }, doc.Findings, func() ([]string, error) {
		if !opts.strict || len(doc.Lost) == 0 {
			return nil, nil
		}
		return []string{"--strict: " + opts.format + " cannot express all of this trace"}, nil
	})
}

// timed returns the trace with the times that are to be written and, unless they are copied,
// what was done about them.
func (o *convertOptions) timed(ctx context.Context, io *streams, in *input) (trace.Source, *document.Clock, error) {
	if o.clock == copyClock {
		return in, nil, nil
	}
	t, err := o.reconcile(ctx, io, in)
	if err != nil {
		return nil, nil, err
	}
	t.Release() // the clock is all that is needed of it
	clock := analysis.Clock(t)
	if o.clock == string(merge.ClockNone) {
		return in, &clock, nil
	}
	return pattern.Moved(merge.Corrected(t), t), &clock, nil
}

// withOffsets returns the number of locations with measured clock offsets.
func withOffsets(d *trace.Defs) (n int) {
	for _, l := range d.Locations {
		if len(l.ClockOffsets) > 1 {
			n++
		}
	}
	return n
}

// lostBy returns what a writer counted, never nil.
func lostBy(w readers.Writer) map[string]uint64 {
	lost := w.Lost()
	if lost == nil {
		lost = map[string]uint64{}
	}
	return lost
}

// copyEvents gives all events to a sink, and returns their number.
func (f *readFlags) copyEvents(ctx context.Context, io *streams, src trace.Source, w trace.Sink) (uint64, error) {
	bar := startProgress(io, f.quiet, "converting")
	defer bar.done()
	events, err := engine.Copy(ctx, src, w, engine.Options{Jobs: f.jobs, Progress: &bar.Progress})
	return sumOf(events), err
}

// sumOf adds up the numbers of locations; nil: none is known.
func sumOf(numbers []*uint64) (sum uint64) {
	for _, n := range numbers {
		if n != nil {
			sum += *n
		}
	}
	return sum
}
