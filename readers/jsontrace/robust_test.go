package jsontrace

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// readText reads a text through a window of that size and renders what comes out.
func readText(t testing.TB, data []byte, window int) string {
	t.Helper()
	s, err := readData(t, data, window)
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	return render(t, s)
}

// readData reads a text through a window of that size. It fails if anything breaks what a
// source promises; the error is that the text is no trace.
func readData(t testing.TB, data []byte, window int) (*Source, error) {
	t.Helper()
	return readFile(t, data, 1, func(f *file) { f.window = window })
}

// readFile is readData with several goroutines and what set changes.
func readFile(t testing.TB, data []byte, jobs int, set func(*file)) (*Source, error) {
	t.Helper()
	s := newSource([]string{"x"}, Options{Jobs: jobs})
	set(s.files[0])
	s, err := s.complete(context.Background(), s.files[0].read(context.Background(), bytes.NewReader(data)))
	if err != nil {
		if !errors.Is(err, trace.ErrNotATrace) {
			t.Fatalf("an error that is not the file's: %v", err)
		}
		return nil, err
	}
	tracetest.CheckSource(t, s, s.files[0].own == nil)
	return s, nil
}

func render(t testing.TB, s *Source) string {
	return tracetest.MustFormat(t, s) + fmt.Sprint(s.Findings())
}

func tryRead(t testing.TB, data []byte) {
	t.Helper()
	if s, err := readData(t, data, 4<<10); err == nil {
		s.Close()
	}
}

// FuzzRead: whatever the text, nothing panics, every promise holds, and the result does
// not depend on how the text is cut into windows and blocks.
func FuzzRead(f *testing.F) {
	for _, text := range goldenInputs(f) {
		f.Add(text)
	}
	f.Add(ownText(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		a, b := readText(t, data, windowBytes), readText(t, data, 64)
		if a != b {
			t.Errorf("another window, another trace:\n%s\n\n%s", a, b)
		}
		if c := readAhead(t, data, 64, 64); a != c {
			t.Errorf("parsed ahead, another trace:\n%s\n\n%s", a, c)
		}
	})
}

// FuzzDecimal: the fast path for numbers agrees with the slow one.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "-1.5", "1704161511420306.491", "1e3", "9223372036854775807", "0.0005", "-.5", "1.",
		"123456789012345678.9999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		for _, digits := range []int{nanoDigits, picoDigits} {
			v, ok := plainDecimal(s, digits)
			w, ok2, exact := slowDecimal(s, digits)
			if ok && (!ok2 || !exact || v != w) {
				t.Errorf("%q: %d, and slowly %d %v %v", s, v, w, ok2, exact)
			}
		}
	})
}

func goldenInputs(t testing.TB) [][]byte {
	paths, _ := filepath.Glob("testdata/goldens/*.txtar")
	var out [][]byte
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if f.Name != "want" {
				out = append(out, f.Data)
			}
		}
	}
	return out
}

// ownText returns a small trace in tracekit's own dialect.
func ownText(t testing.TB) []byte {
	text := tracetest.ReadFile(t, "testdata/own.json")
	return text
}

// samples are the goldens' inputs and the beginnings of the real traces, where these are
// at hand.
func samples(t *testing.T) map[string][]byte {
	out := map[string][]byte{"own.json": ownText(t)}
	for i, text := range goldenInputs(t) {
		out[fmt.Sprint("golden ", i)] = text
	}
	for _, p := range RealTraces(t) {
		if again := regexp.MustCompile(`worker[1-7]|353778[1-7]`); again.MatchString(p) {
			continue
		}
		out[filepath.Base(p)] = beginning(t, p, 16<<10)
	}
	return out
}

