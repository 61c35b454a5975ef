package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// tracekit runs a command line in the given folder and returns what it printed.
func tracekit(t testing.TB, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return tracekitIn(t, dir, 120, args...)
}

// tracekitIn does so in lines of some width.
func tracekitIn(t testing.TB, dir string, width int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code = run(context.Background(), &cli.Streams{Out: &out, Err: &errs, Width: width}, args)
	return out.String(), errs.String(), code
}

// succeed runs a command line that ends well, and returns what it printed.
func succeed(t testing.TB, dir string, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, code := tracekit(t, dir, args...)
	if code != exitDone {
		t.Fatalf("%q: exit code %d: %s", args, code, stderr)
	}
	return stdout
}

// absolute returns a path of this folder for command lines that run in others.
func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// decode reads a document.
func decode[S string | []byte](t testing.TB, text S, document any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), document); err != nil {
		t.Fatal(err)
	}
}

// TestGoldens runs the command lines in each testdata/*.txtar, whose comment says why it is
// there: an argument a line, a blank line between commands. "SAMPLES", "DUMPS", "RULES" are links to samples (so that lines break
// alike wherever the project lies), files of the archive are laid out in the working folder, and what the
// commands print together must equal stdout and stderr; the last one's exit code counts. Of what
// is printed as JSON, document has the values at some paths, and keys the kind of each value.
func TestGoldens(t *testing.T) {
	samples := absolute(t, "../../samples")
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		golden := absolute(t, name)
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { runGolden(t, golden, samples) })
	}
}

