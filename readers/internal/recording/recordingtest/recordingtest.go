// Package recordingtest tests readers that make a recording.Source of files.
package recordingtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// An Opener is the Open of a reader.
type Opener func(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error)

// Open opens a trace for a test.
func (open Opener) Open(t testing.TB, o recording.Options, paths ...string) *recording.Source {
	t.Helper()
	s, err := open(t.Context(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Render returns a trace and its findings as text.
func Render(t testing.TB, s trace.Source) string {
	t.Helper()
	var out strings.Builder
	out.WriteString(tracetest.MustFormat(t, s))
	for _, f := range s.Findings() {
		fmt.Fprintf(&out, "finding %s ×%d in %s: %s\n", f.Code, f.Count, filepath.ToSlash(f.First.File), f.Text)
	}
	return out.String()
}

// Golden holds a text against a file, which update writes.
func Golden(t *testing.T, got, path string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Try reads bytes as a file of a path, and checks what holds for every trace; nil if they are none.
func (open Opener) Try(t testing.TB, path string, data []byte) *recording.Source {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := open(context.Background(), []string{path}, recording.Options{Jobs: 1})
	if err != nil {
		if !errors.Is(err, trace.ErrNotATrace) {
			t.Fatalf("an error that is not the file's: %v", err)
		}
		return nil
	}
	tracetest.CheckSource(t, s, true)
	return s
}

// Count returns how often something was found.
func Count(src trace.Source, code trace.Code) (n uint64) {
	for _, f := range src.Findings() {
		if f.Code == code {
			n += f.Count
		}
	}
	return n
}

// Damage states that a file that is cut gives a part of its trace and a finding, and that bits which are flipped break no promise.
func (open Opener) Damage(t *testing.T, name string, whole []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	sound := 0
	for what, cut := range mutate.Cuts(whole, 100) {
		s := open.Try(t, path, cut)
		if s == nil {
			continue
		}
		sound++
		if len(cut) < len(whole) && Count(s, trace.CodeTruncated) == 0 {
			t.Errorf("%s at %d of %d: no finding", what, len(cut), len(whole))
		}
		s.Close()
	}
	if sound < 20 {
		t.Errorf("%d cut files can be read", sound)
	}
	for _, flipped := range mutate.Flips(whole, 1500, 0x81) {
		if s := open.Try(t, path, flipped); s != nil {
			s.Close()
		}
	}
}

// Fuzz reads whatever the fuzzer makes of some files.
func (open Opener) Fuzz(f *testing.F, name string, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), name)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		if s := open.Try(t, path, data); s != nil {
			s.Close()
		}
	})
}
