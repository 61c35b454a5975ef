package paraver

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tracekit/merge"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// A sample is a trace with its labels.
type sample struct{ prv, pcf, row []byte }

// goldens returns the traces of testdata.
func goldens(t testing.TB) (out []sample) {
	t.Helper()
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s sample
		for _, f := range a.Files {
			switch f.Name {
			case "trace.prv":
				s.prv = f.Data
			case "trace.pcf":
				s.pcf = f.Data
			case "trace.row":
				s.row = f.Data
			}
		}
		out = append(out, s)
	}
	return out
}

// read reads a sample in blocks of that size, with as many workers as is usual.
func (s sample) read(block int) (*Source, error) { return s.readWith(block, 0) }

// readWith is read with a number of workers.
func (s sample) readWith(block, workers int) (*Source, error) {
	all := texts{Trace: bytes.NewReader(s.prv), Labels: bytes.NewReader(s.pcf), Names: bytes.NewReader(s.row)}
	return readTexts(context.Background(), "trace.prv", all, Options{block: block, Jobs: workers})
}

// check reads a sample and everything in it, and merges it; it returns the description.
func (s sample) check(t testing.TB, block int) string {
	t.Helper()
	src, err := s.read(block)
	if err != nil {
		return "error: " + err.Error()
	}
	defer src.Close()
	if err := checkSource(src); err != nil {
		t.Error(err)
	}
	m, err := merge.Merge(context.Background(), src, merge.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Store.Close()
	if err := tracetest.CheckTrace(m); err != nil {
		t.Error(err)
	}
	return describe(src)
}

// rewrite writes what is read of a sample, and reads that.
func (s sample) rewrite(t testing.TB, path string) {
	t.Helper()
	src, err := s.read(0)
	if err != nil {
		return
	}
	defer src.Close()
	write(t, src, path, CreateOptions{})
	back, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if err := checkSource(back); err != nil {
		t.Error(err)
	}
}

// FuzzRead: whatever the input, nothing panics, promises hold, and the result does not
// depend on how the input is cut into blocks.
func FuzzRead(f *testing.F) {
	for _, s := range goldens(f) {
		f.Add(s.prv, s.pcf)
	}
	f.Fuzz(func(t *testing.T, prv, pcf []byte) {
		s := sample{prv: prv, pcf: pcf}
		if h, err := parseHeader(string(bytes.SplitN(prv, []byte{'\n'}, 2)[0])); err == nil && h.threads() > 1000 {
			return // only slow
		}
		whole, cut := s.check(t, blockBytes), s.check(t, 64)
		s.alike(t, 64, 3)
		if whole != cut {
			t.Errorf("in one piece:\n%s\nin many:\n%s", whole, cut)
		}
	})
}

// FuzzHeader: a header that is understood has the number of threads that it announces.
func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		f.Add(h.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := parseHeader(line)
		if err == nil && (h.threads() > maxThreads || h.resolution == 0 || h.end < 0) {
			t.Errorf("%+v", h)
		}
	})
}

