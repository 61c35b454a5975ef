package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamregister "github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tracekit/engine"
	"tracekit/formulae/sequence"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats/distributed"
	"tracekit/trace"
)

// fetchedBytes counts what workers fetch from object stores, for the runner to show.
var fetchedBytes = beam.NewCounter("tracekit", "fetched bytes")

// register makes known to Beam what runs in workers.
func register() {
	beamregister.DoFn2x1[context.Context, int, error](&shardFn{})
	beamregister.DoFn2x1[context.Context, int, error](&profileFn{})
}

// forShards adds to a pipeline what is to be done for each shard: numbers of shards, spread over the
// workers, each of which ends as a file.
func forShards(s beam.Scope, fn any, of int) {
	numbers := make([]int, of)
	for i := range numbers {
		numbers[i] = i + 1
	}
	beam.ParDo0(s.Scope("shards"), fn, beam.Reshuffle(s, beam.CreateList(s, numbers)))
}

// A shardFn makes shards. To make one again, after a worker was lost, makes the same file.
type shardFn struct {
	Compress *compression // nil: it does not compress
	Format   string       // in which it writes parts; "": it writes none
	Place    place
	Of       int
	Memory   int64 // bytes of tables
}

// Setup prepares a worker.
func (f *shardFn) Setup() error { return f.Place.enter() }

// ProcessElement decodes, compresses or writes a shard. It opens the trace anew each time: what a source has noticed
// before must not count again.
func (f *shardFn) ProcessElement(ctx context.Context, number int) (err error) {
	b, err := f.Place.bench(ctx)
	if err != nil {
		return err
	}
	defer func() {
		fetchedBytes.Inc(ctx, b.fetched.Load())
		err = errors.Join(err, b.Close())
	}()
	src, store, err := b.open(ctx, false, f.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(), store.Close()) }()
	h := shards.Header{Stage: shards.Scanned, Paths: b.trace, Number: number, Of: f.Of}
	if err := f.make(ctx, src, store, b.local(b.parts), h); err != nil {
		return err
	}
	return b.putPart(ctx, b.parts, shards.Name(number, f.Of))
}

// make leaves a shard in a directory.
func (f *shardFn) make(ctx context.Context, src trace.Source, store *spill.Store, parts string, h shards.Header) error {
	locations := shards.Locations(src.Defs(), h.Number, h.Of)
	switch {
	case f.Format == otf2.Format:
		h.Stage = shards.Archived
		files, err := otf2.Encode(ctx, src, locations, store, engine.Options{Jobs: 1})
		if err != nil {
			return err
		}
		return shards.Write(ctx, parts, h, src, files)
	case f.Format != "":
		h.Stage = shards.Written
		written, err := readers.WritePart(ctx, src, locations, parts, h.Number, h.Of,
			readers.CreateOptions{Format: f.Format, Jobs: 1, Store: store, Context: ctx}, nil)
		if err != nil {
			return err
		}
		return shards.Write(ctx, parts, h, src, written)
	case f.Compress != nil:
		h.Stage = shards.Compressed
		opts, err := f.Compress.options()
		if err != nil {
			return err
		}
		opts.Jobs, opts.Store = 1, store
		coded, err := tkf.Encode(ctx, src, locations, opts)
		if err != nil {
			return err
		}
		return shards.Write(ctx, parts, h, src, coded)
	}
	scans, err := merge.Scan(ctx, src, locations, store, merge.Options{Jobs: 1})
	if err != nil {
		return err
	}
	return shards.Write(ctx, parts, h, src, scans)
}

// A profileFn makes the second pass over shards. To make it over one again makes the same file.
type profileFn struct {
	Place  place
	Of     int
	Memory int64 // bytes of tables
}

// Setup prepares a worker.
func (f *profileFn) Setup() error { return f.Place.enter() }

// ProcessElement does the task of a shard.
func (f *profileFn) ProcessElement(ctx context.Context, number int) (err error) {
	b, err := f.Place.bench(ctx)
	if err != nil {
		return err
	}
	defer func() {
		fetchedBytes.Inc(ctx, b.fetched.Load())
		err = errors.Join(err, b.Close())
	}()
	task, profile := distributed.Names(number, f.Of)
	if err := b.get(ctx, b.parts+"/"+task); err != nil {
		return err
	}
	todo, err := distributed.Open(b.local(b.parts), number, f.Of)
	if err != nil {
		return err
	}
	src, store, err := b.open(ctx, todo.AlignStart, f.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(), store.Close()) }()
	if err := todo.Do(ctx, src, store, 1, nil); err != nil {
		return err
	}
	return b.put(ctx, b.parts+"/"+profile)
}

// A compression says how a trace is compressed. Its fields are the flags of 'tracekit compress' that
// workers must know.
type compression struct {
	TimeError string
	Terms     int
	Formulae  string
}

// parseCompression takes the flags that workers must know out of those of 'tracekit compress', and
// returns the others, which are told to 'tracekit combine'.
func parseCompression(args []string) (x *compression, others []string, err error) {
	x = &compression{}
	var own flag.FlagSet
	own.Init("compress", flag.ContinueOnError)
	own.StringVar(&x.TimeError, "time-error", "0", "")
	own.IntVar(&x.Terms, "terms", sequence.DefaultTerms, "")
	own.StringVar(&x.Formulae, "formulae", "all", "")
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if own.Lookup(name) == nil || !strings.HasPrefix(args[i], "--") {
			others = append(others, args[i])
			continue
		}
		mine := args[i : i+1]
		if i+1 < len(args) && !whole {
			mine = args[i : i+2]
			i++
		}
		if err := own.Parse(mine); err != nil {
			return nil, nil, err
		}
	}
	_, err = x.options()
	return x, others, err
}

// options returns the options, as 'tracekit compress' has them.
func (x *compression) options() (o tkf.Options, err error) {
	if x.Formulae != "all" && x.Formulae != "paper" {
		return o, fmt.Errorf("--formulae %q: want all or paper", x.Formulae)
	}
	if x.Terms < 1 || x.Terms > sequence.MostTerms {
		return o, fmt.Errorf("--terms %d: want 1 to %d", x.Terms, sequence.MostTerms)
	}
	o.Form, o.Learn = sequence.Form{Terms: x.Terms, Paper: x.Formulae == "paper"}, true
	o.TimeError, err = tkf.ParseTimeError(x.TimeError)
	return o, err
}
