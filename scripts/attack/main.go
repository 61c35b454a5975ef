// Attack is the campaign of scripts/attack.sh: it damages copies of sound traces, runs
// tracekit on each, and judges what comes of it. docs/internals/ATTACK.md has the rules.
//
// Everything about run K follows from the seed and K (campaign.go), so that it can be repeated
// alone. Samples, mutations, commands, and the judgement know nothing of each other but
// for what campaign.go and judge.go put together.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"

	"tracekit/engine"
	"tracekit/scripts/attack/worker"
)

func main() {
	worker.Serve(printCensus) // what a campaign asks of itself
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

// run is the campaign.
func run(ctx context.Context, args []string) error {
	var c campaign
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	runs := flags.Int("n", 1000, "number of runs")
	first := flags.Int("first", 0, "number of the first run")
	one := flags.Int("run", -1, "only the run of this number, which is kept whatever comes of it")
	jobs := flags.Int("jobs", 2, "runs at a time")
	flags.Uint64Var(&c.seed, "seed", 1, "seed of the mutations")
	tracekit := flags.String("tracekit", "", "the `tracekit` that is built with the tag attack")
	flags.StringVar(&c.kept, "keep", filepath.Join(os.TempDir(), "attack-kept"), "`directory` for the mutants of bad runs")
	formats := flags.String("formats", "", "only samples of these formats, a comma-separated `list`")
	names := flags.String("commands", "", "only these commands, a comma-separated `list`")
	logged := flags.String("log", "", "keep the results in this `file`, and make no run that it has: to end a campaign and take it up again")
	root := flags.String("root", ".", "the repository, which holds the samples")
	if err := flags.Parse(args); err != nil {
		return err
	}
	debug.SetGCPercent(30) // a child's peak begins with what its parent holds: see process.go
	work, err := os.MkdirTemp("", "attack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *tracekit, err = filepath.Abs(*tracekit); err != nil {
		return err
	}
	c.work, c.self, c.tracekit = work, &program{path: self, work: work}, &program{path: *tracekit, work: work}
	defer c.self.stop()
	defer c.tracekit.stop()
	if c.samples, err = findSamples(ctx, *root, c.tracekit, filepath.Join(work, "samples")); err != nil {
		return err
	}
	c.samples, c.commands = choose(c.samples, commands, *formats, *names)
	if len(c.samples) == 0 || len(c.commands) == 0 {
		return errors.New("there is no sample or no command of these names")
	}
	if *one >= 0 {
		c.keepAll, *first, *runs = true, *one, 1
	}
	log, err := openLog(*logged)
	if err != nil {
		return err
	}
	defer log.close()
	var left []int // runs to make
	results := make([]result, *runs)
	for i := range results {
		if r, ok := log.done[*first+i]; ok {
			results[i] = r
		} else {
			left = append(left, i)
		}
	}
	_, err = engine.Map(ctx, *jobs, len(left), func(ctx context.Context, i int) (struct{}, error) {
		r, err := c.run(ctx, *first+left[i])
		if err == nil {
			results[left[i]], err = r, log.add(r)
		}
		return struct{}{}, err
	})
	results = slices.DeleteFunc(results, func(r result) bool { return r.Format == "" }) // interrupted
	bad := printTable(os.Stdout, results, c.seed)
	if err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d runs are bad; their mutants are in %s", bad, *runs, c.kept)
	}
	return nil
}