var headers = []struct {
	line string
	want string // end resolution cpus tasks comms, or the error
}{
	{"#Paraver (01/02/2026 at 03:04):100_ns:1(2):1:2(1:1,1:1),3", "100 1000000000 [2] [[{1 1} {1 1}]] 3"},
	{"#Paraver (26/01/04 at 16:35):260199:4:1:4(1:1,1:2,1:3,1:4),8", "260199 1000000 [1 1 1 1] [[{1 1} {1 2} {1 3} {1 4}]] 8"},
	{"#Paraver (x):7_ms:0:1:1(2:0)", "7 1000 [] [[{2 0}]] 0"},
	{"#Paraver (x):7_us:0:1:1(2:0)\r\n", "7 1000000 [] [[{2 0}]] 0"},
	{"#Paraver (x):7_fortnights:0:1:1(2:0)", "7 1000000 [] [[{2 0}]] 0"},
	{"#Paraver (x):7.9_ns:0:1:1(2:0)", "7 1000000000 [] [[{2 0}]] 0"},
	{"#Paraver (x):9_ns:2(3,4):2:1(1:1),2(1:1,5:2),1", "9 1000000000 [3 4] [[{1 1}] [{1 1} {5 2}]] 1"},
	{"#Paraver (x):9_ns:2(3,4):2:1(1:1):2(1:1,5:2)", "9 1000000000 [3 4] [[{1 1}] [{1 1} {5 2}]] 0"},
	{"#Paraver (x):9_ns:2(3,4):1:1(999999999:1)", "error: " + errThreads.Error()},
	{"#Paraver (x):9_ns:2(3,4):999999999:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:999999999:1:1(1:1)", "9 1000000000 [] [[{1 1}]] 0"},
	{"#Paraver (x):-9_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):1e300_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):nan_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):inf_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9223372036854775807_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):_ns:1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1():1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1(2):1:2(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1(2):2:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1(2):1:1(1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1(2):1:1(1:1),", "9 1000000000 [2] [[{1 1}]] 0"},
	{"#Paraver (x):9_ns:1(2):1:1(1:1),c", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1(2):0:", "9 1000000000 [2] [] 0"},
	{"#Paraver (x):9_ns:1(2):1:0(),2", "9 1000000000 [2] [[]] 2"},
	{"#Paraver (x):9_ns:1(1:1:1(1:1)", "error: " + errHeader.Error()},
	{"#Paraver (x):9_ns:1:1:1(1:1", "error: " + errHeader.Error()},
	{"#Paraver x:9_ns", "error: " + errHeader.Error()},
	{"", "error: " + errHeader.Error()},
}

func TestHeaders(t *testing.T) {
	for _, c := range headers {
		h, err := parseHeader(c.line)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = fmt.Sprintf("%d %d %v %v %d", h.end, h.resolution, h.cpus, h.appls, h.comms)
		}
		if got != c.want {
			t.Errorf("%q is %s, want %s", c.line, got, c.want)
		}
	}
}

// TestLabels: functions and lines are found in the labels of several versions of Extrae.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ label, name, file string }{
		{"division (qsort.c)", "division", "qsort.c"},
		{"main [ring.c:31]", "main", "ring.c:31"},
		{"Domain::..ndexSets [Domain::CreateRegionIndexSets]", "Domain::CreateRegionIndexSets", ""},
		{"operator()(int)", "operator()(int)", ""},
		{"f(int) []", "f(int)", ""},
		{"plain", "plain", ""},
		{"", "", ""},
	} {
		if name, file := functionLabel(c.label); name != c.name || file != c.file {
			t.Errorf("function %q is %q in %q", c.label, name, file)
		}
	}
	for _, c := range []struct {
		label string
		want  sourceLine
	}{
		{"zoo.c:13 [/src/zoo.c:13, /src/zoo]", sourceLine{"/src/zoo.c", 13}},
		{"12 (file.c, exe)", sourceLine{"file.c", 12}},
		{"a b.c:7", sourceLine{"a b.c", 7}},
		{"??:0 [??:0, ??]", sourceLine{}},
		{"0 (Unresolved)", sourceLine{}},
		{"0 (., libc-2.28.so)", sourceLine{}},
		{"", sourceLine{}},
	} {
		if got, ok := lineLabel(c.label); got != c.want || ok != (c.want != sourceLine{}) {
			t.Errorf("line %q is %v", c.label, got)
		}
	}
}

