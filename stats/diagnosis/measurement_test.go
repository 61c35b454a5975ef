package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestMeasurement: what the measurement itself takes is a cause, and its gain is the difference
// from the run without it. Rank 0 works from 100 to 20,100, rank 1 from 100 to 10,100; then they
// meet.
//
//   - A flush from 4100 to 9100 is 5000 of that.
//   - While recording is off nothing is known: no gain.
//   - 1001 visits of 20 are the work, the shortest takes 5: without that they take 5005 less. That rank 0 alone does it is another cause,
//     and one of them says that it is about the same time.
func TestMeasurement(t *testing.T) {
	var visits strings.Builder
	for i := range 1000 {
		at := 100 + 20*i + i%2 // now 21, now 19 beside each other
		fmt.Fprintf(&visits, "%d Enter f ; ", at)
		if i == 500 {
			fmt.Fprintf(&visits, "%d Leave f ; %d Enter f ; ", at+5, at+5)
		}
		fmt.Fprintf(&visits, "%d Leave f ; ", 100+20*(i+1)+(i+1)%2)
	}
	for _, c := range []struct {
		name, work string
		place      field.Name
		gain       int64 // -1: none
	}{
		{"buffer flush", "100 Enter work ; 4100 BufferFlush 9100 ; 20100 Leave work ;", field.BufferFlush, 5000},
		{"recording off", "100 Enter work ; 4100 MeasurementOnOff 2 ; 9100 MeasurementOnOff 1 ; 20100 Leave work ;", field.RecordingOff, -1},
		{"short visits", visits.String(), "f", 5005},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := tracetest.MustParse(t, fmt.Sprintf(`
location 0 rank=0
  0 Enter main ; 0 Enter MPI_Init ; 100 Leave MPI_Init ; %s
  20100 Enter MPI_Barrier ; 20100 MpiCollectiveBegin ; 20200 MpiCollectiveEnd Barrier root=none ; 20200 Leave MPI_Barrier ; 20200 Leave main
location 1 rank=1
  0 Enter main ; 0 Enter MPI_Init ; 100 Leave MPI_Init ; 100 Enter work ; 10100 Leave work
  10100 Enter MPI_Barrier ; 10100 MpiCollectiveBegin ; 20200 MpiCollectiveEnd Barrier root=none ; 20200 Leave MPI_Barrier ; 20200 Leave main
`, c.work))
			tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{})
			causes, err := diagnosis.Find(t.Context(), tr, a, 0)
			if err != nil {
				t.Fatal(err)
			}
			of, same := 0, 0
			for _, x := range causes {
				if x.Region == c.place {
					of++
				}
				if strings.HasSuffix(x.Text, "covers the same time.") {
					same++
				}
			}
			if same != max(0, of-1) || c.place == "f" && of != 2 {
				t.Errorf("of %d causes at %s %d say that they are about the same time: %+v", of, c.place, same, causes)
			}
			for _, x := range causes {
				if x.Kind != cause.Measurement || x.Region != c.place {
					continue
				}
				gain := int64(-1)
				if x.GainNs != nil {
					gain = *x.GainNs
				}
				if gain != c.gain {
					t.Errorf("gain %d, want %d: %s", gain, c.gain, x.Text)
				}
				return
			}
			t.Errorf("no such cause: %v", causes)
		})
	}
}
