package analysis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// overheadOf analyses a trace in text form.
func overheadOf(t *testing.T, text string, o overhead.Options) (*trace.Trace, *analysis.Result) {
	t.Helper()
	src := tracetest.MustParse(t, text)
	return analyzed(t, src, merge.ClockNone, analysis.Options{Overhead: &o})
}

// TestOverheadByHand works one message out by hand. The profile allows
//
//	MPI_Recv  10 ns for 0 bytes, 20 ns for 10: 18 for 8, 11 for 1, the smallest of 8's class
//	MPI_Send  50 ns for any size
//
// The receive lasts 110 - 10 = 100 and waits 40 - 10 = 30 for the send to begin. Beyond 18
// it has 82: late partner 30; transfer 18 - 11 = 7; unexplained 82 - 30 - 7 = 45. The send
// lasts 60, 10 beyond 50, all unexplained. In all 92 of 160. The receiving line has more:
// late sender, and the wait state says so too. The critical path leaves the receive when
// the send begins: 110 - 40 = 70.
func TestOverheadByHand(t *testing.T) {
	entry := func(op string, bytes, tMax int64) fit.Entry {
		return fit.Entry{Key: fit.Key{Operation: op, Processes: 2, Bytes: bytes}, Calls: 100, TMin: 1, TMax: tMax, From: fit.FromLaw}
	}
	profile := fit.Profile{Quantile: 0.99, Entries: []fit.Entry{
		entry("MPI_Recv", 0, 10), entry("MPI_Recv", 10, 20), entry("MPI_Send", 0, 50), entry("MPI_Send", 10, 50)}}
	_, a := overheadOf(t, `
location 0 rank0 rank=0
  0 Enter main ; 40 Enter MPI_Send @a.c:5 ; 41 MpiSend to=1 bytes=8 ; 100 Leave MPI_Send ; 120 Leave main
location 1 rank1 rank=1
  0 Enter main ; 10 Enter MPI_Recv @a.c:9 ; 105 MpiRecv from=0 bytes=8 ; 110 Leave MPI_Recv ; 130 Leave main
`, overhead.Options{Profile: &profile})
	o := a.Overhead
	var got []string
	for _, l := range o.Lines {
		got = append(got, fmt.Sprintf("%s %s:%d %d of %d: late %d transfer %d unexplained %d, critical %d", l.Operation, l.File, l.Line,
			l.OverheadNs, l.TotalNs, l.LatePartnerNs, l.TransferNs, l.UnexplainedNs, l.CriticalPathNs))
	}
	for _, p := range o.Pairs {
		got = append(got, fmt.Sprintf("%s:%d > %s:%d %d + %d, %s %v", p.Send.File, p.Send.Line, p.Receive.File, p.Receive.Line,
			p.SendOverheadNs, p.ReceiveOverheadNs, p.Verdict, p.Confirmed))
	}
	for _, k := range o.Keys {
		got = append(got, fmt.Sprintf("%s %d %d from %s %s", k.Operation, k.Bytes, k.TMaxNs, k.Source, k.From))
	}
	want := []string{
		"MPI_Recv a.c:9 82 of 100: late 30 transfer 7 unexplained 45, critical 70",
		"MPI_Send a.c:5 10 of 60: late 0 transfer 0 unexplained 10, critical 0",
		"a.c:5 > a.c:9 10 + 82, late sender true",
		"MPI_Recv 8 18 from profile interpolated",
		"MPI_Send 8 50 from profile interpolated",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- is wanted, + is found:\n%s", diff)
	}
	if o.TotalNs != 160 || o.OverheadNs != 92 || o.Source != "profile" {
		t.Errorf("%d of %d from the %s", o.OverheadNs, o.TotalNs, o.Source)
	}
}

