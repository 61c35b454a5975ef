package analysis_test

import (
	"context"
	"testing"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// sharedArchive returns the path of a real OTF2 archive, and skips the test where it is not.
func sharedArchive(t testing.TB, name string) string {
	t.Helper()
	return tracetest.Shared(t, "otf2", name)
}

// merged opens and merges an archive.
func merged(t testing.TB, path string, clock merge.ClockMode) *trace.Trace {
	t.Helper()
	src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	tr, err := merge.Merge(context.Background(), src, merge.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	return tr
}

// A total is a number of calls and their time in ns.
type total struct {
	ns    int64
	count uint64
}

// scalascaKinds are the wait states that Scalasca knows, in the order of the table below.
var scalascaKinds = [...]waitstate.Kind{waitstate.LateSender, waitstate.LateSenderWrongOrder, waitstate.LateReceiver, waitstate.AtNxN,
	waitstate.NxNCompletion,
	waitstate.AtBarrier, waitstate.BarrierCompletion, waitstate.EarlyReduce, waitstate.LateBroadcast}

// TestScalasca compares with the answers of Scalasca 2.6's trace analyzer, with clock
// offsets applied and no logical clock, ns summed over ranks and call instances: all of them
// are equal, and the waits that it does not know of are not there.
func TestScalasca(t *testing.T) {
	for _, c := range []struct {
		archive string
		want    [len(scalascaKinds)]total
	}{
		{"npb-mg-W-8", [...]total{{50721483746, 1043}, {50721337742, 961}, {19424384093, 341}, {48472070731, 616}, {43791794245, 615},
			{3894391330, 42}, {3005320468, 42}, {2437444, 1}, {0, 0}}},
		{"npb-lu-S-4", [...]total{{7094620437, 967}, {1108899636, 131}, {0, 0}, {369422153, 30}, {218324318, 30},
			{58385668, 6}, {54941987, 6}, {0, 0}, {0, 0}}},
		{"npb-bt-S-16", [...]total{{233019549155, 9230}, {73379104230, 2370}, {1910, 1}, {1673131798, 30}, {1091181550, 30},
			{1828930225, 30}, {1050391142, 30}, {71767872, 1}, {0, 0}}},
	} {
		t.Run(c.archive, func(t *testing.T) {
			tr := merged(t, sharedArchive(t, c.archive), merge.ClockOffsets)
			a, err := analysis.Analyze(context.Background(), tr, analysis.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[waitstate.Kind]total)
			for i, kind := range scalascaKinds {
				want[kind] = c.want[i]
			}
			for kind, w := range a.WaitStates.All {
				if got := (total{w.TimeNs, w.Count}); got != want[kind] {
					t.Errorf("%s: %d ns (%d calls), Scalasca has %d (%d)", kind, got.ns, got.count, want[kind].ns, want[kind].count)
				}
			}
		})
	}
}

// TestScalascaDelays compares the delay costs of late senders with those of Scalasca 2.6 where
// its own sum up to the waits (on npb-mg-W-8 it loses 8 % of them): they agree within 1 %. It
// leaves out what lies in no region, and its intervals begin with the records of a
// collective and not with its call.
func TestScalascaDelays(t *testing.T) {
	for _, c := range []struct {
		archive     string
		short, long int64
	}{
		{"npb-lu-S-4", 4627845205, 2462515019},
		{"npb-bt-S-16", 92312021624, 140683323362},
	} {
		t.Run(c.archive, func(t *testing.T) {
			a, err := analysis.Analyze(context.Background(), merged(t, sharedArchive(t, c.archive), merge.ClockOffsets), analysis.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := a.DelayTotals[waitstate.LateSender]
			for name, x := range map[string][2]int64{"short": {got.ShortNs, c.short}, "long": {got.LongNs, c.long}} {
				t.Logf("%s-term costs: %d, Scalasca has %d (%+.2f %%)", name, x[0], x[1], 100*(float64(x[0])/float64(x[1])-1))
				if abs(x[0]-x[1]) > x[1]/100 {
					t.Errorf("%s-term costs: %d, Scalasca has %d", name, x[0], x[1])
				}
			}
		})
	}
}

func abs(v int64) int64 { return max(v, -v) }
