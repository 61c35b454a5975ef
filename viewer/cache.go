package viewer

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tracekit/page"
)

// FilesOf calls note for the files of a trace: those in its directory; or the one that it
// is named by, and what lies beside it under the same name with another extension or none.
func FilesOf(path string, note func(name string, info fs.FileInfo)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	roots := []string{path}
	if !info.IsDir() {
		dir, name := filepath.Split(path)
		stem, _, _ := strings.Cut(name, ".")
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if s, _, _ := strings.Cut(e.Name(), "."); s == stem && e.Name() != name {
				roots = append(roots, filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, root := range roots {
		if err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, page.KeptSuffix) {
				return err
			}
			info, err := os.Stat(name)
			if err == nil {
				note(name, info)
			}
			return nil // a link to nowhere is no file of a trace
		}); err != nil {
			return err
		}
	}
	return nil
}

// MostCached is how many bytes the indices in the user's cache take together, but for that of the
// last trace if it alone has more.
const MostCached = 8 << 30

// NoteUse makes the time of change of a file in the cache about that of its last use.
func NoteUse(path string, changed time.Time) {
	if now := time.Now(); now.Sub(changed) > 24*time.Hour {
		_ = os.Chtimes(path, now, now) // or it goes earlier
	}
}

// CleanCache removes the indices from a folder that were not used for longest, until those that are
// left have so many bytes at most. The one that is named stays.
func CleanCache(dir, stays string, most int64) error {
	type kept struct {
		path string
		size int64
		used time.Time
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"+page.KeptSuffix))
	if err != nil {
		return err
	}
	var others []kept
	for _, name := range names {
		info, err := os.Lstat(name)
		switch {
		case err != nil || !info.Mode().IsRegular(): // gone, or none of ours
		case name == stays:
			most -= info.Size()
		default:
			others = append(others, kept{name, info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(others, func(a, b kept) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.path, b.path)) })
	for _, x := range others {
		if most -= x.size; most < 0 {
			err = cmp.Or(err, os.Remove(x.path))
		}
	}
	return err
}
