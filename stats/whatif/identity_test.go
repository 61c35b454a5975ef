package whatif

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// modelled merges and analyses a trace and makes its model.
func modelled(t testing.TB, src trace.Source, o merge.Options) *Model {
	t.Helper()
	tr, a := statstest.Analyzed(t, src, o, analysis.Options{Jobs: o.Jobs})
	m, err := New(context.Background(), tr, a, o.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// identical checks that a replay without a change finds all times of the run.
func identical(t testing.TB, m *Model) {
	t.Helper()
	in, err := m.change(context.Background(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.run(context.Background(), in, true)
	if err != nil {
		t.Fatal(err)
	}
	for l, calls := range m.t.Calls {
		x := &m.locations[l]
		for i := range calls.Len() {
			if got, want := in.clocks[l].At(i), calls.At(i).Enter; got != want {
				t.Fatalf("location %d enters call %d at %d, not at %d", l, i, got, want)
			}
		}
		for k := range x.rows.Len() {
			if got, want := r.waits[l].At(k), x.rows.At(k).wait; got != want {
				t.Fatalf("location %d waits %d in call %d, not %d", l, got, x.rows.At(k).call, want)
			}
		}
		if got, want := r.end(trace.LocationID(l)), m.t.Span[l].Last; got != want && m.t.Span[l].Events > 0 {
			t.Fatalf("location %d ends at %d, not at %d", l, got, want)
		}
	}
	p, err := m.Predict(context.Background())
	if err != nil || p.Gain() != 0 {
		t.Fatalf("gain of nothing is %d: %v", p.Gain(), err)
	}
	again, err := m.Predict(context.Background()) // without a replay
	if err != nil || !reflect.DeepEqual(again, p) || !m.finishes.Load() || !m.Idle() {
		t.Fatalf("nothing is predicted to be %v, not %v: %v", again, p, err)
	}
}

// TestIdentityOfSamples: all programs, with all faults that can be planted.
func TestIdentityOfSamples(t *testing.T) {
	for _, p := range samples.Programs() {
		for i, plant := range []samples.Plant{
			{},
			{LateSender: 30_000, LateReceiver: 20_000, EarlyReduce: 7_000, LateBroadcast: 9_000, WrongOrder: 11_000},
			{Imbalance: 12_345, CriticalPath: 40_000, Lost: 5},
			{LateSender: 5_000, Skew: 100_000, Drift: 50, Offsets: samples.OffsetsNone, Lost: 2},
			{LateReceiver: 5_000, Skew: 100_000, Drift: 50, Offsets: samples.OffsetsWrong},
		} {
			for _, clock := range []merge.ClockMode{merge.ClockNone, merge.ClockAuto} {
				t.Run(fmt.Sprintf("%s/plant=%d/clock=%s", p.Name, i, clock), func(t *testing.T) {
					src := statstest.Generated(t, samples.Options{Program: p.Name, Ranks: 7, Iterations: 6, Seed: 3, Threads: 1 + i%2,
						Bytes: int64(1+i%3) * 5000, Plant: plant})
					identical(t, modelled(t, src, merge.Options{Clock: clock}))
				})
			}
		}
	}
}

// TestIdentityOfRandomPrograms: programs of all kinds of calls, whose slack is what it says.
func TestIdentityOfRandomPrograms(t *testing.T) {
	for seed := range uint64(300) {
		src, _ := samples.Random(seed)
		m := modelled(t, src, merge.Options{Clock: merge.ClockNone})
		identical(t, m)
		if seed < 30 {
			slackHolds(t, m)
		}
	}
}

// TestIdentityOfArchives: all archives of the repository, and all real traces.
func TestIdentityOfArchives(t *testing.T) {
	for _, root := range append(tracetest.MoreTraces(t, ""), filepath.Join("..", "..", "samples", "archives")) {
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !isTrace(path, e) {
				return err
			}
			name, _ := filepath.Rel(root, path)
			for _, clock := range []merge.ClockMode{merge.ClockNone, merge.ClockAuto} {
				t.Run(filepath.ToSlash(name)+"/"+string(clock), func(t *testing.T) {
					src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
					if err != nil {
						t.Skip("not a readable trace")
					}
					defer src.Close()
					m := modelled(t, src, merge.Options{Clock: clock})
					identical(t, m)
					t.Logf("%d negative own times, sends wait from %d bytes on", m.Negative, m.network.synchronous)
				})
			}
			return nil
		})
	}
}

// isTrace reports whether a file is what a trace is opened by.
func isTrace(path string, e fs.DirEntry) bool {
	if e.IsDir() {
		return false
	}
	for _, end := range []string{".otf2", ".prv", ".prv.gz", ".json", ".json.gz", ".pfw.gz"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}
