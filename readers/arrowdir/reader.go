package arrowdir

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"tracekit/trace"
)

// A tableFile is one table in a file.
type tableFile interface {
	groups() int // row groups or records
	records(indices []int) (recordIterator, error)
	close() error
}

// A recordIterator gives records; nil is the end. A record is valid until the next one.
type recordIterator struct {
	next func() (arrow.Record, error)
	stop func()
}

func (s *Source) openTable(name string) (tableFile, error) {
	if err := s.files.check(name); err != nil {
		return nil, err
	}
	if s.manifest.Format == Parquet {
		return openParquet(name)
	}
	return openIPC(name)
}

// A Source is an open directory of tables.
type Source struct {
	dir      string
	files    *verifier
	manifest *manifest
	defs     *trace.Defs

	mu      sync.Mutex
	damaged map[trace.LocationID]error
}

// Open opens a directory of tables. The error wraps trace.ErrNotATrace if it is none, and
// is a *trace.SyntaxError if its definitions cannot be read.
func Open(_ context.Context, dir string) (*Source, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	s := &Source{dir: dir, manifest: m, files: newVerifier(dir, m.Files), damaged: make(map[trace.LocationID]error)}
	if err := s.readDefs(); err != nil {
		return nil, err
	}
	m.Info.Path, m.Info.Format, m.Info.Bytes = dir, string(m.Format), sizeOf(dir)
	for l := range s.defs.Locations {
		if l < len(m.Events) {
			s.defs.Locations[l].Events = m.Events[l]
		}
	}
	return s, nil
}

func (s *Source) readDefs() (err error) {
	names, err := filepath.Glob(fileOf(s.dir, "defs", "*", s.manifest.Format))
	if err != nil {
		return err
	}
	var records []trace.NamedRecord
	for _, name := range names {
		err := guard(name, func() error {
			r, err := s.readWhole(name)
			if err == nil && r != nil {
				kind := strings.TrimSuffix(filepath.Base(name), "."+string(s.manifest.Format))
				records = append(records, trace.NamedRecord{Name: kind, Record: r})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return guard(filepath.Join(s.dir, "defs"), func() (err error) {
		s.defs, err = trace.DefsOf(records)
		return err
	})
}

// guard gives an error the name of the file. The libraries that decode Arrow and Parquet
// panic on some malformed files; here that is one more way for a file to be malformed.
func guard(name string, read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be decoded: %v", r)
		}
		if err != nil {
			err = &trace.SyntaxError{File: name, Offset: -1, Err: err}
		}
	}()
	return read()
}

// readWhole returns the only record of a small table; nil if it is empty.
func (s *Source) readWhole(name string) (arrow.Record, error) {
	t, err := s.openTable(name)
	if err != nil {
		return nil, err
	}
	defer t.close()
	all := make([]int, t.groups())
	for i := range all {
		all[i] = i
	}
	it, err := t.records(all)
	if err != nil {
		return nil, err
	}
	var parts []arrow.Record
	for {
		r, err := it.next()
		if err != nil || r == nil {
			return joined(parts), err
		}
		r.Retain()
		parts = append(parts, r)
	}
}

func sizeOf(dir string) (bytes int64) {
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Info implements trace.Source.
func (s *Source) Info() trace.Info { return s.manifest.Info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Close implements trace.Source.
func (s *Source) Close() error { return nil }

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ledger trace.Ledger
	for l, err := range s.damaged {
		ledger.Add(trace.CodeCorrupt, trace.Place{Location: l, File: s.dir, Offset: -1}, err.Error())
	}
	return ledger.Findings()
}

// Events implements trace.Source.
func (s *Source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		stopped := false
		err := guard(s.dir, func() error {
			return s.read(ctx, l, func(b *trace.Batch) bool {
				stopped = !yield(b, nil)
				return !stopped
			})
		})
		switch {
		case stopped:
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case err != nil:
			s.note(l, err)
		}
	}
}

func (s *Source) note(l trace.LocationID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged[l] = err
}

// read opens the files of events anew, so that locations can be read concurrently.
func (s *Source) read(ctx context.Context, l trace.LocationID, yield func(*trace.Batch) bool) error {
	a := &aligner{location: l}
	defer a.close()
	for t := range trace.Tables {
		id := trace.TableID(t)
		indices := s.manifest.of(id, l)
		if len(indices) == 0 {
			continue
		}
		f, err := s.openTable(fileOf(s.dir, "events", id.String(), s.manifest.Format))
		if err != nil {
			return err
		}
		a.files = append(a.files, f)
		if last := indices[len(indices)-1]; last >= f.groups() {
			return fmt.Errorf("table %s has %d row groups, the manifest names %d", id, f.groups(), last+1)
		}
		if a.tables[t].records, err = f.records(indices); err != nil {
			return err
		}
		a.tables[t].open = true
	}
	return a.run(ctx, yield)
}
