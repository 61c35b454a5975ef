package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"tracekit/readers"
	"tracekit/spill"
	"tracekit/trace"
)

// A place says where a trace is.
type place struct {
	Trace  []string // as it was named in Dir, or addresses with the options of their buckets
	Dir    string   // "": there are addresses only
	Parts  string   // directory of the shards and tasks, named likewise
	Layout bool     // lies there, too
}

// enter goes where the trace was named, for findings tell of files by these names.
func (p place) enter() error {
	if p.Dir == "" {
		return nil
	}
	return os.Chdir(p.Dir)
}

// A bench is where a worker works on a shard: a mirror of its own, in which the trace is laid out.
type bench struct {
	*objects
	trace []string // its names
	parts string   // the name of the directory of shards and tasks
}

// bench makes one. What lies there goes when it is closed.
func (p place) bench(ctx context.Context) (b *bench, err error) {
	b = &bench{}
	if b.objects, err = newObjects(""); err != nil {
		return nil, err
	}
	b.trace, err = b.names(p.Trace)
	if err == nil {
		b.parts, err = b.name(p.Parts)
	}
	switch {
	case err != nil:
	case p.Layout:
		err = b.unpack(ctx, b.parts)
	default:
		_, err = b.lay(ctx, b.trace)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// open opens the trace, with a store for tables that keeps so many bytes in memory. Events are fetched when they
// are read.
func (b *bench) open(ctx context.Context, align bool, memory int64) (trace.Source, *spill.Store, error) {
	store := spill.NewStore(memory, "")
	src, err := readers.OpenAll(ctx, b.trace, readers.OpenOptions{Jobs: 1, Store: store, AlignStart: align, Mirror: b.dir})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	src.Defs().ShortenNames()
	return b.fetching(src), store, nil
}

// filesOf returns the files of the trace that has a name, among what find finds by a prefix.
func filesOf(name string, find func(prefix string) ([]string, error)) (readers.Files, error) {
	root, key := split(name)
	files, err := readers.FilesOf(key, func(prefix string) (keys []string, err error) {
		names, err := find(root + prefix)
		for _, name := range names {
			keys = append(keys, strings.TrimPrefix(name, root))
		}
		return keys, err
	})
	for _, list := range [][]string{files.Opened, files.Events} {
		for i := range list {
			list[i] = root + list[i]
		}
	}
	if errors.Is(err, trace.ErrNotATrace) {
		err = fmt.Errorf("%s%w", root, err) // it names the key
	}
	return files, err
}

// lay lays traces out in the mirror: what is read when they are opened, and holes of the right sizes in the
// place of the events.
func (x *objects) lay(ctx context.Context, names []string) (all readers.Files, err error) {
	for _, name := range names {
		if !readers.IsAddress(name) {
			continue
		}
		files, err := filesOf(name, func(prefix string) ([]string, error) { return x.list(ctx, prefix) })
		if err == nil {
			err = each(ctx, files.Opened, x.get)
		}
		if err == nil {
			err = each(ctx, files.Events, x.hole)
		}
		if err != nil {
			return all, err
		}
		all.Opened, all.Events = append(all.Opened, files.Opened...), append(all.Events, files.Events...)
	}
	return all, nil
}

// A fetching source is a trace that was laid out: it fetches the events of a location before they are
// read first.
type fetching struct {
	trace.Source
	objects *objects
	there   []sync.Once // by location
	failed  []error
}

func (x *objects) fetching(src trace.Source) trace.Source {
	n := len(src.Defs().Locations)
	return &fetching{src, x, make([]sync.Once, n), make([]error, n)}
}

// Events implements trace.Source.
func (f *fetching) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		f.there[l].Do(func() {
			name := readers.EventFile(f.Source, l)
			if _, listed := f.objects.sizeOf(name); listed {
				f.failed[l] = f.objects.get(ctx, name)
			}
		})
		if err := f.failed[l]; err != nil {
			yield(nil, err)
			return
		}
		f.Source.Events(ctx, l)(yield)
	}
}

// putTrace puts a trace that was written into the mirror into its store, so that nothing partial is ever
// taken for one: the file without which there is none comes last.
func (x *objects) putTrace(ctx context.Context, name string) error {
	written, err := x.below(name[:strings.LastIndex(name, "/")])
	if err != nil {
		return err
	}
	files, err := filesOf(name, func(prefix string) (found []string, err error) {
		return slices.DeleteFunc(slices.Clone(written), func(file string) bool { return !strings.HasPrefix(file, prefix) }), nil
	})
	if err != nil {
		return err
	}
	last := len(files.Opened) - 1
	return x.putLast(ctx, slices.Concat(files.Events, files.Opened[:last]), files.Opened[last])
}

// putPart puts what was left in the directory of the parts, and at last what says that it is complete.
func (x *objects) putPart(ctx context.Context, parts, last string) error {
	if !readers.IsAddress(parts) {
		return nil
	}
	last = parts + "/" + last
	written, err := x.below(parts)
	if err != nil {
		return err
	}
	return x.putLast(ctx, slices.DeleteFunc(written, func(name string) bool { return name == last }), last)
}

// putLast puts objects, one of them after the others are there. If that fails, none is left.
func (x *objects) putLast(ctx context.Context, others []string, last string) error {
	err := each(ctx, others, x.put)
	if err == nil {
		err = x.put(ctx, last)
	}
	if err != nil {
		ctx, stop := atLast(ctx)
		defer stop()
		err = errors.Join(err, x.remove(ctx, others))
	}
	return err
}
