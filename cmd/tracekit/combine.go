package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/shards"
	"tracekit/trace"
)

// ShardOf is the run of 'tracekit analyze --shard'.
func (o *analyzeOptions) ShardOf(c *cobra.Command, s *cli.Streams) error {
	if err := o.CheckShard(c.Flags(), o.Dir); err != nil {
		return err
	}
	if err := o.ReadFlags.Validate(); err != nil {
		return err
	}
	task := cli.ShardTask{ShardFlag: &o.ShardFlag, ReadFlags: &o.ReadFlags, Dir: o.Dir, Force: o.Force, Stage: shards.Scanned,
		Title: "reading"}
	return cli.RunShard(c.Context(), s, task, func(src *cli.Input, locations []trace.LocationID, p *engine.Progress) (*merge.Scans, error) {
		return merge.Scan(c.Context(), src, locations, src.Store, merge.Options{Jobs: o.Jobs, Progress: p})
	})
}

// ShardOf is the run of 'tracekit compress --shard'.
func (o *compressOptions) ShardOf(c *cobra.Command, s *cli.Streams) error {
	if err := o.CheckShard(c.Flags(), o.Output, "mode", "time-error", "terms", "formulae"); err != nil {
		return err
	}
	if err := o.validateForm(); err != nil {
		return err
	}
	if o.options.Mode != tkf.Lossless {
		return cli.Usagef("--shard works only in lossless mode, because formulae of stat mode depend on all locations")
	}
	task := cli.ShardTask{ShardFlag: &o.ShardFlag, ReadFlags: &o.ReadFlags, Dir: o.Output, Force: o.Force, Stage: shards.Compressed,
		Title: "compressing"}
	return cli.RunShard(c.Context(), s, task, func(src *cli.Input, locations []trace.LocationID, p *engine.Progress) (*tkf.Parts, error) {
		o.options.Progress, o.options.Store = p, src.Store
		return tkf.Encode(c.Context(), src, locations, o.options)
	})
}

// ShardOf is the run of 'tracekit convert --shard'.
func (o *convertOptions) ShardOf(c *cobra.Command, s *cli.Streams) (err error) {
	if err := o.CheckShard(c.Flags(), o.Out, "format"); err != nil {
		return err
	}
	if o.Format, err = cli.OutputFormat(o.Out, o.Format); err != nil {
		return err
	}
	if err := o.ReadFlags.Validate(); err != nil {
		return err
	}
	if o.Format == otf2.Format {
		return o.archiveShard(c.Context(), s)
	}
	if !slices.Contains(readers.PartFormats(), o.Format) {
		return cli.Usagef("--shard writes %s or otf2; format %s is one file with all locations, so convert the joined trace",
			strings.Join(readers.PartFormats(), ", "), readers.Label(o.Format))
	}
	if readers.IsJoined(o.Out) {
		return cli.Usagef("%s is a complete trace; choose another directory or remove it first", o.Out)
	}
	task := cli.ShardTask{ShardFlag: &o.ShardFlag, ReadFlags: &o.ReadFlags, Dir: o.Out, Force: o.Force, Stage: shards.Written,
		Title: "converting"}
	return cli.RunShard(c.Context(), s, task,
		func(src *cli.Input, locations []trace.LocationID, p *engine.Progress) (*readers.Written, error) {
			return readers.WritePart(c.Context(), src, locations, o.Out, o.ShardFlag.Number, o.ShardFlag.Of,
				readers.CreateOptions{Format: o.Format, Jobs: o.Jobs, Store: src.Store, Context: c.Context()}, p)
		})
}

// archiveShard writes the event files of a share of the locations.
func (o *convertOptions) archiveShard(ctx context.Context, s *cli.Streams) error {
	if readers.IsAnchor(o.Out) {
		return cli.Usagef("--shard writes event files into a directory: name one instead of %s, then run 'tracekit combine "+
			"DIRECTORY -o %s'", o.Out, o.Out)
	}
	task := cli.ShardTask{ShardFlag: &o.ShardFlag, ReadFlags: &o.ReadFlags, Dir: o.Out, Force: o.Force, Stage: shards.Archived,
		Title: "converting"}
	return cli.RunShard(ctx, s, task, func(src *cli.Input, locations []trace.LocationID, p *engine.Progress) (*otf2.Parts, error) {
		return otf2.Encode(ctx, src, locations, src.Store, engine.Options{Jobs: o.Jobs, Progress: p})
	})
}

// combineOptions are those of an analysis, and who makes its second pass.
type combineOptions struct {
	analyzeOptions
	pass secondPass
	dir  string
}

func newCombine(io *cli.Streams) *cobra.Command {
	opts := &combineOptions{}
	c := cli.New(io, &cobra.Command{
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
	}, opts, runCombine)
	c.Flags().Lookup("align").Hidden = true // as the shards were read
	return c
}

func (o *combineOptions) Add(set *pflag.FlagSet) {
	o.addAnalysis(set)
	flags.Var(set, &o.Text, flags.Text(), "shard", "", "make only `share` i/n of the second pass, for a waiting "+
		"'tracekit combine'")
	set.StringVar(&o.pass.command, "second-pass", "", "shell `command` that runs all shares of the second pass; see --shard")
	flags.Var(set, &o.Mirror, flags.Directory(), "mirror", "", "`directory` with files fetched from an object store: "+
		"s3://bucket/key is s3:/bucket/key in it")
}

