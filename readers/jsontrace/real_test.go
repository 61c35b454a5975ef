package jsontrace_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers/jsontrace"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// expected are the findings that remain in the real traces, and why they are right.
var expected = map[string][]string{
	// E of "a" twice and b's that are never ended are what these files are made to test.
	"async_begin_end.json":   {"unsorted", "unmatched_leave", "open_region"},
	"nestable_async.json":    {"unsorted", "unmatched_leave", "open_region"},
	"simple_trace.json":      {"unsorted", "unmatched_leave", "open_region", "overlap"},
	"simple_trace_gz.gz":     {"unsorted", "unmatched_leave", "open_region", "overlap"},
	"flow.json":              {"dangling_flow"}, // recording began and ended in the middle of tasks
	"flow_simple.json":       {"unsorted"},
	"instance_counters.json": {"unsorted"}, // counters stand behind the slices
	"instant_events.json":    {"unsorted"},
	// N and D, objects, have no counterpart; X of page loads overlap those of tasks.
	"x_event_trace.json": {"unsorted", "unknown_record", "overlap"},
	// PyTorch writes operators, then runtime calls, then kernels; flows of launches before
	// the recording, or without a kernel, have one end.
	"worker":                                 {"unsorted", "dangling_flow"},
	"gpu-metrics.json":                       {"unsorted"},
	"resnet50-worker0.pt.trace.json.gz":      {"unsorted"},
	"vllm.json.gz":                           {"unsorted", "dangling_flow", "overlap"},
	"memcpy-host-device.rocprofiler.json.gz": {"unsorted"},
	// Calls that launch nothing, and the kernels of a graph, have the end of a flow only.
	// Waiting for a stream stands on the stream's own line, and begins while a copy runs.
	"alexnet.json.gz":          {"unsorted", "dangling_flow", "overlap"},
	"event_sync_trace.json.gz": {"unsorted", "dangling_flow"},
	// The call that begins an annotation ends within it; those of GPUs overlap by a
	// nanosecond, which is rounding.
	"h100_gaunernst_bert-small-uncased__1016001.json.gz": {"unsorted", "dangling_flow", "overlap"},
	"Falconsai_nsfw_image_detection__1016002.json.gz":    {"unsorted", "dangling_flow", "overlap"},
	"sglang_capture_bs_32.json.gz":                       {"unsorted", "dangling_flow", "overlap"},
	"rank0.pt.trace.json.gz":                             {"overlap"},
	"rank1.pt.trace.json.gz":                             {"overlap"},
	"resnet_act_checkpoint.json.gz":                      {"unsorted", "dangling_flow", "overlap"},
	"sglang_decode_sglang_Qwen3-8B_decode.json.gz":       {"unsorted", "dangling_flow", "overlap"},
	// Calls are written when they have ended: the outer ones after the inner.
	"d0.pfw.gz": {"unsorted"},
	"d2.pfw.gz": {"unsorted"},
	// The profiler writes 0 for ends that it has not seen when it stops, and for begins; it
	// ends this file with collectives whose lines are cut short, without ph.
	"block0.json":                     {"unsorted", "bad_value"},
	"nccl_p2p_4gpu_invalid_json.json": {"unsorted", "bad_value", "unknown_record"},
}

// Every real trace is read, with as many events of each phase as an independent count
// finds, calls and counters as many as these make, and no finding but the expected ones.
func TestRealTraces(t *testing.T) {
	for _, path := range jsontrace.RealTraces(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := open(t, path)
			if err := s.Defs().Check(); err != nil {
				t.Error(err)
			}
			phases, arguments := countPhases(t, path)
			if got, want := s.Info().Properties["phases"], summary(phases); got != want {
				t.Errorf("phases %s, want %s", got, want)
			}
			checkEvents(t, s, phases)
			checkFindings(t, s, filepath.Base(path), arguments)
		})
	}
}

