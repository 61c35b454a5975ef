package diagnosis

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// TestSlowCallsAreOneCause states that slow calls are one candidate by the state that others wait in for
// them, which gains at most what its places do together; a place that could not gain enough alone is left out.
func TestSlowCallsAreOneCause(t *testing.T) {
	site := func(line field.Line) field.Site {
		return field.Site{SourceLine: field.SourceLine{File: "f.c", Line: line}, Operation: "MPI_Send"}
	}
	f := &finder{run: 1000, t: &trace.Trace{World: make([]trace.LocationID, 3)},
		a:        &analysis.Result{Analysis: document.Analysis{WaitStates: new(waitstate.States)}},
		critical: make(map[field.Site]int64), slow: make(map[field.Site]int64)}
	var rows []waitstate.Delay
	for i, x := range []struct {
		kind              waitstate.Kind
		waits, path, slow int64
	}{
		{waitstate.LateSender, 500, 300, 200},
		{waitstate.LateReceiver, 400, 300, 90},
		{waitstate.LateSender, 300, 100, 80},
		{waitstate.LateSender, 200, 100, 9}, // less than 1 % of the run
	} {
		at := site(field.Line(i + 1))
		row := waitstate.Delay{SourceLine: at.SourceLine, Operation: at.Operation, TotalNs: x.waits,
			Ranks: []field.RankTime{{Rank: field.Rank(i % 3), TimeNs: x.waits}}}
		row.By[x.kind] = x.waits
		f.critical[at], f.slow[at] = x.path, x.slow
		rows = append(rows, row)
	}
	got := f.slowCalls(rows)
	if len(got) != 2 {
		t.Fatalf("%d candidates, want 2", len(got))
	}
	for i, want := range []struct {
		waits, bound int64
		ranks, at    int
		headline     string
		text         string
	}{
		{800, 280, 2, 1, "Some calls at 2 places are slower than comparable calls",
			"MPI_Send at f.c:1 and MPI_Send at f.c:3. Other ranks wait 800 ns for them"},
		{400, 90, 1, 2, "Some MPI_Send calls are slower than comparable calls", "In f.c:2. Other ranks wait 400 ns for them"},
	} {
		c := got[i]
		if c.cause.WaitsCausedNs != want.waits || c.bound != want.bound || len(c.cause.Ranks) != want.ranks || int(c.cause.Line) != want.at ||
			c.cause.Headline != want.headline || !strings.HasPrefix(c.text, want.text) {
			t.Errorf("waits %d, at most %d, ranks %d, line %d: %s: %s; want %+v", c.cause.WaitsCausedNs, c.bound, c.cause.Ranks, c.cause.Line,
				c.cause.Headline, c.text, want)
		}
	}
}

// TestMostSlow states that of slow calls of many ranks the one that causes twice its share is named, and of few ranks none.
func TestMostSlow(t *testing.T) {
	for _, test := range []struct {
		first int64 // of 8 ranks, what the first causes; the others 100 each
		few   bool
		want  string
		share bool
	}{
		{100, false, " No rank stands out.", false},
		{700, false, " Rank 0 causes 50.0 % of these waits.", true},
		{700, true, "", false},
	} {
		f := &finder{ranks: make([]uint32, 8)}
		row := waitstate.Delay{Ranks: []field.RankTime{{Rank: 0, TimeNs: test.first}}, TotalNs: test.first + 700}
		c := &cause.Cause{Kind: cause.SlowCalls, Ranks: []uint32{0, 1, 2, 3}, Evidence: make(map[string]float64)}
		if test.few {
			c.Ranks = c.Ranks[:1]
		}
		got := f.mostSlow(c, row)
		if _, share := c.Evidence["most_share"]; got != test.want || share != test.share {
			t.Errorf("%+v: %q, evidence %v", test, got, c.Evidence)
		}
	}
}

// TestUnequalData states that of an exchange of all ranks it is said which one has much more to send or to receive, if one has.
func TestUnequalData(t *testing.T) {
	for _, test := range []struct {
		sent, received [3]int
		want           string
	}{
		{[3]int{3 << 20, 2048, 1024}, [3]int{1 << 20, 1 << 20, 1 << 20}, "Rank 0 sends 3.00 MiB in them, other ranks 1.50 KiB in the mean. "},
		{[3]int{1024, 1024, 1024}, [3]int{512, 2048, 512}, "Rank 1 receives 2.00 KiB in them, other ranks 512 B in the mean. "},
		{[3]int{1024, 1024, 1500}, [3]int{1024, 1500, 1024}, ""},
	} {
		text := ""
		for r := range 3 {
			text += fmt.Sprintf("location %d rank=%[1]d\n  0 Enter MPI_Alltoallv ; 0 MpiCollectiveBegin ; 100 MpiCollectiveEnd Alltoallv comm=0 "+
				"root=none sent=%d received=%d ; 100 Leave MPI_Alltoallv\n", r, test.sent[r], test.received[r])
		}
		f := finderOf(t, text)
		f.ranks = []uint32{0, 1, 2}
		var rows []waitstate.Delay
		for _, at := range f.places {
			rows = append(rows, waitstate.Delay{SourceLine: at.SourceLine, Operation: at.Operation})
		}
		c := candidate{cause: cause.Cause{Evidence: make(map[string]float64)}}
		if f.unequalData(&c, rows); c.text != test.want || (len(c.cause.Evidence) > 0) != (test.want != "") {
			t.Errorf("got %q, %v, want %q", c.text, c.cause.Evidence, test.want)
		}
	}
}
