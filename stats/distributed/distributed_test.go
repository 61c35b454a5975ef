package distributed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/codec/codectest"
	"tracekit/document"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/devices"
	"tracekit/stats/distributed"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// sources are the hand-worked cases of the profile and of devices, calls on files, and a program
// whose clocks need correction.
func sources(t *testing.T) map[string]trace.Source {
	t.Helper()
	out := make(map[string]trace.Source)
	for _, pattern := range []string{"../analysis/testdata/*.txtar", "../devices/testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				if f.Name == "trace" {
					out[filepath.Base(name)] = tracetest.MustParse(t, string(f.Data))
				}
			}
		}
	}
	out["files"] = tracetest.MustParse(t, `
string 0 ""
string 1 a
attribute 0 file type=11
attribute 1 bytes type=4
region 0 read role=27
location 0 thread rank=0
  0 Enter work ; 20 Enter read attr=0:11:1 attr=1:4:100 ; 30 Leave read ; 40 Enter read ; 60 Leave read ; 100 Leave work
location 1 thread rank=1
  0 Enter MPI_File_write ; 5 Enter write ; 5 IoOperationBegin 3 1 0 4096 7 ; 29 IoOperationComplete 3 4096 7 ; 30 Leave write
  30 Leave MPI_File_write
`)
	out["locks"] = tracetest.MustParse(t, statstest.Locks)
	out["halo"] = statstest.Generated(t, samples.Options{Program: "halo", Ranks: 9, Iterations: 20, Threads: 2,
		Plant: samples.Plant{Drift: 50, Skew: 100_000, Offsets: "wrong", LateSender: 3000}})
	return out
}

// A result is an analysis with what the stages beside it find.
type result struct {
	*analysis.Result
	Devices devices.Result
	Files   *document.FileIO
	Useful  []string // segments
}

// analyzed returns the document of a source, with the second pass made by workers if there are some.
func analyzed(t *testing.T, src trace.Source, o analysis.Options, workers profile.Workers) (string, error) {
	t.Helper()
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockAuto})
	from, to, err := scope.Window(tr, scope.Selection{Ranks: o.Ranks, From: o.From, To: o.To})
	if err != nil {
		t.Fatal(err)
	}
	found := distributed.NewFinders(tr, o.Ranks, from, to, o.Jobs)
	o.Observers, o.Workers = found.Observers(), workers
	o.Overhead = &overhead.Options{PerLine: true}
	a, err := analysis.Analyze(t.Context(), tr, o)
	if err != nil {
		return "", err
	}
	out := result{a, found.Devices.Result, found.Files.Result, nil}
	for l, s := range a.Segments {
		for call, row := range s.All() {
			out.Useful = append(out.Useful, fmt.Sprint(l, call, row))
		}
		for row := range s.Sums {
			out.Useful = append(out.Useful, fmt.Sprint(l, row))
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// header returns that of n shards of a source.
func header(t *testing.T, src trace.Source, n int) shards.Header {
	t.Helper()
	identity, err := shards.Identity(src)
	if err != nil {
		t.Fatal(err)
	}
	return shards.Header{Paths: []string{"trace"}, Of: n, Trace: identity}
}

// share does the task of a shard.
func share(ctx context.Context, dir string, src trace.Source, number, of int) error {
	store := spill.NewStore(1<<24, "")
	defer store.Close()
	task, err := distributed.Open(dir, number, of)
	if err != nil {
		return err
	}
	return task.Do(ctx, src, store, 2, nil)
}

func allShares(dir string, src trace.Source, n int) func(context.Context) error {
	return func(ctx context.Context) error {
		for i := range n {
			if err := share(ctx, dir, src, i+1, n); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestSame: an analysis whose second pass others make is that of one process, byte for byte, whatever
// the number of shards and the selection.
func TestSame(t *testing.T) {
	for name, src := range sources(t) {
		t.Run(name, func(t *testing.T) {
			for _, o := range []analysis.Options{{}, {Ranks: []uint32{0}},
				{From: scope.Instant{Kind: scope.Fraction, Share: 0.2}, To: scope.Instant{Kind: scope.Fraction, Share: 0.7}}} {
				want, err := analyzed(t, src, o, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 2, 20} {
					dir := t.TempDir()
					w := distributed.NewWorkers(dir, header(t, src, n), allShares(dir, src, n))
					if got, err := analyzed(t, src, o, w); err != nil || got != want {
						t.Fatalf("%d shards, %+v: %v\n%s\nis not\n%s", n, o, err, got, want)
					}
					if err := w.Close(); err != nil {
						t.Error(err)
					}
					if left, _ := os.ReadDir(dir); len(left) > 0 {
						t.Errorf("left behind: %v", left)
					}
				}
			}
		})
	}
}

// TestRefused: an analysis does not go on with what is not all profiles of its tasks.
func TestRefused(t *testing.T) {
	src := sources(t)["threads.txtar"]
	profile := func(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("%05d-of-00002.profile", i)) }
	for _, test := range []struct {
		name  string
		spoil func(dir string) error
		want  string
	}{
		{"missing", func(dir string) error { return os.Remove(profile(dir, 2)) }, "no such file"},
		{"of another shard", func(dir string) error { return os.Rename(profile(dir, 2), profile(dir, 1)) }, "not of this analysis"},
		{"cut off", func(dir string) error {
			info, err := os.Stat(profile(dir, 1))
			return errors.Join(err, os.Truncate(profile(dir, 1), info.Size()-9))
		}, "it is cut off"},
		{"empty", func(dir string) error { return os.Truncate(profile(dir, 1), 0) }, "does not begin with"},
		{"a failed command", func(string) error { return errors.New("no machine is free") }, "no machine is free"},
	} {
		dir := t.TempDir()
		all := allShares(dir, src, 2)
		w := distributed.NewWorkers(dir, header(t, src, 2), func(ctx context.Context) error { return errors.Join(all(ctx), test.spoil(dir)) })
		if _, err := analyzed(t, src, analysis.Options{}, w); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	dir := t.TempDir()
	other := header(t, sources(t)["halo"], 2)
	w := distributed.NewWorkers(dir, other, allShares(dir, src, 2))
	if _, err := analyzed(t, src, analysis.Options{}, w); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("another trace: %v", err)
	}
}

// TestHostile: tasks and profiles with other values under right checksums make an error or another
// document, never a panic.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := sources(t)
	for _, name := range []string{"threads.txtar", "counters-useful.txtar", "work.txtar", "steps.txtar", "files", "delay-chain.txtar"} {
		src := all[name]
		for i := range 100 {
			dir, extension := t.TempDir(), []string{".task", ".profile"}[i%2]
			path := filepath.Join(dir, "00001-of-00001"+extension)
			w := distributed.NewWorkers(dir, header(t, src, 1), func(ctx context.Context) error {
				if extension == ".profile" {
					if err := share(ctx, dir, src, 1, 1); err != nil {
						return err
					}
				}
				if err := mutate.File(path, func(b []byte) []byte { return codectest.Flip(b, r) }); err != nil {
					t.Fatal(err)
				}
				if extension == ".task" {
					return share(ctx, dir, src, 1, 1)
				}
				return nil
			})
			if _, err := analyzed(t, src, analysis.Options{}, w); err != nil && strings.Contains(err.Error(), "panic") {
				t.Fatalf("%s, %d: %v", name, i, err)
			}
		}
	}
}