func runGolden(t *testing.T, golden, samples string) {
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for link, to := range map[string]string{"SAMPLES": "archives", "DUMPS": "dumps", "RULES": "rules"} {
		if err := os.Symlink(filepath.Join(samples, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	parts := map[string]string{}
	for _, f := range archive.Files {
		switch f.Name {
		case "args", "stdout", "stderr", "exit", "document", "keys":
			parts[f.Name] = string(f.Data)
		default:
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			tracetest.WriteFile(t, path, f.Data)
		}
	}
	got := map[string]string{}
	for command := range strings.SplitSeq(parts["args"], "\n\n") {
		stdout, stderr, code := tracekit(t, dir, strings.Split(strings.TrimSpace(command), "\n")...)
		if strings.HasPrefix(stdout, "{\n") {
			got["document"], got["keys"] = documentParts(t, stdout, parts["document"])
			stdout = ""
		}
		got["stdout"] += stdout
		got["stderr"] += stderr
		got["exit"] = fmt.Sprintf("%d\n", code)
	}
	if *update {
		rewrite(t, golden, archive, got)
		return
	}
	for _, part := range []string{"exit", "stderr", "stdout", "document", "keys"} {
		if diff := cmp.Diff(parts[part], got[part]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
	}
}

func rewrite(t *testing.T, golden string, archive *txtar.Archive, got map[string]string) {
	var kept []txtar.File
	for _, f := range archive.Files {
		if _, output := got[f.Name]; !output && f.Name != "document" && f.Name != "keys" {
			kept = append(kept, f)
		}
	}
	for _, part := range []string{"exit", "stdout", "stderr", "document", "keys"} {
		if got[part] != "" {
			kept = append(kept, txtar.File{Name: part, Data: []byte(got[part])})
		}
	}
	archive.Files = kept
	tracetest.WriteFile(t, golden, txtar.Format(archive))
}

// TestJobsAndMemoryDoNotChangeTheAnswer states that output depends on the trace alone, also
// where readers sort it.
func TestJobsAndMemoryDoNotChangeTheAnswer(t *testing.T) {
	dir := t.TempDir()
	traces := []string{sampleArchive(t, "zoo-4")}
	for _, name := range []string{"x.prv", "x.json", "x.parquet", "x.tkf"} {
		args := []string{"convert", traces[0], name}
		if name == "x.tkf" {
			args = []string{"compress", traces[0], "-o", name}
		}
		succeed(t, dir, args...)
		traces = append(traces, name)
	}
	for _, trace := range traces {
		want, _, code := tracekit(t, dir, "analyze", "--json", "--jobs", "1", trace)
		if code != exitDone {
			t.Fatalf("%s: exit code %d", trace, code)
		}
		for _, args := range [][]string{{"--jobs", "4"}, {"--memory", "0"}, {"--jobs", "3", "--memory", "64KiB"}} {
			if got, _, _ := tracekit(t, dir, append([]string{"analyze", "--json", trace}, args...)...); got != want {
				t.Errorf("%s: %v changes the document", trace, args)
			}
		}
	}
}

// TestJobsDoNotChangeWhatIsWritten converts to every format, and makes every kind of report, with one and with many
// goroutines.
func TestJobsDoNotChangeWhatIsWritten(t *testing.T) {
	dir, zoo := t.TempDir(), sampleArchive(t, "zoo-4")
	// Several batches of each location, more text than is compressed at a time.
	succeed(t, dir, "generate", "sweep", "--ranks", "4", "--iterations", "1500", "-o", "many")
	for _, archive := range []string{zoo, "many"} {
		for _, name := range []string{"x.otf2", "x.prv", "x.prv.gz", "x.json", "x.json.gz", "x.arrow", "x.parquet"} {
			testJobs(t, dir, "convert "+archive+" OUT/"+name)
		}
	}
	for _, ranks := range []string{"2", "4", "8"} {
		succeed(t, dir, "generate", "halo", "--ranks", ranks, "--iterations", "40", "--late-sender", "5000", "-o", "halo-"+ranks)
	}
	lines := []string{
		"analyze halo-8 -o OUT/report", "report halo-8 -o OUT/run.html", "report halo-2 halo-4 halo-8 -o OUT/runs.html",
		"compare --json halo-4 halo-8 --records --repeat halo-4 -o OUT/changes", "fit --json --stability halo-4 halo-8 -o OUT/fit.json",
		"whatif --json --gains --slack --balance MPI_Recv --network latency=1us many -o OUT/x.otf2",
	}
	if !testing.Short() { // pictures take their time
		lines = append(lines, "analyze many -o OUT/report", "analyze --json halo-8 -o OUT/report --phase 3",
			"analyze "+zoo+" -o OUT/report --ranks 1-3",
			"scaling --json halo-2 halo-4 halo-8 -o OUT/scaling",
			"spacetime halo-8 --side-by-side halo-4 -o OUT/both.png", "fit --json --plots OUT/plots halo-8 many")
	}
	for _, line := range lines {
		testJobs(t, dir, line)
	}
}

// testJobs runs a command line with one goroutine, with many and with little memory: neither what it prints nor what it
// writes into OUT may change.
func testJobs(t *testing.T, dir, line string) {
	t.Helper()
	var want map[string]string
	for _, args := range [][]string{{"--jobs", "1"}, {"--jobs", "8"}, {"--jobs", "3", "--memory", "0"}} {
		out := t.TempDir()
		stdout := succeed(t, dir, append(strings.Fields(strings.ReplaceAll(line, "OUT", out)), args...)...)
		got := contentsOf(t, out)
		got["stdout"] = strings.ReplaceAll(stdout, out, "OUT")
		if want == nil {
			want = got
		}
		for name := range got {
			if got[name] != want[name] {
				t.Errorf("%s: %v changes %s", line, args, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v writes %d files, want %d", line, args, len(got), len(want))
		}
	}
}

// contentsOf returns all files below a directory by relative name.
func contentsOf(t *testing.T, dir string) map[string]string {
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// TestReportDirectory looks for what -o promises, and that nothing is overwritten unasked.
func TestReportDirectory(t *testing.T) {
	archive := sampleArchive(t, "ring-4")
	dir := t.TempDir()
	succeed(t, dir, "analyze", "-o", "report", archive)
	for _, name := range []string{"report.txt", "analysis.json", "spacetime.png", "spacetime.svg", "comm_matrix.png",
		"overhead_by_rank.png", "tables/calls.parquet", "tables/messages.parquet"} {
		if s, err := os.Stat(filepath.Join(dir, "report", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.txt"))
	if screen, all := bytes.Index(text, []byte("\nWHAT TO FIX")), bytes.Index(text, []byte("\nWhat to fix\n")); err != nil || screen < 0 ||
		all < screen {
		t.Errorf("report.txt does not begin with the first screen: %v", err)
	}
	if _, _, code := tracekit(t, dir, "analyze", "-o", "report", archive); code != exitUsage {
		t.Errorf("writing over a report: exit code %d, want %d", code, exitUsage)
	}
	if _, _, code := tracekit(t, dir, "analyze", "-o", "report", "--force", archive); code != exitDone {
		t.Errorf("--force: exit code %d", code)
	}
}

// TestMan states that there is a page for each command.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "man", "man1")
	for _, c := range newRoot(&cli.Streams{}).Commands() {
		if !c.Runnable() || c.Name() == "help" { // or a help topic
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "man1", "tracekit-"+c.Name()+".1")); err != nil {
			t.Error(err)
		}
	}
}

// TestBuiltAlone states that a line builds the command that it names, and no other one of the groups; and that lines
// that name none have them all.
func TestBuiltAlone(t *testing.T) {
	built := func(line ...string) (names []string) {
		for _, c := range newRoot(&cli.Streams{}, line...).Commands() {
			if c.GroupID != "" {
				names = append(names, c.Name())
			}
		}
		return names
	}
	all := built()
	for _, name := range all {
		if got := built(name, "--help"); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %v are built", name, got)
		}
	}
	for _, line := range [][]string{{"help", "analyze"}, {"analyse"}, {"--help"}, {"__complete", "analyze"}, {"man", "x"}} {
		if got := built(line...); !slices.Equal(got, all) {
			t.Errorf("%v: %v are built", line, got)
		}
	}
}

// TestInterrupted states that a cancelled run fails and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	archive := sampleArchive(t, "ring-4")
	dir := t.TempDir()
	t.Chdir(dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, &cli.Streams{Out: &out, Err: &errs, Width: 120}, []string{"spacetime", archive, "-o", "x.png"})
	if code != exitFailed || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, io *cli.Streams, args []string) int {
	return cli.Execute(ctx, io, args, newRoot)
}

// Exit codes, as the help has them.
const (
	exitDone, exitFailed, exitUsage, exitNotATrace, exitGate = 0, 1, 2, 3, 4
)
