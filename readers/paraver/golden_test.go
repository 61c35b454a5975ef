package paraver

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// describe returns all that a source says as text: definitions, events, findings.
func describe(s *Source) string {
	var b bytes.Buffer
	text, err := tracetest.Format(s)
	b.WriteString(text)
	if err != nil {
		fmt.Fprintln(&b, "error:", err)
	}
	if err := checkSource(s); err != nil {
		fmt.Fprintln(&b, "BROKEN PROMISE:", err)
	}
	for _, f := range s.Findings() {
		fmt.Fprintf(&b, "# %s ×%d %s@%d %s\n", f.Code, f.Count, filepath.Base(f.First.File), f.First.Offset, f.Text)
	}
	return b.String()
}

// checkSource checks what every reader promises, and that time goes on.
func checkSource(s *Source) error {
	if err := s.Defs().Check(); err != nil {
		return err
	}
	for l := range s.Defs().Locations {
		last, next := int64(-1), uint64(0)
		for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				return err
			}
			if err := b.Check(); err != nil {
				return err
			}
			if b.First != next {
				return fmt.Errorf("location %d: event %d after %d", l, b.First, next)
			}
			next = b.First + uint64(b.Len())
			if last, err = checkTimes(b, last); err != nil {
				return fmt.Errorf("location %d: %w", l, err)
			}
		}
	}
	return nil
}

// checkTimes checks that times do not decrease, and returns the last.
func checkTimes(b *trace.Batch, last int64) (int64, error) {
	columns := [...][]int64{b.Flow.Time, b.P2P.Time, b.Coll.Time, b.Metric.Time, b.Other.Time}
	var row [5]int
	for i, table := range b.Order {
		t := columns[table][row[table]]
		if t < last {
			return last, fmt.Errorf("event %d: time %d after %d", b.First+uint64(i), t, last)
		}
		last = t
		row[table]++
		for table == trace.TableMetric && row[table] < len(b.Metric.Seq) && b.Metric.Seq[row[table]] == b.First+uint64(i) {
			row[table]++
		}
	}
	return last, nil
}

// TestGoldens reads the traces of testdata. Each begins with what it is about; the file
// want is what is read. If there is a file source, in the text form of traces, the trace
// is what is written of it.
func TestGoldens(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	if len(paths) == 0 {
		t.Fatal("no goldens")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := make(map[string][]byte)
			for _, f := range a.Files {
				files[f.Name] = f.Data
			}
			got := map[string][]byte{}
			if source := files["source"]; source != nil {
				got = written(t, source, strings.HasPrefix(string(a.Comment), "Plain"))
				for name, data := range got {
					files[name] = data
				}
			}
			got["want"] = []byte(readGolden(files))
			compareGolden(t, path, a, got)
		})
	}
}

// readGolden describes the trace in the files of a golden, or the error.
func readGolden(files map[string][]byte) string {
	reader := func(name string) io.Reader {
		if files[name] == nil {
			return nil
		}
		return bytes.NewReader(files[name])
	}
	prv := bytes.ReplaceAll(files["trace.prv"], []byte("␄\n"), nil) // the last line is not terminated
	all := texts{Trace: bytes.NewReader(prv), Labels: reader("trace.pcf"), Names: reader("trace.row")}
	s, err := readTexts(context.Background(), "trace.prv", all, Options{})
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	defer s.Close()
	return describe(s)
}

// written writes a trace in text form and returns the files.
func written(t *testing.T, source []byte, plain bool) map[string][]byte {
	t.Helper()
	m := tracetest.MustParse(t, string(source))
	dir := t.TempDir()
	lost := write(t, m, filepath.Join(dir, "trace.prv"), CreateOptions{Plain: plain})
	var keys []string
	for k := range lost {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	files := make(map[string][]byte)
	for _, k := range keys {
		files["lost"] = fmt.Appendf(files["lost"], "%d %s\n", lost[k], k)
	}
	for _, name := range []string{"trace.prv", "trace.pcf", "trace.row"} {
		data := tracetest.ReadFile(t, filepath.Join(dir, name))
		files[name] = data
	}
	files["trace.pcf"] = files["trace.pcf"][bytes.Index(files["trace.pcf"], []byte("EVENT_TYPE")):]
	return files
}

// write writes a whole trace and returns what was lost.
func write(t testing.TB, src trace.Source, path string, options CreateOptions) map[string]uint64 {
	t.Helper()
	w, err := Create(path, src.Info(), src.Defs(), options)
	if err != nil {
		t.Fatal(err)
	}
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Lost()
}

// compareGolden compares files with those of an archive, or replaces them there.
func compareGolden(t *testing.T, path string, a *txtar.Archive, got map[string][]byte) {
	t.Helper()
	if *update {
		var names []string
		for name := range got {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			i := 0
			for i < len(a.Files) && a.Files[i].Name != name {
				i++
			}
			if i == len(a.Files) {
				a.Files = append(a.Files, txtar.File{Name: name})
			}
			a.Files[i].Data = got[name]
		}
		tracetest.WriteFile(t, path, txtar.Format(a))
		return
	}
	for name, data := range got {
		found := false
		for _, f := range a.Files {
			if f.Name == name {
				found = true
				if string(f.Data) != string(data) {
					t.Errorf("%s is\n%s\nwant\n%s", name, data, f.Data)
				}
			}
		}
		if !found {
			t.Errorf("%s is new:\n%s", name, data)
		}
	}
}
