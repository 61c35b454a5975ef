package diagnosis_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestWaitsForDevices: rank 3 waits for its device until 900, the others until 500, and then all meet in a barrier. If the kernel of
// rank 3 takes 400 longer, its device is the cause and the kernel has its name; if the kernel is as long and starts later, or is not
// recorded, the rank waits long. No call that waits is called slow.
func TestWaitsForDevices(t *testing.T) {
	for _, c := range []struct {
		name            string
		kernels         bool
		begin, end      int64 // of the kernel of rank 3
		headline, known string
		gain            int64
	}{
		{"the device is slow", true, 10, 900, "The device of rank 3 is slow in k", "It takes 890 ns, other ranks 490 ns (1.82 times)", 400},
		{"half of it is the device", true, 210, 900, "The device of rank 3 is slow in k", "It takes 690 ns, other ranks 490 ns", 200},
		{"the kernel starts late", true, 410, 900, "Rank 3 waits long for its device",
			"Kernels and copies of its device are not the reason (490 ns, other ranks 490 ns)", 400},
		{"no kernel is recorded", false, 0, 0, "Rank 3 waits long for its device", "Work of its device is not recorded.", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString("attribute 0 correlation type=4\nregion 0 launch paradigm=5\nregion 1 k role=40 paradigm=5\nregion 2 " +
				"cudaStreamSynchronize paradigm=5\n")
			for r := range 4 {
				fmt.Fprintf(&text, "process %d host%d\n", r, r)
			}
			for r := range 4 {
				fmt.Fprintf(&text, "process %d gpu%d kind=2 creator=%d\n", 4+r, r, r)
			}
			begin, end := []int64{10, 10, 10, c.begin}, []int64{500, 500, 500, c.end}
			for r := range 4 {
				until := int64(500)
				if r == 3 {
					until = 900
				}
				fmt.Fprintf(&text, "location %d rank=%d process=%d kind=1\n  0 Enter main ; 0 Enter launch attr=0:4:1 ; 5 Leave launch ; 5 Enter "+
					"cudaStreamSynchronize\n", r, r, r)
				fmt.Fprintf(&text, "  %d Leave cudaStreamSynchronize ; %d Enter MPI_Barrier ; %d MpiCollectiveBegin ;", until, until, until)
				fmt.Fprintf(&text, " 905 MpiCollectiveEnd Barrier comm=0 root=none sent=0 received=0 ; 905 Leave MPI_Barrier ; 1000 Leave main\n")
			}
			for r := range 4 {
				fmt.Fprintf(&text, "location %d stream%d process=%d kind=2\n", 4+r, r, 4+r)
				if c.kernels {
					fmt.Fprintf(&text, "  %d Enter k attr=0:4:1 ; %d Leave k\n", begin[r], end[r])
				}
			}
			tr := statstest.Merged(t, tracetest.MustParse(t, text.String()), merge.Options{Clock: merge.ClockNone})
			a, err := stats.Analyze(t.Context(), tr, analysis.Options{}, true)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(a.Diagnosis, func(x cause.Cause) bool { return x.Region == "cudaStreamSynchronize" })
			if i < 0 {
				t.Fatalf("no cause: %+v", a.Diagnosis)
			}
			got := a.Diagnosis[i]
			if got.Headline != c.headline || !strings.Contains(got.Text, c.known) || !slices.Equal(got.Ranks, []uint32{3}) {
				t.Errorf("%s: %s", got.Headline, got.Text)
			}
			if got.GainNs == nil || math.Abs(float64(*got.GainNs-c.gain)) > 1 {
				t.Errorf("gain %v, want %d", got.GainNs, c.gain)
			}
			for _, x := range a.Diagnosis {
				if strings.Contains(x.Headline, "slow in cuda") {
					t.Errorf("a call that waits is slow: %s", x.Headline)
				}
			}
		})
	}
}
