package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/document/waitstate"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/delays"
	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// explainOptions are the dependencies and flags of explain.
type explainOptions struct {
	cli.MergeFlags
	cli.GateFlags
	which string // RANK@TIME or PLACE; "": the longest wait
	rank  uint32
	at    scope.Instant
	timed bool // which is RANK@TIME
}

// explainSchema names the document.
const explainSchema = "tracekit.explain/1"

func newExplain(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "explain TRACE... [RANK@TIME | PLACE]",
		Short: "Follow one wait to its origin",
		Long: `Explain follows one wait to its origin: which rank was late, and what it did longer since the
two ranks last met. If that rank waited itself, explain follows that wait too.

Name the wait by rank and time from the start of the run (3@1.5s, 3@20%), or by place: a region,
an operation, file:line, or operation@file:line. Of a place, the longest wait is taken. By
default it is the longest wait of the run outside MPI_Init and MPI_Finalize.`,
		Example: `  tracekit explain traces.otf2
  tracekit explain traces.otf2 3@20%
  tracekit explain traces.otf2 MPI_Allreduce@halo.c:100`,
		Args: cobra.MinimumNArgs(1),
	}, &explainOptions{}, runExplain)
}

func (o *explainOptions) Add(set *pflag.FlagSet) { cli.Add(set, &o.MergeFlags, &o.GateFlags) }

// Keep takes the last of several arguments for what waits, unless it is a file with the name of a trace.
func (o *explainOptions) Keep(args []string) {
	o.Paths = args
	if last := len(args) - 1; last > 0 {
		if _, err := os.Stat(args[last]); err != nil || !readers.IsTraceName(args[last]) {
			o.Paths, o.which = args[:last], args[last]
		}
	}
}

func (o *explainOptions) Validate() (err error) {
	if err := o.MergeFlags.Validate(); err != nil {
		return err
	}
	before, after, ok := strings.Cut(o.which, "@")
	rank, err := strconv.ParseUint(before, 10, 31)
	if !ok || err != nil {
		return nil
	}
	o.rank, o.timed = uint32(rank), true
	if o.at, err = flags.ParseInstant(after); err != nil {
		return cli.Usagef("--at %q: %w", after, err)
	}
	return nil
}

func runExplain(ctx context.Context, io *cli.Streams, opts *explainOptions) error {
	t, err := opts.Open(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	a, err := opts.Analyze(ctx, io, t, analysis.Options{})
	if err != nil {
		return err
	}
	doc := &outcome.Explain{Schema: explainSchema, Trace: a.Trace, Chain: []delays.Link{}, Findings: a.Findings}
	l, call, ok, err := opts.choose(t, a)
	if ok {
		doc.Chain, err = delays.Explain(ctx, t, a.Waits, a.Delegated, l, call, opts.Jobs)
	}
	if err != nil {
		return err
	}
	return opts.Finish(io, doc, func() {
		show.Explain(io.Sections(0), doc, opts.where(), report.WhyNoWaits(t))
		report.PrintFindings(io.Out, io.Width, "Findings", doc.Findings)
	}, doc.Findings, opts.Gate(doc))
}

// choose returns the call whose wait is to be explained; ok is false if none waits.
func (o *explainOptions) choose(t *trace.Trace, a *analysis.Result) (l trace.LocationID, call uint32, ok bool, err error) {
	switch {
	case o.timed:
		if n := len(t.World); int(o.rank) >= n {
			return 0, 0, false, trace.NoRank(int(o.rank), n)
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
