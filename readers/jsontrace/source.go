package jsontrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tracekit/readers/internal/wire"
	"tracekit/spill"
	"tracekit/trace"
)

// Options are the choices of Open. The zero value is good for most traces.
type Options struct {
	Jobs  int          // goroutines that parse; below 1: one per processor
	Store *spill.Store // of the events, to be closed after the Source; nil: one of its own
	Align Align        // of several files
}

const (
	maxFiles   = 8 // that are read at once
	maxWorkers = 4 // for one file; one goroutine takes what they find, and is the slower then
)

// newSource returns a source of files that are not read yet.
func newSource(paths []string, opts Options) *Source {
	if opts.Jobs < 1 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	s := &Source{options: opts}
	if opts.Store == nil {
		s.own = spill.NewStore(spill.DefaultBudget(), "")
		s.options.Store = s.own
	}
	for _, path := range paths {
		f := newFile(path, s.options.Store)
		f.jobs = max(1, opts.Jobs/min(len(paths), maxFiles))
		s.files = append(s.files, f)
	}
	return s
}

// Open reads one trace from the files of those paths: a single file, or one file for each
// rank. The files are read completely. An error wraps trace.ErrNotATrace if a file is no
// JSON trace.
func Open(ctx context.Context, paths []string, opts Options) (*Source, error) {
	if len(paths) == 0 {
		return nil, trace.ErrNoFile
	}
	s := newSource(paths, opts)
	g, gctx := errgroup.WithContext(ctx)
	// Each file has its own spool, so that they can be read at once; the order of files
	// decides about all numbers, not that of completion.
	g.SetLimit(min(s.options.Jobs, maxFiles))
	errs := make([]error, len(s.files))
	for i, f := range s.files {
		g.Go(func() error {
			var closed *unopened
			if errs[i] = f.open(gctx); errors.As(errs[i], &closed) {
				return nil
			}
			return errs[i]
		})
	}
	err := g.Wait()
	if err == nil {
		err = s.leaveOut(errs)
	}
	return s.complete(ctx, err)
}