// TestTruncation cuts traces at many places: what is before the cut is read, and a cut
// within a line is noticed.
func TestTruncation(t *testing.T) {
	text := ring(60 << 10)
	for _, part := range mutate.Cuts(text, 201) {
		n := len(part)
		s, err := sample{prv: part, pcf: []byte(ringLabels)}.read(blockBytes)
		if err != nil {
			if n > bytes.IndexByte(text, '\n') {
				t.Fatal(n, err)
			}
			continue
		}
		if err := checkSource(s); err != nil {
			t.Fatal(n, err)
		}
		cut := part[n-1] != '\n'
		if got := hasCode(s, trace.CodeTruncated); got != cut {
			t.Errorf("cut at %d of %d: truncation noticed: %v", n, len(text), got)
		}
		end := bytes.LastIndexByte(part, '\n') + 1
		want := fmt.Sprintf("event %d,", bytes.Count(text[:end], []byte("\n2:")))
		if got := s.Info().Properties["lines"]; end > 1000 && !strings.Contains(got, want) {
			t.Errorf("before the cut at %d: %s, want %s", n, got, want)
		}
		s.Close()
	}
}

func hasCode(s *Source, code trace.Code) bool {
	for _, f := range s.Findings() {
		if f.Code == code {
			return true
		}
	}
	return false
}

// TestCorruption changes bytes at random: promises hold all the same.
func TestCorruption(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := goldens(t)
	for i := range 200 {
		s := samples[i%len(samples)]
		s.prv = mutate.Bytes(5, "0123456789:-\n#x").Apply(rng, s.prv)
		if h, err := parseHeader(string(bytes.SplitN(s.prv, []byte{'\n'}, 2)[0])); err == nil && h.threads() > 1000 {
			continue
		}
		if a, b := s.check(t, blockBytes), s.check(t, 100); a != b {
			t.Errorf("corruption %d depends on the blocks", i)
		}
		s.rewrite(t, filepath.Join(t.TempDir(), "copy.prv"))
	}
}

// alike checks that a sample is the same whether workers decode its blocks or not.
func (s sample) alike(t testing.TB, block, workers int) {
	t.Helper()
	want, err := s.readWith(maxLine, 1)
	if err != nil {
		return
	}
	defer want.Close()
	got, err := s.readWith(block, workers)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if a, b := describe(want), describe(got); a != b {
		t.Errorf("%d workers, blocks of %d bytes: %s", workers, block, cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
	}
	if diff := cmp.Diff(want.Info(), got.Info()); diff != "" {
		t.Error(diff)
	}
}

// TestWorkers: the number of workers and the size of blocks change nothing: neither events
// nor definitions, nor the places of findings.
func TestWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	samples := append(goldens(t), sample{prv: ring(200 << 10), pcf: []byte(ringLabels)}, sample{prv: awkward()})
	for i, s := range samples {
		for _, block := range []int{1, 50, 300, 4000} {
			for _, workers := range []int{1, 2, 5} {
				s.alike(t, block, workers)
			}
		}
		lines := bytes.SplitAfter(s.prv, []byte{'\n'}) // out of order, with defects
		rest := lines[1:]
		for range 1 + len(rest)/20 {
			a, b := rng.IntN(len(rest)), rng.IntN(len(rest))
			rest[a], rest[b] = rest[b], append([]byte("2:"), rest[a]...)
		}
		s.prv = bytes.Join(lines, nil)
		for range 3 {
			s.alike(t, 20+rng.IntN(3000), 3)
		}
		if t.Failed() {
			t.Fatal("sample ", i)
		}
	}
}

