package nsight

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

var (
	update = flag.Bool("update", false, "write the goldens")
	opener = recordingtest.Opener(Open)
)

// run are the small exports that testdata/make.py writes.
const run = "testdata/run"

// TestGolden states what becomes of all that exports hold.
func TestGolden(t *testing.T) {
	got := recordingtest.Render(t, opener.Open(t, recording.Options{}, run))
	recordingtest.Golden(t, got, "testdata/run.txt", *update)
	for _, secret := range []string{"SECRET", "sesame"} {
		if strings.Contains(got, secret) {
			t.Errorf("the trace has %q of the environment", secret)
		}
	}
}

// The trace is the same whatever the number of goroutines and the order of the files.
func TestDeterminism(t *testing.T) {
	want := recordingtest.Render(t, opener.Open(t, recording.Options{Jobs: 1}, run))
	for jobs := 1; jobs < 4; jobs++ {
		got := recordingtest.Render(t, opener.Open(t, recording.Options{Jobs: jobs}, run+"/report1.sqlite", run+"/report0.sqlite"))
		if got != want {
			t.Errorf("%d jobs: %s", jobs, cmp.Diff(want, got))
		}
	}
}

// TestPlanted states that the analysis finds what testdata/make.py says.
func TestPlanted(t *testing.T) {
	tr, a := statstest.Analyzed(t, opener.Open(t, recording.Options{}, run), merge.Options{}, analysis.Options{})
	if a.Messages.Count != 6 || a.Messages.Bytes != 816+2*32+24+48 || a.Messages.UnmatchedSends+a.Messages.UnmatchedReceives != 0 {
		t.Errorf("messages %+v, want 6 of 952 bytes", a.Messages)
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
	if name := tr.Defs.String(tr.Defs.Comms[1].Name); name != "NCCL communicator ab54a98ceb1f0ad2" {
		t.Errorf("communicator %s", name)
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

func TestDamage(t *testing.T) { opener.Damage(t, "a.sqlite", data(t)) }

// FuzzRead: whatever the file, nothing panics and every promise holds.
func FuzzRead(f *testing.F) { opener.Fuzz(f, "a.sqlite", data(f)) }

// What is no export is refused, and so is a database of something else.
func TestNotATrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	other := bytes.ReplaceAll(data(t), []byte("StringIds"), []byte("OtherName"))
	for _, data := range [][]byte{nil, []byte("SQLite format 3\x00"), bytes.Repeat([]byte("SQLite format 3\x00"), 100), other} {
		if s := opener.Try(t, path, data); s != nil {
			t.Errorf("%d bytes are read", len(data))
		}
		if Sniff(path, data) {
			t.Errorf("%d bytes are recognised", len(data))
		}
	}
}

// TestSkewedHosts states that a host whose clock is wrong changes nothing: messages and collectives tell by how much, unasked.
func TestSkewedHosts(t *testing.T) {
	const start = 1_700_000_000_000_005_000 // of report1.sqlite
	begin := make(map[int64]int64)          // by skew: when the first event happens
	analysisOf := func(skew int64) *analysis.Result {
		dir := t.TempDir()
		for _, name := range []string{"report0.sqlite", "report1.sqlite"} {
			export := tracetest.ReadFile(t, filepath.Join(run, name))
			if name == "report1.sqlite" {
				wrong := bytes.ReplaceAll(export, binary.BigEndian.AppendUint64(nil, start), binary.BigEndian.AppendUint64(nil, uint64(start+skew)))
				if skew != 0 && bytes.Equal(wrong, export) {
					t.Fatal("the export has no such start")
				}
				export = wrong
			}
			if err := os.WriteFile(filepath.Join(dir, name), export, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		tr, a := statstest.Analyzed(t, opener.Open(t, recording.Options{}, dir), merge.Options{}, analysis.Options{})
		if skewed := tr.Clock.Alignment != nil; skewed != (skew != 0) {
			t.Errorf("skew %d ns, aligned: %t", skew, skewed)
		}
		begin[skew] = math.MaxInt64
		for _, s := range tr.Span {
			if s.Events > 0 {
				begin[skew] = min(begin[skew], s.First-tr.Defs.Clock.GlobalOffset)
			}
		}
		return a
	}
	want := analysisOf(0)
	for _, skew := range []int64{5_000_000, -3_000_000_000} {
		got := analysisOf(skew)
		for k, w := range want.WaitStates.All {
			if g := got.WaitStates[k]; g.Count != w.Count || g.TimeNs != w.TimeNs {
				t.Errorf("skew %d ns: %s %d times, %d ns; want %d, %d", skew, k.Info().Key, g.Count, g.TimeNs, w.Count, w.TimeNs)
			}
		}
		if got.Trace.DurationNs != want.Trace.DurationNs {
			t.Errorf("skew %d ns: the run takes %d ns, want %d", skew, got.Trace.DurationNs, want.Trace.DurationNs)
		}
		if begin[skew] != begin[0] {
			t.Errorf("skew %d ns: the run begins at %d ns, want %d", skew, begin[skew], begin[0])
		}
	}
}