// RealTraces returns the traces that real programs wrote, none if they are not here; the
// directories among them hold published results.
func RealTraces(t *testing.T) []string {
	return slices.DeleteFunc(tracetest.MoreTraces(t, "json/*/*"), func(path string) bool {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(filepath.Base(path), "rocprofv3_") { // a format of its own
			return true
		}
		name := strings.TrimSuffix(path, ".gz")
		return !slices.Contains([]string{".json", ".pfw", ""}, filepath.Ext(name)) && name == path // notes and programs beside traces
	})
}

// trials is how often a sample is damaged: the goldens, which are small, less often.
func trials(name string) int {
	switch {
	case testing.Short():
		return 3
	case strings.HasPrefix(name, "golden"):
		return 20
	}
	return 200
}

func beginning(t *testing.T, path string, limit int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := uncompressed(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Cut anywhere, a file gives what stands before the cut, at most one event less, and says
// so or ends between two events.
func TestTruncation(t *testing.T) {
	for name, text := range samples(t) {
		rnd := rand.New(rand.NewPCG(1, uint64(len(text))))
		tryRead(t, text)
		for range trials(name) {
			tryRead(t, mutate.Truncation.Apply(rnd, text))
		}
		t.Logf("%s: %d bytes", name, len(text))
	}
}

// The events before a cut are those of the whole file.
func TestTruncationKeepsEvents(t *testing.T) {
	var b strings.Builder
	b.WriteString("[\n")
	var ends []int
	for i := range 100 {
		fmt.Fprintf(&b, `{"ph":"i","pid":1,"tid":1,"ts":%d,"name":"moment","args":{"x":[1,{"y":"}"}]}},`, i)
		ends = append(ends, b.Len()-1)
		b.WriteString("\n")
	}
	text := b.String()
	for cut := 3; cut <= len(text); cut++ {
		f := newFile("x", nil)
		if err := f.read(context.Background(), strings.NewReader(text[:cut])); err != nil && cut > ends[0] {
			t.Fatal(err)
		}
		want, found := slices.BinarySearch(ends, cut)
		if found {
			want++
		}
		if got := int(f.phases['i']); got != want {
			t.Fatalf("cut at %d: %d events, want %d", cut, got, want)
		}
		inEvent := want == 0 && cut > 2 || want > 0 && strings.TrimLeft(text[ends[want-1]:cut], ",\n") != ""
		if got := f.ledger.Count(trace.CodeTruncated) == 1; got != inEvent {
			t.Fatalf("cut at %d: truncated is %v, want %v", cut, got, inEvent)
		}
		f.set.Spool.Close()
	}
}

// Whatever byte is changed, nothing breaks, in the text or in its compressed form.
func TestCorruption(t *testing.T) {
	for name, text := range samples(t) {
		rnd := rand.New(rand.NewPCG(2, uint64(len(text))))
		packed := tracetest.Gzip(text)
		for range trials(name) {
			for _, data := range [][]byte{text, packed} {
				tryRead(t, mutate.Bytes(1, "").Apply(rnd, data))
			}
		}
	}
}

// A compressed file that is cut gives the events before the cut; members that follow each
// other are one text.
func TestGzip(t *testing.T) {
	var b bytes.Buffer
	for i := range 3 {
		w := gzip.NewWriter(&b)
		for j := range 1000 {
			fmt.Fprintf(w, "{\"ph\":\"i\",\"pid\":1,\"ts\":%d,\"name\":\"a\"}\n", 1000*i+j)
		}
		w.Close()
	}
	for _, cut := range []int{b.Len(), b.Len() - 1, b.Len() * 5 / 6} {
		f := newFile("x", nil)
		if err := f.read(context.Background(), bytes.NewReader(b.Bytes()[:cut])); err != nil {
			t.Fatal(err)
		}
		n, truncated := f.phases['i'], f.ledger.Count(trace.CodeTruncated)
		if cut == b.Len() && (n != 3000 || truncated != 0) || cut < b.Len() && (n < 2000 || truncated == 0) {
			t.Errorf("cut at %d of %d: %d events, truncated %d", cut, b.Len(), n, truncated)
		}
		f.set.Spool.Close()
	}
}
