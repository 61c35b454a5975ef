package readers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"tracekit/readers"
	"tracekit/trace/tracetest"
)

// TestTextFilesAreGraphic: the text files of traces hold no character that steers a terminal or turns the direction of a line,
// and where the format has escapes the names come back.
func TestTextFilesAreGraphic(t *testing.T) {
	const name = "e\u202evil\u2066\x1b[31m\u0085\u009b\x7f\u2028\U000e0001"
	src := tracetest.MustParse(t, "location 0 rank=0\n  0 Enter main ; 9 Leave main\n")
	for i := range src.Definitions.Strings {
		if s := &src.Definitions.Strings[i]; *s == "main" || *s == "Master thread" {
			*s += name
		}
	}
	src.About.Properties = map[string]string{"a": name}
	for _, f := range []string{"copy.json", "copy.prv", "copy.arrow", "copy.parquet"} {
		path := filepath.Join(t.TempDir(), f)
		writeCopy(t, src, path)
		files, err := filepath.Glob(strings.TrimSuffix(path, "prv") + "*")
		if err != nil || f == "copy.arrow" || f == "copy.parquet" {
			files = []string{filepath.Join(path, "tracekit.json")}
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range string(text) {
				if !unicode.IsGraphic(r) && r != '\n' {
					t.Errorf("%s has %U", filepath.Base(file), r)
				}
			}
		}
		if f == "copy.prv" {
			continue
		}
		back, err := readers.Open(t.Context(), path, readers.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer back.Close()
		if got := back.Defs().String(back.Defs().Regions[0].Name); got != "main"+name {
			t.Errorf("%s: the region is called %q", f, got)
		}
	}
}
