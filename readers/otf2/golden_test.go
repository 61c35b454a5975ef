package otf2

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// pathless hides where an archive lies, for goldens.
type pathless struct{ *Source }

func (p pathless) Info() trace.Info {
	info := p.Source.Info()
	info.Path = ""
	return info
}

// describe returns all that a source says as text: definitions, events, findings, counts
// of other records.
func describe(s *Source) string {
	var b bytes.Buffer
	text, err := tracetest.Format(pathless{s})
	b.WriteString(text)
	if err != nil {
		fmt.Fprintln(&b, "error:", err)
	}
	if err := checkSource(s); err != nil {
		fmt.Fprintln(&b, "BROKEN PROMISE:", err)
	}
	counts := s.ExtraCounts()
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, "# %s %d\n", k, counts[k])
	}
	for _, f := range s.Findings() {
		at := ""
		if f.First.Location != trace.None {
			at = fmt.Sprintf(" location=%d seq=%d", f.First.Location, f.First.Seq)
		}
		fmt.Fprintf(&b, "# %s ×%d%s %s@%d %s\n", f.Code, f.Count, at, filepath.Base(f.First.File), f.First.Offset, f.Text)
	}
	return b.String()
}

// checkSource checks what every reader promises about definitions and batches.
func checkSource(s *Source) error {
	if err := s.Defs().Check(); err != nil {
		return err
	}
	for l := range s.Defs().Locations {
		for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				return err
			}
			if err := b.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// describePath opens an archive and describes it, or the error. The directory's name is
// left out.
func describePath(path string, batch int) string {
	s, err := Open(context.Background(), path, 0)
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", "") + "\n"
	}
	defer s.Close()
	s.batch = batch
	return describe(s)
}

// goldenNames returns the names of the goldens.
func goldenNames(t testing.TB) (names []string) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".txtar"))
	}
	return names
}

func goldenFile(t testing.TB, name string) *txtar.Archive {
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// goldenArchive assembles the archive of a golden and returns its path.
func goldenArchive(t testing.TB, name string, big bool) string {
	return writeArchive(t, t.TempDir(), goldenFile(t, name).Files, big, 1024)
}

// TestGoldens reads small archives in both byte orders, in large and in small
// batches: always with the same result.
func TestGoldens(t *testing.T) {
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			a := goldenFile(t, name)
			want := &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				a.Files = append(a.Files, txtar.File{Name: "want"})
				want = &a.Files[len(a.Files)-1]
			}
			for _, big := range []bool{false, true} {
				path := writeArchive(t, t.TempDir(), a.Files[:len(a.Files)-1], big, 1024)
				got := describePath(path, maxBatch)
				if *update && !big {
					want.Data = []byte(got)
				}
				if !big && got != string(want.Data) || withoutPayload(got) != withoutPayload(string(want.Data)) {
					t.Errorf("big-endian %v: got\n%s\nwant\n%s", big, got, want.Data)
				}
				for _, batch := range []int{1, 2, 7} {
					if again := describePath(path, batch); again != got {
						t.Errorf("batches of %d: got\n%s\nwant\n%s", batch, again, got)
					}
				}
			}
			if *update {
				if err := os.WriteFile(filepath.Join("testdata", name+".txtar"), txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// withoutPayload removes the bytes of opaque definitions, which are in the byte order of
// their file.
func withoutPayload(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "opaque") {
			line, _, _ = strings.Cut(line, " bigendian")
			line, _, _ = strings.Cut(line, " payload")
			line += "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
