package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestLongestHasItsState: rank 1 works for 100 before it receives from rank 0, which waits in MPI_Ssend; two ranks wait at a
// barrier then. That most waits are at the barrier is not said of MPI_Ssend.
func TestLongestHasItsState(t *testing.T) {
	var ranks [4]strings.Builder
	for i := range 10 {
		at := 200 * i
		fmt.Fprintf(&ranks[0], "  %d Enter MPI_Ssend ; %d MpiSend to=1 tag=0 bytes=8 ; %d Leave MPI_Ssend\n", at+1, at+1, at+102)
		fmt.Fprintf(&ranks[1], "  %d Enter work ; %d Leave work ; %d Enter MPI_Recv ; %d MpiRecv from=0 tag=0 bytes=8 ; %d Leave MPI_Recv\n",
			at, at+100, at+100, at+102, at+102)
		for r := range ranks {
			enter := at + 1
			if r < 2 {
				enter = at + 103
			}
			fmt.Fprintf(&ranks[r], "  %d Enter MPI_Barrier ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier root=none ; %d Leave MPI_Barrier\n",
				enter, enter, at+105, at+105)
		}
	}
	text := ""
	for r := range ranks {
		text += fmt.Sprintf("location %d rank=%[1]d\n%s", r, &ranks[r])
	}
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	causes, err := diagnosis.Find(t.Context(), tr, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	const want = "mostly wait at barrier. Longest: late receiver in MPI_Ssend."
	if len(causes) == 0 || !strings.Contains(causes[0].Text, want) {
		t.Errorf("causes are %+v, want one that says %q", causes, want)
	}
}
