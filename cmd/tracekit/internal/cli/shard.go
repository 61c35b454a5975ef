package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/report/text"
	"tracekit/shards"
	"tracekit/trace"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A shardFlag says which share of a trace a command goes through, for 'tracekit combine' to end
// what it began.
type ShardFlag struct {
	Text       string
	Number, Of int
}

func (f *ShardFlag) Add(set *pflag.FlagSet, does string) {
	Var(set, &f.Text, Text(), "shard", "",
		"only "+does+" `share` i/n of the trace, and leave the result in directory -o for 'tracekit combine'")
}

// Sharded makes the RunE of a command that keeps its arguments and then goes through the share of a
// trace that the flag says, or checks its options and runs.
func Sharded[O interface {
	Validate() error
	ShardOf(*cobra.Command, *Streams) error
}](io *Streams, opts O, flag *ShardFlag, keep func(args []string), run func(context.Context, *Streams, O) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if keep(args); flag.Text != "" {
			return opts.ShardOf(c, io)
		}
		if err := opts.Validate(); err != nil {
			return err
		}
		return run(c.Context(), io, opts)
	}
}

// alsoForShards are the flags of all commands that say how the trace is read and where the shard
// is left.
var alsoForShards = []string{"shard", "output", "force", "jobs", "memory", "quiet", "align"}

// Validate checks the flag in a command line of which these flags alone are for shards.
func (f *ShardFlag) Validate(set *pflag.FlagSet, dir string, flags ...string) error {
	if err := f.Parse(); err != nil {
		return err
	}
	if dir == "" {
		return Usagef("--shard needs -o, the directory for the shards")
	}
	return OnlyFlags(set, "--%s is for 'tracekit combine': a shard is the same whatever is made of it",
		slices.Concat(alsoForShards, flags)...)
}

// Parse reads "i/n".
func (f *ShardFlag) Parse() (err error) {
	number, of, both := strings.Cut(f.Text, "/")
	f.Number, err = strconv.Atoi(number)
	if err == nil {
		f.Of, err = strconv.Atoi(of)
	}
	if err != nil || !both || f.Number < 1 || f.Number > f.Of || f.Of > shards.MaxShards {
		return Usagef("--shard %q: want i/n with i from 1 to n, and n at most %d", f.Text, shards.MaxShards)
	}
	return nil
}

// OnlyFlags refuses other flags than these.
func OnlyFlags(set *pflag.FlagSet, refusal string, names ...string) (err error) {
	set.Visit(func(x *pflag.Flag) {
		if err == nil && !slices.Contains(names, x.Name) {
			err = Usagef(refusal, x.Name)
		}
	})
	return err
}

// A shardTask is a shard to be made.
type ShardTask struct {
	*ShardFlag
	*ReadFlags
	Dir   string
	Force bool
	Paths []string
	Stage shards.Stage
	Title string // Of the progress
}

// RunShard makes something of a share of a trace and writes it down.
func RunShard[P shards.Part[P]](ctx context.Context, s *Streams, t ShardTask,
	of func(src *Input, locations []trace.LocationID, p *engine.Progress) (P, error)) error {
	path := filepath.Join(t.Dir, shards.Name(t.Number, t.Of))
	if err := refuseExisting(path, t.Force); err != nil {
		return err
	}
	src, err := t.Open(ctx, t.Paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	locations := shards.Locations(src.Defs(), t.Number, t.Of)
	part, err := func() (P, error) {
		bar := StartProgress(s, t.Quiet, t.Title)
		defer bar.End()
		return of(src, locations, &bar.Progress)
	}()
	if err == nil {
		err = shards.Write(ctx, t.Dir, shards.Header{Stage: t.Stage, Paths: t.Paths, AlignStart: t.Align == "start",
			Number: t.Number, Of: t.Of}, src, part)
	}
	if err == nil {
		err = src.Store.Err()
	}
	if err == nil && !t.Quiet {
		text.Line(s.Out, "%s: %s of %s", path, words.Count(len(locations)),
			words.Plural(len(src.Defs().Locations), "location", "locations"))
	}
	return err
}
