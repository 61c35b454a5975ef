package paraver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/readers/otf2"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// archives returns the OTF2 archives of the samples and of the shared collection, if it is
// here.
func archives(t *testing.T) []string {
	paths, _ := filepath.Glob("../../samples/archives/*")
	if len(paths) == 0 {
		t.Fatal("no samples")
	}
	if !testing.Short() {
		paths = append(paths, tracetest.MoreTraces(t, "otf2/*")...)
	}
	return paths
}

// TestRoundTripOfArchives writes archives of OTF2 as Paraver traces and reads them: events
// and analyses are the same, but for what Lost tells.
func TestRoundTripOfArchives(t *testing.T) {
	for _, path := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := otf2.Open(context.Background(), path, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			out := filepath.Join(t.TempDir(), "trace.prv.gz")
			lost := write(t, src, out, CreateOptions{})
			t.Log("lost:", lost)
			back := openFor(t, out)
			if err := checkSource(back); err != nil {
				t.Fatal(err)
			}
			if f := back.Findings(); len(f) > 0 {
				t.Error("findings:", f)
			}
			if lost["regions that are not left before those around them"] > 0 {
				return // the format cannot say which of several open regions is left
			}
			compareEvents(t, src, back)
			if lost["times rounded to nanoseconds"] == 0 {
				compareAnalyses(t, src, back)
			}
		})
	}
}

// lossy reports whether findings say more than that records are redundant.
func lossy(findings []trace.Finding) bool {
	return slices.ContainsFunc(findings, func(f trace.Finding) bool { return f.Code != trace.CodeRedundantRecord })
}

// TestReconstructedIsKept: a trace that was rebuilt says so after writing, plain or not, and
// no other trace does.
func TestReconstructedIsKept(t *testing.T) {
	for _, want := range []bool{false, true} {
		text := "#Paraver (x):9_ns:0:1:1(1:0)\n"
		if want {
			text += "#TRACEKIT::RECONSTRUCTED:true\n#TRACEKIT::RECONSTRUCTED_FROM:x.tkf: 18 terms\n#TRACEKIT::APPROXIMATE:sizes; " +
				"tags\n#TRACEKIT::REDUCED_BY:short calls\n#TRACEKIT::CUT_SHARE:0.25\n#TRACEKIT::SAMPLE:random 1 of " +
				"2\n#TRACEKIT::CLOCK_CORRECTED:true\n#TRACEKIT::EACH_WORKER:true\n" +
				"#TRACEKIT::REPEATS:aa==\n#TRACEKIT::CUT:bb==\n#TRACEKIT::REGENERATED:cc==\n"
		}
		src := open(t, []byte(text+"2:0:1:1:1:1:50000003:31\n2:0:1:1:1:2:50000003:0\n"), "", Options{})
		for _, plain := range []bool{false, true} {
			out := filepath.Join(t.TempDir(), "trace.prv")
			write(t, src, out, CreateOptions{Plain: plain})
			back := openFor(t, out)
			for _, p := range trace.OriginProperties() {
				if a, b := src.Info().Properties[p], back.Info().Properties[p]; a != b || want == (a == "") {
					t.Errorf("plain %v: %s is %q, was %q", plain, p, b, a)
				}
			}
			if src.Info().Reconstructed() != want || back.Info().Reconstructed() != want || lossy(back.Findings()) {
				t.Errorf("plain %v: read %v, written %v, want %v; findings %v", plain, src.Info().Reconstructed(),
					back.Info().Reconstructed(), want, back.Findings())
			}
			if back.Info().Properties["note 1"] != "" {
				t.Errorf("the mark is a note too: %v", back.Info().Properties)
			}
		}
	}
}

