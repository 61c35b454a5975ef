package whatif

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/trace/tracetest"
)

// TestRegionsKeepTheirTime states that of two regions between calls one that is not changed keeps its time in the run that is written, and
// the other has it as changed: smooth takes 30, then relax 20, then smooth 10, then a barrier of both ranks.
func TestRegionsKeepTheirTime(t *testing.T) {
	var b strings.Builder
	b.WriteString("group 0 \"MPI ranks\" kind=4 paradigm=4 members=0,1\ngroup 1 world kind=5 paradigm=4 members=0,1\ncomm 0 MPI_COMM_WORLD " +
		"group=1\n")
	for r := range 2 {
		fmt.Fprintf(&b, "process %d rank%d\nlocation %d rank%d process=%d kind=1\n  0 Enter main\n", r, r, r, r, r)
		for i := range 5 {
			at := 100 * i
			fmt.Fprintf(&b, "  %d Enter smooth ; %d Leave smooth ; %d Enter relax ; %d Leave relax ; %d Enter smooth ; %d Leave smooth\n",
				at, at+30, at+30, at+50, at+50, at+60)
			fmt.Fprintf(&b, "  %d Enter MPI_Barrier ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier root=none ; %d Leave MPI_Barrier\n", at+70,
				at+70, at+90, at+90)
		}
		b.WriteString("  500 Leave main\n")
	}
	m := modelled(t, tracetest.MustParse(t, b.String()), merge.Options{Clock: merge.ClockNone})
	defer m.Release()
	maps, _, p, err := m.Times(t.Context(), Scale(place(t, m, "relax"), 0.5))
	if err != nil || p.Gain() != 50 {
		t.Fatalf("half of relax gains %d, want 50: %v", p.Gain(), err)
	}
	for l := range maps {
		for i := range int64(5) {
			for old, want := range map[int64]int64{0: 0, 30: 30, 40: 35, 50: 40, 60: 50, 70: 60, 90: 80} {
				if got := maps[l].At(100*i + old); got != 90*i+want {
					t.Errorf("location %d, iteration %d: %d is at %d with the change, want %d", l, i, old, got-90*i, want)
				}
			}
		}
	}
}
