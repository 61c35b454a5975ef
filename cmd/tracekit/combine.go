package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/merge"
	"tracekit/merge/shards"
	"tracekit/stats"
	"tracekit/stats/second"
)

// A shardFlag says which share of a trace analyze decodes.
type shardFlag struct {
	text       string
	number, of int
}

func (f *shardFlag) add(set *pflag.FlagSet, usage string) { set.StringVar(&f.text, "shard", "", usage) }

// alsoForShards are the flags of analyze that say how the trace is read. All others say what is
// made of it, which is told to combine.
var alsoForShards = []string{"shard", "output", "force", "jobs", "memory", "quiet", "align"}

// parse reads "i/n", and refuses flags beside those that are allowed.
func (f *shardFlag) parse(set *pflag.FlagSet, allowed []string, why string) (err error) {
	number, of, both := strings.Cut(f.text, "/")
	f.number, err = strconv.Atoi(number)
	if err == nil {
		f.of, err = strconv.Atoi(of)
	}
	if err != nil || !both || f.number < 1 || f.number > f.of || f.of > shards.MaxShards {
		return usagef("--shard %q: want i/n with i from 1 to n, and n at most %d", f.text, shards.MaxShards)
	}
	set.Visit(func(x *pflag.Flag) {
		if err == nil && !slices.Contains(allowed, x.Name) {
			err = usagef("--%s %s", x.Name, why)
		}
	})
	return err
}

func (f *shardFlag) validate(set *pflag.FlagSet, o *analyzeOptions) error {
	if err := f.parse(set, alsoForShards, "is for 'tracekit combine': a shard is the same whatever is made of it"); err != nil {
		return err
	}
	if o.outDir == "" {
		return usagef("--shard needs -o, the directory for the shards")
	}
	return o.readFlags.validate()
}

// run decodes a share of a trace and writes it down.
func (f *shardFlag) run(c *cobra.Command, s *streams, o *analyzeOptions) error {
	if err := f.validate(c.Flags(), o); err != nil {
		return err
	}
	path := filepath.Join(o.outDir, shards.Name(f.number, f.of))
	if err := refuseExisting(path, o.force); err != nil {
		return err
	}
	ctx := c.Context()
	src, err := o.readFlags.open(ctx, o.paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	h := shards.Header{Paths: o.paths, AlignStart: o.align == "start", Number: f.number, Of: f.of}
	if err := makeShard(ctx, s, o, src, h); err != nil {
		return err
	}
	if !o.quiet {
		printLine(s.Out, "%s: %s of %s", path, formatCount(len(shards.Locations(src.Defs(), f.number, f.of))),
			plural(len(src.Defs().Locations), "location", "locations"))
	}
	return nil
}

func makeShard(ctx context.Context, s *streams, o *analyzeOptions, src *input, h shards.Header) error {
	bar := startProgress(s, o.quiet, "reading")
	defer bar.done()
	return shards.Make(ctx, o.outDir, h, src, src.store, merge.Options{Jobs: o.jobs, Progress: &bar.Progress})
}

func newCombine(io *streams, run func(context.Context, *streams, *analyzeOptions) error) *cobra.Command {
	opts := &analyzeOptions{}
	var pass secondPass
	cmd := &cobra.Command{
		Use:   "combine DIRECTORY",
		Short: "Analyse a trace that several processes have decoded",
		Long: `Combine analyses a trace whose shards lie in a directory, one file of each of several
'tracekit analyze --shard i/n -o DIRECTORY TRACE', which may have run on different machines,
as tasks of a job array. What it prints is what 'tracekit analyze' prints of the trace.

It needs all n shards, and the trace under the path that they were given, for the events are
read once more: for the profile, which needs corrected times and the critical path. With
--second-pass other processes do that, too. Combine leaves a task for each of them in the
directory, runs the command, and goes on once that has ended and each task is done: by
'tracekit combine --shard i/n DIRECTORY', on whatever machine.`,
		Example: `  tracekit analyze --shard 1/2 -o parts traces.otf2
  tracekit analyze --shard 2/2 -o parts traces.otf2
  tracekit combine parts
  tracekit combine --second-pass 'sbatch --wait second.sh' parts`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if opts.shard.text != "" {
				return pass.share(c, io, opts, args[0])
			}
			if err := opts.validate(); err != nil {
				return err
			}
			set, err := shards.Open(args[0])
			if err != nil {
				return unreadable(fmt.Errorf("combining shards: %w", err))
			}
			opts.shards, opts.paths = set, set.Paths
			if set.AlignStart {
				opts.align = "start"
			}
			if pass.command != "" {
				opts.workers = pass.workers(io, args[0], set.Header)
				defer opts.workers.Close()
			}
			return run(c.Context(), io, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	opts.shard.add(cmd.Flags(), "only make `share` i/n of the second pass, 1/n to n/n, which another combine waits for")
	cmd.Flags().StringVar(&pass.command, "second-pass", "", "`command` for the shell that has every share of the second pass made; see --shard")
	cmd.Flags().Lookup("align").Hidden = true // as the shards were read
	return cmd
}

// A secondPass is made by other processes.
type secondPass struct{ command string }

// workers returns who makes the second pass: the processes that the command starts.
func (p *secondPass) workers(s *streams, dir string, h shards.Header) *second.Workers {
	return second.NewWorkers(dir, h, func(ctx context.Context) error {
		command := exec.CommandContext(ctx, "sh", "-c", p.command)
		command.Stdout, command.Stderr = s.Err, s.Err
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		command.WaitDelay = 10 * time.Second
		if err := command.Run(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("nothing is analysed: the second pass, %q: %w", p.command, err)
		}
		return ctx.Err()
	})
}

// forShares are the flags that shares of the second pass have.
var forShares = []string{"shard", "jobs", "memory", "quiet"}

// share makes a share of the second pass.
func (p *secondPass) share(c *cobra.Command, s *streams, o *analyzeOptions, dir string) error {
	if err := o.shard.parse(c.Flags(), forShares, "is for the combine that waits for the shares"); err != nil {
		return err
	}
	if err := o.readFlags.validate(); err != nil {
		return err
	}
	task, err := second.Open(dir, o.shard.number, o.shard.of)
	if err != nil {
		return unreadable(fmt.Errorf("making a share of the second pass: %w", err))
	}
	if task.AlignStart {
		o.align = "start"
	}
	src, err := o.readFlags.open(c.Context(), task.Paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	bar := startProgress(s, o.quiet, "analysing")
	defer bar.done()
	return task.Do(c.Context(), src, src.store, stats.Options{Jobs: o.jobs, Progress: &bar.Progress})
}
