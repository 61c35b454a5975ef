package analysis_test

import (
	"fmt"
	"reflect"
	"testing"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestEqualPairs: pairs of places with as much overhead and as many messages stand in one order, whichever location is defined first.
func TestEqualPairs(t *testing.T) {
	pair := func(first, sender int, region string) string {
		return fmt.Sprintf(`
location %d rank=%d
  0 Enter %s ; 40 Enter MPI_Send ; 41 MpiSend to=%d tag=7 bytes=8 ; 45 Leave MPI_Send ; 50 Leave %[3]s
location %[5]d rank=%[4]d
  0 Enter %[3]s ; 10 Enter MPI_Recv ; 46 MpiRecv from=%[2]d tag=7 bytes=8 ; 47 Leave MPI_Recv ; 50 Leave %[3]s`,
			first, sender, region, sender+1, first+1)
	}
	pairs := func(text string) []document.OverheadPair {
		_, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone},
			analysis.Options{Overhead: &overhead.Options{}})
		return a.Overhead.Pairs
	}
	want, got := pairs(pair(0, 0, "a")+pair(2, 2, "b")), pairs(pair(0, 2, "b")+pair(2, 0, "a"))
	if len(want) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("pairs are %+v, with the locations in another order %+v", want, got)
	}
}
