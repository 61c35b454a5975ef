package main

import (
	"context"
	"errors"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamregister "github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/shards"
	"tracekit/spill"
)

// register makes known to Beam what runs in workers.
func register() {
	beamregister.DoFn2x1[context.Context, int, error](&shardFn{})
}

// makeShards adds the making of all shards to a pipeline: numbers of shards, spread over the
// workers, each of which ends as a file.
func makeShards(s beam.Scope, fn *shardFn) {
	numbers := make([]int, fn.Of)
	for i := range numbers {
		numbers[i] = i + 1
	}
	beam.ParDo0(s.Scope("shards"), fn, beam.Reshuffle(s, beam.CreateList(s, numbers)))
}

// A shardFn makes shards. To make one again, after a worker was lost, makes the same file.
type shardFn struct {
	Compress *compression // nil: it decodes
	Paths    []string     // of the trace, as they were named in Dir
	Dir      string
	Parts    string // directory of the shards
	Of       int
	Memory   int64 // bytes of tables
}

// Setup goes where the paths were named, for findings tell of files by these names.
func (f *shardFn) Setup() error { return os.Chdir(f.Dir) }

// ProcessElement decodes a shard. It opens the trace anew each time: what a source has noticed
// before must not count again.
func (f *shardFn) ProcessElement(ctx context.Context, number int) (err error) {
	store := spill.NewStore(f.Memory, "")
	defer func() { err = errors.Join(err, store.Close()) }()
	src, err := readers.OpenAll(ctx, f.Paths, readers.OpenOptions{Jobs: 1, Store: store})
	if err != nil {
		return err
	}
	defer src.Close()
	src.Defs().ShortenNames()
	h := shards.Header{Stage: shards.Scanned, Paths: f.Paths, Number: number, Of: f.Of}
	locations := shards.Locations(src.Defs(), number, f.Of)
	if f.Compress == nil {
		scans, err := merge.Scan(ctx, src, locations, store, merge.Options{Jobs: 1})
		if err != nil {
			return err
		}
		return shards.Write(ctx, f.Parts, h, src, scans)
	}
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