// checkEvents compares the events with what the phases make.
func checkEvents(t *testing.T, s *jsontrace.Source, phases map[byte]int) {
	n := make(map[trace.Kind]int)
	findings := make(map[trace.Code]int)
	for _, f := range s.Findings() {
		findings[f.Code] = int(f.Count)
	}
	for l, def := range s.Defs().Locations {
		var events uint64
		last := int64(-1 << 63)
		for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
			events += uint64(b.Len())
			for _, k := range b.Flow.Kind {
				n[k]++
			}
			for _, k := range b.Other.Kind {
				n[k]++
			}
			for i, seq := range b.Metric.Seq {
				if i == 0 || seq != b.Metric.Seq[i-1] {
					n[trace.KindMetric]++
				}
			}
			for _, time := range b.Flow.Time {
				if time < last {
					t.Fatal("times decrease")
				}
				last = time
			}
		}
		if events != def.Events {
			t.Errorf("location %d has %d events, the definitions say %d", l, events, def.Events)
		}
	}
	p := func(list string) (sum int) {
		for _, c := range []byte(list) {
			sum += phases[c]
		}
		return sum
	}
	if got, want := n[trace.KindEnter], p("XBbS"); got != want {
		t.Errorf("%d calls, want %d", got, want)
	}
	if got, want := n[trace.KindInstant], p("iIRPnTpstf"); got != want {
		t.Errorf("%d moments, want %d", got, want)
	}
	if got, want := n[trace.KindMetric], p("C"); got != want {
		t.Errorf("%d counter values, want %d", got, want)
	}
	if got, want := findings[trace.CodeUnknownRecord], p("NOD\x00"); got != want {
		t.Errorf("%d unknown records, want %d", got, want)
	}
}

// checkFindings accepts what is expected, and that as many events as are given have
// arguments (-1: not known), which the tables have no place for.
func checkFindings(t *testing.T, s *jsontrace.Source, name string, arguments int) {
	want := expected[name]
	if strings.HasPrefix(name, "worker") {
		want = expected["worker"]
	}
	leftOut := 0
	for _, f := range s.Findings() {
		if f.Code == trace.CodeArgumentsLeftOut {
			leftOut = int(f.Count)
		} else if !slices.Contains(want, string(f.Code)) {
			t.Errorf("unexplained finding: %+v", f)
		}
	}
	if arguments >= 0 && leftOut != arguments {
		t.Errorf("the arguments of %d events are left out, want %d", leftOut, arguments)
	}
}

// countPhases counts the phases of all events (0: none), and the slices and moments with
// arguments, by means that have nothing in common with the reader: encoding/json for the
// whole, for each line where the file has lines, and a regular expression for what is no
// JSON, which does not see arguments (-1).
func countPhases(t *testing.T, path string) (n map[byte]int, arguments int) {
	text := textOfFile(t, path)
	n = make(map[byte]int)
	type item struct {
		Name any            `json:"name"`
		Ph   string         `json:"ph"`
		Args map[string]any `json:"args"`
	}
	var list []item
	var object struct{ TraceEvents []item }
	switch {
	case json.Unmarshal(text, &list) == nil:
	case json.Unmarshal(text, &object) == nil:
		list = object.TraceEvents
	case strings.Contains(path, "pfw"):
		for line := range strings.Lines(string(text)) {
			var one item
			if json.Unmarshal([]byte(line), &one) == nil {
				list = append(list, one)
			}
		}
	default:
		for _, m := range regexp.MustCompile(`(?m)^\{"name"(?:.*?"ph": "(.)")?`).FindAllSubmatch(text, -1) {
			list = append(list, item{Name: "", Ph: string(m[1])})
		}
		arguments = -1
	}
	for _, i := range list {
		switch {
		case i.Ph == "" && i.Name != nil:
			n[0]++
		case i.Ph != "":
			n[i.Ph[0]]++
			if arguments >= 0 && len(i.Args) > 0 && !strings.Contains("MCstf", i.Ph) {
				arguments++
			}
		}
	}
	if len(n) == 0 {
		t.Fatal("the independent count found nothing")
	}
	return n, arguments
}

