package diagnosis

import (
	"math"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/doubt"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestSendrecvMayWait: rank 0 is in a Sendrecv from 100 to 4050; it waits for rank 2's message, sent at 300, and
// then 3700 pass until rank 1 posts at 4000: that is told, with rank 1, if it is half of what the call
// takes too long. Where rank 1 has posted before, at 200, there is nothing to tell.
func TestSendrecvMayWait(t *testing.T) {
	for _, c := range []struct {
		name, rank1 string
		slow        int64
		want        string // "": nothing
	}{
		{"the receiver comes late", "0 Enter work ; 4000 Leave work ; 4000 Enter MPI_Recv ;", 7400,
			"3.70 µs in them pass before the receivers post their receives, mostly rank 1:"},
		{"that is little of it", "0 Enter work ; 4000 Leave work ; 4000 Enter MPI_Recv ;", 7401, ""},
		{"the receiver is there", "200 Enter MPI_Recv ;", 1000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := finderOf(t, strings.Replace(`
location 0 rank=0
  0 Enter main ; 100 Enter MPI_Sendrecv ; 110 MpiSend to=1 bytes=8 ; 4050 MpiRecv from=2 bytes=8 ; 4050 Leave MPI_Sendrecv ; 5000 Leave main
location 1 rank=1
  0 Enter main ; RANK1 4040 MpiRecv from=0 bytes=8 ; 4040 Leave MPI_Recv ; 5000 Leave main
location 2 rank=2
  0 Enter main ; 300 Enter MPI_Send ; 310 MpiSend to=0 bytes=8 ; 320 Leave MPI_Send ; 5000 Leave main
`, "RANK1", c.rank1, 1))
			var row waitstate.Delay
			for _, at := range f.places {
				if at.Operation == "MPI_Sendrecv" {
					row = waitstate.Delay{SourceLine: at.SourceLine, Operation: at.Operation}
				}
			}
			f.slow[placeOf(row)] = c.slow
			got := candidate{cause: cause.Cause{Evidence: map[string]float64{}}}
			f.mayWait(&got, []waitstate.Delay{row})
			if text := strings.TrimSpace(got.text); !strings.HasPrefix(text, c.want) || c.want == "" && text != "" {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if _, told := got.cause.Evidence["before_receivers_post_ns"]; told != (c.want != "") {
				t.Errorf("evidence %v", got.cause.Evidence)
			}
		})
	}
}

// finderOf returns the finder of a trace in text form.
func finderOf(t *testing.T, text string) *finder {
	t.Helper()
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	return newFinder(tr, a, math.MaxInt64)
}

// TestDoubted: calls that receive what a doubt about clocks is about are no slow calls.
func TestDoubted(t *testing.T) {
	f := finderOf(t, `
location 0 rank=0
  10 Enter MPI_Send ; 10 MpiSend to=1 tag=0 bytes=8 ; 11 Leave MPI_Send
location 1 rank=1
  0 Enter MPI_Recv ; 90 MpiRecv from=0 tag=0 bytes=8 ; 90 Leave MPI_Recv
  90 Enter MPI_Recv ; 95 MpiRecv from=2 tag=0 bytes=8 ; 95 Leave MPI_Recv
location 2 rank=2
  10 Enter MPI_Send ; 10 MpiSend to=1 tag=0 bytes=8 ; 11 Leave MPI_Send
`)
	from, to := uint32(0), uint32(1)
	for _, doubted := range []bool{false, true} {
		if f.a.Doubts = nil; doubted {
			f.a.Doubts = []doubt.Sign{{Kind: doubt.SlowData, From: &from, Rank: &to}}
		}
		if f.doubted(1, 0) != doubted || f.doubted(1, 1) || f.doubted(0, 0) {
			t.Errorf("with a doubt %v: %v %v %v", doubted, f.doubted(1, 0), f.doubted(1, 1), f.doubted(0, 0))
		}
	}
}
