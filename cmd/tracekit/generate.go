package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/readers"
	"tracekit/report/show"
	"tracekit/samples"
	"tracekit/trace"
)

type generateOptions struct {
	samples.Options
	output string
	force  bool
	quiet  bool
	json   bool

	training samples.TrainingOptions
	profiles bool
}

func newGenerate(io *cli.Streams) *cobra.Command {
	var programs strings.Builder
	for _, p := range samples.Programs() {
		fmt.Fprintf(&programs, "  %-14s %s\n", p.Name, p.Help)
	}
	fmt.Fprintf(&programs, "  %-14s %s\n", trainingProgram, trainingHelp)
	return cli.New(io, &cobra.Command{
		Use:   "generate PROGRAM -o DIR",
		Short: "Generate a trace with a known analysis",
		Long: `Generate simulates a program and writes the trace of it, with planted faults of known size. It
prints what an analysis must find. The trace is an OTF2 archive, or another format by its name,
as in 'tracekit convert'. Amounts are in nanoseconds. Equal options give equal bytes.

Programs:
` + programs.String(),
		Example: `  tracekit generate halo --processes 64 --iterations 1000 --late-sender 5000 -o halo
  tracekit analyze halo
  tracekit generate training --dp 4 --pp 4 --micro-batches 8 --slow-worker 5=1.5 -o job
  tracekit stragglers job`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completePrograms,
	}, &generateOptions{}, runGenerate)
}

// Keep takes the name of a program.
func (o *generateOptions) Keep(args []string) { o.Program = args[0] }

func (o *generateOptions) Validate() error {
	if o.output == "" {
		return cli.Usagef("generate: name the trace with -o DIR")
	}
	if _, err := cli.OutputFormat(o.output, ""); err != nil {
		return err
	}
	return cli.CheckTrace(o.output, o.force)
}

func (o *generateOptions) Add(set *pflag.FlagSet) {
	set.StringVarP(&o.output, "output", "o", "", "`trace` to write")
	set.BoolVar(&o.force, "force", false, cli.ForceUsage)
	set.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&o.json, "json", false, cli.JSONUsage)
	set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "ranks" { // as it was called once: elsewhere --ranks selects
			name = "processes"
		}
		return pflag.NormalizedName(name)
	})
	set.IntVar(&o.Ranks, "processes", 8, "`number` of processes")
	set.IntVar(&o.Iterations, "iterations", 100, "`number` of iterations of the main loop")
	set.Uint64Var(&o.Seed, "seed", 1, cli.SeedUsage)
	set.IntVar(&o.Threads, "threads", 1, "threads per process")
	set.Int64Var(&o.Compute, "compute", 0, "ns of a computation (default 10000)")
	flags.Var(set, (*string)(&o.Growth), flags.Text().Offering("constant", "log", "sqrt", "linear", "nlogn"), "growth", "",
		"`law` of computation time over the number of ranks p: constant (default), log, sqrt, linear, nlogn")
	set.Int64Var(&o.Bytes, "bytes", 0, "bytes of a message (default 1024)")
	o.Network = &samples.Network{}
	set.Int64Var(&o.Network.Latency, "latency", 1500, "latency of a message, in ns")
	set.Int64Var(&o.Network.BytesPerTick, "bandwidth", 4, "bandwidth in bytes per ns; 0: infinite")
	plant := &o.Plant
	set.Int64Var(&plant.LateSender, "late-sender", 0, "ns that a receiver waits, once per iteration")
	set.Int64Var(&plant.LateReceiver, "late-receiver", 0, "ns that a synchronous sender waits")
	set.Int64Var(&plant.WrongOrder, "wrong-order", 0, "ns that a receiver waits for the second of two messages")
	set.Int64Var(&plant.EarlyReduce, "early-reduce", 0, "ns that the root of a Reduce waits")
	set.Int64Var(&plant.LateBroadcast, "late-broadcast", 0, "ns that all ranks but the root of a Bcast wait")
	set.Int64Var(&plant.Imbalance, "imbalance", 0, "ns that the last rank computes longer each time")
	set.Int64Var(&plant.CriticalPath, "critical-path", 0, "ns that one rank computes while all others wait, each rank once")
	set.IntVar(&plant.Odd, "odd", 0, "`iteration`, counted from 1, with one extra message")
	set.IntVar(&plant.Lost, "lost", 0, "number of sends without a receive, and of receives without a send")
	set.Int64Var(&plant.Skew, "skew", 0, "largest difference of clocks, in ns")
	set.Int64Var(&plant.Drift, "drift", 0, "largest drift of clocks, in parts per million")
	flags.Var(set, (*string)(&plant.Offsets), flags.Text().Offering("right", "none", "wrong"), "offsets", "", "clock offsets: right "+
		"(default), none or wrong")
	o.addTraining(set)
}

// A watchedSink counts the events that are written.
type watchedSink struct {
	trace.Sink
	progress *engine.Progress
}

func (s watchedSink) Write(b *trace.Batch) error {
	s.progress.Done.Add(uint64(b.Len()))
	return s.Sink.Write(b)
}

// An opener makes what a generated trace is written to.
type opener = func(trace.Info, *trace.Defs) (trace.Sink, error)

// written generates a trace and writes it, under a bar. What was written before an error is discarded.
func written[T any](ctx context.Context, io *cli.Streams, opts *generateOptions, generate func(opener) (T, error)) (T, error) {
	var out readers.Writer
	begun := false
	truth, err := cli.Watch(io, opts.quiet, "generating", func(p *engine.Progress) (T, error) {
		return generate(func(info trace.Info, defs *trace.Defs) (_ trace.Sink, err error) {
			begun = true
			out, err = readers.Create(opts.output, info, defs, readers.CreateOptions{Force: opts.force, Context: ctx})
			return watchedSink{out, p}, err
		})
	})
	switch {
	case err == nil || errors.Is(err, context.Canceled) && !begun:
	case !begun, errors.Is(err, fs.ErrExist):
		err = cli.Usagef("%w", err)
	case out != nil:
		err = errors.Join(err, out.Discard())
	}
	return truth, err
}

func runGenerate(ctx context.Context, io *cli.Streams, opts *generateOptions) error {
	if opts.Growth == "constant" {
		opts.Growth = samples.GrowthConstant
	}
	if opts.Plant.Offsets == "right" {
		opts.Plant.Offsets = samples.OffsetsRight
	}
	if opts.Program == trainingProgram {
		return runTraining(ctx, io, opts)
	}
	truth, err := written(ctx, io, opts, func(create opener) (*samples.Truth, error) {
		return samples.Generate(ctx, opts.Options, create)
	})
	if err != nil {
		return err
	}
	if opts.json {
		return cli.PrintJSON(io.Out, 1, truth)
	}
	show.Truth(io.Sections(0), opts.output, truth)
	return nil
}

// completePrograms completes the first argument of generate.
func completePrograms(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, p := range samples.Programs() {
		names = append(names, cobra.CompletionWithDesc(p.Name, p.Help))
	}
	names = append(names, cobra.CompletionWithDesc(trainingProgram, trainingHelp))
	return names, cobra.ShellCompDirectiveNoFileComp
}
