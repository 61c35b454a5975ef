package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/report/text"
	"tracekit/shards"
	"tracekit/trace"
)

// A ShardFlag says which share of a trace a command goes through, for 'tracekit combine' to end
// what it began.
type ShardFlag struct {
	Text       string
	Number, Of int
}

// AddShard adds --shard to a command, with the word for what it does.
func (f *ShardFlag) AddShard(set *pflag.FlagSet, does string) {
	flags.Var(set, &f.Text, flags.Text(), "shard", "",
		"only "+does+" `share` i/n of the trace, and leave the result in directory -o for 'tracekit combine'")
}

// Shared reports whether a share is asked for.
func (f *ShardFlag) Shared() bool { return f.Text != "" }

// alsoForShards are the flags of all commands that say how the trace is read and where the shard
// is left.
var alsoForShards = []string{"shard", "output", "force", "jobs", "memory", "quiet", "align"}

// CheckShard checks the flag in a command line of which these flags alone are for shards.
func (f *ShardFlag) CheckShard(set *pflag.FlagSet, dir string, flags ...string) error {
	if err := f.Parse(); err != nil {
		return err
	}
	if dir == "" {
		return Usagef("--shard needs -o, the directory for the shards")
	}
	return OnlyFlags(set, "--%s is for 'tracekit combine': shards do not depend on it",
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

// A ShardTask is a shard to be made.
type ShardTask struct {
	*ShardFlag
	*ReadFlags
	Dir   string
	Force bool
	Stage shards.Stage
	Title string // of the progress
}

// RunShard makes something of a share of a trace and writes it down.
func RunShard[P shards.Part[P]](ctx context.Context, s *Streams, t ShardTask,
	of func(src *Input, locations []trace.LocationID, p *engine.Progress) (P, error)) error {
	path := filepath.Join(t.Dir, shards.Name(t.Number, t.Of))
	if err := refuseExisting(path, t.Force); err != nil {
		return err
	}
	src, err := t.Open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	locations := shards.Locations(src.Defs(), t.Number, t.Of)
	part, err := Watch(s, t.Quiet, t.Title, func(p *engine.Progress) (P, error) { return of(src, locations, p) })
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
