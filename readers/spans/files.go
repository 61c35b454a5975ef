package spans

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers/arrowdir"
	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/wire"
)

// extensions are those of tables in a directory; one of a compression may follow.
var extensions = []string{".csv", ".tsv", ".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"}

// Files returns the files of a trace: the paths themselves. In place of a directory stand the tables in it that have the columns of
// spans by usual names, in order of name. Tables that tracekit has written are none.
func Files(paths ...string) (files []string) {
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			files = append(files, path)
			continue
		}
		for _, file := range tablesIn(path, entries) {
			if t, err := open(file, Options{}); err == nil {
				t.file.Close()
				files = append(files, file)
			}
		}
	}
	return files
}

// Unnamed reports whether a directory has tables of which none has the columns of spans by usual names.
func Unnamed(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(tablesIn(dir, entries)) > 0 && len(Files(dir)) == 0
}

// tablesIn returns what the names of files in a directory say to be tables.
func tablesIn(dir string, entries []os.DirEntry) (paths []string) {
	if arrowdir.IsDir(dir) || arrowdir.IsDir(filepath.Dir(dir)) {
		return nil
	}
	for _, e := range entries {
		name := wire.Unpacked(strings.ToLower(e.Name()))
		if !e.IsDir() && slices.Contains(extensions, filepath.Ext(name)) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortStableFunc(paths, nest.Natural)
	return wire.Once(paths)
}