func textOfFile(t testing.TB, path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func summary(n map[byte]int) string {
	var list []string
	for p := 1; p < 256; p++ {
		if n[byte(p)] > 0 {
			list = append(list, fmt.Sprintf("%c %d", p, n[byte(p)]))
		}
	}
	return strings.Join(list, ", ")
}

// The eight ranks of a training step: each kernel of NCCL is a collective of all ranks,
// whose members end within microseconds of each other.
func TestTrainingOfEightRanks(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(tracetest.Shared(t, "json"), "dlrm-8rank", "*.gz"))
	s := open(t, paths...)
	d := s.Defs()
	if n := len(d.World()); n != 8 {
		t.Fatalf("%d ranks, want 8", n)
	}
	ranks := d.Ranks()
	var begins, ends [8][]int64
	var ops [8][]trace.CollectiveOp
	for l := range d.Locations {
		for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
			for i, k := range b.Coll.Kind {
				r := ranks[l]
				if k == trace.KindCollectiveBegin {
					begins[r] = append(begins[r], b.Coll.Time[i])
					continue
				}
				ends[r] = append(ends[r], b.Coll.Time[i])
				ops[r] = append(ops[r], b.Coll.Op[i])
			}
		}
	}
	for r := range ends {
		if len(ends[r]) != 8 || !slices.Equal(ops[r], ops[0]) {
			t.Fatalf("rank %d has collectives %v, rank 0 %v", r, ops[r], ops[0])
		}
	}
	// Counted from the files by other means.
	arrivals := []struct {
		apart  int64
		latest int
	}{{2000, 7}, {2000, 7}, {1000, 7}, {2000, 7}, {5000, 7}, {3000, 5}, {5000, 5}, {7000, 4}}
	for i := range ends[0] {
		first, last, latest := ends[0][i], ends[0][i], 0
		for r := range ends {
			first, last = min(first, ends[r][i]), max(last, ends[r][i])
			if begins[r][i] > begins[latest][i] {
				latest = r
			}
		}
		want := arrivals[i]
		if last-first != want.apart || latest != want.latest {
			t.Errorf("collective %d: the ends are %d ns apart, rank %d arrives last; want %+v", i, last-first, latest, want)
		}
	}
}

// The files of a run under dftracer say which rank they are, and name files and host.
func TestRanksOfDftracer(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(tracetest.Shared(t, "json"), "cm1-48rank-dftracer", "*.gz"))
	s := open(t, paths...)
	if n := len(s.Defs().World()); n != 8 {
		t.Errorf("%d ranks, want 8", n)
	}
	if s.Info().Machine != "corona173" {
		t.Errorf("machine %q", s.Info().Machine)
	}
	named := 0
	for b := range tracetest.Batches(t, s, 0) {
		for i, id := range b.Attrs.Attribute {
			if d := s.Defs(); d.String(d.Attributes[id].Name) == "file" &&
				strings.Contains(d.String(trace.StringID(b.Attrs.Value[i])), "/") {
				named++
			}
		}
	}
	if named == 0 {
		t.Error("no call has a file")
	}
}

// TestGloo states what two processes communicate by gloo: 22 collectives and 4 messages each, which all match.
func TestGloo(t *testing.T) {
	dir := tracetest.Shared(t, "json/gloo")
	s, err := jsontrace.Open(t.Context(), []string{filepath.Join(dir, "rank0.pt.trace.json.gz"),
		filepath.Join(dir, "rank1.pt.trace.json.gz")}, jsontrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tr, err := merge.Merge(t.Context(), s, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	if n := tr.Collectives.Len(); n != 22 {
		t.Errorf("%d collectives, want 22", n)
	}
	sends, recvs := 0, 0
	for l := range tr.Sends {
		for _, rows := range tr.Recvs[l].Rows {
			for i := range rows {
				if recvs++; rows[i].State != trace.Matched || rows[i].Tag != 3 || rows[i].Bytes != 4000 {
					t.Errorf("a message that is not one of 4,000 bytes with tag 3, or without its sender: %+v", rows[i])
				}
			}
		}
		sends += tr.Sends[l].Len()
	}
	if sends != 4 || recvs != 4 {
		t.Errorf("%d sends and %d receives, want 4 each", sends, recvs)
	}
}
