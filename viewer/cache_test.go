package viewer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tracekit/trace/tracetest"
)

// TestCacheIsBounded: of the indices in the cache those go that were not used for longest, whatever
// their size the new one stays, and so does what is no index.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{"new.tracekit-index", "recent.tracekit-index", "old.tracekit-index", "notes.txt"} {
		path := filepath.Join(dir, name)
		tracetest.WriteFile(t, path, make([]byte, 100))
		used := now.Add(-time.Duration(i) * 48 * time.Hour)
		if err := os.Chtimes(path, used, used); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(dir, "old.tracekit-index")
	for _, c := range []struct {
		most int64
		want int
	}{{300, 4}, {299, 3}, {200, 3}, {10, 2}} {
		if err := CleanCache(dir, filepath.Join(dir, "new.tracekit-index"), c.most); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != c.want {
			t.Errorf("%d bytes: %v, %v are left", c.most, left, err)
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the oldest is left")
	}
	NoteUse(filepath.Join(dir, "notes.txt"), now.Add(-48*time.Hour))
	if info, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil || now.Sub(info.ModTime()) > time.Hour {
		t.Error("its use is not noted", err)
	}
}
