package arrowdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// A tableFile is one table in a file. Groups may be read concurrently.
type tableFile interface {
	groups() int // row groups or records
	record(group int) (arrow.Record, error)
	close() error
}

// definitionMemory is how much memory a definition takes at most when it is read, in bytes,
// beside its texts and lists.
const definitionMemory = 512

// openTable opens a table that must have the columns of a schema, and the checksum that the manifest
// names unless another program has written it. So many bytes will be made of each row, beside its values.
func (s *Source) openTable(name string, schema *arrow.Schema, perRow int64) (tableFile, error) {
	local, err := filepath.Rel(s.dir, name)
	if err != nil {
		return nil, err
	}
	want, ok := s.manifest.Files[filepath.ToSlash(local)]
	if !ok {
		return nil, fmt.Errorf("it has no checksum in %s", manifestName)
	}
	f, size, sum, err := openSummed(name)
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept { // also where a library has panicked
			f.Close()
		}
	}()
	var t tableFile
	switch right := sum == want; {
	case s.manifest.Format == Parquet && (right || s.manifest.Schema != manifestBefore):
		var p *parquetFile
		if p, err = openParquet(f, size, schema, perRow, right); err == nil && p.by != "" {
			s.rewritten(name, p.by)
		}
		t = p
	case right:
		t, err = openIPC(f, size, schema)
	default:
		err = errDamaged
	}
	if errors.Is(err, errDamaged) {
		err = fmt.Errorf("%w: its checksum is %08x, not %08x", err, sum, want)
	}
	if err != nil {
		return nil, err
	}
	kept = true
	return t, nil
}

var errDamaged = errors.New("it is damaged")

// rewritten notes that a table is not that of the manifest's checksum, but of another program.
func (s *Source) rewritten(name, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tablesNoted.Add(trace.CodeRewritten, trace.Place{Location: trace.None, File: name, Offset: -1}, "by "+by)
}

// A Source is an open directory of tables.
type Source struct {
	dir      string
	manifest *manifest
	contents contents
	defs     *trace.Defs
	tables   [trace.Tables]rowFile

	mu          sync.Mutex
	tablesNoted trace.Ledger // tables that are not there, or not as they were written
	notes       map[trace.LocationID]note
}

// A note is what is wrong with the events of a location.
type note struct {
	code       trace.Code
	file, text string
}

// Open opens a directory of tables, or of parts. The error wraps trace.ErrNotATrace if it is none,
// and is a *trace.SyntaxError if its definitions cannot be read.
func Open(_ context.Context, dir string) (trace.Source, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.Schema == manifestParts {
		return openParts(dir, m.Parts)
	}
	s, err := openTables(dir, m, nil)
	if err != nil {
		return nil, err
	}
	for l := range s.defs.Locations {
		s.defs.Locations[l].Events = m.Events[l]
	}
	return s, nil
}

// openTables opens a directory of tables, with the definitions of another one, which must be the
// same, if that is not nil.
func openTables(dir string, m *manifest, beside *Source) (*Source, error) {
	s := &Source{dir: dir, manifest: m, notes: make(map[trace.LocationID]note)}
	wrong := func(err error) error {
		return &trace.SyntaxError{File: filepath.Join(dir, manifestName), Offset: -1, Err: err}
	}
	var err error
	if s.contents, err = m.contents(); err != nil {
		return nil, wrong(err)
	}
	switch {
	case beside == nil:
		err = s.readDefs()
	case !sameDefs(m, beside.manifest):
		err = wrong(fmt.Errorf("it has other definitions than %s", beside.dir))
	default:
		s.defs = beside.defs
	}
	if err != nil {
		return nil, err
	}
	s.findTables()
	m.Info.Path, m.Info.Format, m.Info.Bytes = dir, string(m.Format), sizeOf(dir)
	if n := len(s.defs.Locations); n != len(m.Events) {
		return nil, wrong(fmt.Errorf("it has %d locations, the definitions have %d", len(m.Events), n))
	}
	return s, nil
}

