package query

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/document/waitstate"
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
			if rows := one("select count(*), coalesce(sum(time_ns), 0) from waits where wait_state = '" + key + "'"); k.Info().Caused &&
				s.Count > 0 && rows != fmt.Sprintf("%d|%d", s.Count, s.TimeNs) {
				t.Errorf("%s: rows have %s, the document %d, %d ns", key, rows, s.Count, s.TimeNs)
			}
		}
		if got := one("select count(*), sum(bytes) from messages where state = 'matched'"); got != fmt.Sprintf("%d|%d", a.Messages.Count,
			a.Messages.Bytes) {
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
		if got := one("select sum(waits_caused_ns) - (select sum(time_ns) from waits where caused_by_rank is not null " +
			"and wait_state <> 'startup') from late_ranks"); got != "0" {
			t.Errorf("late_ranks has %s ns more than waits", got)
		}
		var delays, startup int64
		for _, row := range a.Delays {
			delays, startup = delays+row.TotalNs, startup+row.By[waitstate.AtStartup]
		}
		got := one("select sum(time_ns), sum(startup_ns), (select sum(delays_ns) from late_ranks) from delays_by_rank")
		if want := fmt.Sprintf("%d|%d|%d", delays, startup, delays-startup); got != want {
			t.Errorf("delays of ranks, at startup and after that are %s, in the document %s", got, want)
		}
		const overlaps = "select a.rank, a.location, b.location, a.region, b.region, max(a.start_ns, b.start_ns) as start_ns, " +
			"min(a.start_ns + a.time_ns, b.start_ns + b.time_ns) - max(a.start_ns, b.start_ns) as time_ns from visits a join visits b " +
			"on b.rank = a.rank and b.location > a.location and b.depth = 0 and b.start_ns < a.start_ns + a.time_ns and " +
			"b.start_ns + b.time_ns > a.start_ns where a.depth = 0"
		for _, where := range []string{"true", "rank = 1", "start_ns between 20000 and 90000"} {
			ordered := " where " + where + " order by 1, 2, 3, 6, 7, 4, 5"
			got, want := answers(t, d, "select * from intervals_intersect"+ordered), answers(t, d, "select * from ("+overlaps+")"+ordered)
			if !slices.Equal(got, want) || o.Threads > 1 && len(want) == 0 {
				t.Errorf("%s: %d visits overlap, want %d", where, len(got), len(want))
			}
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

// counting counts the events that are read, and whose they are.
type counting struct {
	trace.Source
	events map[trace.LocationID]int
}

func (c *counting) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range c.Source.Events(ctx, l) {
			if b != nil {
				c.events[l] += b.Len()
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestSelectedRows states that queries for a rank or a time read the rows of these alone, or those of the blocks they lie in, or the events
// of the rank's locations, and that their answers are those of queries that read all.
func TestSelectedRows(t *testing.T) {
	tr, a := statstest.Analyzed(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 60, Threads: 1, Seed: 1,
		Plant: samples.Plant{LateSender: 5000, Lost: 20}}), merge.Options{Clock: merge.ClockAuto}, analysis.Options{})
	read := counting{tr.Source, make(map[trace.LocationID]int)}
	tr.Source = &read
	source := SourceOf(t.Context(), tr, a)
	filled := 0
	for k, of := range source.Tables {
		if of.Parts == nil {
			continue
		}
		source.Tables[k].Parts = func() []arrowdir.Part {
			parts := of.Parts()
			for i, p := range parts {
				if p.Fill != nil {
					parts[i].Fill = func(b *arrowdir.Block, first int) {
						filled += b.Rows
						p.Fill(b, first)
					}
				}
			}
			return parts
		}
	}
	every := opened(t, source)
	one := func(d *Database, q string) string { return strings.Join(answers(t, d, q), ";") }
	begin, length := answerOf(t, every, "select min(start_ns) from calls"), tr.Span[0].Last-tr.Span[0].First
	g := rand.New(rand.NewPCG(1, 1))
	const block = 2 * 64 // collectives at most beside those that are selected
	for _, x := range []struct {
		table, rank, time, sums string
		beside                  int // rows; -1: they are not counted
	}{
		{"calls", "rank", "start_ns", "sum(call), sum(wait_ns), sum(overhead_ns), sum(bytes_sent), sum(bytes_received), min(operation), " +
			"max(wait_state)", 0},
		{"messages", `"from"`, "send_ns", "sum(bytes), sum(receive_ns), sum(latency_ns), min(send_operation), max(receive_line), sum(rowid)", 0},
		{"messages", `"to"`, "receive_ns", "sum(bytes), sum(send_ns), sum(latency_ns), min(send_operation), max(receive_line), sum(rowid)", -1},
		{"collectives", "", "start_ns", "sum(collective), sum(members), sum(bytes_sent), max(operation), sum(end_ns), sum(rowid)", block},
		{"collectives", "", "last_ns", "sum(collective), sum(members), sum(bytes_sent), max(operation), sum(end_ns)", block},
		{"members", "", "start_ns", "sum(call), sum(time_ns), sum(bytes_sent), sum(collective), sum(rowid)", 6 * block},
		{"waits", "rank", "start_ns", "sum(call), sum(time_ns), min(wait_state), max(caused_by_operation), sum(caused_by_rank), sum(rowid)", -1},
		{"visits", "rank", "start_ns", "sum(time_ns), sum(self_ns), min(region), max(depth), sum(rowid)", -1},
	} {
		if answerOf(t, every, "select count(*) from "+x.table) == 0 {
			t.Errorf("%s has no rows", x.table)
		}
		for range 20 {
			from := begin + g.Int64N(length)
			rank := g.IntN(6)
			where := fmt.Sprintf(" where %[1]s >= %[2]d and %[1]s < %[3]d", x.time, from, from+length/20)
			if x.rank != "" {
				where += fmt.Sprintf(" and %s = %d", x.rank, rank)
			}
			sums := "select count(*), " + x.sums + " from " + x.table
			all := strings.ReplaceAll(strings.ReplaceAll(where, "where ", "where +"), "and ", "and +")
			want := one(every, sums+all)
			filled = 0
			clear(read.events)
			if got := one(opened(t, source), sums+where); got != want {
				t.Errorf("%s%s: %s, want %s", x.table, where, got, want)
			}
			filled := filled
			if want := answerOf(t, every, "select count(*) from "+x.table+all); x.beside >= 0 && int64(filled) > want+int64(x.beside) {
				t.Errorf("%s%s: %d rows are read, %d wanted", x.table, where, filled, want)
			}
			for l := range read.events {
				if x.rank == "rank" && tr.Rank[l] != uint32(rank) {
					t.Errorf("%s%s: events of rank %d are read", x.table, where, tr.Rank[l])
				}
			}
			if x.rank != "" { // SQLite joins both sides by the numbers of rows
				either := fmt.Sprintf(" where %s = %d or %s between %d and %d", x.rank, rank, x.time, from, from+length/20)
				if got, want := one(opened(t, source), sums+either),
					one(every, sums+strings.NewReplacer("where ", "where +", "or ", "or +").Replace(either)); got != want {
					t.Errorf("%s%s: %s, want %s", x.table, either, got, want)
				}
			}
		}
	}
}

// TestSelectedCounters states the same of counters: those of a rank are read from its locations alone, those of a time up to its end.
func TestSelectedCounters(t *testing.T) {
	var text strings.Builder
	fmt.Fprint(&text, "member 0 cycles\nmetric 0 members=0\n")
	for l := range 3 {
		fmt.Fprintf(&text, "location %d rank=%d\n  0 Enter main", l, l)
		for i := range 1000 {
			fmt.Fprintf(&text, " ; %d Metric 0 uint64:%d", 10*i+l, i*(l+1))
		}
		fmt.Fprintln(&text, " ; 20000 Leave main")
	}
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text.String()), merge.Options{}, analysis.Options{})
	read := counting{tr.Source, make(map[trace.LocationID]int)}
	tr.Source = &read
	for q, want := range map[string]string{
		"select sum(value), min(time_ns), count(*) from counters where rank = 1 and time_ns between 101 and 200": "290|101|10",
		"select sum(value), count(*) from counters where rank = 2 and time_ns < 20":                              "3|2",
		"select count(*) from counters where rank = 7":                                                           "0",
	} {
		clear(read.events)
		if got := strings.Join(answers(t, opened(t, SourceOf(t.Context(), tr, a)), q), ";"); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
		if read.events[0] > 0 {
			t.Errorf("%s: %d events of rank 0 are read", q, read.events[0])
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
	if got, want := strings.Join(answers(t, d, "select kernel_class, sum(time_ns) from visits where kernel_class is not null group by 1"),
		";"), "GEMM|30;copy|40;elementwise|20"; got != want {
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
	names, err := d.Names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+strings.TrimPrefix(strings.TrimPrefix(name, "send_"), "receive_")+
			"`") &&
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
			err = answer.WriteArrow(io.Discard)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// TestLateRanksNameTheOrigin states that the first of the late ranks is the one that a fault is planted on, however the others hand on
// that they wait.
func TestLateRanksNameTheOrigin(t *testing.T) {
	for _, program := range []string{"ring", "halo", "sweep", "burst", "masterworker", "collectives"} {
		d, _ := database(t, statstest.Generated(t, samples.Options{Program: program, Ranks: 8, Iterations: 20, Threads: 1, Seed: 1,
			Plant: samples.Plant{Imbalance: 30_000}}))
		if got := answers(t, d, "select rank from late_ranks limit 1"); !slices.Equal(got, []string{"7"}) {
			t.Errorf("%s: rank %s is the latest, want 7", program, got)
		}
	}
}