// TestCalibratedByHand: 20 sends of 3 ns, one of 4, one of 300. The steps are 1 ns. The
// 0.7-quantile lies at 15.4/20 = 0.77 of the first class, the 0.4-quantile at 0.44; the cut
// is 0.77 + 0.33/ln 2·ln 30 = 2.4 classes above 3, so the body is 20·3 and 4. It has too
// few classes for a test: t_max is its 0.99-quantile, 4, and the overhead 300 - 4.
func TestCalibratedByHand(t *testing.T) {
	var sends []int64
	for range 20 {
		sends = append(sends, 3)
	}
	_, a := overheadOf(t, sendsText(map[string][]int64{"a.c:5": append(sends, 4, 300)}, []string{"a.c:5"}), overhead.Options{})
	for _, k := range a.Overhead.Keys {
		if k.Operation != "MPI_Send" {
			continue
		}
		if k.TMinNs != 3 || k.TMaxNs != 4 || k.From != "empirical" || k.Accepted || k.OverheadNs != 296 || k.Over != 1 || !k.Few {
			t.Errorf("key is %+v", k)
		}
	}
	if l := a.Overhead.Lines[0]; l.Operation != "MPI_Send" || l.OverheadNs != 296 || l.UnexplainedNs != 296 || l.TotalNs != 20*3+4+300 ||
		l.Slow != 1 {
		t.Errorf("line is %+v", l)
	}
}

// sendsText is a trace in which rank 0 sends messages of 100 bytes, from each line as many
// as it has durations, one in every 100 µs, and rank 1 receives each of them 50 µs later, in
// 1 µs: nobody waits for anybody.
func sendsText(lines map[string][]int64, order []string) string {
	var send, recv strings.Builder
	at := int64(1000)
	for _, line := range order {
		for _, d := range lines[line] {
			fmt.Fprintf(&send, "  %d Enter MPI_Send @%s ; %d MpiSend to=1 bytes=100 ; %d Leave MPI_Send\n", at, line, at+1, at+d)
			r := at + max(50_000, d)
			fmt.Fprintf(&recv, "  %d Enter MPI_Recv @r.c:1 ; %d MpiRecv from=0 bytes=100 ; %d Leave MPI_Recv\n", r, r+999, r+1000)
			at += max(100_000, 2*d)
		}
	}
	return "location 0 rank0 rank=0\n" + send.String() + "location 1 rank1 rank=1\n" + recv.String()
}

// addsUp checks what must hold of the overhead block and of the lines of any trace.
func addsUp(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	if _, err := json.Marshal(a); err != nil { // NaN and infinity are errors
		t.Error(err)
	}
	o := a.Overhead
	var total, overhead, byKey, byRank int64
	for _, l := range o.Lines {
		total += l.TotalNs
		overhead += l.OverheadNs
		if l.LatePartnerNs+l.TransferNs+l.UnexplainedNs != l.OverheadNs || l.OverheadNs > l.TotalNs+1 ||
			min(l.LatePartnerNs, l.TransferNs, l.UnexplainedNs) < 0 {
			t.Errorf("the overhead of a line is not split: %+v", l)
		}
	}
	for _, k := range o.Keys {
		byKey += k.OverheadNs
		if k.TMaxNs < k.TMinNs && k.Source == "trace" {
			t.Errorf("t_max lies below t_min: %+v", k)
		}
	}
	for i := range a.RankOverhead.Len() {
		byRank += a.RankOverhead.At(i).OverheadNs
	}
	if total != o.TotalNs || overhead != o.OverheadNs || byKey != overhead || byRank != overhead {
		t.Errorf("%d of %d; by key %d, by rank %d; the block says %d of %d", overhead, total, byKey, byRank, o.OverheadNs, o.TotalNs)
	}
	if want := communication(tr); total != want {
		t.Errorf("the table sums to %d, communication takes %d", total, want)
	}
	linesAddUp(t, tr, a)
}

