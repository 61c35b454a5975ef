package recording

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
)

// codes are the findings that damage of a database becomes.
var codes = map[sqlite.Fault]trace.Code{sqlite.Truncated: trace.CodeTruncated, sqlite.Corrupt: trace.CodeCorrupt,
	sqlite.TooLarge: trace.CodeLimitExceeded, sqlite.Unsupported: trace.CodeUnknownDefinition, sqlite.Unsaved: trace.CodeUnfinalised}

// OpenDatabase opens the database that a file is, whose damage becomes findings of the file. The error is Missing if it cannot be
// opened, and wraps trace.ErrNotATrace if it is none.
func OpenDatabase(f *File) (*sqlite.File, error) {
	var path *fs.PathError
	db, err := sqlite.Open(f.Path, func(fault sqlite.Fault, at int64, text string) { f.Ledger.Add(codes[fault], f.Place(at), text) })
	switch {
	case err == nil:
		f.Size = db.Size()
		return db, nil
	case errors.As(err, &path):
		return nil, &Missing{err}
	}
	return nil, fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
}

// Holds reports whether a file is a database, sound or not, that has something.
func Holds(path string, has func(*sqlite.File) bool) bool {
	db, err := sqlite.Open(path, func(sqlite.Fault, int64, string) {})
	if err != nil {
		return false
	}
	defer db.Close()
	return has(db)
}

// FilesIn returns what lies in a directory, and in those that it has so many levels down, whose names end so, in order of name: also
// what is damaged or no file, for opening it tells.
func FilesIn(dir, extension string, levels int) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasSuffix(strings.ToLower(e.Name()), extension):
			paths = append(paths, path)
		case e.IsDir() && levels > 0:
			paths = append(paths, FilesIn(path, extension, levels-1)...)
		}
	}
	slices.SortStableFunc(paths, nest.Natural)
	return paths
}

// Files returns paths with the files in those that are directories.
func Files(paths []string, extension string, levels int) (files []string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			files = append(files, FilesIn(path, extension, levels)...)
		} else {
			files = append(files, path)
		}
	}
	return files
}

// Unread tells of tables of a database that have events, by their columns, and that are not read. The names of those that are read are in
// lower case.
func (f *File) Unread(ctx context.Context, db *sqlite.File, read map[string]bool) error {
	var unread []string
	for _, table := range db.Tables() {
		if read[strings.ToLower(table.Name)] || !table.Has("start") && !table.Has("timestamp") {
			continue
		}
		some := false
		if err := table.Rows(ctx, nil, func([]sqlite.Value) bool { some = true; return false }); err != nil {
			return err
		}
		if some {
			unread = append(unread, fmt.Sprintf("%.80s", table.Name))
		}
	}
	slices.Sort(unread)
	names := strings.Join(unread[:min(len(unread), 10)], ", ")
	f.Ledger.AddN(trace.CodeUnknownRecord, uint64(len(unread)), f.Place(-1), "tables that are not read: "+names)
	return nil
}
