package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/report/show"
	"tracekit/samples"
)

// trainingProgram is the program whose trace is that of a training job.
const (
	trainingProgram = "training"
	trainingHelp    = "a training job: data-parallel ranks × pipeline stages (--dp, --pp, --schedule …)"
)

// addTraining adds the flags of training jobs.
func (o *generateOptions) addTraining(set *pflag.FlagSet) {
	t := &o.training
	set.IntVar(&t.DP, "dp", 4, "training: data-parallel ranks")
	set.IntVar(&t.PP, "pp", 4, "training: stages of the pipeline")
	set.IntVar(&t.TP, "tp", 1, "training: GPUs of a worker; a table has the first")
	set.IntVar(&t.MicroBatches, "micro-batches", 8, "training: micro-batches of a step")
	flags.Var(set, &t.Schedule, flags.Choice(samples.Schedules()...), "schedule", "1f1b", "training: `schedule` of the pipeline: 1f1b, "+
		"interleaved or zero-bubble")
	flags.Var(set, &t.Slow, flags.Repeated(flags.Parsed(parseSlowWorker)), "slow-worker", "", "training: a worker that computes longer, "+
		"`RANK=FACTOR`, as in 5=1.5; 5=1.5@20 from step 20 on, 5=1.5%10 in 10 % of steps; repeatable")
	flags.Var(set, &t.LastStage, flags.NumberIn("a share, 0 or more", func(v float64) bool { return v >= 0 && v <= 1000 }), "last-stage", "0",
		"training: `share` by which the last stage computes longer")
	flags.Var(set, &t.Sequences, shareBelow1(), "sequences", "0", "training: largest deviation of a micro-batch's length, as a `share`")
	set.BoolVar(&o.profiles, "profiles", false, "training: write what PyTorch's profiler records, a directory with a JSON file for each GPU")
	set.IntVar(&t.Kernels, "kernels", 4, "training: kernels of a computation, with --profiles")
	set.Int64Var(&t.Jitter, "jitter", 0, "training: largest delay of recorded ends of communications, in ns, with --profiles")
	set.BoolVar(&t.Undescribed, "undescribed", false, "training: process groups and passes have no names, with --profiles")
	flags.Var(set, &t.Noise, shareBelow1(), "noise", "0.02", "training: largest deviation of a computation, as a `share`")
}

// parseSlowWorker reads RANK=FACTOR, RANK=FACTOR@STEP or RANK=FACTOR%SHARE.
func parseSlowWorker(value string) (w samples.SlowWorker, err error) {
	wrong := errors.New("want RANK=FACTOR, RANK=FACTOR@STEP or RANK=FACTOR%PERCENT, such as 5=1.5@20")
	rank, rest, ok := strings.Cut(value, "=")
	rest, step, since := strings.Cut(rest, "@")
	factor, percent, random := strings.Cut(rest, "%")
	var errs [4]error
	w.Rank, errs[0] = strconv.Atoi(rank)
	w.Factor, errs[1] = strconv.ParseFloat(factor, 64)
	if since {
		w.From, errs[2] = strconv.Atoi(step)
	}
	if random {
		w.Share, errs[3] = strconv.ParseFloat(percent, 64)
		w.Share /= 100
	}
	if err = errors.Join(errs[:]...); err != nil || !ok {
		return w, wrong
	}
	return w, nil
}

// runTraining generates a training job.
func runTraining(ctx context.Context, io *cli.Streams, opts *generateOptions) error {
	o := opts.training
	o.Steps, o.Seed, o.Compute, o.Skew, o.Drift = opts.Iterations, opts.Seed, opts.Compute, opts.Plant.Skew, opts.Plant.Drift
	var truth *samples.TrainingTruth
	var err error
	if opts.profiles {
		truth, err = cli.Watch(io, opts.quiet, "generating", func(*engine.Progress) (*samples.TrainingTruth, error) {
			return samples.WriteProfiles(ctx, o, opts.output)
		})
	} else {
		truth, err = written(ctx, io, opts,
			func(create opener) (*samples.TrainingTruth, error) { return samples.GenerateTraining(ctx, o, create) })
	}
	if err != nil {
		return err
	}
	if opts.json {
		return cli.PrintJSON(io.Out, 1, truth)
	}
	show.TrainingTruth(io.Sections(0), opts.output, o, truth)
	return nil
}

// shareBelow1 takes a share of less than all.
func shareBelow1() flags.Kind[float64] {
	return flags.NumberIn("a share, from 0 to less than 1", func(v float64) bool { return v >= 0 && v < 1 })
}
