package query

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func database(t *testing.T, src trace.Source) (*Database, *analysis.Result) {
	t.Helper()
	tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockAuto}, analysis.Options{})
	return opened(t, SourceOf(t.Context(), tr, a)), a
}

// TestTablesAreTheAnalysis states that sums over rows are the figures of the document.
func TestTablesAreTheAnalysis(t *testing.T) {
	for _, o := range []samples.Options{
		{Program: "halo", Ranks: 6, Iterations: 20, Threads: 2, Seed: 1, Plant: samples.Plant{LateSender: 5000, LateBroadcast: 3000, Skew: 100}},
		{Program: "halo", Ranks: 4, Iterations: 10, Threads: 1, Seed: 2, Bytes: 1 << 16, Plant: samples.Plant{LateReceiver: 5000, Lost: 3}},
	} {
		d, a := database(t, statstest.Generated(t, o))
		one := func(q string) string { return strings.Join(answers(t, d, q), ";") }
		for k, s := range a.WaitStates.All {
			key := k.Info().Key
			if rows := one("select count(*), coalesce(sum(time_ns), 0) from waits where wait_state = '" + key + "'"); k.Info().Caused && s.Count > 0 &&
				rows != fmt.Sprintf("%d|%d", s.Count, s.TimeNs) {
				t.Errorf("%s: rows have %s, the document %d, %d ns", key, rows, s.Count, s.TimeNs)
			}
		}
		if got := one("select count(*), sum(bytes) from messages where state = 'matched'"); got != fmt.Sprintf("%d|%d", a.Messages.Count, a.Messages.Bytes) {
			t.Errorf("messages are %s, in the document %d, %d", got, a.Messages.Count, a.Messages.Bytes)
		}
		if got, want := one("select sum(time_ns) from critical_path"), fmt.Sprint(a.CriticalPath.LengthNs); got != want {
			t.Errorf("the critical path has %s ns, in the document %s", got, want)
		}
		for _, p := range a.Profile {
			if p.Region == "" || strings.HasPrefix(p.Region, "(") {
				continue
			}
			got := one("select count(*), sum(self_ns) from visits where region = '" + p.Region + "'")
			if got != fmt.Sprintf("%d|%d", p.Count, p.ExclusiveNs) {
				t.Errorf("%s: visits are %s, in the document %d, %d ns", p.Region, got, p.Count, p.ExclusiveNs)
			}
		}
		if got := one("select sum(waits_caused_ns) - (select sum(time_ns) from waits where caused_by_rank is not null) from late_ranks"); got != "0" {
			t.Errorf("late_ranks has %s ns more than waits", got)
		}
		for _, v := range Views() {
			if v.Name == "overlap" { // of devices
				continue
			}
			answers(t, d, v.Example)
			answers(t, d, "select count(*) from "+v.Name)
		}
	}
}

// TestSelectedCalls states that queries for calls of a rank or of a time decode these alone, whatever block they lie in, and that their
// answers are those of queries that read all.
func TestSelectedCalls(t *testing.T) {
	tr, a := statstest.Analyzed(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 60, Threads: 1, Seed: 1}),
		merge.Options{Clock: merge.ClockAuto}, analysis.Options{})
	source := SourceOf(t.Context(), tr, a)
	calls := &source.Tables[slices.IndexFunc(source.Tables, func(t arrowdir.Table) bool { return t.Name == "calls" })]
	filled, all := 0, 0
	for i, p := range calls.Parts {
		all += p.Rows
		calls.Parts[i].Fill = func(b *arrowdir.Block, first int) {
			filled += b.Rows
			p.Fill(b, first)
		}
	}
	const sums = "select count(*), sum(call), sum(wait_ns), sum(overhead_ns), sum(bytes_sent), sum(bytes_received), min(operation), max(wait_state) from calls"
	every := opened(t, source)
	one := func(d *Database, q string) string { return strings.Join(answers(t, d, q), ";") }
	g := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		from := g.Int64N(tr.Span[0].Last - tr.Span[0].First)
		low := fmt.Sprint(from + answerOf(t, every, "select min(start_ns) from calls"))
		high := fmt.Sprint(answerOf(t, every, "select min(start_ns) from calls") + from + 100_000)
		rank := fmt.Sprint(g.IntN(7))
		filled = 0
		got := one(opened(t, source), sums+" where rank = "+rank+" and start_ns >= "+low+" and start_ns < "+high)
		read := filled
		if want := one(every, sums+" where +rank = "+rank+" and +start_ns >= "+low+" and +start_ns < "+high); got != want {
			t.Errorf("rank %s from %s to %s: %s, want %s", rank, low, high, got, want)
		}
		if want := answerOf(t, every, "select count(*) from calls where +rank = "+rank+" and +start_ns >= "+low+" and +start_ns < "+high); int64(read) != want {
			t.Errorf("rank %s from %s to %s: %d of %d calls are read, %d wanted", rank, low, high, read, all, want)
		}
	}
}