// complete makes the trace of files that were read; or closes the source, if err or an error
// of its own says that this cannot be.
func (s *Source) complete(ctx context.Context, err error) (*Source, error) {
	if err == nil {
		err = s.join(ctx)
	}
	if err == nil {
		err = s.allLost()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// allLost returns an error if the files have events, and none of them can be understood.
func (s *Source) allLost() error {
	for _, l := range s.Defs().Locations {
		if l.Events > 0 {
			return nil
		}
	}
	for _, f := range s.Findings() {
		if f.Code == trace.CodeBadValue {
			return fmt.Errorf("%w: none of its events is valid: %s (%d of them)", trace.ErrNotATrace, f.Text, f.Count)
		}
	}
	return nil
}

func (f *file) open(ctx context.Context) error {
	r, size, err := wire.OpenRegular(f.path)
	if err != nil {
		return &unopened{err}
	}
	defer r.Close()
	changed := wire.Watch(r)
	f.size = size
	err = f.read(ctx, r)
	if changed() {
		f.find(trace.CodeChangedMeanwhile, -1, "its size or time changed after it was opened")
	}
	return err
}

// unopened is why a file cannot be opened: others may hold the rest of the trace.
type unopened struct{ error }

func (u *unopened) Unwrap() error { return u.error }

// leaveOut leaves out the files that cannot be opened, with a finding. The error is that of the
// first, if there are no others.
func (s *Source) leaveOut(errs []error) error {
	kept := s.files[:0]
	for i, f := range s.files {
		var closed *unopened
		if !errors.As(errs[i], &closed) {
			kept = append(kept, f)
			continue
		}
		s.ledger.Add(trace.CodeMissingFile, f.place(-1), errs[i].Error())
		f.set.Close()
	}
	if s.files = kept; len(kept) == 0 {
		return errs[0]
	}
	return nil
}

// A Source is a trace of JSON files. It implements trace.Source; all that is to be noticed
// is noticed when it is opened.
type Source struct {
	options Options
	own     *spill.Store // that Close closes; nil: there is none
	info    trace.Info
	files   []*file
	defs    *trace.Defs
	places  []place
	pauses  [2]trace.StringID // names of the instants between files of a rank
	ledger  trace.Ledger
}

// join makes one trace of the files.
func (s *Source) join(ctx context.Context) error {
	for _, f := range s.files {
		if f.own != nil && len(s.files) > 1 {
			return fmt.Errorf("%s: this is a complete trace and cannot be joined with other files", f.path)
		}
	}
	if own := s.files[0].own; own != nil {
		s.defs, s.places = own.assemble(s.files[0])
	} else {
		a, err := assemble(ctx, s.options.Jobs, s.files)
		if err != nil {
			return err
		}
		a.clock(s.options.Align)
		s.defs, s.places, s.pauses = a.defs, a.places, a.pauses
		s.ledger.Merge(a.ledger.Findings())
	}
	for _, f := range s.files {
		s.ledger.Merge(f.ledger.Findings())
	}
	s.info = describeFiles(s.files)
	return nil
}

// describeFiles makes the Info of a trace: properties that all files agree on are those of
// the trace.
func describeFiles(files []*file) trace.Info {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	info := trace.Info{Path: trace.FilesPath(paths), Format: Format, Version: files[0].form(), Properties: make(map[string]string)}
	if len(files) > 1 {
		info.Properties[trace.PropertyFileClocks] = "true"
	}
	if own := files[0].own; own != nil {
		own.describe(&info)
	} else {
		for k, v := range files[0].members {
			if !slices.ContainsFunc(files, func(f *file) bool { return f.members[k] != v }) {
				info.Properties[k] = v
			}
		}
	}
	var phases []string
	for p := range 256 {
		var n uint64
		for _, f := range files {
			n += f.phases[p]
		}
		if n > 0 && p > 0 {
			phases = append(phases, fmt.Sprintf("%c %d", p, n))
		}
	}
	info.Properties["phases"] = strings.Join(phases, ", ")
	for _, f := range files {
		info.Bytes += f.size
		info.Creator = cmp.Or(info.Creator, f.creator())
		info.Machine = cmp.Or(info.Machine, f.dft.host)
	}
	return info
}

// form names the dialect of a file.
func (f *file) form() string {
	switch {
	case f.own != nil:
		return "tracekit 1"
	case f.origin.kineto:
		return "Chrome trace events (PyTorch)"
	case f.dft.host != "":
		return "Chrome trace events (dftracer)"
	}
	return "Chrome trace events"
}

// creator names the program that wrote a file, "" if it cannot be told.
func (f *file) creator() string {
	switch {
	case f.origin.kineto:
		return "PyTorch profiler"
	case f.rocprof:
		return "rocprof"
	case f.ncclWorld != "":
		return "NCCL profiler"
	case f.dft.host != "":
		return "dftracer"
	}
	return ""
}

// Info implements trace.Source.
func (s *Source) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding { return s.ledger.Findings() }

// Events implements trace.Source.
func (s *Source) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) >= len(s.places) || s.places[location].file == nil {
			return
		}
		if p := s.places[location]; p.file.own != nil {
			p.file.pass(ctx, p.track, location, yield)
			return
		}
		more, first := true, uint64(0)
		for p := &s.places[location]; p != nil && more; p = p.next {
			if p != &s.places[location] && p.main() {
				b := s.pause(p.file, location, first)
				first += uint64(b.Len())
				if more = yield(b, nil); !more {
					return
				}
			}
			p.file.set.Deliver(ctx, &p.track.Track, p.sub, p.ids, location, first, func(b *trace.Batch, err error) bool {
				if b != nil {
					first = b.First + uint64(b.Len())
				}
				more = yield(b, err) && err == nil
				return more
			})
		}
	}
}

// pause returns the events by which a thread tells that nothing is recorded between the file before and a later file of its rank.
func (s *Source) pause(f *file, location trace.LocationID, first uint64) *trace.Batch {
	b := new(trace.Batch)
	b.Reset(location, first)
	b.AddOther(f.before.ends(), trace.KindInstant, uint64(s.pauses[0]))
	b.AddOther(max(f.before.ends(), f.begins()), trace.KindInstant, uint64(s.pauses[1]))
	return b
}

// Close implements trace.Source.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.set.Close())
	}
	if s.own != nil {
		errs = append(errs, s.own.Close())
	}
	return errors.Join(errs...)
}
