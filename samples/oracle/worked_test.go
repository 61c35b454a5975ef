package oracle_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/samples/oracle"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// twoRanks: rank 0 works late in the first half, rank 1 in the second.
//
//	rank 0: work 0..100, send 100..110, recv 110..210 (its sender comes at 200), work 210..220
//	rank 1: work 0..40, recv 40..115 (its sender comes at 100), work 115..200, send 200..205, work 205..212
const twoRanks = `
location 0 rank=0
  0 Enter main
  0 Enter work ; 100 Leave work
  100 Enter MPI_Send ; 101 MpiSend to=1 ; 110 Leave MPI_Send
  110 Enter MPI_Recv ; 209 MpiRecv from=1 ; 210 Leave MPI_Recv
  210 Enter work ; 220 Leave work
  220 Leave main
location 1 rank=1
  0 Enter main
  0 Enter work ; 40 Leave work
  40 Enter MPI_Recv ; 114 MpiRecv from=0 ; 115 Leave MPI_Recv
  115 Enter work ; 200 Leave work
  200 Enter MPI_Send ; 201 MpiSend to=0 ; 205 Leave MPI_Send
  205 Enter work ; 212 Leave work
  212 Leave main
`

func analyze(t *testing.T, text string) (*oracle.Result, *trace.Defs) {
	t.Helper()
	m := tracetest.MustParse(t, text)
	return oracle.Analyze(m, oracle.Options{}), m.Definitions
}

// TestCriticalPathByHand: backwards from rank 0's end at 220. Its wait ends at 200 = E(S):
// the path has 200..220 on rank 0, goes on with rank 1 at 200, whose wait ends at 100, so
// 100..200 there, and 0..100 on rank 0. On it: work 10 + 85 + 100 = 195, MPI_Recv 10 (rank
// 0, after the wait) + 15 (rank 1) = 25; together 220.
func TestCriticalPathByHand(t *testing.T) {
	r, d := analyze(t, twoRanks)
	want := []oracle.Segment{{Rank: 0, From: 200, To: 220}, {Rank: 1, From: 100, To: 200}, {Rank: 0, From: 0, To: 100}}
	if diff := cmp.Diff(want, r.Path.Segments); diff != "" {
		t.Error(diff)
	}
	got := make(map[string]int64)
	for id, v := range r.Path.Regions {
		got[d.RegionName(id)] = v
	}
	if diff := cmp.Diff(map[string]int64{"work": 195, "MPI_Recv": 25}, got); diff != "" {
		t.Error(diff)
	}
}

// TestEfficiencyByHand: useful time is 100 + 10 = 110 and 40 + 85 + 7 = 132, T = 220. In
// the ideal replay rank 0 sends at 100; rank 1 receives at max(40, 100) = 100, sends at
// 185 and ends at 192; rank 0 receives at max(100, 185) = 185 and ends at 195 = T*.
func TestEfficiencyByHand(t *testing.T) {
	r, _ := analyze(t, twoRanks)
	e := r.Efficiency
	got := fmt.Sprintf("%v %d %d %.4f %.4f %.4f %.4f %.4f %v", e.Useful, e.Runtime, e.Ideal, e.LoadBalance, e.Communication,
		e.Serialization, e.Transfer, e.Parallel, e.Stuck)
	// 121/132, 132/220, 132/195, 195/220, 121/220
	if want := "[110 132] 220 195 0.9167 0.6000 0.6769 0.8864 0.5500 false"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestProfileByHand: main spans 220 + 212; all of its time is in regions below it.
func TestProfileByHand(t *testing.T) {
	r, d := analyze(t, twoRanks)
	got := make(map[string]oracle.Row)
	for id, row := range r.Profile {
		got[d.RegionName(id)] = row
	}
	want := map[string]oracle.Row{
		"main":     {Count: 2, Inclusive: 432, Exclusive: 0},
		"work":     {Count: 5, Inclusive: 242, Exclusive: 242},
		"MPI_Send": {Count: 2, Inclusive: 15, Exclusive: 15},
		"MPI_Recv": {Count: 2, Inclusive: 175, Exclusive: 175},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestProfileOfRecursion: f is open from 0 to 10 and again from 2 to 5: 10 inclusive.
func TestProfileOfRecursion(t *testing.T) {
	r, _ := analyze(t, "location 0 rank=0\n  0 Enter f\n  2 Enter f ; 5 Leave f\n  10 Leave f\n")
	if diff := cmp.Diff(map[trace.RegionID]oracle.Row{0: {Count: 2, Inclusive: 10, Exclusive: 10}}, r.Profile); diff != "" {
		t.Error(diff)
	}
}

// TestPathBeginsLate: the path's first rank begins at 30, 20 after the trace.
func TestPathBeginsLate(t *testing.T) {
	r, _ := analyze(t, "location 0 rank=0\n  10 Enter f ; 15 Leave f\nlocation 1 rank=1\n  30 Enter f ; 50 Leave f\n")
	if r.Path.NotRecorded != 20 || r.Path.Regions[0] != 20 {
		t.Errorf("%+v", r.Path)
	}
}

func Example() {
	m, err := tracetest.Parse(`
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 ; 45 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 ; 47 Leave MPI_Recv
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(oracle.FormatWaits(oracle.Analyze(m, oracle.Options{}).Waits))
	// Output: late_sender 1/0 30
}
