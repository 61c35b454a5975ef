package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// FilesIn returns the files in a directory, and in those that it has so many levels down, whose names end so and which are what is looked
// for, in order of name.
func FilesIn(dir, extension string, levels int, is func(path string) bool) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && levels > 0:
			paths = append(paths, FilesIn(path, extension, levels-1, is)...)
		case e.Type().IsRegular() && strings.HasSuffix(strings.ToLower(e.Name()), extension) && is(path):
			paths = append(paths, path)
		}
	}
	slices.SortStableFunc(paths, Natural)
	return paths
}
