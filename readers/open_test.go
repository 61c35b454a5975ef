package readers

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/readers/otf2"
	"tracekit/trace"
)

// TestOpenOTF2 recognises an archive by its directory, by its anchor file, and under
// another name.
func TestOpenOTF2(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	w, err := otf2.Create(dir, trace.Info{Creator: "test"}, &trace.Defs{Clock: trace.ClockProperties{Resolution: 1}}, otf2.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "traces.otf2")} {
		s, err := Open(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if info := s.Info(); info.Format != "otf2" || info.Creator != "test" || info.Path != path {
			t.Errorf("opened %v", info)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenOther refuses what is no trace, and says what would be one.
func TestOpenOther(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"empty": {"", "the file is empty"},
		"text":  {"#!/bin/sh\necho not a trace\n", known},
		"zeros": {strings.Repeat("\x00", 10_000), known},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), path)
		if s != nil || !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := Open(context.Background(), dir); !errors.Is(err, trace.ErrNotATrace) {
		t.Errorf("a directory without a trace: %v", err)
	}
	if _, err := Open(context.Background(), os.DevNull); !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("a device: %v", err)
	}
	if _, err := Open(context.Background(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}
