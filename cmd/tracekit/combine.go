package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/report/text"
	"tracekit/shards"
	"tracekit/trace"
)

// A shardFlag says which share of a trace a command goes through, for 'tracekit combine' to end
// what it began.
type shardFlag struct {
	text       string
	number, of int
}

func (f *shardFlag) add(set *pflag.FlagSet, does string) {
	cli.Var(set, &f.text, cli.Text(), "shard", "",
		"only "+does+" `share` i/n of the trace, and leave the result in directory -o for 'tracekit combine'")
}

// sharded makes the RunE of a command that keeps its arguments and then goes through the share of a
// trace that the flag says, or checks its options and runs.
func sharded[O interface {
	validate() error
	shardOf(*cobra.Command, *streams) error
}](io *streams, opts O, flag *shardFlag, keep func(args []string), run func(context.Context, *streams, O) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if keep(args); flag.text != "" {
			return opts.shardOf(c, io)
		}
		if err := opts.validate(); err != nil {
			return err
		}
		return run(c.Context(), io, opts)
	}
}

// alsoForShards are the flags of all commands that say how the trace is read and where the shard
// is left.
var alsoForShards = []string{"shard", "output", "force", "jobs", "memory", "quiet", "align"}

// validate checks the flag in a command line of which these flags alone are for shards.
func (f *shardFlag) validate(set *pflag.FlagSet, dir string, flags ...string) error {
	if err := f.parse(); err != nil {
		return err
	}
	if dir == "" {
		return usagef("--shard needs -o, the directory for the shards")
	}
	return onlyFlags(set, "--%s is for 'tracekit combine': shards do not depend on it",
		slices.Concat(alsoForShards, flags)...)
}

// parse reads "i/n".
func (f *shardFlag) parse() (err error) {
	number, of, both := strings.Cut(f.text, "/")
	f.number, err = strconv.Atoi(number)
	if err == nil {
		f.of, err = strconv.Atoi(of)
	}
	if err != nil || !both || f.number < 1 || f.number > f.of || f.of > shards.MaxShards {
		return usagef("--shard %q: want i/n with i from 1 to n, and n at most %d", f.text, shards.MaxShards)
	}
	return nil
}

// onlyFlags refuses other flags than these.
func onlyFlags(set *pflag.FlagSet, refusal string, names ...string) (err error) {
	set.Visit(func(x *pflag.Flag) {
		if err == nil && !slices.Contains(names, x.Name) {
			err = usagef(refusal, x.Name)
		}
	})
	return err
}

// A shardTask is a shard to be made.
type shardTask struct {
	*shardFlag
	*readFlags
	dir   string
	force bool
	paths []string
	stage shards.Stage
	title string // of the progress
}