// communication returns the time in calls that communicate, in ns.
func communication(tr *trace.Trace) int64 {
	functions := tr.Defs.MPIFunctions()
	var ticks int64
	for _, calls := range tr.Calls {
		for i := range calls.Len() {
			c := calls.At(i)
			if c.Class != trace.ClassInit && c.Class != trace.ClassFinalize && functions[tr.Tree.Region(c.Path)].Class != trace.ClassNone {
				ticks += c.Leave - c.Enter
			}
		}
	}
	return inNs(tr, ticks)
}

// linesAddUp checks the lines against the blocks that they add up.
func linesAddUp(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	var time, sites, wait, states, overhead int64
	for _, c := range a.CallSites {
		sites += c.TimeNs
	}
	for _, l := range a.Lines {
		time += l.TimeNs
		wait += l.WaitNs
		if l.OverheadNs != nil {
			overhead += *l.OverheadNs
		}
	}
	for k, w := range a.WaitStates.All {
		if k.Info().Caused {
			states += w.TimeNs
		}
	}
	if time != sites || overhead != a.Overhead.OverheadNs || abs(wait-states) > slack(tr, len(a.Lines)+8) {
		t.Errorf("lines have %d ns, call sites %d; overhead %d, %d; wait %d, wait states %d", time, sites, overhead, a.Overhead.OverheadNs,
			wait, states)
	}
}

// archives returns the sample archives and, if they are there, the shared traces.
func archives(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "samples", "archives", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no sample archives: ", err)
	}
	return append(paths, tracetest.MoreTraces(t, "otf2/*", "paraver/*/*.prv", "json/*/*.json")...)
}

// TestOverheadAddsUp checks all sample archives and shared traces that can be read.
func TestOverheadAddsUp(t *testing.T) {
	for _, path := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
			if err != nil {
				t.Skip("not a readable trace")
			}
			defer src.Close()
			tr, a := analyzed(t, src, merge.ClockAuto, analysis.Options{Overhead: &overhead.Options{}})
			addsUp(t, tr, a)
			keysAreSound(t, tr, a)
		})
	}
}

// TestOverheadOfPrograms checks generated traces with all kinds of waits, and that neither
// jobs nor memory show.
func TestOverheadOfPrograms(t *testing.T) {
	for _, p := range samples.Programs() {
		src, _ := generated(t, samples.Options{Program: p.Name, Ranks: 5, Threads: 2, Iterations: 20, Seed: 4,
			Plant: samples.Plant{LateSender: 5000, LateReceiver: 700, WrongOrder: 900, Lost: 2}})
		tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{Overhead: &overhead.Options{}})
		addsUp(t, tr, a)
		o := analysis.Options{Jobs: 1, Overhead: &overhead.Options{}}
		want := documentOf(t, src, merge.Options{Jobs: 1}, o)
		o.Jobs = 3
		if got := documentOf(t, src, merge.Options{Jobs: 4, Store: spill.NewStore(1<<20, t.TempDir())}, o); !bytes.Equal(want, got) {
			t.Errorf("%s: jobs and memory show: %s", p.Name, firstDifference(want, got))
		}
	}
}

// TestOverheadOfSelections checks that a part of the run, which clips calls, adds up, and
// that parts have the whole's communication time.
func TestOverheadOfSelections(t *testing.T) {
	src, _ := generated(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 30, Seed: 7, Plant: samples.Plant{LateSender: 4000}})
	tr, whole := analyzed(t, src, merge.ClockNone, analysis.Options{Overhead: &overhead.Options{}})
	var total int64
	for i := range 4 {
		a, err := analysis.Analyze(context.Background(), tr, analysis.Options{Overhead: &overhead.Options{},
			From: scope.Instant{Kind: scope.Fraction, Share: float64(i) / 4}, To: scope.Instant{Kind: scope.Fraction, Share: float64(i+1) / 4}})
		if err != nil {
			t.Fatal(err)
		}
		linesAddUp(t, tr, a)
		total += a.Overhead.TotalNs
	}
	if total != whole.Overhead.TotalNs {
		t.Errorf("the parts communicate for %d, the whole for %d", total, whole.Overhead.TotalNs)
	}
}
