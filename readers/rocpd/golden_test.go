package rocpd

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
)

var (
	update = flag.Bool("update", false, "write the goldens")
	opener = recordingtest.Opener(Open)
)

// versions are the small databases that testdata/make.py writes, with the same contents.
var versions = []string{"testdata/v3", "testdata/v40", "testdata/v41"}

// about is what a trace says of its files.
var about = regexp.MustCompile(`(?m)^info .*\n|in testdata\S*:`)

// TestGolden states what becomes of all that databases hold, whatever the version.
func TestGolden(t *testing.T) {
	want := ""
	for i, path := range versions {
		got := recordingtest.Render(t, opener.Open(t, recording.Options{}, path))
		if i == 0 {
			recordingtest.Golden(t, got, "testdata/v3.txt", *update)
		}
		if got = about.ReplaceAllLiteralString(got, ""); i == 0 {
			want = got
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-%s +got):\n%s", path, versions[0], diff)
		}
		if strings.Contains(got, "sesame") {
			t.Error("the trace has a secret of the environment")
		}
	}
}

// data returns the bytes of the small databases.
func data(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, path := range versions {
		for _, file := range recording.FilesIn(path, extension, levels) {
			data, err := os.ReadFile(filepath.FromSlash(file))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data)
		}
	}
	return all
}

func TestDamage(t *testing.T) { opener.Damage(t, "a.db", data(t)[1]) }

// FuzzRead: whatever the file, nothing panics and every promise holds.
func FuzzRead(f *testing.F) { opener.Fuzz(f, "a.db", data(f)...) }
