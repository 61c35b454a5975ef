package page

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// tree writes files, by their slash-separated names, and returns the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		tracetest.WriteFile(t, file, text)
	}
	return dir
}

func sources(t *testing.T, dir string) *Sources {
	t.Helper()
	s, err := OpenSources(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestFind: the file with the most folders in common is meant.
func TestFind(t *testing.T) {
	s := sources(t, tree(t, map[string]string{"mg/solve.f": "1", "cg/solve.f": "2", "deep/er/cg/solve.f": "3", ".git/solve.f": "4",
		"main.c": "5", "lib/main.c": "6"}))
	for _, c := range []struct {
		name, want string
		others     int
	}{
		{"/home/me/npb/mg/solve.f", "mg/solve.f", 0},
		{"/build/cg/solve.f", "cg/solve.f", 1},
		{"/build/er/cg/solve.f", "deep/er/cg/solve.f", 0},
		{`C:\work\cg\solve.f`, "cg/solve.f", 1},
		{"main.c", "main.c", 1},
		{"../../../../etc/passwd", "", 0},
		{"solve.F", "", 0},
		{"", "", 0},
		{"..", "", 0},
		{"/", "", 0},
	} {
		if got, others := s.find(c.name); got != c.want || others != c.others {
			t.Errorf("%q is %q, %d others; want %q, %d", c.name, got, others, c.want, c.others)
		}
	}
}

// TestNothingOutside: no name and no link leads out of the directory.
func TestNothingOutside(t *testing.T) {
	outside := tree(t, map[string]string{"secret.c": "secret", "folder/other.c": "secret"})
	dir := tree(t, map[string]string{"good.c": "fine"})
	for link, to := range map[string]string{"secret.c": "secret.c", "folder": "folder"} {
		if err := os.Symlink(filepath.Join(outside, to), filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	s := sources(t, dir)
	var files []namedFile
	for _, name := range []string{"secret.c", "other.c", "folder/other.c", filepath.Join(outside, "secret.c"), "../" +
		filepath.Base(outside) + "/secret.c", "good.c"} {
		files = append(files, namedFile{name: name, lines: []int{1}})
	}
	// Even if a link takes the place of a file that was listed.
	s.named["late.c"] = []string{"secret.c"}
	found, lost := s.take(append(files, namedFile{name: "late.c"}), 1<<20)
	if len(found) != 1 || found[0].Found != "good.c" || len(lost) != 6 {
		t.Errorf("found %+v, lost %q", found, lost)
	}
}

// TestTake: what is no text is not shown, of a long file the lines around costs, and never more than
// asked for.
func TestTake(t *testing.T) {
	long := strings.Repeat("some line of code\n", 100_000)
	s := sources(t, tree(t, map[string]string{"long.c": long, "binary.c": "a\x00b", "empty.c": "",
		"short.c": "one\r\n\ttwo \x1b[31m\nthree"}))
	found, lost := s.take([]namedFile{{"long.c", []int{5000, 5010, 90_000, 1 << 30}}, {"binary.c", nil}, {"empty.c", nil},
		{"short.c", nil}}, 1<<20)
	if !slices.Equal(lost, []string{"binary.c", "empty.c"}) || len(found) != 2 {
		t.Fatalf("found %d files, lost %q", len(found), lost)
	}
	if p := found[0].Parts; len(p) != 2 || p[0].First != 5000-around || len(p[0].Text) != 11+2*around || p[1].First != 90_000-around ||
		found[0].Lines != 100_000 {
		t.Errorf("of the long file: %d lines, parts %v", found[0].Lines, p)
	}
	if p := found[1].Parts; len(p) != 1 || !slices.Equal(p[0].Text, []string{"one", "    two \uFFFD[31m", "three"}) {
		t.Errorf("the short file is %+v", p)
	}
	found, _ = s.take([]namedFile{{"long.c", []int{5000, 90_000}}, {"short.c", nil}}, 100)
	size := 0
	for _, f := range found {
		for _, p := range f.Parts {
			for _, line := range p.Text {
				size += len(line)
			}
		}
	}
	if size == 0 || size > 100 {
		t.Errorf("%d bytes, want at most 100", size)
	}
}
