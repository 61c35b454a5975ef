package arrowdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/readers/otf2"
	"tracekit/trace"
)

// TestDiskFull: a file that cannot be written is an error.
func TestDiskFull(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	formats(t, func(t *testing.T, f Format) {
		w, err := newTableWriter(full, eventSchemas[trace.TableFlow], f)
		if err == nil {
			_, err = w.close()
		}
		if err == nil {
			t.Error("a full disk takes a file")
		}
	})
}

// TestForceKeepsOtherFiles: --force is for traces, not for a directory that holds anything else.
func TestForceKeepsOtherFiles(t *testing.T) {
	src, err := otf2.Open(t.Context(), "../../samples/archives/ring-4-plain", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dir := t.TempDir()
	write(t, src, filepath.Join(dir), Options{Force: true}, false) // it is empty
	write(t, src, filepath.Join(dir), Options{Force: true}, false) // it is a trace
	note := filepath.Join(dir, "events", "note.txt")
	if err := os.WriteFile(note, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, src.Info(), src.Defs(), Options{Force: true}); !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), "note.txt") {
		t.Errorf("a note among the tables: %v", err)
	}
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
	other := t.TempDir()
	precious := filepath.Join(other, "thesis.tex")
	if err := os.WriteFile(precious, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(other, src.Info(), src.Defs(), Options{Force: true}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

// TestMissingEvents: a table of events that is not there is a finding, from Open on.
func TestMissingEvents(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		g := newForger(t, f)
		if err := os.Remove(filepath.Join(g.dir, "events", "p2p."+string(f))); err != nil {
			t.Fatal(err)
		}
		src, err := Open(t.Context(), g.dir)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if f := src.Findings(); len(f) != 1 || f[0].Code != trace.CodeMissingFile || f[0].Count != 1 {
				t.Error(f)
			}
			for range src.Events(t.Context(), 0) {
				t.Error("there are events although what is beside them is missing")
			}
		}
	})
}
