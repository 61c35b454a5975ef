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
	data, err := os.ReadFile(events[0])
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)/2:], bytes.Repeat([]byte{0xFF}, 40))
	if err := os.WriteFile(events[0], data, 0o644); err != nil {
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
			o := options{shards: n, memory: 64 << 20, parts: filepath.Join(t.TempDir(), "it's parts"), tracekit: command}
			o.self = []string{os.Args[0], fmt.Sprintf("--shards=%d", n)}
			if err := o.make(t.Context(), []string{trace}); err != nil {
				t.Fatalf("%s, %d shards: %v", trace, n, err)
			}
			var got bytes.Buffer
			if code, err := o.combine(t.Context(), &got, []string{"--json", "-q"}); code != 0 || err != nil || got.String() != want {
				t.Errorf("%s, %d shards: exit code %d, %v; documents equal: %t", trace, n, code, err, got.String() == want)
			}
		}
	}
}

// TestFiles: the file and the document that are made of what a pipeline has compressed are those of the
// plain command, byte for byte.
func TestFiles(t *testing.T) {
	command, trace := plain(t), "../samples/archives/halo2d-8"
	for _, flags := range [][]string{nil, {"--time-error=1us", "--terms", "6"}} {
		dir := t.TempDir()
		whole, joined := filepath.Join(dir, "whole.tkf"), filepath.Join(dir, "joined.tkf")
		want := printed(t, command, append([]string{"compress", "--json", "-q", "-o", whole, trace}, flags...)...)
		x, others, err := parseCompression(append([]string{"--json", "-q", "-o", joined}, flags...))
		if err != nil || len(others) != 4 {
			t.Fatalf("%v, %v", others, err)
		}
		o := options{shards: 3, memory: 64 << 20, parts: filepath.Join(dir, "parts"), compress: x}
		if err := o.make(t.Context(), []string{trace}); err != nil {
			t.Fatal(err)
		}
		if got := printed(t, command, append([]string{"combine", o.parts}, others...)...); got != want {
			t.Errorf("%v: the documents differ", flags)
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
		o := options{shards: 3, memory: 64 << 20, tracekit: command}
		if code, err := o.convert(t.Context(), []string{trace, parts}, []string{"-q", "--json"}); code != 0 || err != nil {
			t.Fatal(code, err)
		}
		if got := printed(t, command, "analyze", "-q", "--json", parts); strings.ReplaceAll(got, parts, whole) != printed(t, command, "analyze", "-q", "--json", whole) {
			t.Errorf("%s: the analyses differ", format)
		}
	}
	none := filepath.Join(t.TempDir(), "x.arrow")
	o := options{shards: 2, tracekit: command}
	if code, err := o.convert(t.Context(), []string{"beam_test.go", none}, nil); code == 0 || err == nil {
		t.Errorf("not a trace: exit code %d, %v", code, err)
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
	o := options{shards: 3, memory: 64 << 20, parts: filepath.Join(t.TempDir(), "parts"), tracekit: command}
	if code, err := o.convert(t.Context(), []string{trace, joined}, []string{"-q"}); code != 0 || err != nil {
		t.Fatal(code, err)
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
	again := options{shards: 3, tracekit: command}
	if code, err := again.convert(t.Context(), []string{trace, joined}, nil); code != 2 || err == nil {
		t.Errorf("over an archive: exit code %d, %v", code, err)
	}
	if code, err := again.convert(t.Context(), []string{trace, "x.prv"}, nil); code != 2 || err == nil {
		t.Errorf("to Paraver: exit code %d, %v", code, err)
	}
}

// TestFailure: what is no trace fails the pipeline with words that say so, and leaves no shard.
func TestFailure(t *testing.T) {
	o := options{shards: 2, parts: filepath.Join(t.TempDir(), "parts")}
	err := o.make(t.Context(), []string{"beam_test.go"})
	if err == nil || !strings.Contains(fmt.Sprint(err), "beam_test.go") {
		t.Errorf("not a trace: %v", err)
	}
	if left, _ := os.ReadDir(o.parts); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
