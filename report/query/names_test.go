package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers/arrowdir"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestNearestName states which name is meant by one that does not exist.
func TestNearestName(t *testing.T) {
	d, _ := database(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 2, Threads: 1, Seed: 1}))
	for statement, want := range map[string]string{
		"select waits_caused from late_ranks":     "no such column: waits_caused: did you mean waits_caused_ns?",
		"select time from calls":                  "no such column: time: did you mean time_ns?",
		"select c.opration from calls c":          "no such column: c.opration: did you mean operation?",
		"select percentile(rank, 101) from calls": "percentile: the second argument is a number from 0 to 100",
		"select * from a.Messges":                 "no such table: a.Messges: did you mean messages?",
		"select xyzzy from late_ranks":            "no such column: xyzzy: there are rank, delays_ns, waits, waits_caused_ns, ranks_waiting",
		"select ran from (select 1 as rank)":      "no such column: ran",
	} {
		err := d.Query(t.Context(), statement, func([]string) error { return nil }, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
	err := d.Query(t.Context(), "select count(*) from slice", func([]string) error { return nil }, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "no such table: slice: there are bubbles, callpaths, calls, ") {
		t.Errorf("a table that nothing is near to: %v", err)
	}
}

// TestOneQuery states that what stands behind a query is refused, and not answered in its place.
func TestOneQuery(t *testing.T) {
	for statement, want := range map[string]bool{
		"select 1":                  false,
		"select 1 ; ;\n":            false,
		"select ';' ; -- select 2;": false,
		"select \";\", [;], `;`, 'it''s;' /* ; */; /* ; select 2": false,
		"select 1; select 2":         true,
		"select '';;select 2 -- '":   true,
		"/* ' */ select 1; select 2": true,
	} {
		if got := several(statement); got != want {
			t.Errorf("%s: several is %v", statement, got)
		}
	}
}

// TestEmptyTables states what is said of tables and views that a query reads and that have no rows.
func TestEmptyTables(t *testing.T) {
	notes := func(d *Database, statement string) string {
		answers(t, d, statement)
		return strings.Join(d.Notes(), "\n")
	}
	open := func(text string) *Database {
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{}, analysis.Options{})
		return opened(t, SourceOf(t.Context(), tr, a))
	}
	one := open("location 0 rank=0\n 0 Enter main ; 200 Leave main\n")
	two := open("location 0 rank=0\n 0 Enter main ; 200 Leave main\nlocation 1 rank=1\n 0 Enter main ; 200 Leave main\n")
	halo, _ := database(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 2, Threads: 1, Seed: 1}))
	for _, x := range []struct {
		of        *Database
		statement string
		want      string
	}{
		{one, "select * from late_ranks", "late_ranks is empty: the trace has one rank."},
		{two, "select count(*) from delays", "delays is empty: the trace records no messages and no collectives."},
		{two, "select 1 from calls, messages", "calls is empty: the trace records no communication calls.\nmessages is empty: the trace records no messages."},
		{two, "select * from kernel_summary", "kernel_summary is empty: the trace records no device."},
		{two, "select * from workers", "workers is empty: the trace has no steps of a training job."},
		{two, "select * from visits where rank = 7", ""},
		{halo, "select * from calls, messages, collectives, late_ranks limit 1", ""},
	} {
		if got := notes(x.of, x.statement); got != x.want {
			t.Errorf("%s: %q, want %q", x.statement, got, x.want)
		}
	}
	tr, a := statstest.Analyzed(t, statstest.Generated(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 2, Threads: 1, Seed: 1}),
		merge.Options{}, analysis.Options{})
	a.Delays = nil // as of a trace that much was cut from
	cut := opened(t, SourceOf(t.Context(), tr, a))
	if got := notes(cut, "select * from delays"); got != "delays is empty: to find where waits originate needs the whole trace." {
		t.Error(got)
	}
	if got := answers(t, cut, "select count(*) > 0, count(delays_ns) from late_ranks"); !slices.Equal(got, []string{"1|0"}) {
		t.Errorf("ranks that others wait for, and those of which it is known what originates there: %v", got)
	}
	if _, err := two.Answer(t.Context(), "select * from messages"); err != nil || len(two.Notes()) != 1 {
		t.Errorf("a whole table: %v, %v", two.Notes(), err)
	}
	doubtful := sourceOf(t, arrowdir.Table{Name: "x", Columns: []arrowdir.TableColumn{{Name: "a"}}, Fill: func(*arrowdir.Rows) {}})
	doubtful.Doubts = []string{"Doubtful."}
	d := opened(t, sourceOf(t), doubtful)
	if got := notes(d, "select * from b.x, b.x as y"); got != "b: Doubtful." {
		t.Error(got)
	}
	if got := notes(d, "select name from b.sqlite_schema"); got != "" {
		t.Error(got)
	}
	if got := notes(opened(t, sourceOf(t), Source{Empty: map[string]string{"x": "of b."}}), "select 1"); got != "" {
		t.Error(got)
	}
}

// TestWorkersAreTheDocuments states that the table of workers is that of the document, and that tables of waits name it.
func TestWorkersAreTheDocuments(t *testing.T) {
	var src *samples.Memory
	if _, err := samples.GenerateTraining(t.Context(), samples.TrainingOptions{DP: 4, PP: 2, MicroBatches: 4, Steps: 6,
		Slow: []samples.SlowWorker{{Rank: 5, Factor: 2}}}, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		src = samples.NewMemory(info, defs)
		return src, nil
	}); err != nil {
		t.Fatal(err)
	}
	tr := statstest.Merged(t, src, merge.Options{})
	a, err := stats.Analyze(t.Context(), tr, analysis.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, SourceOf(t.Context(), tr, a))
	var want []string
	for _, w := range a.Training.ByWorker {
		want = append(want, fmt.Sprintf("%d|%d|%d|%.6g|%d", w.Rank, w.DP, w.Stage, w.Slowdown, w.Slow))
	}
	got := answers(t, d, "select rank, dp_rank, stage, slowdown, slow_steps from workers")
	if len(want) != 8 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := answers(t, d, "select dp_rank, stage from workers limit 1")[0]; got != "1|1" {
		t.Errorf("the slowest is %s", got)
	}
	if answers(t, d, "select * from late_ranks"); len(d.Notes()) > 0 && !strings.Contains(d.Notes()[0], "Table workers") {
		t.Error(d.Notes())
	}
}
