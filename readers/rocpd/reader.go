// Package rocpd reads two of the formats of package readers, which AMD's recorders write: databases of
// rocprofv3 and rocprofiler-systems (rocpd, schema 3 and 4), and the JSON of rocprofv3. Several files are one run.
//
// # Databases
//
// A database holds a set of tables for each process, whose names end alike; views that unite them are not
// used. Columns are looked up by name, since versions move them: from rows to tracks (4.x), or times to a table
// of their own (4.0). What hangs on an event, by its number, is joined by sorting.
//
//	region            call on a thread: HIP and HSA as calls of the runtime, roctx as ranges of the program, MPI
//	kernel_dispatch   kernel on a stream, or on a queue where streams are not told
//	memory_copy       copy on the stream, of the device that is its target or else its source
//	memory_allocate   counter of the memory in use
//	pmc_event         counter: of a kernel on its stream, or sampled beside the program
//	sample            moment, or the time of a sampled counter
//	stack_id          of a call and of what it launches: the attribute correlation
//	arg               left out: MPI calls have theirs by position and type of C, without names, and handles in the place of the
//	                  sizes of data types, so that they tell no bytes
//
// Times are nanoseconds since the host has started, so that the files of one host have one clock. The
// environment of a process is looked at for its rank alone.
package rocpd

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
)

// Format is the name of the format of databases.
const Format = "rocpd"

const (
	extension = ".db"
	levels    = 2 // of directories: host, process
	prefix    = "rocpd_"
	metadata  = prefix + "metadata"
)

// Sniff reports whether a path is such a database, or a directory with some, sound or not. head is how the file begins, nil for a
// directory.
func Sniff(path string, head []byte) bool {
	if head == nil {
		return slices.ContainsFunc(recording.FilesIn(path, extension, levels), isDatabase)
	}
	return sqlite.Is(head) && isDatabase(path)
}

// isDatabase reports whether a file is such a database.
func isDatabase(path string) bool {
	return recording.Holds(path, func(db *sqlite.File) bool { return len(suffixes(db)) > 0 })
}

// FilesOf returns the files of the trace that a path stands for, of those that are there.
func FilesOf(name string, there []string) (files []string) {
	for _, file := range there {
		if strings.HasSuffix(file, extension) && (file == name || strings.HasPrefix(file, strings.TrimSuffix(path.Clean(name), "/")+"/")) {
			files = append(files, file)
		}
	}
	return files
}

// Open reads one trace from databases, or from directories of them. An error wraps trace.ErrNotATrace if one is none.
func Open(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	return recording.Open(ctx, Format, recording.Files(paths, extension, levels), o, read)
}

// suffixes returns how the names of the sets of tables end.
func suffixes(db *sqlite.File) (suffixes []string) {
	for _, t := range db.Tables() {
		if suffix, ok := strings.CutPrefix(t.Name, metadata); ok && db.Table(prefix+"string"+suffix) != nil {
			suffixes = append(suffixes, suffix)
		}
	}
	return suffixes
}

// maxSets bounds the processes of a database.
const maxSets = 1 << 12

// read reads a database.
func read(ctx context.Context, f *recording.File) error {
	db, err := recording.OpenDatabase(f)
	if err != nil {
		return err
	}
	defer db.Close()
	changed := db.Watch()
	f.Creator = "rocprofv3"
	if strings.HasPrefix(filepath.Base(f.Path), "rocpd-") {
		f.Creator = "rocprofiler-systems"
	}
	all := suffixes(db)
	if len(all) == 0 {
		return fmt.Errorf("%s: %w: it is a database, but none of rocprofv3 or rocprofiler-systems", f.Path, trace.ErrNotATrace)
	}
	known := make(map[string]bool)
	for i, suffix := range all {
		if i == maxSets {
			f.Ledger.Add(trace.CodeLimitExceeded, f.Place(-1), fmt.Sprintf("more than %d processes", maxSets))
			break
		}
		if err := newSet(ctx, f, db, suffix, known).all(); err != nil {
			return err
		}
	}
	if err := f.Unread(ctx, db, known); err != nil {
		return err
	}
	f.Changed(changed())
	return nil
}
