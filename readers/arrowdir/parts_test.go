package arrowdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

const fourRanks = `
location 0 rank0 rank=0
  0 Enter main ; 10 Leave main
location 1 rank1 rank=1
  0 Enter main ; 11 Leave main
location 2 rank2 rank=2
  0 Enter main ; 12 Leave main
location 3 rank3 rank=3
  0 Enter main ; 13 Leave main
`

// writeParts writes a trace in two parts, of even and of odd locations, and joins them.
func writeParts(t *testing.T, f Format) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "x")
	src := tracetest.MustParse(t, fourRanks)
	for i := range 2 {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		w, err := Create(filepath.Join(dir, PartName(i+1, 2)), src.Info(), src.Defs(), Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		for l := i; l < 4; l += 2 {
			for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
				if err == nil {
					err = w.Write(b)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(t.Context(), dir); err == nil {
		t.Error("it is opened before it is joined")
	}
	if format, err := Join(dir, 2); err != nil || format != f {
		t.Fatal(format, err)
	}
	return dir
}

// TestParts: parts are one trace; one that is missing, or of another trace, costs its events and is a
// finding; what contradicts itself is refused.
func TestParts(t *testing.T) {
	_, whole, _ := strings.Cut(fourRanks, "\n")
	for rank := range 4 { // as the text form has it
		whole = strings.ReplaceAll(whole, fmt.Sprintf("rank=%d", rank), fmt.Sprintf("rank=%d events=2", rank))
	}
	whole = "region 0 main\n" + whole
	formats(t, func(t *testing.T, f Format) {
		for name, test := range map[string]struct {
			damage func(dir string) error
			want   string // of findings, or of the error
			events string // by location
		}{
			"sound":   {func(string) error { return nil }, "", "[2 2 2 2]"},
			"missing": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, PartName(1, 2))) }, "missing_file", "[0 2 0 2]"},
			"other definitions": {func(dir string) error {
				other := filepath.Join(dir, PartName(2, 2))
				src := tracetest.MustParse(t, strings.ReplaceAll(fourRanks, "main", "other"))
				w, err := Create(other, src.Info(), src.Defs(), Options{Format: f, Force: true})
				if err != nil {
					return err
				}
				return w.Close()
			}, "has other definitions", "[2 0 2 0]"},
			"twice": {func(dir string) error {
				second := filepath.Join(dir, PartName(2, 2))
				if err := os.RemoveAll(second); err != nil {
					return err
				}
				return os.CopyFS(second, os.DirFS(filepath.Join(dir, PartName(1, 2))))
			}, "has events of location 0, which are also in", ""},
			"parts in parts": {func(dir string) error {
				_, err := Join(dir, 1)
				if err == nil {
					return fmt.Errorf("joined, though a part is missing")
				}
				text := []byte(`{"schema":"` + manifestParts + `","parts":2}`)
				return os.WriteFile(filepath.Join(dir, PartName(2, 2), manifestName), text, 0o666)
			}, "consists of parts itself", "[2 0 2 0]"},
			"none": {func(dir string) error {
				return os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"schema":"`+manifestParts+`","parts":3}`), 0o666)
			}, "it has no tracekit.json", ""},
			"too many": {func(dir string) error {
				return os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"schema":"`+manifestParts+`","parts":1000000}`), 0o666)
			}, "not a readable trace", ""},
		} {
			t.Run(name, func(t *testing.T) {
				dir := writeParts(t, f)
				if err := test.damage(dir); err != nil {
					t.Fatal(err)
				}
				src, err := Open(t.Context(), dir)
				if err != nil {
					if test.events != "" || !strings.Contains(err.Error(), test.want) {
						t.Errorf("%v, want %s", err, test.want)
					}
					return
				}
				defer src.Close()
				var events []uint64
				for _, l := range src.Defs().Locations {
					events = append(events, l.Events)
				}
				got := text(t, src)
				if found := fmt.Sprint(src.Findings()); fmt.Sprint(events) != test.events || !strings.Contains(found, test.want) ||
					(test.want == "") != (found == "[]") {
					t.Errorf("%v events, findings %s; want %s, %q", events, found, test.events, test.want)
				}
				if name == "sound" && got != whole {
					t.Errorf("events differ:\n%s\n%s", got, whole)
				}
				if err := replaceable(dir, true); (err != nil) != (name == "parts in parts") {
					t.Errorf("to be replaced: %v", err)
				}
			})
		}
	})
}
