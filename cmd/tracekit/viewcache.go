package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tracekit/page"
)

// mostCached is how many bytes the indices in the user's cache take together, but for that of the
// last trace if it alone has more.
const mostCached = 8 << 30

// noteUse makes the time of change of a file in the cache about that of its last use.
func noteUse(path string, changed time.Time) {
	if now := time.Now(); now.Sub(changed) > 24*time.Hour {
		_ = os.Chtimes(path, now, now) // or it goes earlier
	}
}

// cleanCache removes the indices from a folder that were not used for longest, until those that are
// left have so many bytes at most. The one that is named stays.
func cleanCache(dir, stays string, most int64) error {
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
