package main

import (
	"context"
	"errors"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamregister "github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tracekit/engine"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats"
	"tracekit/stats/second"
	"tracekit/trace"
)

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
	Paths    []string     // of the trace, as they were named in Dir
	Dir      string
	Parts    string // directory of the shards
	Of       int
	Memory   int64 // bytes of tables
}

// Setup goes where the paths were named, for findings tell of files by these names.
func (f *shardFn) Setup() error { return os.Chdir(f.Dir) }

// ProcessElement decodes, compresses or writes a shard. It opens the trace anew each time: what a source has noticed
// before must not count again.
func (f *shardFn) ProcessElement(ctx context.Context, number int) (err error) {
	src, store, err := open(ctx, f.Paths, false, f.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(), store.Close()) }()
	h := shards.Header{Stage: shards.Scanned, Paths: f.Paths, Number: number, Of: f.Of}
	locations := shards.Locations(src.Defs(), number, f.Of)
	switch {
	case f.Format == otf2.Format:
		h.Stage = shards.Archived
		files, err := otf2.Encode(ctx, src, locations, engine.Options{Jobs: 1})
		if err != nil {
			return err
		}
		return errors.Join(shards.Write(ctx, f.Parts, h, src, files), files.Close())
	case f.Format != "":
		h.Stage = shards.Written
		written, err := readers.WritePart(ctx, src, locations, f.Parts, number, f.Of, readers.CreateOptions{Format: f.Format, Jobs: 1, Store: store, Context: ctx}, nil)
		if err != nil {
			return err
		}
		return shards.Write(ctx, f.Parts, h, src, written)
	case f.Compress != nil:
		h.Stage = shards.Compressed
		opts, err := f.Compress.options()
		if err != nil {
			return err
		}
		opts.Jobs, opts.Store = 1, store
		parts, err := tkf.Encode(ctx, src, locations, opts)
		if err != nil {
			return err
		}
		return shards.Write(ctx, f.Parts, h, src, parts)
	}
	scans, err := merge.Scan(ctx, src, locations, store, merge.Options{Jobs: 1})
	if err != nil {
		return err
	}
	return shards.Write(ctx, f.Parts, h, src, scans)
}

// open opens a trace, with a store for tables that keeps so many bytes in memory.
func open(ctx context.Context, paths []string, align bool, memory int64) (trace.Source, *spill.Store, error) {
	store := spill.NewStore(memory, "")
	src, err := readers.OpenAll(ctx, paths, readers.OpenOptions{Jobs: 1, Store: store, AlignStart: align})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	src.Defs().ShortenNames()
	return src, store, nil
}

// A profileFn makes the second pass over shards. To make it over one again makes the same file.
type profileFn struct {
	Dir    string // in which the trace was named
	Parts  string // directory of the tasks
	Of     int
	Memory int64 // bytes of tables
}

// Setup goes where the paths were named.
func (f *profileFn) Setup() error { return os.Chdir(f.Dir) }

// ProcessElement does the task of a shard.
func (f *profileFn) ProcessElement(ctx context.Context, number int) (err error) {
	task, err := second.Open(f.Parts, number, f.Of)
	if err != nil {
		return err
	}
	src, store, err := open(ctx, task.Paths, task.AlignStart, f.Memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(), store.Close()) }()
	return task.Do(ctx, src, store, stats.Options{Jobs: 1})
}