// awkward returns a trace in which much of what lines say depends on those before: calls of
// which several lines of one time speak, flushes, roots that change, states and calls of the
// same threads, communicators and metadata between the records, and new event types all the
// way.
func awkward() []byte {
	var b bytes.Buffer
	b.WriteString("#Paraver (x):99999_ns:1(3):1:3(1:1,1:1,1:1),1\nc:1:1:3:1:2:3\n")
	for i := range 300 {
		t := i * 100
		for task := 1; task <= 3; task++ {
			who := fmt.Sprintf("%d:1:%d:1", task, task)
			fmt.Fprintf(&b, "1:%s:%d:%d:%d\n", who, t, t+50, i/40)
			fmt.Fprintf(&b, "2:%s:%d:50000002:%d\n2:%s:%d:50100004:%d\n", who, t, 7+2*(i%2), who, t, 1+i/100)
			if task == 1+i/10%3 {
				fmt.Fprintf(&b, "2:%s:%d:50100003:1\n", who, t)
			}
			fmt.Fprintf(&b, "2:%s:%d:42000050:%d\n4:%s:%d:1:8:0:7:1\n", who, t, i, who, t)
			fmt.Fprintf(&b, "2:%s:%d:50000002:0\n2:%s:%d:%d:%d\n", who, t+50, who, t+60, 1000+i/7, i)
			if i%5 == task {
				fmt.Fprintf(&b, "2:%s:%d:40000003:%d\n", who, t+70, i/5%2)
			}
		}
		switch i {
		case 99:
			b.WriteString("c:1:2:3:3:2:1\n#between\n")
		case 199:
			b.WriteString("c:1:3:2:1:2\n\nnonsense\n")
		}
	}
	return b.Bytes()
}

// TestGzip: compressed traces are recognised by content; a cut one is read up to the cut.
func TestGzip(t *testing.T) {
	text := ring(300 << 10)
	packed := bytes.NewBuffer(tracetest.Gzip(text))
	if !IsTrace(packed.Bytes()[:4096]) || !IsTrace(text[:100]) || IsTrace([]byte("#Para")) || IsTrace(nil) {
		t.Error("recognition")
	}
	plain, zipped := sample{prv: text}.check(t, 0), sample{prv: packed.Bytes()}.check(t, 0)
	if plain != zipped {
		t.Error("the compressed trace differs")
	}
	sample{prv: packed.Bytes()}.alike(t, 5000, 3)
	s, err := sample{prv: packed.Bytes()[:packed.Len()/2]}.read(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := deliver(t, s); n == 0 || !hasCode(s, trace.CodeTruncated) {
		t.Errorf("%d events of a cut file, findings %v", n, s.Findings())
	}
}

// TestLineEnds: the line ends of other systems make no difference.
func TestLineEnds(t *testing.T) {
	for i, s := range goldens(t) {
		want := withoutFindings(s.check(t, 0))
		for _, part := range []*[]byte{&s.prv, &s.pcf, &s.row} {
			*part = bytes.ReplaceAll(*part, []byte("\n"), []byte("\r\n"))
		}
		if got := withoutFindings(s.check(t, 0)); got != want {
			t.Errorf("golden %d is\n%s\nwant\n%s", i, got, want)
		}
	}
}

// withoutFindings leaves out what names places in the file.
func withoutFindings(description string) string {
	text, _, _ := strings.Cut(description, "\n# ")
	return text
}

// TestLongLine: a line that is longer than the limit is left out.
func TestLongLine(t *testing.T) {
	text := []byte("#Paraver (x):9_ns:0:1:1(1:0)\n2:0:1:1:1:1:50000003:19\n2:0:1:1:1:2")
	text = append(text, bytes.Repeat([]byte(":1:1"), maxLine/3)...)
	text = append(text, "\n2:0:1:1:1:3:50000003:0\n"...)
	long := sample{prv: text}
	long.alike(t, 1000, 3)
	long.alike(t, 4<<20, 2)
	s, err := long.read(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := deliver(t, s); n != 2 || !hasCode(s, trace.CodeBadValue) {
		t.Errorf("%d events, findings %v", n, s.Findings())
	}
}

// TestMemoryIsBounded reads a trace that is much larger than the memory for it.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 200 MB")
	}
	path := filepath.Join(t.TempDir(), "large.prv")
	tracetest.WriteFile(t, path, ring(200<<20))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	store := spill.NewStore(8<<20, t.TempDir())
	defer store.Close()
	s, err := Open(context.Background(), path, Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 24<<20 {
		t.Errorf("%d MB are held", used>>20)
	}
	if store.Spilled() == 0 {
		t.Error("nothing was spilled")
	}
	deliver(t, s)
}
