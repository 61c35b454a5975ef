package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/delays"
	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// explainOptions are the dependencies and flags of explain.
type explainOptions struct {
	mergeFlags
	gateFlags
	path  string
	which string // RANK@TIME or PLACE; "": the longest wait
	rank  uint32
	at    scope.Instant
	timed bool // which is RANK@TIME
}

// explainSchema names the document.
const explainSchema = "tracekit.explain/1"

type explainDocument struct {
	Schema   string             `json:"schema"`
	Trace    document.TraceInfo `json:"trace"`
	Chain    []delays.Link      `json:"chain"` // the wait first, its origin last; empty: no call waits there
	Findings []document.Finding `json:"findings"`
}

func newExplain(io *streams, run func(context.Context, *streams, *explainOptions) error) *cobra.Command {
	opts := &explainOptions{}
	cmd := &cobra.Command{
		Use:   "explain TRACE [RANK@TIME | PLACE]",
		Short: "Follow one wait back to its origin",
		Long: `Explain tells why a call waits: for whom, what that rank did longer since the two last met
and, if it waited itself, why, and so on to the origin.

The wait is that of a rank at a time from the start of the run (3@1.5s, 3@20%), or the
longest at a place: a region, an operation, file:line, operation@file:line. Without either
it is the longest of the run outside MPI_Init and MPI_Finalize.`,
		Example: `  tracekit explain traces.otf2
  tracekit explain traces.otf2 3@1.5s
  tracekit explain traces.otf2 MPI_Allreduce@halo.c:100`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			opts.path = args[0]
			if len(args) > 1 {
				opts.which = args[1]
			}
			if err := opts.validate(); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func (o *explainOptions) addFlags(set *pflag.FlagSet) {
	o.mergeFlags.add(set)
	o.gateFlags.add(set)
}

func (o *explainOptions) validate() (err error) {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	before, after, ok := strings.Cut(o.which, "@")
	rank, err := strconv.ParseUint(before, 10, 31)
	if !ok || err != nil {
		return nil
	}
	o.rank, o.timed = uint32(rank), true
	if o.at, err = cli.ParseInstant(after); err != nil {
		return usagef("--at %q: %w", after, err)
	}
	return nil
}

func runExplain(ctx context.Context, io *streams, opts *explainOptions) error {
	t, err := opts.open(ctx, io, opts.path)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	a, err := opts.analyze(ctx, io, t, analysis.Options{})
	if err != nil {
		return err
	}
	doc := &explainDocument{Schema: explainSchema, Trace: a.Trace, Chain: []delays.Link{}, Findings: a.Findings}
	l, call, ok, err := opts.choose(t, a)
	if ok {
		doc.Chain, err = delays.Explain(ctx, t, a.Waits, a.Delegated, l, call, opts.jobs)
	}
	if err != nil {
		return err
	}
	return opts.finish(io, doc, func() {
		doc.print(io, opts.where())
		report.PrintFindings(io.Out, io.Width, "Findings", doc.Findings)
	}, doc.Findings, opts.gate(doc))
}

// choose returns the call whose wait is to be explained; ok is false if none waits.
func (o *explainOptions) choose(t *trace.Trace, a *analysis.Result) (l trace.LocationID, call uint32, ok bool, err error) {
	switch {
	case o.timed:
		if n := len(t.World); int(o.rank) >= n {
			return 0, 0, false, fmt.Errorf("there is no rank %d, the trace has %d", o.rank, n)
		}
		l, call, ok = delays.WaitAt(t, a.Waits, o.rank, o.at)
	case o.which != "":
		place, err := whatif.FindPlace(t, o.which)
		if err != nil {
			return 0, 0, false, err
		}
		l, call, ok = delays.LongestWait(a.Waits, func(p trace.PathID, _ waitstate.Kind) bool { return place(p) })
	default:
		l, call, ok = delays.LongestWait(a.Waits, func(_ trace.PathID, k waitstate.Kind) bool { return k != waitstate.AtStartup })
	}
	return l, call, ok, nil
}

// where says among which waits one was chosen.
func (o *explainOptions) where() string {
	switch {
	case o.timed:
		return fmt.Sprintf("on rank %d then or later", o.rank)
	case o.which != "":
		return "at " + o.which
	}
	return "in this run"
}

// told is how many places are named for each wait.
const told = 3

// print prints the chain, or that no call waits there.
func (d *explainDocument) print(io *streams, where string) {
	at := func(ns int64) string { return words.Time(ns - d.Trace.StartNs) }
	line := func(indent int, format string, args ...any) {
		pad := strings.Repeat(" ", indent)
		fmt.Fprintln(io.Out, pad+text.Wrap(fmt.Sprintf(format, args...), io.Width-indent, indent))
	}
	if r := report.RebuiltLine("", d.Trace.Rebuilt); r != "" {
		line(0, "%s", r)
	}
	if len(d.Chain) == 0 {
		line(0, "No call waits %s.", where)
	}
	for i, w := range d.Chain {
		title := ""
		for k := range waitstate.Kinds {
			if k.Info().Key == w.Kind {
				title = k.String()
			}
		}
		line(0, "%d. Rank %s waits %s in %s, from %s on: %s.", i+1, words.Rank(w.Rank), words.Time(w.TimeNs), called(w.Operation, w.SourceLine), at(w.StartNs), title)
		if w.Cause.Operation == "" {
			line(3, "What it waits for is recorded outside any call of rank %s.", words.Rank(w.Cause.Rank))
			return
		}
		line(3, "It waits for rank %s, which is in %s at %s. Since the two last met, at %s, that rank took longer:", words.Rank(w.Cause.Rank), called(w.Cause.Operation, w.Cause.SourceLine),
			at(w.Cause.EnterNs), at(w.OpenedNs))
		for _, x := range w.Longer[:min(told, len(w.Longer))] {
			line(6, "%s in %s", words.Time(x.TimeNs), called(x.Operation, x.SourceLine))
		}
		if more := len(w.Longer) - told; more > 0 {
			line(6, "and in %s", words.Plural(more, "other place", "other places"))
		}
		if w.WaitedNs > 0 {
			line(6, "%s waiting itself", words.Time(w.WaitedNs))
		}
	}
	if n := len(d.Chain); n > 0 && len(d.Chain[n-1].Longer) > 0 {
		w := d.Chain[n-1]
		line(0, "Origin: rank %s in %s.", words.Rank(w.Cause.Rank), called(w.Longer[0].Operation, w.Longer[0].SourceLine))
	}
}

// called names an operation with the place that calls it, or a place outside MPI.
func called(operation field.Name, s field.SourceLine) string {
	if operation == "" {
		return words.Place(s)
	}
	if s.Region == "" && s.File == "" {
		return string(operation)
	}
	return string(operation) + ", " + words.Place(s)
}