// answerOf returns the number that a query answers.
func answerOf(t *testing.T, d *Database, q string) int64 {
	n, err := strconv.ParseInt(answers(t, d, q)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestViewsOfDevices states what views say of two streams: one overlaps the other by 20, and rests for 30.
func TestViewsOfDevices(t *testing.T) {
	d, _ := database(t, tracetest.MustParse(t, `
region 0 gemm role=40
region 1 nccl role=40
location 0 host rank=0
  0 Enter main ; 200 Leave main
location 1 "stream 1" kind=2 process=0
  10 Enter gemm ; 50 Leave gemm ; 80 Enter gemm ; 100 Leave gemm
location 2 "stream 2" kind=2 process=0
  30 Enter nccl ; 60 Leave nccl
`))
	for q, want := range map[string]string{
		"select location, start_ns, time_ns, next from bubbles":                                      "1|50|30|gemm",
		"select region_a, region_b, start_ns, time_ns from intervals_intersect where location_a > 0": "gemm|nccl|30|20",
		"select kernel, count, time_ns from kernel_summary":                                          "gemm|2|60;nccl|1|30",
		"select depth, start_ns, time_ns, self_ns from visits where location = 0":                    "0|0|200|200",
		"select count(*), min(start_ns), max(end_ns) from locations where kind = 'gpu'":              "2|10|100",
	} {
		if got := strings.Join(answers(t, d, q), ";"); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestKernelClassesAreTheDevices states that the classes of kernels are those of what devices do: copies are their copies, the setting of
// memory computes, and a call of the host that copies is none.
func TestKernelClassesAreTheDevices(t *testing.T) {
	tr := statstest.Merged(t, tracetest.MustParse(t, `
region 0 "Memcpy HtoD" role=30 paradigm=5
region 1 "Memset (Device)" role=40 paradigm=5
region 2 gemm paradigm=5
region 3 cuMemcpyHtoD role=30 paradigm=5
region 4 "ProfilerStep#1" role=1
location 0 host rank=0
  0 Enter cuMemcpyHtoD ; 200 Leave cuMemcpyHtoD
location 1 "stream 1" kind=2 process=0
  0 Enter "ProfilerStep#1" ; 10 Enter "Memcpy HtoD" ; 50 Leave "Memcpy HtoD" ; 80 Enter "Memset (Device)" ; 100 Leave "Memset (Device)"
  110 Enter gemm ; 140 Leave gemm ; 150 Leave "ProfilerStep#1"
`), merge.Options{})
	a, err := stats.Analyze(t.Context(), tr, analysis.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, SourceOf(t.Context(), tr, a))
	if got, want := strings.Join(answers(t, d, "select kernel_class, sum(time_ns) from visits where kernel_class is not null group by 1"), ";"),
		"GEMM|30;copy|40;elementwise|20"; got != want {
		t.Errorf("visits: %s, want %s", got, want)
	}
	if got, want := strings.Join(answers(t, d, "select memory_ns, compute_ns from devices"), ";"), "40|50"; got != want {
		t.Errorf("devices: %s, want %s", got, want)
	}
	for _, k := range report.Kernels(a.Devices) {
		if got, want := strings.Join(answers(t, d, "select class from kernel_summary where kernel = '"+k.Name+"'"), ";"), k.Class; got != want {
			t.Errorf("%s: %s, in the table of kernels %s", k.Name, got, want)
		}
	}
}

// TestReferenceNamesAll states that the page of reference names all tables, columns and views.
func TestReferenceNamesAll(t *testing.T) {
	text := ""
	for _, page := range []string{"../../docs/reference/sql.md", "../../docs/DOCUMENTS.md"} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	d, _ := database(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 2, Threads: 1, Seed: 1}))
	for _, name := range d.Names() {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+strings.TrimPrefix(strings.TrimPrefix(name, "send_"), "receive_")+"`") &&
			!strings.Contains(text, "`"+strings.TrimPrefix(name, "caused_by_")+"`") {
			t.Errorf("no page has %s", name)
		}
	}
	for _, v := range Views() {
		if !strings.Contains(text, "| `"+v.Name+"` | "+v.About+" |") {
			t.Errorf("the page lacks the row | `%s` | %s |", v.Name, v.About)
		}
	}
}

// BenchmarkCalls writes all columns of calls in Arrow IPC.
func BenchmarkCalls(b *testing.B) {
	src := statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 2000, Threads: 1, Seed: 1})
	tr, a := statstest.Analyzed(b, src, merge.Options{Clock: merge.ClockAuto}, analysis.Options{})
	d := opened(b, SourceOf(b.Context(), tr, a))
	rows := 0
	for _, calls := range tr.Calls {
		rows += calls.Len()
	}
	for b.Loop() {
		answer, err := d.Answer(b.Context(), "select * from calls")
		if err == nil {
			err = answer.WriteArrow(io.Discard, true)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}
