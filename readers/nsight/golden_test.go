package nsight

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/readers/internal/recording"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

var update = flag.Bool("update", false, "write the goldens")

// run are the small exports that testdata/make.py writes.
const run = "testdata/run"

func open(t testing.TB, o recording.Options, paths ...string) *recording.Source {
	t.Helper()
	s, err := Open(t.Context(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// render returns a trace and its findings as text.
func render(t testing.TB, s trace.Source) string {
	t.Helper()
	var out strings.Builder
	out.WriteString(tracetest.MustFormat(t, s))
	for _, f := range s.Findings() {
		fmt.Fprintf(&out, "finding %s ×%d in %s: %s\n", f.Code, f.Count, f.First.File, f.Text)
	}
	return out.String()
}

// TestGolden states what becomes of all that exports hold.
func TestGolden(t *testing.T) {
	got := render(t, open(t, recording.Options{}, run))
	if *update {
		if err := os.WriteFile("testdata/run.txt", []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/run.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, secret := range []string{"SECRET", "sesame"} {
		if strings.Contains(got, secret) {
			t.Errorf("the trace has %q of the environment", secret)
		}
	}
}

// The trace is the same whatever the number of goroutines and the order of the files.
func TestDeterminism(t *testing.T) {
	want := render(t, open(t, recording.Options{Jobs: 1}, run))
	for jobs := 1; jobs < 4; jobs++ {
		got := render(t, open(t, recording.Options{Jobs: jobs}, run+"/report1.sqlite", run+"/report0.sqlite"))
		if got != want {
			t.Errorf("%d jobs: %s", jobs, cmp.Diff(want, got))
		}
	}
}

// TestPlanted states that the analysis finds what testdata/make.py says.
func TestPlanted(t *testing.T) {
	src := open(t, recording.Options{}, run)
	tr, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	if a.Messages.Count != 2 || a.Messages.Bytes != 816 || a.Messages.UnmatchedSends+a.Messages.UnmatchedReceives != 0 {
		t.Errorf("messages %+v, want 2 of 816 bytes", a.Messages)
	}
	// The receive begins 8,000 ns before the send does.
	if got := a.WaitStates[waitstate.LateSender].TimeNs; got != 8000 {
		t.Errorf("late sender %d ns, want 8000", got)
	}
	// Rank 0 waits 2,000 ns for rank 1 in MPI_Allreduce.
	if got := a.WaitStates[waitstate.AtNxN].TimeNs; got != 2000 {
		t.Errorf("wait at N×N %d ns, want 2000", got)
	}
	if tr.Defs.Clock.Realtime != 1_700_000_000_000_010_000 {
		t.Errorf("the trace begins at %d ns since 1970", tr.Defs.Clock.Realtime)
	}
	if names := tr.Defs.String(tr.Defs.Comms[1].Name) + ", " + tr.Defs.String(tr.Defs.Comms[2].Name); !strings.Contains(names, "NCCL communicator ab54a98ceb1f0ad2") {
		t.Errorf("communicators %s", names)
	}
}

// data returns the bytes of a small export.
func data(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(run + "/report0.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// try reads bytes as an export, and checks what holds for every trace.
func try(t testing.TB, path string, data []byte) *recording.Source {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), []string{path}, recording.Options{Jobs: 1})
	if err != nil {
		if !errors.Is(err, trace.ErrNotATrace) {
			t.Fatalf("an error that is not the file's: %v", err)
		}
		return nil
	}
	tracetest.CheckSource(t, s, true)
	return s
}

// A file that is cut gives a part of the trace, and a finding.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	whole := data(t)
	sound := 0
	for name, cut := range mutate.Cuts(whole, 100) {
		s := try(t, path, cut)
		if s == nil {
			continue
		}
		sound++
		if len(cut) < len(whole) && count(s, trace.CodeTruncated) == 0 {
			t.Errorf("%s: no finding", name)
		}
		s.Close()
	}
	if sound < 20 {
		t.Errorf("%d cut files can be read", sound)
	}
}

// Bits that are flipped anywhere break no promise.
func TestFlips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	for _, flipped := range mutate.Flips(data(t), 1500, 0x81) {
		if s := try(t, path, flipped); s != nil {
			s.Close()
		}
	}
}

// FuzzRead: whatever the file, nothing panics and every promise holds.
func FuzzRead(f *testing.F) {
	f.Add(data(f))
	path := filepath.Join(f.TempDir(), "a.sqlite")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		if s := try(t, path, data); s != nil {
			s.Close()
		}
	})
}

// What is no export is refused, and so is a database of something else.
func TestNotATrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	other := bytes.ReplaceAll(data(t), []byte("StringIds"), []byte("OtherName"))
	for _, data := range [][]byte{nil, []byte("SQLite format 3\x00"), bytes.Repeat([]byte("SQLite format 3\x00"), 100), other} {
		if s := try(t, path, data); s != nil {
			t.Errorf("%d bytes are read", len(data))
		}
		if Sniff(path, data) {
			t.Errorf("%d bytes are recognised", len(data))
		}
	}
}
