package diagnosis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestMissingRanks: ranks of which nothing is recorded change nothing of the causes, be they many, or the
// only one that is missed of a run in which all are at the same place all the time.
func TestMissingRanks(t *testing.T) {
	rank := func(r, work int) string {
		return fmt.Sprintf(`
location %d rank=%d
  0 Enter main ; 10 Enter work ; %d Leave work ; %[3]d Enter MPI_Barrier ; %[3]d MpiCollectiveBegin
  412 MpiCollectiveEnd Barrier root=none ; 413 Leave MPI_Barrier ; 500 Leave main`, r, r, 10+work)
	}
	for _, c := range []struct {
		name    string
		work    [4]int
		missing int
		want    string // how the first cause begins; "": there is none
	}{
		{"one is slow, hardly any is there", [4]int{100, 100, 100, 400}, 60,
			"Rank 3 is slow in work: It takes 400 ns, other ranks 100 ns (4.0 times). Other ranks wait 900 ns for it"},
		{"all are about alike", [4]int{380, 400, 390, 400}, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			for r, work := range c.work {
				text += rank(r, work)
			}
			alone := causesOf(t, text)
			for r := range c.missing {
				text += fmt.Sprintf("\nlocation %d rank=%[1]d", len(c.work)+r)
			}
			if got := causesOf(t, text); !slices.Equal(got, alone) {
				t.Errorf("causes are %q, without ranks that are missing %q", got, alone)
			}
			if len(alone) > 0 != (c.want != "") || len(alone) > 0 && !strings.HasPrefix(alone[0], c.want) {
				t.Errorf("causes are %q, want %q", alone, c.want)
			}
		})
	}
}

// causesOf returns the headlines and texts of the causes that are found in a trace in text form.
func causesOf(t *testing.T, text string) (out []string) {
	t.Helper()
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range causes {
		out = append(out, c.Headline+": "+c.Text)
	}
	return out
}
