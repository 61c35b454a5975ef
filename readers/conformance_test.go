package readers_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// forms are the names that stand for each format.
var forms = []struct{ name, file string }{
	{"otf2", "copy"}, {"json", "copy.json"}, {"json.gz", "copy.json.gz"}, {"paraver", "copy.prv"},
	{"paraver.gz", "copy.prv.gz"}, {"arrow", "copy.arrow"}, {"parquet", "copy.parquet"},
}

// exact are the formats that lose nothing of any trace here.
var exact = []string{"otf2", "json", "json.gz", "arrow", "parquet"}

// TestConformance states that a trace gives the same tables and the same analysis in
// every format, and prints what each format cannot hold.
func TestConformance(t *testing.T) {
	lost := make(map[string]map[string]uint64)
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := readers.Open(t.Context(), name, readers.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			want := newView(t, src)
			for _, f := range forms {
				t.Run(f.name, func(t *testing.T) {
					got, missing := viewOfCopy(t, src, f.file)
					note(lost, f.name, missing)
					compare(t, f.name, missing, want, got)
				})
			}
		})
	}
	for _, f := range forms {
		if len(lost[f.name]) == 0 {
			t.Logf("%-10s holds everything", f.name)
		}
		for _, what := range slices.Sorted(maps.Keys(lost[f.name])) {
			t.Logf("%-10s cannot hold: %s (%d)", f.name, what, lost[f.name][what])
		}
	}
}

// TestNothingLost states that the exact formats lose nothing of traces that hold what no archive
// has, such as moments and counters of all types.
func TestNothingLost(t *testing.T) {
	for _, path := range foreign(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
			if err != nil {
				t.Skip("not a readable trace")
			}
			defer src.Close()
			_, want, _ := strings.Cut(tracetest.MustFormat(t, src), "\n")
			for _, f := range forms {
				if f.name != "otf2" && f.name != "json" && f.name != "arrow" {
					continue // the others differ from these in how bytes are packed
				}
				copied := filepath.Join(t.TempDir(), f.file)
				if lost := writeCopy(t, src, copied); len(lost) > 0 {
					t.Errorf("%s loses %v", f.name, lost)
				}
				back, err := readers.Open(t.Context(), copied, readers.OpenOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer back.Close()
				_, got, _ := strings.Cut(tracetest.MustFormat(t, back), "\n")
				// (OTF2 has numbers of its own for counters.)
				refs := regexp.MustCompile(`(?m)^(member .*) ref=\d+`)
				want, got := refs.ReplaceAllString(withoutHints(want), "$1"), refs.ReplaceAllString(withoutHints(got), "$1")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%.2000s", f.name, diff)
				}
			}
		})
	}
}

