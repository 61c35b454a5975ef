package readers_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/readers"
	"tracekit/trace/tracetest"
)

var invalidRank = regexp.MustCompile(`(?m)^.*invalid rank in Group.*\n`)

// TestAccepted states that the reference library reads, without a complaint, what other
// formats become in OTF2.
func TestAccepted(t *testing.T) {
	program := tracetest.Program(t, "otf2-print", "otf2-tools")
	for _, name := range foreign(t) {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			src, err := readers.Open(t.Context(), name, readers.OpenOptions{})
			if err != nil {
				t.Skip("not a readable trace")
			}
			defer src.Close()
			if len(src.Defs().Locations) == 0 {
				t.Skip("the tool refuses archives without locations")
			}
			archive := filepath.Join(t.TempDir(), "archive")
			writeCopy(t, src, archive)
			cmd := exec.Command(program, "-A", filepath.Join(archive, "traces.otf2")) // the anchor file and all definitions too
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			err = cmd.Run()
			// Ranks that do not exist are wrong in the source already.
			text := invalidRank.ReplaceAllString(complaints.String(), "")
			if err != nil || text != "" {
				t.Errorf("otf2-print: %v\n%.1000s", err, text)
			}
		})
	}
}

// recorded are small traces of recorders of accelerators, in the forms that are not written.
var recorded = []string{"nsight/testdata/run", "rocpd/testdata/v3", "rocpd/testdata/v40", "rocpd/testdata/json/7_results.json",
	"perfetto/testdata/run", "xplane/testdata/run"}

// foreign returns traces in other formats than OTF2: the goldens of their readers and,
// where they are, real ones.
func foreign(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"paraver/testdata/*.txtar", "jsontrace/testdata/goldens/*.txtar"} {
		goldens, err := filepath.Glob(pattern)
		if err != nil || len(goldens) == 0 {
			t.Fatal(pattern, err)
		}
		for _, golden := range goldens {
			archive, err := txtar.ParseFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(golden), ".txtar"))
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				path := filepath.Join(dir, f.Name)
				tracetest.WriteFile(t, path, f.Data)
				if ext := filepath.Ext(path); ext == ".prv" || ext == ".json" {
					list = append(list, path)
				}
			}
		}
	}
	list = append(list, recorded...)
	for _, dir := range tracetest.MoreTraces(t, "paraver", "json") {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimSuffix(path, ".gz")
			if ext := filepath.Ext(name); err == nil && (ext == ".prv" || ext == ".json") {
				if info, err := d.Info(); err == nil && info.Size() < 1<<20 {
					list = append(list, path)
				}
			}
			return nil
		})
	}
	return list
}
