package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// listing is a directory with all that is below, and what its files hold.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		out.WriteString(e.Type().String() + " " + name)
		if e.Type().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out.Write(text)
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lay makes a directory of files, each of which holds its name; a name that ends in / is a
// directory, in | a pipe, and a>b a link to b.
func lay(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		var err error
		from, to, link := strings.Cut(name, ">")
		path := filepath.Join(dir, strings.TrimRight(from, "/|"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(to, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case strings.HasSuffix(name, "|"):
			err = makePipe(path)
		default:
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestForceKeepsWhatIsNotOurs: --force replaces what tracekit wrote, and files of the name that
// is given, but no directory that holds anything else, no pipe and no device.
func TestForceKeepsWhatIsNotOurs(t *testing.T) {
	trace := sampleArchive(t, "ring-4-plain")
	contents := "# Written by tracekit. --force replaces the files below, and no others."
	for _, c := range []struct {
		name string
		args []string
		lay  []string
	}{
		{"home", []string{"convert", trace, "home"}, []string{"home/thesis"}},
		{"here", []string{"convert", trace, "."}, []string{"thesis"}},
		{"above", []string{"generate", "halo", "-o", "."}, []string{"thesis"}},
		{"folders", []string{"convert", trace, "home"}, []string{"home/empty/"}},
		{"link", []string{"convert", trace, "link"}, []string{"home/thesis", "link>home"}},
		{"no anchor", []string{"convert", trace, "home"}, []string{"home/traces.otf2"}},
		{"root", []string{"convert", trace, "/"}, nil},
		{"root as tables", []string{"convert", "--format", "arrow", trace, "/"}, nil},
		{"tables", []string{"convert", trace, "home.arrow"}, []string{"home.arrow/thesis"}},
		{"tables, folders", []string{"convert", trace, "home.parquet"}, []string{"home.parquet/empty/"}},
		{"tables, link", []string{"convert", trace, "x.arrow"}, []string{"home/thesis", "x.arrow>home"}},
		{"tables here", []string{"convert", "--format", "arrow", trace, "."}, nil},
		{"directory as JSON", []string{"convert", trace, "x.json"}, []string{"x.json/"}},
		{"directory as Paraver", []string{"convert", trace, "x.prv"}, []string{"x.prv/"}},
		{"directory as labels", []string{"convert", trace, "x.prv"}, []string{"x.pcf/"}},
		{"pipe as JSON", []string{"convert", trace, "x.json"}, []string{"x.json|"}},
		{"pipe as picture", []string{"spacetime", trace, "-o", "x.png"}, []string{"x.png|"}},
		{"pipe as formulae", []string{"compress", trace, "-o", "x.tkf"}, []string{"x.tkf|"}},
		{"pipe as profile", []string{"fit", trace, "-o", "x.json"}, []string{"x.json|"}},
		{"link to a pipe", []string{"convert", trace, "x.json"}, []string{"pipe|", "x.json>pipe"}},
		{"link to a device", []string{"convert", trace, "x.json"}, []string{"x.json>/dev/null"}},
		{"device", []string{"fit", trace, "-o", "/dev/null"}, nil},
		{"standard output", []string{"convert", "--format", "json", trace, "/dev/stdout"}, nil},
		{"report", []string{"analyze", trace, "-o", "home"}, []string{"home/thesis"}},
		{"report, foreign list", []string{"analyze", trace, "-o", "home"}, []string{"home/contents.txt", "home/thesis"}},
		{"report, pipe", []string{"analyze", trace, "-o", "home"}, []string{"home/contents.txt|", "home/thesis"}},
		{"comparison", []string{"compare", trace, trace, "-o", "home"}, []string{"home/thesis"}},
		{"plots", []string{"fit", trace, "--plots", "home"}, []string{"home/thesis"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := lay(t, c.lay...)
			before := listing(t, dir)
			stdout, stderr, code := tracekit(t, dir, append(c.args, "--force")...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, %s%s", code, stdout, stderr)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("it was\n%sand is\n%s", before, after)
			}
		})
	}
	t.Run("report, link of a folder", func(t *testing.T) {
		dir := lay(t, "home/tables.parquet", "home/calls.parquet", "report/tables>../home")
		list := contents + "\ntables/calls.parquet\n"
		tracetest.WriteFile(t, filepath.Join(dir, "report", "contents.txt"), list)
		before := listing(t, dir)
		if _, stderr, code := tracekit(t, dir, "analyze", trace, "-o", "report", "--force"); code != exitFailed {
			t.Errorf("exit code %d, %s", code, stderr)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("it was\n%sand is\n%s", before, after)
		}
	})
}
