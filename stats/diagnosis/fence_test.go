package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// fences spells a program of four ranks that compute in 50 iterations, rank 2 for 3 µs, the others for 1, and end each by a
// fence of a level. Where it synchronizes nobody, each rank leaves it 10 ns after it has entered it; else 10 ns after the last.
func fences(level int, together bool) string {
	const iterations = 50
	var b strings.Builder
	b.WriteString("opaque format=otf2 kind=24 payload=0000000101\n") // window 0, on communicator 0
	work := []int{1000, 1000, 3000, 1000}
	for r := range work {
		fmt.Fprintf(&b, "location %d rank=%d\n  0 Enter main ; 0 Enter MPI_Init ; 100 Leave MPI_Init\n", r, r)
		at := 100
		for range iterations {
			enter := at + work[r]
			leave := enter + 10
			if together {
				leave = at + 3010
			}
			fmt.Fprintf(&b, "  %d Enter work ; %d Leave work ; %d Enter MPI_Win_fence ; %d RmaCollectiveBegin ; "+
				"%d RmaCollectiveEnd 0 %d 0 4294967295 0 0 ; %d Leave MPI_Win_fence\n", at, enter, enter, enter, leave, level, leave)
			at = leave
		}
		fmt.Fprintf(&b, "  %d Enter MPI_Finalize ; %d Leave MPI_Finalize ; %d Leave main\n", at, 160_000, 160_000)
	}
	return b.String()
}

// TestFences states that ranks wait at the fences of windows for the last one, if these synchronize them: the slow rank is found, with what
// it costs. Fences that nobody waits at make nobody wait, run backwards in no clock, and hide no efficiency.
func TestFences(t *testing.T) {
	for _, c := range []struct {
		name     string
		level    int
		together bool
		wait     int64
	}{
		{"synchronizing", 3, true, 3 * 50 * 2000},
		{"asserted not to", 3, false, 0},
		{"without processes", 2, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, a := statstest.Analyzed(t, tracetest.MustParse(t, fences(c.level, c.together)), merge.Options{}, analysis.Options{})
			if len(tr.Findings) > 0 || len(a.Findings) > 0 {
				t.Errorf("findings %v %v", tr.Findings, a.Findings)
			}
			if got := a.WaitStates[waitstate.AtBarrier].TimeNs; got != c.wait {
				t.Errorf("ranks wait %d ns, want %d", got, c.wait)
			}
			if c.wait == 0 {
				return
			}
			causes, err := diagnosis.Find(t.Context(), tr, a, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(causes) != 1 || causes[0].Kind != cause.Imbalance || causes[0].Region != "work" || len(causes[0].Ranks) != 1 ||
				causes[0].Ranks[0] != 2 || *causes[0].GainNs != 50*2000 {
				t.Errorf("causes %+v, want rank 2 in work and 100 µs", causes)
			}
			if e := a.Efficiency; e.SerializationEfficiency == nil || *e.SerializationEfficiency != 1 {
				t.Errorf("serialization %v, want 1", e.SerializationEfficiency)
			}
		})
	}
}
