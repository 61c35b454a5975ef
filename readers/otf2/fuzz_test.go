package otf2

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tracekit/trace"
)

// seeds returns the assembled files of all goldens that have the suffix, in both orders.
func seeds(f *testing.F, suffix string) (out [][]byte) {
	for _, name := range goldenNames(f) {
		for _, file := range goldenFile(f, name).Files {
			if strings.HasSuffix(file.Name, suffix) {
				out = append(out, assemble(f, string(file.Data), false), assemble(f, string(file.Data), true))
			}
		}
	}
	return out
}

// An archiver makes archives that are the golden "usual" but for some files.
type archiver map[string][]byte

func newArchiver(f *testing.F) archiver {
	a := make(archiver)
	anchor := goldenArchive(f, "usual", false)
	for _, name := range []string{"traces.otf2", "traces.def", "traces/0.def", "traces/0.evt", "traces/1.def", "traces/1.evt"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(anchor), name))
		if err != nil {
			f.Fatal(err)
		}
		a[name] = data
	}
	return a
}

func (a archiver) archive(t *testing.T, files map[string][]byte) string {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range a {
		if other, ok := files[name]; ok {
			data = other
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "traces.otf2")
}

// sameHoweverRead reads an archive in large and small batches, by
// the fast decoder and by the tables; the result must be the same, or the same error. The
// memory taken must be bounded by the size of the input.
func sameHoweverRead(t *testing.T, anchor string, size int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	want := describePath(anchor, maxBatch)
	runtime.ReadMemStats(&after)
	if strings.Contains(want, "BROKEN PROMISE") {
		t.Error(want)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20+4000*uint64(size) {
		t.Errorf("%d bytes of memory for %d bytes of input", taken, size)
	}
	for _, batch := range []int{1, 3} {
		if got := describePath(anchor, batch); got != want {
			t.Errorf("in batches of %d:\n%s\nin large ones:\n%s", batch, got, want)
		}
	}
	s, err := Open(context.Background(), anchor, 0)
	if err != nil {
		if syntax := new(trace.SyntaxError); !errors.As(err, &syntax) && !errors.Is(err, trace.ErrNotATrace) {
			t.Errorf("error of another kind: %v", err)
		}
		return
	}
	defer s.Close()
	s.slow = true
	if got := describe(s); got != want {
		t.Errorf("by the tables:\n%s\nfast:\n%s", got, want)
	}
}

// FuzzEvents reads any event file.
func FuzzEvents(f *testing.F) {
	for _, s := range seeds(f, ".evt") {
		f.Add(s)
	}
	a := newArchiver(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		sameHoweverRead(t, a.archive(t, map[string][]byte{"traces/0.evt": data}), len(data))
	})
}

// FuzzDefs reads any definitions, global and local.
func FuzzDefs(f *testing.F) {
	local := seeds(f, "0.def")
	for i, s := range seeds(f, "def") {
		f.Add(s, local[i%len(local)])
	}
	a := newArchiver(f)
	f.Fuzz(func(t *testing.T, global, local []byte) {
		sameHoweverRead(t, a.archive(t, map[string][]byte{"traces.def": global, "traces/0.def": local}), len(global)+len(local))
	})
}

// FuzzAnchor reads any anchor file.
func FuzzAnchor(f *testing.F) {
	for _, s := range seeds(f, "otf2") {
		f.Add(s)
	}
	a := newArchiver(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		sameHoweverRead(t, a.archive(t, map[string][]byte{"traces.otf2": data}), len(data))
	})
}

// TestFast shows that the fast decoder gives what the tables give, on real archives.
func TestFast(t *testing.T) {
	for _, path := range realArchives(t) {
		if testing.Short() && filepath.Base(path) == "lulesh-8x2" {
			continue
		}
		fast, err := Open(context.Background(), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := Open(context.Background(), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		slow.slow, slow.batch = true, 1000
		if tables(t, fast) != tables(t, slow) {
			t.Errorf("%s: the decoders differ", path)
		}
	}
}
