package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/outcome"
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
	cli.MergeFlags
	cli.OutFlags
	cli.ShardFlag
}

func newConvert(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
	}, &convertOptions{}, runConvert)
}

func (o *convertOptions) Add(set *pflag.FlagSet) {
	o.addCopy(set)
	flags.Var(set, &o.Text, flags.Text(), "shard", "", "only write `share` i/n of the trace, 1/n to n/n, into the "+
		"directory OUT for 'tracekit combine'")
}

// Keep takes the trace and the name of the copy.
func (o *convertOptions) Keep(args []string) { o.Paths, o.Out = args[:len(args)-1], args[len(args)-1] }

func newReconstruct(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "reconstruct FILE.tkf -o TRACE",
		Short: "Rebuild a trace from formulae",
		Long: `Reconstruct writes the trace that a .tkf file contains, in any format of 'tracekit convert'.
Files of the lossless mode give the same events. Files of the stat mode give a reconstruction:
the structure is as recorded, durations are means or drawn from laws. Ranks wait for messages and
collectives as in the recorded run.`,
		Example: `  tracekit reconstruct run.tkf -o again
  tracekit reconstruct run.tkf -o again.prv`,
		Args: cobra.ExactArgs(1),
	}, &reconstructOptions{}, func(ctx context.Context, io *cli.Streams, opts *reconstructOptions) error {
		return runConvert(ctx, io, &opts.convertOptions)
	})
}

// reconstructOptions are those of convert, with the name of the trace behind -o.
type reconstructOptions struct{ convertOptions }

func (o *reconstructOptions) Add(set *pflag.FlagSet) {
	o.addCopy(set)
	set.StringVarP(&o.Out, "output", "o", "", "`trace` to write")
}

// Keep takes the file.
func (o *reconstructOptions) Keep(args []string) { o.Paths = args }

func (o *reconstructOptions) Validate() error {
	if o.Out == "" {
		return cli.Usagef("reconstruct: name the trace with -o TRACE")
	}
	return o.convertOptions.Validate()
}

// addCopy adds the flags of a copy.
func (o *convertOptions) addCopy(set *pflag.FlagSet) {
	o.AddClock(set, copyClock, "clock `correction` of the times that are written: none, auto, offsets or clc (default: auto "+
		"for Paraver, for others a copy of times and offsets)")
	o.AddFormat(set)
	set.BoolVar(&o.Plain, "plain", false, "Paraver only: leave out the extra event types that keep what Extrae cannot express")
}

// copyClock is the default of --clock: it depends on the format.
const copyClock = ""

// Validate also settles the format.
func (o *convertOptions) Validate() error {
	if err := o.OutFlags.Validate(); err != nil {
		return err
	}
	if o.Plain && !readers.Foreign(o.Format) {
		return cli.Usagef("--plain: format %s has no extra event types; it is for Paraver", readers.Label(o.Format))
	}
	if o.Clock == copyClock && readers.Foreign(o.Format) {
		o.Clock = "auto"
	}
	check := o.MergeFlags.Validate
	if o.Clock == copyClock {
		if check = o.ReadFlags.Validate; o.MinLatency != 0 {
			return cli.Usagef("--min-latency needs corrected times: add --clock auto or clc")
		}
	}
	return check()
}

func runConvert(ctx context.Context, io *cli.Streams, opts *convertOptions) error {
	in, err := opts.ReadFlags.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	src, clock, err := opts.timed(ctx, io, in)
	if err != nil {
		return err
	}
	events, lost, err := opts.WriteTrace(ctx, io, &opts.ReadFlags, src, in.Store)
	if err != nil {
		return err
	}
	return opts.report(io, in, src.Defs(), events, clock, lost, in.Findings())
}

// report says what was written, with these definitions.
func (opts *convertOptions) report(io *cli.Streams, in *cli.Input, defs *trace.Defs, events uint64, clock *document.Clock,
	lost map[string]uint64, findings []trace.Finding) error {
	doc := &outcome.Convert{
		Schema: convertSchema, In: in.Info().Path, InFormat: in.Info().Format, Out: opts.Out, OutFormat: opts.Format,
		Events: events, Rebuilt: document.RebuiltOf(in.Info()), Clock: clock, Measured: outcome.WithOffsets(defs), Lost: lost,
		Findings: analysis.FindingRows(findings),
	}
	return opts.Finish(io, doc, func() { show.Convert(io.Sections(0), doc) }, doc.Findings, func() ([]string, error) {
		if !opts.Strict || len(doc.Lost) == 0 {
			return nil, nil
		}
		return []string{"--strict: " + opts.Format + " cannot express all of this trace"}, nil
	})
}

// timed returns the trace with the times that are to be written and, unless they are copied,
// what was done about them.
func (o *convertOptions) timed(ctx context.Context, io *cli.Streams, in *cli.Input) (trace.Source, *document.Clock, error) {
	if o.Clock == copyClock {
		return in, nil, nil
	}
	t, err := o.Reconcile(ctx, io, in)
	if err != nil {
		return nil, nil, err
	}
	t.Release() // the clock is all that is needed of it
	clock := analysis.Clock(t)
	if o.Clock == string(merge.ClockNone) {
		return in, &clock, nil
	}
	return pattern.Moved(merge.Corrected(t), t), &clock, nil
}