// findTables notes tables of events that the manifest names and that are not there. Those without
// rows, which nobody will read, must be what was written.
func (s *Source) findTables() {
	for t := range trace.Tables {
		name := s.events(trace.TableID(t))
		at := trace.Place{Location: trace.None, File: name, Offset: -1}
		local, _ := filepath.Rel(s.dir, name)
		_, written := s.manifest.Files[filepath.ToSlash(local)]
		switch _, err := os.Stat(name); {
		case !written:
		case errors.Is(err, fs.ErrNotExist):
			s.tablesNoted.Add(trace.CodeMissingFile, at, "a table of events")
		case len(s.manifest.runs(trace.TableID(t))) == 0:
			err := guard(name, func() error {
				f, err := s.openTable(name, withLocation(eventSchemas[t]), 0)
				if err != nil {
					return err
				}
				return f.close()
			})
			if syntax := (*trace.SyntaxError)(nil); errors.As(err, &syntax) {
				s.tablesNoted.Add(trace.CodeCorrupt, at, fmt.Sprintf("a table of events: %v", syntax.Err))
			}
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
			err = wire.Recovered(r)
		}
		if syntax := (*trace.SyntaxError)(nil); err != nil && !errors.As(err, &syntax) {
			err = &trace.SyntaxError{File: name, Offset: -1, Err: err}
		}
	}()
	return read()
}

// readWhole returns the only record of a small table; nil if it is empty.
func (s *Source) readWhole(name string, schema *arrow.Schema) (arrow.Record, error) {
	t, err := s.openTable(name, schema, definitionMemory)
	if err != nil {
		return nil, err
	}
	defer t.close()
	var parts []arrow.Record
	for i := range t.groups() {
		r, err := t.record(i)
		if err != nil {
			return nil, err
		}
		parts = append(parts, r)
	}
	all := joined(parts)
	if p, ok := t.(*parquetFile); ok && p.by != "" && all != nil && all.ColumnName(0) == idColumn {
		if ids, ok := all.Column(0).(*array.Uint32); ok {
			for i, id := range ids.Uint32Values() {
				if int64(id) != int64(i) {
					return nil, fmt.Errorf("row %d has the id %d: the rows must keep their order", i, id)
				}
			}
		}
	}
	return all, nil
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
func (s *Source) Close() (err error) {
	for i := range s.tables {
		if f := s.tables[i].file; f != nil {
			err = errors.Join(err, f.close())
		}
	}
	return err
}

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ledger trace.Ledger
	ledger.Merge(s.tablesNoted.Findings())
	for l, n := range s.notes {
		ledger.Add(n.code, trace.Place{Location: l, File: n.file, Offset: -1}, n.text)
	}
	return ledger.Findings()
}

