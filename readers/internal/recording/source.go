package recording

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"tracekit/spill"
	"tracekit/trace"
)

// Options are the choices of Open.
type Options struct {
	Jobs       int          // goroutines; below 1: one per processor
	Store      *spill.Store // of the events, to be closed after the Source; nil: one of its own
	AlignStart bool         // the files begin together, at the time 0
}

// maxFiles is how many files are read at once.
const maxFiles = 8

// A Missing file cannot be opened, which is no reason to refuse the others of its trace.
type Missing struct{ Err error }

func (m *Missing) Error() string { return m.Err.Error() }

// Unwrap returns why.
func (m *Missing) Unwrap() error { return m.Err }

// Open reads one trace from files of a format, which read reads into a File each. The store's and the context's errors end it, and those
// of files but Missing.
func Open(ctx context.Context, format string, paths []string, o Options, read func(ctx context.Context, f *File) error) (*Source, error) {
	if len(paths) == 0 {
		return nil, trace.ErrNoFile
	}
	if o.Jobs < 1 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	s := &Source{}
	if o.Store == nil {
		s.own = spill.NewStore(spill.DefaultBudget(), "")
		o.Store = s.own
	}
	for _, path := range paths {
		s.files = append(s.files, NewFile(path, o.Store))
	}
	errs := make([]error, len(paths))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(min(o.Jobs, maxFiles))
	for i, f := range s.files {
		g.Go(func() error {
			var missing *Missing
			if errs[i] = read(gctx, f); errs[i] == nil {
				errs[i] = f.Set.Spool.Finish(gctx, max(1, o.Jobs/min(len(paths), maxFiles)))
			}
			if errors.As(errs[i], &missing) || len(paths) > 1 && errors.Is(errs[i], trace.ErrNotATrace) {
				return nil
			}
			return errs[i]
		})
	}
	err := g.Wait()
	if err == nil {
		err = s.leaveOut(errs)
	}
	if err == nil {
		err = s.join(ctx, format, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// leaveOut leaves out the files that cannot be opened, with a finding. The error is that of the first, if there are no others.
func (s *Source) leaveOut(errs []error) error {
	kept := make([]*File, 0, len(s.files))
	for i, f := range s.files {
		if errs[i] == nil {
			kept = append(kept, f)
			continue
		}
		s.ledger.Add(trace.CodeMissingFile, f.Place(-1), errs[i].Error())
		f.Set.Close()
	}
	if s.files = kept; len(kept) == 0 {
		return errs[0]
	}
	return nil
}

// A Source is the trace of files of a recorder. All that is to be noticed is noticed when it is opened.
type Source struct {
	own    *spill.Store // that Close closes; nil: there is none
	info   trace.Info
	files  []*File
	defs   *trace.Defs
	places []place
	ledger trace.Ledger
}

func (s *Source) join(ctx context.Context, format string, o Options) error {
	nameRanks(s.files)
	order(s.files)
	j, err := join(ctx, o.Jobs, s.files, o.AlignStart)
	if err != nil {
		return err
	}
	s.defs, s.places = j.defs, j.places
	s.ledger.Merge(j.ledger.Findings())
	first, paths := s.files[0], make([]string, len(s.files))
	for i, f := range s.files {
		paths[i] = f.Path
	}
	s.info = trace.Info{Path: trace.FilesPath(paths), Format: format, Version: first.Version, Creator: first.Creator, Machine: first.Host,
		Properties: make(map[string]string)}
	if len(s.files) > 1 {
		s.info.Properties[trace.PropertyFileClocks] = "true"
	}
	for _, f := range s.files {
		for k, v := range f.Properties { // on which all files agree that have it
			if !slices.ContainsFunc(s.files, func(g *File) bool { w, ok := g.Properties[k]; return ok && w != v }) {
				s.info.Properties[k] = v
			}
		}
		s.ledger.Merge(f.Ledger.Findings())
		s.info.Bytes += f.Size
		if f.Host != first.Host {
			s.info.Machine = ""
		}
	}
	return nil
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
		if int(location) < len(s.places) {
			p := s.places[location]
			p.file.Set.Deliver(ctx, &p.track.Track, p.sub, p.ids, location, 0, yield)
		}
	}
}

// Outline implements trace.Outliner.
func (s *Source) Outline(location trace.LocationID) *trace.Outline {
	if p := s.places[location]; p.known != nil {
		return p.known.In(p.ids)
	}
	return nil
}

// Close implements trace.Source.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Set.Close())
	}
	if s.own != nil {
		errs = append(errs, s.own.Close())
	}
	return errors.Join(errs...)
}
