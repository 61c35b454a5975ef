package arrowdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/readers/internal/output"
	"tracekit/tempfile"
	"tracekit/trace"
)

// Options say how a directory is written.
type Options struct {
	Format Format // the zero value is Arrow
	Force  bool   // replace a directory of the same name
	Jobs   int    // goroutines that encode; less than 1: one per processor
}

// A Writer writes a directory of tables; it is a trace.Sink. The directory has a
// temporary name until it is complete. Nothing of a trace is lost in this format.
type Writer struct {
	path, temp string
	force      bool
	manifest   manifest
	tables     *eventTables
	defs       chan error // of the tables of definitions, which are written beside the events
	closed     bool
}

// A tableWriter writes the records of one table: each is encoded, by any goroutine, and then
// put into the file.
type tableWriter interface {
	encode(r arrow.Record, e *encoded) error
	put(r arrow.Record, e *encoded) error
	close() (checksum uint32, err error)
}

// Create begins a directory. The error wraps fs.ErrExist if there is one of that name,
// unless options say to replace it.
func Create(path string, info trace.Info, defs *trace.Defs, o Options) (*Writer, error) {
	if o.Format == "" {
		o.Format = Arrow
	}
	path = filepath.Clean(path)
	if err := replaceable(path, o.Force); err != nil {
		return nil, err
	}
	temp, err := tempfile.Mkdir(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, temp: temp, force: o.Force}
	info.Path, info.Format, info.Bytes = "", "", 0 // where the trace came from is not part of it
	w.manifest = manifest{Schema: manifestSchema, Format: o.Format, Info: info, Events: make([]uint64, len(defs.Locations)),
		Files: make(map[string]uint32)}
	if err := w.begin(defs, output.Workers(o.Jobs)); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

// replaceable states that there is nothing of the name, or something that may be removed:
// with force an empty directory, or one of tables that holds nothing else.
func replaceable(path string, force bool) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // if it cannot be written, that shows later
	}
	if !force {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	if base := filepath.Base(path); base == "." || base == ".." || path == filepath.Dir(path) {
		return fmt.Errorf("%s cannot be replaced from inside; use its name from the parent directory: %w", path, fs.ErrExist)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file; a directory does not replace it: %w", path, fs.ErrExist)
	}
	m, err := readManifest(path)
	if err != nil {
		m = new(manifest)
	}
	if m.Schema == manifestParts {
		return partsReplaceable(path, m.Parts)
	}
	return filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == path {
			return err
		}
		local, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		if e.IsDir() && m.Schema != "" && (local == "defs" || local == "events") {
			return nil
		}
		if _, ours := m.Files[filepath.ToSlash(local)]; !ours && (local != manifestName || m.Schema == "") {
			return foreign(path, local)
		}
		return nil
	})
}

func (w *Writer) begin(defs *trace.Defs, workers int) (err error) {
	for _, part := range []string{"defs", "events"} {
		if err := os.Mkdir(filepath.Join(w.temp, part), 0o777); err != nil {
			return err
		}
	}
	records := defRecords(defs, memory.NewGoAllocator())
	w.defs = make(chan error, 1)
	if write := func() { w.defs <- w.definitions(records) }; workers > 1 {
		go write()
	} else {
		write()
	}
	w.tables, err = newEventTables(workers, func(t trace.TableID, schema *arrow.Schema) (tableWriter, error) {
		return newTableWriter(fileOf(w.temp, "events", t.String(), w.manifest.Format), schema, w.manifest.Format)
	}, &w.manifest)
	return err
}

func (w *Writer) definitions(records []namedRecord) (err error) {
	for _, r := range records {
		err = errors.Join(err, w.definition(r))
	}
	return err
}

func (w *Writer) definition(r namedRecord) error {
	defer r.Record.Release()
	t, err := newTableWriter(fileOf(w.temp, "defs", r.Name, w.manifest.Format), r.Record.Schema(), w.manifest.Format)
	if err != nil {
		return err
	}
	var e encoded
	if err = t.encode(r.Record, &e); err == nil {
		err = t.put(r.Record, &e)
	}
	return errors.Join(err, w.close(t, "defs", r.Name))
}

// close completes a table and notes its checksum.
func (w *Writer) close(t tableWriter, part, table string) error {
	sum, err := t.close()
	w.manifest.Files[filepath.ToSlash(fileOf("", part, table, w.manifest.Format))] = sum
	return err
}

func newTableWriter(name string, schema *arrow.Schema, f Format) (tableWriter, error) {
	if f == Parquet {
		return tableOrError(newParquetWriter(name, schema))
	}
	return tableOrError(newIPCWriter(name, schema))
}

// tableOrError makes an interface of a writer, nil with an error.
func tableOrError[W tableWriter](w W, err error) (tableWriter, error) {
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Write implements trace.Sink.
func (w *Writer) Write(b *trace.Batch) error {
	if int(b.Location) >= len(w.manifest.Events) {
		return fmt.Errorf("writing %s: a batch of location %d of %d", w.path, b.Location, len(w.manifest.Events))
	}
	w.manifest.Events[b.Location] += uint64(b.Len())
	if err := w.tables.write(b); err != nil {
		return fmt.Errorf("writing %s: %w", w.path, err)
	}
	return nil
}

// Close implements trace.Sink.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	err := w.closeTables()
	if err == nil {
		err = w.manifest.write(w.temp)
	}
	if err == nil && w.force {
		if err = replaceable(w.path, true); err == nil {
			err = os.RemoveAll(w.path)
		}
	}
	if err == nil {
		err = os.Rename(w.temp, w.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", w.path, err), w.Discard())
	}
	w.closed = true
	return nil
}

func (w *Writer) closeTables() error {
	if w.tables == nil {
		return nil
	}
	err := errors.Join(w.tables.finish(), <-w.defs)
	for i := range w.tables.tables {
		if t := &w.tables.tables[i]; t.out != nil {
			err = errors.Join(err, w.close(t.out, "events", t.id.String()))
		}
	}
	w.tables = nil
	return err
}

// Lost counts what was written so far and has no form here: nothing.
func (w *Writer) Lost() map[string]uint64 { return nil }

// Discard removes all that was written. After Close it does nothing.
func (w *Writer) Discard() error {
	if w.closed {
		return nil
	}
	w.closed = true
	_ = w.closeTables() // whether they are complete does not matter any more
	return os.RemoveAll(w.temp)
}

// foreign says that a directory is not replaced, because it holds a file of others.
func foreign(dir, name string) error {
	return fmt.Errorf("%s holds %s, which tracekit did not write; it stays: %w", dir, name, fs.ErrExist)
}