// TestRoundTripOfParaver writes traces of other programs again: the events are the same.
func TestRoundTripOfParaver(t *testing.T) {
	var sources []*Source
	for _, g := range goldens(t) {
		if s, err := g.read(0); err == nil {
			defer s.Close()
			sources = append(sources, s)
		}
	}
	for _, folder := range tracetest.MoreTraces(t, "paraver") {
		for _, r := range realTraces {
			s, err := Open(context.Background(), filepath.Join(folder, r.path), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sources = append(sources, s)
		}
	}
	for i, s := range sources {
		t.Run(fmt.Sprintf("%d %s", i, filepath.Base(s.Info().Path)), func(t *testing.T) {
			for _, plain := range []bool{false, true} {
				out := filepath.Join(t.TempDir(), "trace.prv")
				lost := write(t, s, out, CreateOptions{Plain: plain})
				t.Log("lost:", lost)
				back, err := Open(context.Background(), out, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := checkSource(back); err != nil {
					t.Error(err)
				}
				if !plain && lost["regions that are not left before those around them"] == 0 {
					compareEvents(t, s, back)
				}
				back.Close()
			}
		})
	}
}

// TestEveryLineIsNamed: what has no name gets Paraver's usual one.
func TestEveryLineIsNamed(t *testing.T) {
	m := tracetest.MustParse(t, "location 0 a rank=0\n 1 Enter main ; 2 Leave main\nlocation 1 b rank=0\n 1 Enter main ; 2 Leave main\n")
	d := m.Defs()
	for i := range d.SystemTree {
		d.SystemTree[i].Name = trace.None
	}
	d.LocationGroups[0].Name, d.Locations[1].Name = trace.None, trace.None
	path := filepath.Join(t.TempDir(), "x.prv")
	write(t, m, path, CreateOptions{})
	got := tracetest.ReadFile(t, strings.TrimSuffix(path, "prv")+"row")
	const want = "LEVEL CPU SIZE 2\n1.node 1\n2.node 1\n\nLEVEL NODE SIZE 1\nnode 1\n\n" +
		"LEVEL TASK SIZE 1\nTASK 1.1\n\nLEVEL THREAD SIZE 2\na\nTHREAD 1.1.2\n\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestNoProcesses: a trace without processes is written so that it can be read.
func TestNoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.prv")
	write(t, tracetest.MustParse(t, ""), path, CreateOptions{})
	back := openFor(t, path)
	if n, f := len(back.Defs().Locations), back.Findings(); n > 0 || len(f) > 0 {
		t.Errorf("%d locations, findings %v", n, f)
	}
}

// compareEvents compares the events of a trace with those of the one that was written of
// it.
func compareEvents(t *testing.T, src, back trace.Source) {
	t.Helper()
	d, start := src.Defs(), startOf(t, src)
	place := newObjects(d).place
	for n, l := range order(d) {
		want := eventList(t, src, l, func(ticks int64) int64 { return d.Clock.Nanoseconds(ticks - start) })
		got := eventList(t, back, trace.LocationID(n), func(ns int64) int64 { return ns })
		usual := fmt.Sprintf("THREAD 1.%d.%d", place[l].task, place[l].thread)
		if a, b := strings.TrimSpace(d.String(d.Locations[l].Name)), back.Defs().String(back.Defs().Locations[n].Name); a != b &&
			(a != "" || b != usual) {
			t.Errorf("location %d is called %q, not %q", l, b, a)
		}
		for i := range max(len(want), len(got)) {
			w, g := "", ""
			if i < len(want) {
				w = want[i]
			}
			if i < len(got) {
				g = got[i]
			}
			if w != g {
				t.Errorf("location %d, event %d is %q, want %q", l, i, g, w)
				break
			}
		}
	}
}

// order returns the locations in the order of tasks and threads.
func order(d *trace.Defs) (out []trace.LocationID) {
	for _, task := range newObjects(d).tasks {
		out = append(out, task.threads...)
	}
	return out
}

// startOf returns the tick that is time 0.
func startOf(t *testing.T, src trace.Source) int64 {
	start := src.Defs().Clock.GlobalOffset
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			for _, times := range [][]int64{b.Flow.Time, b.P2P.Time, b.Coll.Time, b.Metric.Time, b.Other.Time} {
				for _, v := range times {
					start = min(start, v)
				}
			}
		}
	}
	return start
}

