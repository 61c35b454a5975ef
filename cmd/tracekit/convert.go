package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tracekit/readers"
	"tracekit/stats"
	"tracekit/trace"
)

// convertSchema names the JSON document of convert.
const convertSchema = "tracekit.convert/1"

type convertOptions struct {
	traceFlags
	in     []string
	out    string
	format string
	force  bool
}

// A convertDocument says what was written and what the target format cannot express.
type convertDocument struct {
	Schema    string            `json:"schema"`
	In        string            `json:"in"`
	InFormat  string            `json:"in_format"`
	Out       string            `json:"out"`
	OutFormat string            `json:"out_format"`
	Events    uint64            `json:"events"`
	Lost      map[string]uint64 `json:"lost"`     // not representable in the target format, by what it is
	Findings  []stats.Finding   `json:"findings"` // of reading
}

func newConvert(io *streams, run func(context.Context, *streams, *convertOptions) error) *cobra.Command {
	opts := &convertOptions{}
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Write a trace in another format",
		Long: `Convert writes a trace as OTF2, Paraver, JSON (Chrome trace events), Arrow IPC or Parquet.
The name says which: X.otf2 or a directory X, X.prv, X.prv.gz, X.json, X.json.gz, and the
directories X.arrow and X.parquet; --format says it where the name does not. What the
target format cannot express is counted and printed. The output appears complete or not at
all.`,
		Example: `  tracekit convert traces.otf2 run.prv
  tracekit convert traces.otf2 run.json.gz
  tracekit convert rank*.json.gz run.parquet
  duckdb -c "select k.name, count(*) from 'run.parquet/events/flow.parquet' e
             join 'run.parquet/defs/kind.parquet' k on e.kind = k.id group by k.name"`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			opts.in, opts.out = args[:len(args)-1], args[len(args)-1]
			if opts.format != "" && !slices.Contains(readers.Formats(), opts.format) {
				return usagef("--format %q: want %s", opts.format, strings.Join(readers.Formats(), ", "))
			}
			if err := checkTrace(opts.out, opts.force); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	set := cmd.Flags()
	set.BoolVarP(&opts.quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&opts.json, "json", false, "one JSON document instead of text")
	set.BoolVar(&opts.strict, "strict", false, "exit with 4 if data of the trace were lost in reading or writing")
	set.StringVar(&opts.format, "format", "", "`format` to write: "+strings.Join(readers.Formats(), ", "))
	set.BoolVar(&opts.force, "force", false, "overwrite what is there")
	return cmd
}

func runConvert(ctx context.Context, io *streams, opts *convertOptions) error {
	src, err := openTrace(ctx, opts.in)
	if err != nil {
		return err
	}
	defer src.Close()
	format := opts.format
	if format == "" {
		format = readers.FormatOf(opts.out)
	}
	w, err := readers.Create(opts.out, format, opts.force, src.Info(), src.Defs())
	if err != nil {
		return err
	}
	events, err := copyEvents(ctx, io, opts.quiet, src, w)
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	if err := w.Close(); err != nil {
		return err
	}
	doc := &convertDocument{
		Schema: convertSchema, In: src.Info().Path, InFormat: src.Info().Format, Out: opts.out, OutFormat: format,
		Events: events, Lost: lostBy(w), Findings: stats.FindingRows(src.Findings()),
	}
	if opts.json {
		err = printJSON(io.Out, doc)
	} else {
		doc.print(io)
	}
	if err != nil {
		return err
	}
	reasons := strictly(opts.strict, doc.Findings)
	if opts.strict && len(doc.Lost) > 0 {
		reasons = append(reasons, "--strict: "+format+" cannot express all of this trace")
	}
	return gate(reasons)
}

// lostBy returns what a writer counted, never nil.
func lostBy(w readers.Writer) map[string]uint64 {
	lost := w.Lost()
	if lost == nil {
		lost = map[string]uint64{}
	}
	return lost
}

// copyEvents gives all events to a sink, location by location.
func copyEvents(ctx context.Context, io *streams, quiet bool, src trace.Source, w trace.Sink) (events uint64, err error) {
	bar := startProgress(io, quiet, "converting")
	defer bar.done()
	bar.Total.Store(announcedEvents(src.Defs()))
	for l := range src.Defs().Locations {
		for b, err := range src.Events(ctx, trace.LocationID(l)) {
			if err != nil {
				return events, err
			}
			if err := w.Write(b); err != nil {
				return events, err
			}
			events += uint64(b.Len())
			bar.Done.Store(events)
		}
	}
	return events, nil
}

func (doc *convertDocument) print(io *streams) {
	fmt.Fprintf(io.Out, "%s (%s) → %s (%s): %s\n", doc.In, doc.InFormat, doc.Out, doc.OutFormat, plural(int(doc.Events), "event", "events"))
	if len(doc.Lost) == 0 {
		fmt.Fprintln(io.Out, "Nothing was lost.")
	} else {
		fmt.Fprintln(io.Out, "\nLost, because the format cannot express it")
		for _, what := range sortedKeys(doc.Lost) {
			fmt.Fprintf(io.Out, "  %12s  %s\n", formatCount(doc.Lost[what]), what)
		}
	}
	if len(doc.Findings) > 0 {
		printFindings(io.Out, "Findings", doc.Findings)
	}
}