// runShard makes something of a share of a trace and writes it down.
func runShard[P shards.Part[P]](ctx context.Context, s *streams, t shardTask,
	of func(src *input, locations []trace.LocationID, p *engine.Progress) (P, error)) error {
	path := filepath.Join(t.dir, shards.Name(t.number, t.of))
	if err := refuseExisting(path, t.force); err != nil {
		return err
	}
	src, err := t.open(ctx, t.paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	locations := shards.Locations(src.Defs(), t.number, t.of)
	part, err := func() (P, error) {
		bar := startProgress(s, t.quiet, t.title)
		defer bar.done()
		return of(src, locations, &bar.Progress)
	}()
	if err == nil {
		err = shards.Write(ctx, t.dir, shards.Header{Stage: t.stage, Paths: t.paths, AlignStart: t.align == "start",
			Number: t.number, Of: t.of}, src, part)
	}
	if err == nil {
		err = src.store.Err()
	}
	if err == nil && !t.quiet {
		text.Line(s.Out, "%s: %s of %s", path, words.Count(len(locations)),
			words.Plural(len(src.Defs().Locations), "location", "locations"))
	}
	return err
}

// shardOf is the run of 'tracekit analyze --shard'.
func (o *analyzeOptions) shardOf(c *cobra.Command, s *streams) error {
	if err := o.shard.validate(c.Flags(), o.outDir); err != nil {
		return err
	}
	if err := o.readFlags.validate(); err != nil {
		return err
	}
	task := shardTask{shardFlag: &o.shard, readFlags: &o.readFlags, dir: o.outDir, force: o.force, paths: o.paths, stage: shards.Scanned,
		title: "reading"}
	return runShard(c.Context(), s, task, func(src *input, locations []trace.LocationID, p *engine.Progress) (*merge.Scans, error) {
		return merge.Scan(c.Context(), src, locations, src.store, merge.Options{Jobs: o.jobs, Progress: p})
	})
}

// shardOf is the run of 'tracekit compress --shard'.
func (o *compressOptions) shardOf(c *cobra.Command, s *streams) error {
	if err := o.shard.validate(c.Flags(), o.output, "mode", "time-error", "terms", "formulae"); err != nil {
		return err
	}
	if err := o.validateForm(); err != nil {
		return err
	}
	if o.options.Mode != tkf.Lossless {
		return usagef("--shard works only in lossless mode, because formulae of stat mode depend on all locations")
	}
	task := shardTask{shardFlag: &o.shard, readFlags: &o.readFlags, dir: o.output, force: o.force, paths: o.paths, stage: shards.Compressed,
		title: "compressing"}
	return runShard(c.Context(), s, task, func(src *input, locations []trace.LocationID, p *engine.Progress) (*tkf.Parts, error) {
		o.options.Progress, o.options.Store = p, src.store
		return tkf.Encode(c.Context(), src, locations, o.options)
	})
}

// shardOf is the run of 'tracekit convert --shard'.
func (o *convertOptions) shardOf(c *cobra.Command, s *streams) (err error) {
	if err := o.shard.validate(c.Flags(), o.out, "format"); err != nil {
		return err
	}
	if o.format, err = outputFormat(o.out, o.format); err != nil {
		return err
	}
	if err := o.readFlags.validate(); err != nil {
		return err
	}
	if o.format == otf2.Format {
		return o.archiveShard(c.Context(), s)
	}
	if !slices.Contains(readers.PartFormats(), o.format) {
		return usagef("--shard writes %s or otf2; format %s is one file with all locations, so convert the joined trace",
			strings.Join(readers.PartFormats(), ", "), readers.Label(o.format))
	}
	if readers.IsJoined(o.out) {
		return usagef("%s is a complete trace; choose another directory or remove it first", o.out)
	}
	task := shardTask{shardFlag: &o.shard, readFlags: &o.readFlags, dir: o.out, force: o.force, paths: o.in, stage: shards.Written,
		title: "converting"}
	return runShard(c.Context(), s, task, func(src *input, locations []trace.LocationID, p *engine.Progress) (*readers.Written, error) {
		return readers.WritePart(c.Context(), src, locations, o.out, o.shard.number, o.shard.of,
			readers.CreateOptions{Format: o.format, Jobs: o.jobs, Store: src.store, Context: c.Context()}, p)
	})
}

// archiveShard writes the event files of a share of the locations.
func (o *convertOptions) archiveShard(ctx context.Context, s *streams) error {
	if readers.IsAnchor(o.out) {
		return usagef("--shard writes event files into a directory: name one instead of %s, then run 'tracekit combine "+
			"DIRECTORY -o %s'", o.out, o.out)
	}
	task := shardTask{shardFlag: &o.shard, readFlags: &o.readFlags, dir: o.out, force: o.force, paths: o.in, stage: shards.Archived,
		title: "converting"}
	return runShard(ctx, s, task, func(src *input, locations []trace.LocationID, p *engine.Progress) (*otf2.Parts, error) {
		return otf2.Encode(ctx, src, locations, src.store, engine.Options{Jobs: o.jobs, Progress: p})
	})
}

func newCombine(io *streams, run func(context.Context, *streams, *analyzeOptions) error) *cobra.Command {
	opts := &analyzeOptions{}
	var pass secondPass
	cmd := &cobra.Command{
		Use:   "combine DIRECTORY",
		Short: "Join the results of several processes (--shard)",
		Long: `Combine joins the results of several processes that each worked on a share of one trace. The
processes may run on different machines, for example as tasks of a job array.

Shards of 'tracekit analyze --shard i/n -o DIRECTORY TRACE' become one analysis, equal to that
of 'tracekit analyze'. Combine needs all n shards, and the trace under the same path: it reads
the events once more for the profile. With --second-pass, other processes do this as well.
Combine then leaves a task for each of them in the directory and runs the command. It waits
until 'tracekit combine --shard i/n DIRECTORY' has done every task.

Shards of 'tracekit compress' become the .tkf file that -o names. Parts written by 'tracekit
convert' become a directory of tables, or the OTF2 archive that -o names.`,
		Example: `  tracekit analyze --shard 1/2 -o parts traces.otf2
  tracekit analyze --shard 2/2 -o parts traces.otf2
  tracekit combine parts
  tracekit combine --second-pass 'sbatch --wait second.sh' parts
  tracekit compress --shard 1/1 -o coded traces.otf2 && tracekit combine coded -o run.tkf
  tracekit convert --shard 1/1 traces.otf2 run.parquet && tracekit combine run.parquet
  tracekit convert --shard 1/1 run.json files && tracekit combine files -o run.otf2`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if opts.shard.text != "" {
				return pass.share(c, io, opts, args[0])
			}
			set, err := shards.Open(args[0])
			if err != nil {
				return unreadable(fmt.Errorf("combining shards: %w", err))
			}
			if set.AlignStart {
				opts.align = "start"
			}
			opts.shards, opts.paths = set, set.Paths
			switch set.Stage {
			case shards.Compressed:
				return opts.join(c, io)
			case shards.Written:
				return opts.joinParts(c, io, args[0])
			case shards.Archived:
				return opts.joinArchive(c, io)
			}
			if err := opts.validate(); err != nil {
				return err
			}
			if pass.command != "" {
				opts.workers = pass.workers(io, args[0], set.Header)
				defer opts.workers.Close()
			}
			return run(c.Context(), io, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	cli.Var(cmd.Flags(), &opts.shard.text, cli.Text(), "shard", "", "make only `share` i/n of the second pass, for a waiting "+
		"'tracekit combine'")
	cmd.Flags().StringVar(&pass.command, "second-pass", "", "shell `command` that runs all shares of the second pass; see --shard")
	cli.Var(cmd.Flags(), &opts.mirror, cli.Directory(), "mirror", "", "`directory` with files fetched from an object store: "+
		"s3://bucket/key is s3:/bucket/key in it")
	cmd.Flags().Lookup("align").Hidden = true // as the shards were read
	return cmd
}

// join joins the shards of 'tracekit compress'.
func (o *analyzeOptions) join(c *cobra.Command, io *streams) error {
	const refusal = "--%s is not for shards of 'tracekit compress'"
	if err := onlyFlags(c.Flags(), refusal, "output", "force", "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	opts := &compressOptions{readFlags: o.readFlags, paths: o.paths, output: o.outDir, force: o.force, mode: "lossless", shards: o.shards}
	if err := opts.validateOutput(); err != nil {
		return err
	}
	if err := opts.readFlags.validate(); err != nil {
		return err
	}
	return runCompress(c.Context(), io, opts)
}

// joinParts makes a trace of the parts of 'tracekit convert'.
func (o *analyzeOptions) joinParts(c *cobra.Command, io *streams, dir string) error {
	const refusal = "--%s is not for parts of 'tracekit convert'"
	if err := onlyFlags(c.Flags(), refusal, "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	if err := o.readFlags.validate(); err != nil {
		return err
	}
	in, err := o.readFlags.open(c.Context(), o.paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	written, err := shards.Read(c.Context(), o.shards, in, in.store, o.jobs, func() *readers.Written { return new(readers.Written) })
	if err == nil {
		err = written.Missing(in.Defs())
	}
	opts := &convertOptions{mergeFlags: mergeFlags{readFlags: o.readFlags}, out: dir}
	if err == nil {
		opts.format, err = readers.JoinParts(dir, o.shards.Of)
	}
	if err == nil {
		err = o.shards.Remove()
	}
	if err != nil {
		return err
	}
	var ledger trace.Ledger
	ledger.Merge(in.Findings())
	ledger.Merge(written.Findings)
	return opts.report(io, in, in.Defs(), sumOf(written.Of), nil, map[string]uint64{}, ledger.Findings())
}

// joinArchive makes an archive of the event files of 'tracekit convert'.
func (o *analyzeOptions) joinArchive(c *cobra.Command, io *streams) error {
	const refusal = "--%s is not for event files of 'tracekit convert'"
	if err := onlyFlags(c.Flags(), refusal, "output", "force", "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	if o.outDir == "" {
		return usagef("combine: name the archive with -o ARCHIVE")
	}
	opts := &convertOptions{out: o.outDir, force: o.force}
	opts.readFlags, opts.clock = o.readFlags, copyClock
	if err := opts.validate(); err != nil {
		return err
	}
	if opts.format != otf2.Format {
		return usagef("%s: these are event files of an OTF2 archive; join them first, then convert the archive", o.outDir)
	}
	in, err := o.readFlags.open(c.Context(), o.paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	w, err := otf2.Create(opts.out, in.Info(), in.Defs(), otf2.Options{Force: opts.force})
	if errors.Is(err, fs.ErrExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	events, findings, err := joinFiles(c.Context(), o.shards, in, w, opts.jobs)
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	if err := w.Close(); err != nil {
		return err
	}
	return opts.report(io, in, in.Defs(), events, nil, lostBy(w), findings)
}

// joinFiles gives an archive the event files of all shards.
func joinFiles(ctx context.Context, set *shards.Set, in *input, w *otf2.Writer, jobs int) (events uint64, findings []trace.Finding,
	err error) {
	parts, err := shards.Read(ctx, set, in, in.store, jobs, w.Parts)
	if err != nil {
		return 0, nil, err
	}
	return parts.Join(in)
}
