package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest/mutate"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// asProgram makes the test's program the command: for the second pass it is started by 'tracekit
// combine'.
const asProgram = "TRACEKIT_BEAM_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Setenv(asProgram, "1")
	flag.Parse()
	register()
	beam.Init()
	os.Exit(m.Run())
}

// plain returns the plain command, built for the test.
func plain(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tracekit")
	build := exec.Command("go", "build", "-o", name, "./cmd/tracekit")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

func printed(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(name, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// TestDocuments: the analysis of which pipelines on Beam's own runner have made both passes is that of
// the plain command, byte for byte, for 1, 2 and 4 shards, of every sample (with -short of one)
// and of a damaged archive, whose findings are the same.
func TestDocuments(t *testing.T) {
	command := plain(t)
	traces, err := filepath.Glob("../samples/archives/*")
	if err != nil || len(traces) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.CopyFS(damaged, os.DirFS("../samples/archives/halo2d-8")); err != nil {
		t.Fatal(err)
	}
	events, err := filepath.Glob(filepath.Join(damaged, "*", "*.evt"))
	if err != nil || len(events) == 0 {
		t.Fatalf("no events: %v", err)
	}
	if err := mutate.File(events[0], func(b []byte) []byte { copy(b[len(b)/2:], bytes.Repeat([]byte{0xFF}, 40)); return b }); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		traces = traces[:1]
	}
	for _, trace := range append(traces, damaged) {
		want := printed(t, command, "analyze", "--json", "-q", trace)
		if trace == damaged && strings.Contains(want, `"findings": []`) {
			t.Fatal("the damaged archive has no finding")
		}
		for _, n := range []int{1, 2, 4} {
			got, err := ran(t, options{shards: n, parts: filepath.Join(t.TempDir(), "it's parts"), tracekit: command}, "analyze", trace,
				"--", "--json", "-q")
			if err != nil || got != want {
				t.Errorf("%s, %d shards: %v; documents equal: %t", trace, n, err, got == want)
			}
		}
	}
}

// ran runs a command line and returns what it prints; the error is also for an exit code.
func ran(t *testing.T, o options, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	o.memory, o.stdout, o.self = 64<<20, &out, []string{os.Args[0], fmt.Sprintf("--shards=%d", o.shards)}
	code, err := o.run(t.Context(), args)
	if code != 0 && err == nil {
		err = fmt.Errorf("exit code %d", code)
	}
	if code == 0 && err != nil {
		t.Errorf("exit code 0 with %v", err)
	}
	return out.String(), err
}

// TestFiles: the file and the document that are made of what a pipeline has compressed are those of the
// plain command, byte for byte.
func TestFiles(t *testing.T) {
	command, trace := plain(t), "../samples/archives/halo2d-8"
	for _, flags := range [][]string{nil, {"--time-error=1us", "--terms", "6"}} {
		dir := t.TempDir()
		whole, joined := filepath.Join(dir, "whole.tkf"), filepath.Join(dir, "joined.tkf")
		want := printed(t, command, append([]string{"compress", "--json", "-q", "-o", whole, trace}, flags...)...)
		args := append([]string{"compress", trace, "--", "--json", "-q", "-o", joined}, flags...)
		if got, err := ran(t, options{shards: 3, tracekit: command}, args...); err != nil || got != want {
			t.Errorf("%v: %v; documents equal: %t", flags, err, got == want)
		}
		a, err := os.ReadFile(whole)
		b, err2 := os.ReadFile(joined)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%v: the files differ; %v, %v", flags, err, err2)
		}
	}
	for _, args := range [][]string{{"--terms", "0"}, {"--time-error", "x"}, {"--formulae", "x"}, {"--terms"}} {
		if _, _, err := parseCompression(args); err == nil {
			t.Errorf("%v: accepted", args)
		}
	}
}

// TestParts: the trace that a pipeline has written is that of the plain command, with the same words; a
// trace that cannot be read leaves nothing.
func TestParts(t *testing.T) {
	command, trace := plain(t), "../samples/archives/halo2d-8"
	for _, format := range []string{"arrow", "parquet"} {
		dir := t.TempDir()
		whole, parts := filepath.Join(dir, "whole."+format), filepath.Join(dir, "parts."+format)
		printed(t, command, "convert", "-q", trace, whole)
		if _, err := ran(t, options{shards: 3, tracekit: command}, "convert", trace, parts, "--", "-q", "--json"); err != nil {
			t.Fatal(err)
		}
		if got := printed(t, command, "analyze", "-q", "--json", parts); strings.ReplaceAll(got, parts, whole) != printed(t, command,
			"analyze", "-q", "--json", whole) {
			t.Errorf("%s: the analyses differ", format)
		}
	}
	none := filepath.Join(t.TempDir(), "x.arrow")
	if _, err := ran(t, options{shards: 2, tracekit: command}, "convert", "beam_test.go", none); err == nil {
		t.Error("not a trace: converted")
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("something is left of what was not written")
	}
}

// TestArchives: the archive and the document that are made of what a pipeline has converted are those of the
// plain command, byte for byte; the event files are gone.
func TestArchives(t *testing.T) {
	command, trace := plain(t), "../samples/archives/halo2d-8"
	whole, joined := filepath.Join(t.TempDir(), "x.otf2"), filepath.Join(t.TempDir(), "x.otf2")
	printed(t, command, "convert", "-q", trace, whole)
	if _, err := ran(t, options{shards: 3, parts: filepath.Join(t.TempDir(), "parts"), tracekit: command}, "convert", trace, joined, "--",
		"-q"); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := fs.WalkDir(os.DirFS(filepath.Dir(whole)), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		a, err := os.ReadFile(filepath.Join(filepath.Dir(whole), name))
		b, err2 := os.ReadFile(filepath.Join(filepath.Dir(joined), name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
		files++
		return errors.Join(err, err2)
	})
	if err != nil || files != 18 {
		t.Errorf("%d files, %v", files, err)
	}
	for _, out := range []string{joined, "x.prv"} {
		if _, err := ran(t, options{shards: 3, tracekit: command}, "convert", trace, out); err == nil {
			t.Errorf("%s: written", out)
		}
	}
}

// TestFailure: what is no trace fails the pipeline with words that say so, and leaves no shard.
func TestFailure(t *testing.T) {
	o := options{shards: 2, parts: filepath.Join(t.TempDir(), "parts"), tracekit: os.Args[0]}
	_, err := ran(t, o, "analyze", "beam_test.go")
	if err == nil || !strings.Contains(fmt.Sprint(err), "beam_test.go") {
		t.Errorf("not a trace: %v", err)
	}
	if left, _ := os.ReadDir(o.parts); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
