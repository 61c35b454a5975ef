package arrowdir

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// rewritten returns a directory whose tables pyarrow has read and written again: packed with snappy, with dictionaries and
// row groups of its own, and of every second table all columns optional; or with pages of the second version besides.
func rewritten(t *testing.T, archived string) string {
	t.Helper()
	archive, err := zip.OpenReader(archived)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, archive); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "rewritten")
}

// TestRewritten: tables that another program has read and written again hold the same trace, and a finding says so.
func TestRewritten(t *testing.T) {
	for _, archived := range []string{"testdata/rewritten.zip", "testdata/rewritten2.zip"} {
		holds(t, rewritten(t, archived))
	}
}

// holds states that tables of another program hold the trace that has everything.
func holds(t *testing.T, dir string) {
	t.Helper()
	src, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want := tracetest.MustParse(t, tracetest.Everything)
	for l := range want.Definitions.Locations {
		want.Definitions.Locations[l].Events = src.Defs().Locations[l].Events
	}
	if diff := cmp.Diff(text(t, want), text(t, src)); diff != "" {
		t.Errorf("(-want +got):\n%.2000s", diff)
	}
	f := src.Findings()
	if len(f) != 1 || f[0].Code != trace.CodeRewritten || !strings.Contains(f[0].Text, "by parquet-cpp-arrow") {
		t.Errorf("findings %v", f)
	}
}

// TestRewrittenWrong: tables of another program that are not those of the trace are refused, or a finding says that; so is a
// table without the right checksum of which no other program says that it has written it.
func TestRewrittenWrong(t *testing.T) {
	const two = "location 0\n  1 Enter f ; 2 Leave f\nlocation 1\n  1 Enter f ; 2 Leave f ; 3 Enter f ; 4 Leave f\n"
	sound := filepath.Join(t.TempDir(), "sound")
	write(t, tracetest.MustParse(t, two), sound, Options{Format: Parquet}, false)
	for name, c := range map[string]struct {
		table, of string // the table of this trace stands in its place
		by        string // who has written it
		want      string
	}{
		"damaged":      {"events/flow", strings.Replace(two, "4 L", "5 L", 1), ours, "it is damaged"},
		"without rows": {"events/p2p", two, "parquet-xx ", "by parquet-xx version"},
		"a row less":   {"events/flow", strings.Replace(two, " ; 4 Leave f", "", 1), "parquet-xx ", "there are 5 rows, the manifest names 6"},
		"others' rows": {"events/flow", "location 0\n  1 Enter f ; 2 Leave f ; 3 Enter f ; 4 Leave f\nlocation 1\n  1 Enter f ; 2 Leave f\n",
			"parquet-xx ", "a row of location 0 among those of location 1"},
		"another order": {"defs/location", "", "parquet-xx ", "row 0 has the id 1: the rows must keep their order"},
	} {
		dir, other := filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "other")
		if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		table := c.table + ".parquet"
		if c.of != "" {
			write(t, tracetest.MustParse(t, c.of), other, Options{Format: Parquet}, false)
		} else {
			other = reordered(t, two)
		}
		data, err := os.ReadFile(filepath.Join(other, table))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, table), bytes.ReplaceAll(data, []byte(ours), []byte(c.by)), 0o666); err != nil {
			t.Fatal(err)
		}
		got := ""
		if src, err := Open(t.Context(), dir); err != nil {
			got = err.Error()
		} else {
			for l := range src.Defs().Locations {
				for range src.Events(t.Context(), trace.LocationID(l)) {
				}
			}
			for _, f := range src.Findings() {
				got += f.Text
			}
			src.Close()
		}
		if !strings.Contains(got, c.want) || got == "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// reordered writes the two locations of a trace with the second one first.
func reordered(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "defs"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, r := range defRecords(tracetest.MustParse(t, text).Definitions, memory.NewGoAllocator()) {
		if r.Name != "location" {
			continue
		}
		w, err := newParquetWriter(fileOf(dir, "defs", r.Name, Parquet), r.Record.Schema())
		if err != nil {
			t.Fatal(err)
		}
		var e encoded
		for _, part := range [][2]int64{{1, 2}, {0, 1}} {
			slice := joined([]arrow.Record{r.Record.NewSlice(part[0], part[1])})
			if err := errors.Join(w.encode(slice, &e), w.put(slice, &e)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
