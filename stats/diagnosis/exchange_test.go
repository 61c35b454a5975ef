package diagnosis

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// shifts makes a program of ranks that compute, each step, and send to the next rank while they receive from the one before in one call.
// An MPI_Allreduce ends a step. The last rank computes so many ticks longer. With waits, a call does not end before its receiver has
// posted.
func shifts(ranks, steps int, more int64, waits bool) string {
	text := make([]strings.Builder, ranks)
	at := make([]int64, ranks)
	for r := range text {
		fmt.Fprintf(&text[r], "location %d rank=%d\n  0 Enter main ; ", r, r)
	}
	for step := range steps {
		entered := slices.Clone(at)
		for r := range entered {
			entered[r] += 10_000 + int64(7*(r*step%5))
			if r == ranks-1 {
				entered[r] += more
			}
		}
		last := int64(0)
		for r := range text {
			at[r] = entered[r]
			fmt.Fprintf(&text[r], "%d Enter MPI_Sendrecv ; ", entered[r])
			if r < ranks-1 {
				fmt.Fprintf(&text[r], "%d MpiSend to=%d bytes=1024 ; ", entered[r]+1, r+1)
				if waits {
					at[r] = max(at[r], entered[r+1])
				}
			}
			if r > 0 {
				at[r] = max(at[r], entered[r-1])
			}
			at[r] += 50
			if r > 0 {
				fmt.Fprintf(&text[r], "%d MpiRecv from=%d bytes=1024 ; ", at[r]-1, r-1)
			}
			fmt.Fprintf(&text[r], "%[1]d Leave MPI_Sendrecv ; %[2]d Enter MPI_Allreduce ; %[2]d MpiCollectiveBegin ; ", at[r], at[r]+5)
			last = max(last, at[r]+5)
		}
		for r := range text {
			at[r] = last + 20
			fmt.Fprintf(&text[r], "%[1]d MpiCollectiveEnd Allreduce comm=0 root=none sent=8 received=8 ; %[1]d Leave MPI_Allreduce\n  ", at[r])
		}
	}
	var all strings.Builder
	for r := range text {
		fmt.Fprintf(&text[r], "%d Leave main\n", at[r])
		all.WriteString(text[r].String())
	}
	return all.String()
}

// TestSlowReceiver states that a rank that computes longer than others is named with what that costs, whether or not the MPI library lets
// MPI_Sendrecv wait for its receivers: where it does, the rank before it takes as long in its call, and nothing is recorded of the reason.
func TestSlowReceiver(t *testing.T) {
	const ranks, steps, more = 6, 20, 20_000
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprint(waits), func(t *testing.T) {
			tr, a := statstest.Analyzed(t, tracetest.MustParse(t, shifts(ranks, steps, more, waits)), merge.Options{Clock: merge.ClockNone},
				analysis.Options{})
			late := a.WaitStates[waitstate.LateReceiver].TimeNs + a.WaitStates[waitstate.LateReceiverBehindLateSender].TimeNs
			if want := int64(steps * more); waits && math.Abs(float64(late-want)) > 0.02*float64(want) || !waits && late > 0 {
				t.Errorf("late receivers: %d ns", late)
			}
			causes, err := Find(t.Context(), tr, a, 1)
			if err != nil || len(causes) == 0 {
				t.Fatal(causes, err)
			}
			c := causes[0]
			if c.Kind != cause.Imbalance || !slices.Equal(c.Ranks, []uint32{ranks - 1}) || c.Operation != "" {
				t.Errorf("the cause is %q, ranks %v", c.Headline, c.Ranks)
			}
			if gain := gainOf(c); math.Abs(float64(gain)-steps*more) > 0.05*steps*more {
				t.Errorf("it gains %d ns of %d", gain, steps*more)
			}
		})
	}
}

// TestTorus states that in a recorded program whose last row of ranks computes three times as long, these are named, and
// neither the ranks whose MPI_Sendrecv waits for them nor the messages that these receive.
func TestTorus(t *testing.T) {
	src, err := readers.Open(t.Context(), filepath.Join("..", "..", "samples", "archives", "torus-6"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{Overhead: &overhead.Options{PerCall: true}})
	causes, err := Find(t.Context(), tr, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	causes = slices.DeleteFunc(causes, func(c cause.Cause) bool { return c.Kind == cause.Startup })
	if len(causes) == 0 || causes[0].Kind != cause.Imbalance || causes[0].Region != "main" || !slices.Equal(causes[0].Ranks, []uint32{4, 5}) {
		t.Errorf("the first cause is %+v", causes[:min(1, len(causes))])
	}
	for _, c := range causes {
		if strings.HasPrefix(c.Headline, "Messages") {
			t.Errorf("%s: %s", c.Headline, c.Text)
		}
	}
}
