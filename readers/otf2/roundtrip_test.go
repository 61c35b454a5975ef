package otf2

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// copyArchive writes what a source holds. interleave makes the locations take turns, a
// batch each.
func copyArchive(t *testing.T, s trace.Source, path string, o Options, interleave bool) {
	t.Helper()
	w, err := Create(path, s.Info(), s.Defs(), o)
	if err != nil {
		t.Fatal(err)
	}
	for b := range batches(t, s, interleave) {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// batches iterates over the batches of all locations: one location after the other, or a
// batch of each in turn.
func batches(t *testing.T, s trace.Source, interleave bool) func(func(*trace.Batch) bool) {
	return func(yield func(*trace.Batch) bool) {
		skip := 0
		for more := true; more; skip++ {
			more = false
			for l := range s.Defs().Locations {
				n := 0
				for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
					if err != nil {
						t.Error(err)
						return
					}
					if n++; interleave && n <= skip {
						continue
					}
					if !yield(b) {
						return
					}
					if interleave {
						more = true
						break
					}
				}
			}
		}
	}
}

// tables returns a source as text but for what a copy cannot keep: its size, and which
// version of the library wrote it.
func tables(t *testing.T, s trace.Source) string {
	t.Helper()
	return tracetest.MustFormat(t, renamed{s})
}

type renamed struct{ trace.Source }

func (r renamed) Info() trace.Info {
	info := r.Source.Info()
	info.Path, info.Version, info.Bytes = "", "", 0
	return info
}

// TestRoundTripReal copies real archives: the reference library's tool prints the same of
// the copy, without complaint, and the tables are the same.
func TestRoundTripReal(t *testing.T) {
	for _, path := range realArchives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if testing.Short() && filepath.Base(path) == "lulesh-8x2" {
				t.Skip("a million lines are not for -short")
			}
			s, err := Open(context.Background(), path, 0)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "copy")
			copyArchive(t, s, dir, Options{EventChunk: minChunk, DefChunk: minChunk}, false)
			copied, err := Open(context.Background(), dir, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := tables(t, copied), tables(t, s); got != want {
				t.Error("the tables of the copy differ")
			}
			if f := copied.Findings(); len(f) > 0 && f[0].Code != trace.CodeIncompleteByWriter {
				t.Errorf("findings in the copy: %v", f)
			}
			samePrint(t, s.path, copied.path)
		})
	}
}

// samePrint compares what otf2-print prints of events, definitions and clock offsets.
func samePrint(t *testing.T, a, b string) {
	for _, options := range [][]string{nil, {"-G"}, {"-C"}} {
		one := otf2Print(t, append(slices.Clone(options), a)...)
		two := otf2Print(t, append(slices.Clone(options), b)...)
		if options != nil { // definitions of different kinds come in another order
			slices.Sort(one)
			slices.Sort(two)
		}
		if !slices.Equal(one, two) {
			t.Errorf("otf2-print %v prints something else of the copy", options)
		}
	}
}

// TestRoundTripGoldens copies the goldens twice; the second copy has the same bytes as
// the first, also when the locations take turns.
func TestRoundTripGoldens(t *testing.T) {
	for _, name := range goldenNames(t) {
		for _, big := range []bool{false, true} {
			s, err := Open(context.Background(), goldenArchive(t, name, big), 0)
			if err != nil {
				continue // goldens about archives that cannot be read
			}
			t.Run(name, func(t *testing.T) {
				dirs := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")}
				copyArchive(t, s, dirs[0], Options{}, false)
				one, err := Open(context.Background(), dirs[0], 0)
				if err != nil {
					t.Fatal(err)
				}
				one.batch = 2
				copyArchive(t, one, dirs[1], Options{}, true)
				if a, b := readTree(t, dirs[0]), readTree(t, dirs[1]); a != b {
					t.Error("copies of a copy differ")
				}
				if got, want := eventsOnly(tables(t, one)), eventsOnly(tables(t, s)); got != want {
					t.Errorf("the copy has\n%s\nthe original\n%s", got, want)
				}
			})
		}
	}
}

// eventsOnly removes what a copy of a damaged archive corrects: announced numbers of
// events, unknown records, byte order.
func eventsOnly(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "opaque", "info", "location", "process", "node", "comm":
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), " ; ")
		parts = slices.DeleteFunc(parts, func(p string) bool { return strings.Contains(p, " Unknown ") })
		b.WriteString(strings.Join(parts, "\n") + "\n")
	}
	return b.String()
}

// readTree returns the names and contents of all files below a directory.
func readTree(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(strings.TrimPrefix(path, dir) + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
