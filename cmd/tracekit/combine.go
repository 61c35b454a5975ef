package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/merge"
	"tracekit/merge/shards"
	"tracekit/trace"
)

// A shardFlag says which share of a trace analyze decodes.
type shardFlag struct {
	text       string
	number, of int
}

func (f *shardFlag) add(set *pflag.FlagSet) {
	set.StringVar(&f.text, "shard", "", "only decode `share` i/n of the trace, 1/n to n/n, and leave it in the directory -o for 'tracekit combine'")
}

// alsoForShards are the flags of analyze that say how the trace is read. All others say what is
// made of it, which is told to combine.
var alsoForShards = []string{"shard", "output", "force", "jobs", "memory", "quiet", "align"}

func (f *shardFlag) validate(set *pflag.FlagSet, o *analyzeOptions) (err error) {
	number, of, both := strings.Cut(f.text, "/")
	f.number, err = strconv.Atoi(number)
	if err == nil {
		f.of, err = strconv.Atoi(of)
	}
	if err != nil || !both || f.number < 1 || f.number > f.of || f.of > shards.MaxShards {
		return usagef("--shard %q: want i/n with i from 1 to n, and n at most %d", f.text, shards.MaxShards)
	}
	if o.outDir == "" {
		return usagef("--shard needs -o, the directory for the shards")
	}
	set.Visit(func(x *pflag.Flag) {
		if err == nil && !slices.Contains(alsoForShards, x.Name) {
			err = usagef("--%s is for 'tracekit combine': a shard is the same whatever is made of it", x.Name)
		}
	})
	if err != nil {
		return err
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
	if h.Trace, err = shards.Identity(src); err != nil {
		return err
	}
	own := shards.Locations(src.Defs(), f.number, f.of)
	scans, err := scanShard(ctx, s, o, src, own)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.outDir, 0o755); err != nil {
		return err
	}
	err = writeAtomically(ctx, path, o.force, func(w io.Writer) error { return shards.Write(w, h, src.Defs(), scans) })
	if err != nil {
		return err
	}
	if !o.quiet {
		printLine(s.Out, "%s: %s of %s, %s", path, formatCount(len(own)),
			plural(len(src.Defs().Locations), "location", "locations"), plural(int(scans.Events()), "event", "events"))
	}
	return nil
}

func scanShard(ctx context.Context, s *streams, o *analyzeOptions, src *input, own []trace.LocationID) (*merge.Scans, error) {
	bar := startProgress(s, o.quiet, "reading")
	defer bar.done()
	scans, err := merge.Scan(ctx, src, own, src.store, merge.Options{Jobs: o.jobs, Progress: &bar.Progress})
	return scans, errors.Join(err, src.store.Err())
}

func newCombine(io *streams, run func(context.Context, *streams, *analyzeOptions) error) *cobra.Command {
	opts := &analyzeOptions{}
	cmd := &cobra.Command{
		Use:   "combine DIRECTORY",
		Short: "Analyse a trace that several processes have decoded",
		Long: `Combine analyses a trace whose shards lie in a directory, one file of each of several
'tracekit analyze --shard i/n -o DIRECTORY TRACE', which may have run on different machines,
as tasks of a job array. What it prints is what 'tracekit analyze' prints of the trace.

It needs all n shards, and the trace under the path that they were given, for it reads the
events once more: for the profile, which needs corrected times. So of analyze's two passes
over the events the shards take the first one.`,
		Example: `  tracekit analyze --shard 1/2 -o parts traces.otf2
  tracekit analyze --shard 2/2 -o parts traces.otf2
  tracekit combine parts`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
			return run(c.Context(), io, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	cmd.Flags().Lookup("align").Hidden = true // as the shards were read
	return cmd
}