// Keep takes the directory of the shards.
func (o *combineOptions) Keep(args []string) { o.dir = args[0] }

// Validate leaves what the shards are of to say what is asked.
func (o *combineOptions) Validate() error { return nil }

// ShardOf is the run of 'tracekit combine --shard'.
func (o *combineOptions) ShardOf(c *cobra.Command, io *cli.Streams) error {
	return o.pass.share(c.Context(), io, &o.analyzeOptions, o.dir)
}

func runCombine(ctx context.Context, io *cli.Streams, opts *combineOptions) error {
	set, err := shards.Open(opts.dir)
	if err != nil {
		return cli.Unreadable(fmt.Errorf("combining shards: %w", err))
	}
	if set.AlignStart {
		opts.Align = "start"
	}
	opts.Shards, opts.Paths = set, set.Paths
	switch set.Stage {
	case shards.Compressed:
		return opts.join(ctx, io)
	case shards.Written:
		return opts.joinParts(ctx, io, opts.dir)
	case shards.Archived:
		return opts.joinArchive(ctx, io)
	}
	if err := opts.analyzeOptions.Validate(); err != nil {
		return err
	}
	if opts.pass.command != "" {
		opts.workers = opts.pass.workers(io, opts.dir, set.Header)
		defer opts.workers.Close()
	}
	return runAnalyze(ctx, io, &opts.analyzeOptions)
}

// join joins the shards of 'tracekit compress'.
func (o *combineOptions) join(ctx context.Context, io *cli.Streams) error {
	const refusal = "--%s is not for shards of 'tracekit compress'"
	if err := cli.OnlyFlags(o.Set, refusal, "output", "force", "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	opts := &compressOptions{ReadFlags: o.ReadFlags, FileFlags: cli.FileFlags{Output: o.Dir, Force: o.Force, Extensions: []string{"tkf"}},
		mode: "lossless", shards: o.Shards}
	if err := opts.validateOutput(); err != nil {
		return err
	}
	if err := opts.ReadFlags.Validate(); err != nil {
		return err
	}
	return runCompress(ctx, io, opts)
}

// joinParts makes a trace of the parts of 'tracekit convert'.
func (o *combineOptions) joinParts(ctx context.Context, io *cli.Streams, dir string) error {
	const refusal = "--%s is not for parts of 'tracekit convert'"
	if err := cli.OnlyFlags(o.Set, refusal, "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	if err := o.ReadFlags.Validate(); err != nil {
		return err
	}
	in, err := o.ReadFlags.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	written, err := shards.Read(ctx, o.Shards, in, in.Store, o.Jobs, func() *readers.Written { return new(readers.Written) })
	if err == nil {
		err = written.Missing(in.Defs())
	}
	opts := &convertOptions{MergeFlags: cli.MergeFlags{ReadFlags: o.ReadFlags}, OutFlags: cli.OutFlags{Out: dir}}
	if err == nil {
		opts.Format, err = readers.JoinParts(dir, o.Shards.Of)
	}
	if err == nil {
		err = o.Shards.Remove()
	}
	if err != nil {
		return err
	}
	var ledger trace.Ledger
	ledger.Merge(in.Findings())
	ledger.Merge(written.Findings)
	return opts.report(io, in, in.Defs(), cli.SumOf(written.Of), nil, map[string]uint64{}, ledger.Findings())
}

// joinArchive makes an archive of the event files of 'tracekit convert'.
func (o *combineOptions) joinArchive(ctx context.Context, io *cli.Streams) error {
	const refusal = "--%s is not for event files of 'tracekit convert'"
	if err := cli.OnlyFlags(o.Set, refusal, "output", "force", "jobs", "memory", "quiet", "json", "strict", "mirror"); err != nil {
		return err
	}
	if o.Dir == "" {
		return cli.Usagef("combine: name the archive with -o ARCHIVE")
	}
	opts := &convertOptions{OutFlags: cli.OutFlags{Out: o.Dir, Force: o.Force}}
	opts.ReadFlags, opts.Clock = o.ReadFlags, copyClock
	if err := opts.Validate(); err != nil {
		return err
	}
	if opts.Format != otf2.Format {
		return cli.Usagef("%s: these are event files of an OTF2 archive; join them first, then convert the archive", o.Dir)
	}
	in, err := o.ReadFlags.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	w, err := otf2.Create(opts.Out, in.Info(), in.Defs(), otf2.Options{Force: opts.Force})
	if errors.Is(err, fs.ErrExist) {
		return cli.Usagef("%w", err)
	}
	if err != nil {
		return err
	}
	events, findings, err := joinFiles(ctx, o.Shards, in, w, opts.Jobs)
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	if err := w.Close(); err != nil {
		return err
	}
	return opts.report(io, in, in.Defs(), events, nil, cli.LostBy(w), findings)
}

// joinFiles gives an archive the event files of all shards.
func joinFiles(ctx context.Context, set *shards.Set, in *cli.Input, w *otf2.Writer, jobs int) (events uint64, findings []trace.Finding,
	err error) {
	parts, err := shards.Read(ctx, set, in, in.Store, jobs, w.Parts)
	if err != nil {
		return 0, nil, err
	}
	return parts.Join(in)
}
