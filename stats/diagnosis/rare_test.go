package diagnosis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestLateOnce: a rank that is late in one of twenty rounds, or in every second one, is not called slow, and nobody is told to move its
// work; one that is late in each of them is.
func TestLateOnce(t *testing.T) {
	for _, c := range []struct {
		name           string
		work           func(round int) int // of rank 1
		headline, text string
		try            string
	}{
		{"once", func(k int) int {
			if k == 7 {
				return 2000
			}
			return 100
		}, "Rank 1 is late once in work", "Most of that is 1 of 20 visits; the longest takes 2.00 µs, until 2.77 µs.",
			"look for what rank 1 did then"},
		{"half", func(k int) int { return 100 + 190*(k%2) }, "Rank 1 is late 10 times in work",
			"Most of that is 10 of 20 visits; the longest takes 290 ns, until 400 ns. ", "look for what rank 1 did then"}, // which is the first
		{"growing", func(k int) int { return 100 + []int{0, 0, 0, 0, 418 + 38*(k/5)}[k%5] }, "Rank 1 is late 4 times in work",
			"the longest takes 632 ns, until 4.09 µs; the first ends at 958 ns. ", "look for what rank 1 did then"},
		{"beside noise", func(k int) int { return 100 + []int{0, 1, 0, 475, 0}[k%5] }, "Rank 1 is late 4 times in work",
			"Most of that is 4 of 20 visits; the longest takes 575 ns", "look for what rank 1 did then"},
		{"always", func(int) int { return 195 }, "Rank 1 is slow in work", "It takes 3.90 µs", "move work from rank 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ranks [4]string
			for k, at := 0, 0; k < 20; k++ {
				end := at + c.work(k)
				for r := range ranks {
					work := 100
					if r == 1 {
						work = c.work(k)
					}
					ranks[r] += fmt.Sprintf("  %d Enter work ; %d Leave work ; %[2]d Enter MPI_Barrier ; %[2]d MpiCollectiveBegin ; %d MpiCollectiveEnd "+
						"Barrier root=none ; %[3]d Leave MPI_Barrier\n",
						at, at+work, end+10)
				}
				at = end + 10
			}
			text := ""
			for r, events := range ranks {
				text += fmt.Sprintf("location %d rank=%[1]d\n%s", r, events)
			}
			tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
			causes, err := diagnosis.Find(t.Context(), tr, a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(causes) == 0 || causes[0].Kind != cause.Imbalance || !slices.Equal(causes[0].Ranks, []uint32{1}) || *causes[0].GainNs != 1900 {
				t.Fatalf("causes are %+v", causes)
			}
			x := causes[0]
			x.Advise(false)
			if x.Headline != c.headline || !strings.Contains(x.Text, c.text) || !strings.HasPrefix(x.Try, c.try) {
				t.Errorf("%s: %s Try: %s", x.Headline, x.Text, x.Try)
			}
		})
	}
}