// eventList tells the events of a location that the format can hold, one text each.
func eventList(t *testing.T, src trace.Source, l trace.LocationID, clock func(int64) int64) (out []string) {
	t.Helper()
	d := src.Defs()
	entered := 0
	for b := range tracetest.Batches(t, src, l) {
		var f, p, c, m, o int
		for _, table := range b.Order {
			switch table {
			case trace.TableFlow:
				if b.Flow.Kind[f].Enters() {
					entered++
				} else if entered--; entered < 0 {
					f++
					entered = 0
					continue // a leave without enter cannot be written
				}
				out = append(out, fmt.Sprint(clock(b.Flow.Time[f]), b.Flow.Kind[f].Enters(), d.RegionName(b.Flow.Region[f]),
					site(d, &b.Flow, f)))
				f++
			case trace.TableP2P:
				r := &b.P2P
				out = append(out, fmt.Sprint(clock(r.Time[p]), r.Kind[p], r.Peer[p], " ", members(d, r.Comm[p]), " ", r.Tag[p], r.Bytes[p],
					r.Request[p]))
				p++
			case trace.TableColl:
				r := &b.Coll
				out = append(out, fmt.Sprint(clock(r.Time[c]), r.Kind[c], r.Op[c], members(d, r.Comm[c]), " ", r.Root[c], r.Sent[c],
					r.Received[c], r.Request[c]))
				c++
			case trace.TableMetric:
				seq := b.Metric.Seq[m]
				for ; m < len(b.Metric.Seq) && b.Metric.Seq[m] == seq; m++ {
					out = append(out, fmt.Sprint(clock(b.Metric.Time[m]), "metric", b.Metric.Value[m]))
				}
			default:
				k, args := b.Other.Kind[o], b.Other.Args[b.Other.Offset[o]:b.Other.Offset[o+1]]
				if k == trace.KindProgramBegin || k == trace.KindProgramEnd {
					args = nil // see Lost
				}
				text := fmt.Sprint(args)
				if k == trace.KindInstant {
					text = d.String(trace.StringID(args[0]))
				}
				out = append(out, fmt.Sprint(clock(b.Other.Time[o]), k, text))
				o++
			}
		}
	}
	return out
}

// site tells the call site of an enter.
func site(d *trace.Defs, f *trace.Flow, i int) string {
	if i >= len(f.Context) || !f.Kind[i].Enters() || int(f.Context[i]) >= len(d.CallingContexts) {
		return ""
	}
	c := d.CallingContexts[f.Context[i]]
	if int(c.Site) >= len(d.SourceLocations) {
		return ""
	}
	s := d.SourceLocations[c.Site]
	return fmt.Sprint(" at ", d.String(s.File), ":", s.Line)
}

// members tells the members of a communicator.
func members(d *trace.Defs, c trace.CommID) string {
	if int(c) >= len(d.Comms) || int(d.Comms[c].Group) >= len(d.Groups) {
		return "none"
	}
	g := d.Groups[d.Comms[c].Group]
	if g.Kind == trace.GroupCommSelf || len(g.Members) == 1 {
		return "self"
	}
	return fmt.Sprint(g.Members)
}

// compareAnalyses compares what the analysis says of both traces. Identifiers and the
// description of the file are not part of it.
func compareAnalyses(t *testing.T, src, back trace.Source) {
	t.Helper()
	want, got := analysisOf(t, src), analysisOf(t, back)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the analysis differs:\n%.4000s", diff)
	}
}

func analysisOf(t *testing.T, src trace.Source) map[string]any {
	t.Helper()
	m, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	if err := tracetest.CheckTrace(m); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	doc := make(map[string]any)
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"trace", "coverage", "findings"} {
		delete(doc, key)
	}
	if profile, ok := doc["profile"].([]any); ok {
		for _, row := range profile {
			if row := row.(map[string]any); row["paradigm"] == "mpi" {
				delete(row, "file") // see Lost
			}
		}
	}
	return doc
}