// Events implements trace.Source. Only what decodes is guarded, not whoever takes the
// batches: a panic there is no fault of the file.
func (s *Source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		a := &aligner{location: l}
		err := s.open(a)
		events := uint64(0)
		for err == nil && ctx.Err() == nil {
			var batch *trace.Batch
			err = guard(s.dir, func() (err error) {
				batch, err = a.next()
				return err
			})
			if err != nil || batch == nil {
				break
			}
			events += uint64(batch.Len())
			if !yield(batch, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		if syntax := (*trace.SyntaxError)(nil); errors.As(err, &syntax) && !errors.Is(err, fs.ErrNotExist) { // which Open has noted
			s.note(l, note{trace.CodeCorrupt, syntax.File, syntax.Err.Error()})
		} else if want := s.manifest.Events[l]; err == nil && events != want {
			s.note(l, note{trace.CodeCountMismatch, filepath.Join(s.dir, manifestName),
				fmt.Sprintf("%d events are announced, there are %d", want, events)})
		}
	}
}

func (s *Source) note(l trace.LocationID, n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes[l] = n
}

// open finds the rows of the aligner's location.
func (s *Source) open(a *aligner) error {
	spans := s.contents[a.location]
	if spans == nil {
		return nil
	}
	for t := range trace.TableID(trace.Tables) {
		if len(spans[t]) == 0 {
			continue
		}
		f := &s.tables[t]
		f.once.Do(func() {
			f.name = s.events(t)
			f.err = guard(f.name, func() (err error) { return s.openEvents(f, t) })
		})
		if f.err != nil {
			return f.err
		}
		a.tables[t] = tableRows{file: f, parts: f.parts(spans[t]), open: true}
	}
	return nil
}

// openEvents opens a table of events. It has as many groups as the manifest says.
func (s *Source) openEvents(f *rowFile, t trace.TableID) (err error) {
	if f.file, err = s.openTable(f.name, withLocation(eventSchemas[t]), 0); err != nil {
		return err
	}
	n := 0
	if f.whole = s.manifest.Schema == manifestBefore; f.whole {
		for _, r := range s.manifest.runs(t) {
			n += r.Count
		}
		f.starts = make([]int, f.file.groups()+1)
		for i := range f.starts {
			f.starts[i] = i
		}
	} else {
		n = len(s.manifest.Rows[t].Groups)
		f.starts, err = s.manifest.Rows[t].starts()
	}
	if p, ok := f.file.(*parquetFile); ok && p.by != "" && err == nil {
		all := f.starts[n]
		if f.starts, err = p.starts(); err == nil && f.starts[p.groups()] != all {
			err = fmt.Errorf("there are %d rows, the manifest names %d", f.starts[p.groups()], all)
		}
		return err
	}
	if n != f.file.groups() {
		err = fmt.Errorf("there are %d groups of rows, the manifest names %d", f.file.groups(), n)
	}
	return err
}

// A rowFile is a table of events, whose groups hold rows of several locations. It is opened
// when it is first needed.
type rowFile struct {
	once   sync.Once
	name   string
	file   tableFile
	err    error
	starts []int // rows before each group, and all rows
	whole  bool  // before: groups before each group, each of a single location

	mu     sync.Mutex
	shared [4]sharedGroup // that were read last
	next   int
}

// A sharedGroup is a group of which locations have only parts.
type sharedGroup struct {
	number int
	rows   arrow.Record
}

// A part is rows [from, to) of a group.
type part struct{ group, from, to int }

// parts returns of which groups spans are, in order.
func (f *rowFile) parts(spans []span) (parts []part) {
	for _, s := range spans {
		for s.from < s.to {
			g := sort.SearchInts(f.starts, s.from+1) - 1
			end := min(s.to, f.starts[g+1])
			parts = append(parts, part{g, s.from - f.starts[g], end - f.starts[g]})
			s.from = end
		}
	}
	return parts
}

// read returns the rows of a part.
func (f *rowFile) read(p part) (arrow.Record, error) {
	if f.whole {
		return f.file.record(p.group)
	}
	n := f.starts[p.group+1] - f.starts[p.group]
	all := p.to-p.from == n
	var rows arrow.Record
	if !all {
		rows = f.recent(p.group)
	}
	if rows == nil {
		var err error
		if rows, err = f.file.record(p.group); err != nil {
			return nil, err
		}
		if rows.NumRows() != int64(n) {
			return nil, fmt.Errorf("group %d has %d rows, the manifest says %d", p.group, rows.NumRows(), n)
		}
	}
	if all {
		return rows, nil
	}
	f.keep(p.group, rows)
	return rows.NewSlice(int64(p.from), int64(p.to)), nil
}

func (f *rowFile) recent(group int) arrow.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shared {
		if s.rows != nil && s.number == group {
			return s.rows
		}
	}
	return nil
}

func (f *rowFile) keep(group int, rows arrow.Record) {
	if f.recent(group) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shared[f.next] = sharedGroup{group, rows}
	f.next = (f.next + 1) % len(f.shared)
}
