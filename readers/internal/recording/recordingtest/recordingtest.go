// Package recordingtest tests readers that make a recording.Source of files.
package recordingtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // makes databases

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

// Bytes opens bytes as the only file of a trace, which has a name.
func (open Opener) Bytes(t testing.TB, name string, data []byte) *recording.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	tracetest.WriteFile(t, path, data)
	return open.Open(t, recording.Options{Jobs: 1}, path)
}

// Run holds a run of two files, which a test writes, against a golden, whatever the number of goroutines and the order of the files.
func (open Opener) Run(t *testing.T, dir, golden string, names [2]string, written func(i int) []byte, update bool) {
	t.Helper()
	paths := [2]string{filepath.Join(dir, names[0]), filepath.Join(dir, names[1])}
	for i, path := range paths {
		data := written(i)
		if update {
			tracetest.WriteFile(t, path, data)
		}
		if got, err := os.ReadFile(path); err != nil || !cmp.Equal(got, data) {
			t.Errorf("%s is not what the test writes (%v): -update", path, err)
		}
	}
	got := Render(t, open.Open(t, recording.Options{}, dir))
	Golden(t, got, golden, update)
	for _, jobs := range []int{1, 3} {
		if d := cmp.Diff(got, Render(t, open.Open(t, recording.Options{Jobs: jobs}, paths[1], paths[0]))); d != "" {
			t.Errorf("%d jobs: %s", jobs, d)
		}
	}
}

// Cuts states that a file that is cut anywhere is read, with a finding unless it is cut between two parts.
func (open Opener) Cuts(t *testing.T, name string, whole []byte, between map[int]bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	for cut := range whole {
		s := open.Try(t, path, whole[:cut])
		if s == nil {
			continue
		}
		if found := Count(s, trace.CodeTruncated) > 0; found == between[cut] {
			t.Errorf("cut at %d of %d: found %v", cut, len(whole), found)
		}
		if Count(s, trace.CodeCutAnywhere) != min(Count(s, trace.CodeTruncated), 1) {
			t.Errorf("cut at %d of %d: it does not say that events may be missing anywhere", cut, len(whole))
		}
		s.Close()
	}
}

// Flips states that bits which are flipped break no promise.
func (open Opener) Flips(t *testing.T, name string, whole []byte, n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	for _, flipped := range mutate.Flips(whole, n, 0x81) {
		if s := open.Try(t, path, flipped); s != nil {
			s.Close()
		}
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

// Damage states that a file that is cut gives a part of its trace and a finding. Flipped bits must break no promise.
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
	open.Flips(t, name, whole, 1500)
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

// Database makes an SQLite database by statements, and returns its path.
func Database(t testing.TB, name, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return path
}
