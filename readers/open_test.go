package readers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// archive is an OTF2 archive.
const archive = "../samples/archives/ring-4-plain"

// TestFormats states of each format that can be written that it is the one that its
// extension stands for, and that what is written is recognised under any name.
func TestFormats(t *testing.T) {
	ring := openFor(t, archive, OpenOptions{})
	for _, f := range formats {
		for _, extension := range f.extensions {
			names := []string{"x" + extension, "dir.prv/X" + strings.ToUpper(extension)}
			if f.gzipped {
				names = append(names, "x"+extension+".gz")
			}
			for _, name := range names {
				if got := FormatOf(name); got != f.name {
					t.Errorf("%s stands for %s, want %s", name, got, f.name)
				}
			}
			if f.create == nil {
				continue
			}
			path := filepath.Join(t.TempDir(), "x"+extension)
			w, err := Create(path, ring.Info(), ring.Defs(), CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			opened(t, path, f.name)
			if f.name == "otf2" {
				continue // the names of the other files begin with that of the anchor
			}
			if err := os.Rename(path, path+".other"); err != nil {
				t.Fatal(err)
			}
			opened(t, path+".other", f.name)
		}
	}
	for _, name := range []string{"archive", "run-1.5", ".", "dir.csv/archive"} {
		if got := FormatOf(name); got != "otf2" {
			t.Errorf("%s stands for %q", name, got)
		}
	}
	for _, name := range []string{"x.csv", "x.gz", "x.otf2.gz", "x.parquet.gz", "x.jsn"} {
		if got := FormatOf(name); got != "" {
			t.Errorf("%s stands for %q", name, got)
		}
		if _, err := Create(filepath.Join(t.TempDir(), name), ring.Info(), ring.Defs(), CreateOptions{}); err == nil {
			t.Errorf("%s was begun", name)
		}
	}
}

// opened opens a trace, which must be of that format.
func opened(t *testing.T, path, format string) {
	t.Helper()
	s, err := Open(t.Context(), path, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if info := s.Info(); info.Format != format || info.Path != path {
		t.Errorf("opened %v, want %s", info, format)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpenArchive recognises an archive by its directory and by its anchor file, and a
// compressed trace.
func TestOpenArchive(t *testing.T) {
	opened(t, archive, "otf2")
	opened(t, filepath.Join(archive, "traces.otf2"), "otf2")
	s := openFor(t, archive, OpenOptions{})
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := tkf.Compress(t.Context(), s, f, tkf.Options{}); err != nil {
		t.Fatal(err)
	}
	opened(t, f.Name(), "tkf")
}

// TestOpenAll states that several files of one trace have the locations of all of them, that
// their directory is the same trace, and of which files none is made.
func TestOpenAll(t *testing.T) {
	dir := t.TempDir()
	var parts []string
	for rank := range 3 {
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		event := fmt.Sprintf(`[{"ph":"X","name":"f","pid":%d,"tid":0,"ts":%d,"dur":2}]`, rank, 10*rank)
		tracetest.WriteFile(t, path, event)
		parts = append(parts, path)
	}
	describe := func(paths ...string) string {
		s, err := OpenAll(t.Context(), paths, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if n := len(s.Defs().Locations); n != 3 {
			t.Errorf("%v: %d locations, want 3", paths, n)
		}
		_, tables, _ := strings.Cut(tracetest.MustFormat(t, s), "\n") // without the name
		return tables
	}
	whole := describe(parts...)
	if describe(dir) != whole {
		t.Error("a directory is another trace than the files in it")
	}
	packed := parts[1] + ".gz"
	text, err := os.ReadFile(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	tracetest.WriteFile(t, packed, out.String())
	if describe(dir) != whole || describe(append(parts, packed)...) != whole {
		t.Error("a file that lies there packed and unpacked is not read once")
	}
	for what, paths := range map[string][]string{"two archives": {archive, archive}, "two formats": {parts[0], archive}, "nothing": {}} {
		if s, err := OpenAll(t.Context(), paths, OpenOptions{}); s != nil || !errors.Is(err, trace.ErrNotATrace) {
			t.Errorf("%s: %v, %v", what, s, err)
		}
	}
}

// TestOpenOther refuses what is no trace, and says what would be one.
func TestOpenOther(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"empty": {"", "the file is empty"},
		"text":  {"#!/bin/sh\necho not a trace\n", "info --help"},
		"zeros": {strings.Repeat("\x00", 10_000), "info --help"},
	} {
		path := filepath.Join(dir, name)
		tracetest.WriteFile(t, path, c.content)
		s, err := Open(t.Context(), path, OpenOptions{})
		if s != nil || !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := Open(t.Context(), dir, OpenOptions{}); !errors.Is(err, trace.ErrNotATrace) {
		t.Errorf("a directory without a trace: %v", err)
	}
	if _, err := Open(t.Context(), os.DevNull, OpenOptions{}); !errors.Is(err, trace.ErrNotATrace) ||
		!strings.Contains(err.Error(), "regular file") {
		t.Errorf("a device: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), OpenOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// openFor opens a trace until the test ends.
func openFor(t testing.TB, path string, o OpenOptions) trace.Source {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
