package arrowdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

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

// openTable opens a table that must have the schema.
func (s *Source) openTable(name string, schema *arrow.Schema) (tableFile, error) {
	if err := s.files.check(name); err != nil {
		return nil, err
	}
	if s.manifest.Format == Parquet {
		return openParquet(name, schema)
	}
	return openIPC(name, schema)
}

// A Source is an open directory of tables.
type Source struct {
	dir      string
	files    *verifier
	manifest *manifest
	contents contents
	defs     *trace.Defs

	missing trace.Ledger // tables that are not there

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
	if s.contents, err = m.contents(); err != nil {
		return nil, &trace.SyntaxError{File: filepath.Join(dir, manifestName), Offset: -1, Err: err}
	}
	if err := s.readDefs(); err != nil {
		return nil, err
	}
	s.findTables()
	m.Info.Path, m.Info.Format, m.Info.Bytes = dir, string(m.Format), sizeOf(dir)
	for l := range s.defs.Locations {
		if l < len(m.Events) {
			s.defs.Locations[l].Events = m.Events[l]
		}
	}
	return s, nil
}

// findTables notes tables of events that the manifest names and that are not there.
func (s *Source) findTables() {
	for t := range trace.Tables {
		name := s.events(trace.TableID(t))
		if _, err := os.Stat(name); len(s.manifest.Groups[t]) > 0 && errors.Is(err, fs.ErrNotExist) {
			s.missing.Add(trace.CodeMissingFile, trace.Place{Location: trace.None, File: name, Offset: -1}, "a table of events")
		}
	}
}

// events returns the name of the file of a table of events.
func (s *Source) events(t trace.TableID) string {
	return fileOf(s.dir, "events", t.String(), s.manifest.Format)
}

// readDefs reads the tables of definitions, all of which a writer makes.
func (s *Source) readDefs() error {
	records := defRecords(new(trace.Defs), memory.NewGoAllocator())
	for i := range records {
		r := &records[i]
		name := fileOf(s.dir, "defs", r.Name, s.manifest.Format)
		err := guard(name, func() (err error) {
			r.Record, err = s.readWhole(name, r.Record.Schema())
			return err
		})
		if err != nil {
			return err
		}
	}
	return guard(filepath.Join(s.dir, "defs"), func() (err error) {
		s.defs, err = defsOf(records)
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
func (s *Source) readWhole(name string, schema *arrow.Schema) (arrow.Record, error) {
	t, err := s.openTable(name, schema)
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
	ledger.Merge(s.missing.Findings())
	for l, err := range s.damaged {
		at := trace.Place{Location: l, File: s.dir, Offset: -1}
		var syntax *trace.SyntaxError
		if errors.As(err, &syntax) {
			at.File, err = syntax.File, syntax.Err
		}
		ledger.Add(trace.CodeCorrupt, at, err.Error())
	}
	return ledger.Findings()
}

// Events implements trace.Source. Only what decodes is guarded, not whoever takes the
// batches: a panic there is no fault of the file.
func (s *Source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		a := &aligner{location: l}
		defer a.close()
		err := s.open(a)
		for err == nil && ctx.Err() == nil {
			var batch *joinedBatch
			err = guard(s.dir, func() (err error) {
				batch, err = a.next()
				return err
			})
			if err != nil || batch == nil {
				break
			}
			if !yield(batch.Batch, nil) {
				return
			}
			batch.release()
		}
		switch {
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case err != nil && !errors.Is(err, fs.ErrNotExist): // which Open has noted
			s.note(l, err)
		}
	}
}

func (s *Source) note(l trace.LocationID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged[l] = err
}

// open opens the tables that hold events of the aligner's location. Files are opened anew,
// so that locations can be read concurrently.
func (s *Source) open(a *aligner) error {
	spans := s.contents[a.location]
	if spans == nil {
		return nil
	}
	for t := range trace.Tables {
		if len(spans[t]) == 0 {
			continue
		}
		err := guard(s.events(trace.TableID(t)), func() error { return s.openEvents(a, trace.TableID(t), spans[t]) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) openEvents(a *aligner, t trace.TableID, spans []span) error {
	f, err := s.openTable(s.events(t), withLocation(eventSchemas[t]))
	if err != nil {
		return err
	}
	a.files = append(a.files, f)
	groups, err := indices(spans, f.groups())
	if err != nil {
		return err
	}
	a.tables[t].records, err = f.records(groups)
	a.tables[t].open = err == nil
	return err
}