// compare holds a copy against the original: an exact format in everything, Paraver in
// what it can hold: no times if it had to round them or to leave out regions.
func compare(t *testing.T, format string, missing map[string]uint64, want, got view) {
	if missing["times rounded to nanoseconds"] > 0 || missing["regions that are not left before those around them"] > 0 {
		want.answers, got.answers = counts(want.answers), counts(got.answers)
	}
	if diff := cmp.Diff(want.answers, got.answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if !slices.Contains(exact, format) {
		return
	}
	if diff := cmp.Diff(want.tables, got.tables); diff != "" {
		t.Errorf("tables (-want +got):\n%.2000s", diff)
	}
	if diff := cmp.Diff(want.document, got.document); diff != "" {
		t.Errorf("analysis (-want +got):\n%.2000s", diff)
	}
}

// counts are the answers that are no times.
func counts(answers map[string]int) map[string]int {
	out := maps.Clone(answers)
	maps.DeleteFunc(out, func(name string, _ int) bool {
		return strings.HasPrefix(name, "late") || strings.HasPrefix(name, "wait") || strings.HasPrefix(name, "time")
	})
	return out
}

func note(lost map[string]map[string]uint64, format string, missing map[string]uint64) {
	if lost[format] == nil {
		lost[format] = make(map[string]uint64)
	}
	for what, n := range missing {
		lost[format][what] += n
	}
}

// A view is what is compared of a trace.
type view struct {
	tables   string         // the text form without its first line, which names the file
	document string         // the analysis without the name of the file
	answers  map[string]int // what also Paraver must tell
}

func newView(t *testing.T, src trace.Source) view {
	t.Helper()
	_, tables, _ := strings.Cut(tracetest.MustFormat(t, src), "\n")
	_, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	v := view{tables: withoutHints(tables), answers: answers(a)}
	a.Trace.Path, a.Trace.Format = "", ""
	a.Findings = slices.DeleteFunc(a.Findings, func(f document.Finding) bool { return f.First != nil && f.First.File != "" })
	document, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	v.document = string(document)
	return v
}

// withoutHints leaves out the numbers of events that a writer announced, which a copy
// corrects, and the properties of files.
func withoutHints(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "property ") {
			continue // readers add properties of their own
		}
		if strings.HasPrefix(line, "location ") {
			var kept []string
			for _, field := range strings.Fields(line) {
				if !strings.HasPrefix(field, "events=") {
					kept = append(kept, field)
				}
			}
			line = strings.Join(kept, " ") + "\n"
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// answers are the numbers that do not depend on what Paraver leaves out (such as the
// begin and the end of programs).
func answers(a *analysis.Result) map[string]int {
	out := map[string]int{
		"messages": int(a.Messages.Count), "bytes": int(a.Messages.Bytes),
		"late sender": int(a.WaitStates[waitstate.LateSender].TimeNs), "late receiver": int(a.WaitStates[waitstate.LateReceiver].TimeNs),
		"wait at N×N": int(a.WaitStates[waitstate.AtNxN].TimeNs), "wait at barrier": int(a.WaitStates[waitstate.AtBarrier].TimeNs),
	}
	for _, c := range a.Collectives {
		out[c.Operation] = int(c.Count)
	}
	for _, p := range a.Profile {
		if p.Paradigm == "mpi" {
			out["calls of "+p.Region] += int(p.Count)
			out["time in "+p.Region] += int(p.ExclusiveNs)
		}
	}
	return out
}

func viewOfCopy(t *testing.T, src trace.Source, file string) (view, map[string]uint64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	lost := writeCopy(t, src, path)
	got, err := readers.Open(t.Context(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	return newView(t, got), lost
}

// writeCopy writes a trace in the format of the path, and returns what that format lost.
func writeCopy(t *testing.T, src trace.Source, path string) map[string]uint64 {
	t.Helper()
	w, err := readers.Create(path, src.Info(), src.Defs(), readers.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Copy(t, src, w)
	return w.Lost()
}

// traces returns archives: the samples, generated ones, and further real ones where they
// are.
func traces(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../samples/archives/*")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	dir := t.TempDir()
	for _, p := range samples.Programs() {
		path := filepath.Join(dir, "generated-"+p.Name)
		_, err := samples.Generate(t.Context(), samples.Options{Program: p.Name, Ranks: 4, Iterations: 3, Seed: 1,
			Plant: samples.Plant{LateSender: 300, Lost: 1}},
			func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
				return readers.Create(path, info, defs, readers.CreateOptions{Format: "otf2"})
			})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return append(list, slices.DeleteFunc(tracetest.MoreTraces(t, "otf2/*"), tooLarge(t))...)
}

// tooLarge keeps short runs short.
func tooLarge(t *testing.T) func(string) bool {
	return func(dir string) bool {
		if !testing.Short() {
			return false
		}
		events, _ := filepath.Glob(filepath.Join(dir, "traces/*.evt"))
		size := int64(0)
		for _, name := range events {
			if info, err := os.Stat(name); err == nil {
				size += info.Size()
			}
		}
		if size > 1<<20 {
			t.Logf("%s: %d bytes, left out of short runs", filepath.Base(dir), size)
		}
		return size > 1<<20
	}
}