// TestNothingIsLeftBehind checks what is there after refusals and Discard.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	m := tracetest.MustParse(t, "location 0 a rank=0\n 1 Enter main ; 2 Leave main\n")
	if _, err := Create(filepath.Join(dir, "x.txt"), m.Info(), m.Defs(), CreateOptions{}); err == nil {
		t.Error("a name that does not end in .prv is accepted")
	}
	path := filepath.Join(dir, "x.prv")
	w, err := Create(path, m.Info(), m.Defs(), CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(m.Batches[0][0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Error("after Discard there is", list)
	}
	write(t, m, path, CreateOptions{})
	if list, _ := os.ReadDir(dir); len(list) != 3 {
		t.Error("the trace consists of", list)
	}
	if _, err := Create(path, m.Info(), m.Defs(), CreateOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Error("an existing trace:", err)
	}
	first, _ := os.ReadFile(path)
	write(t, m, path, CreateOptions{Force: true})
	if second, _ := os.ReadFile(path); string(first) != string(second) {
		t.Error("the same trace is written in two ways")
	}
}

// TestDamagedLabels: a label of an event type of ours that is damaged is a finding, as what the type tells is not used.
func TestDamagedLabels(t *testing.T) {
	src, err := otf2.Open(t.Context(), "../../samples/archives/torus-6", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "x.prv")
	write(t, src, path, CreateOptions{})
	labels := strings.TrimSuffix(path, "prv") + "pcf"
	sound := string(tracetest.ReadFile(t, labels))
	for _, label := range []string{"tracekit: zero of the clock", "tracekit: bytes\n", "tracekit: tag"} {
		if !strings.Contains(sound, label) {
			t.Fatalf("%q is not written", label)
		}
		tracetest.WriteFile(t, labels, strings.Replace(sound, label, "x"+label, 1))
		if found := openFor(t, path).Findings(); !slices.ContainsFunc(found,
			func(f trace.Finding) bool { return f.Code == trace.CodeBadDefinition }) {
			t.Errorf("%q: %v", label, found)
		}
	}
}

// TestLabelsOfAnotherType: a list that names a value twice has a line of another list, and so its finding. A type that is described again
// may name its values again.
func TestLabelsOfAnotherType(t *testing.T) {
	const phases = "EVENT_TYPE\n0 7000 Phase\nVALUES\n0 End\n1 read\n"
	for text, bad := range map[string]int{
		phases + "2 solve\n": 0, phases + "\n" + phases: 0, phases + phases + phases: 0, // again, whole
		phases + "0 End\n": 1, phases + "1 solve\n": 1, phases + phases + "1 write\n": 1,
	} {
		p, err := readPCF(strings.NewReader(text))
		if err != nil || p.lines.bad != bad {
			t.Errorf("%q: %d lines are refused, want %d (%v)", text, p.lines.bad, bad, err)
		}
	}
}

// TestDamagedFields: an event of ours that lacks one of its values is a finding and no event with a zero.
func TestDamagedFields(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank0 rank=0
  10 Enter MPI_Send ; 11 MpiSend to=1 tag=7 bytes=8 ; 12 Leave MPI_Send
  20 Enter MPI_Bcast ; 20 MpiCollectiveBegin ; 30 MpiCollectiveEnd Bcast comm=WORLD root=1 sent=0 received=4 ; 30 Leave MPI_Bcast
  40 ThreadFork 3 2
location 1 rank1 rank=1
  10 Enter MPI_Recv ; 13 MpiRecv from=0 tag=7 bytes=8 ; 14 Leave MPI_Recv
  20 Enter MPI_Bcast ; 20 MpiCollectiveBegin ; 30 MpiCollectiveEnd Bcast comm=WORLD root=1 sent=4 received=0 ; 30 Leave MPI_Bcast
`)
	path := filepath.Join(t.TempDir(), "x.prv")
	write(t, src, path, CreateOptions{})
	sound := string(tracetest.ReadFile(t, path))
	for _, field := range []uint32{ownPeer, ownComm, ownTag, ownBytes, ownRequest, ownOp, ownRoot, ownSent, ownReceived, ownArguments,
		ownArgument} {
		pair := fmt.Sprintf(":%d:", field)
		if !strings.Contains(sound, pair) {
			t.Fatalf("%d is not written", field)
		}
		tracetest.WriteFile(t, path, strings.Replace(sound, pair, ":0:", 1))
		if found := openFor(t, path).Findings(); !slices.ContainsFunc(found,
			func(f trace.Finding) bool { return f.Code == trace.CodeUnusedRecord }) {
			t.Errorf("%d: %v", field, found)
		}
	}
}
