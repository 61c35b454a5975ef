package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/trace/tracetest"
)

// exampleTraces makes the traces that the examples of the help name, in the current folder.
func exampleTraces(t *testing.T) {
	halo := func(path string, ranks, iterations, seed int) {
		succeed(t, ".", "generate", "halo", "-q", "--ranks", fmt.Sprint(ranks), "--iterations", fmt.Sprint(iterations), "--seed", fmt.Sprint(seed),
			"--late-sender", "5000", "-o", path)
	}
	for i, path := range []string{"before-1", "before-2", "before-3", "after-1", "after-2", "after-3", "before.otf2", "after.otf2",
		"mpibench-2", "mpibench-4", "scorep-20261121", "run2.otf2"} {
		halo(path, 4, 20, i)
	}
	for _, ranks := range []int{1, 2, 4, 8, 16} {
		halo(fmt.Sprintf("run-%d.otf2", ranks), max(ranks, 2), 20, ranks)
		if ranks > 1 {
			succeed(t, ".", "convert", "-q", fmt.Sprintf("run-%d.otf2", ranks), fmt.Sprintf("run-%d.prv.gz", ranks))
		}
	}
	halo("traces.otf2", 64, 10, 1)
	succeed(t, ".", "generate", "training", "-q", "--iterations", "10", "-o", "job")
	tracetest.WriteFile(t, "first.star", "def trace_event(id):\n    return True\n")
	if err := os.Mkdir("src", 0o755); err != nil {
		t.Fatal(err)
	}
	tracetest.WriteFile(t, filepath.Join("src", "halo.c"), strings.Repeat("\n", 120))
	succeed(t, ".", "convert", "-q", "traces.otf2", "run.json")
	succeed(t, ".", "compress", "-q", "traces.otf2", "-o", "run.tkf")
	for rank := range 2 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprintf(z, `[{"name":"work","ph":"X","ts":1,"dur":2,"pid":%d,"tid":0}]`, rank)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		tracetest.WriteFile(t, fmt.Sprintf("rank%d.json.gz", rank), b.String())
	}
}

// TestExamples runs the examples of the help of each command, one after another as a reader would. A gate may be shut.
func TestExamples(t *testing.T) {
	dumps := os.DirFS(absolute(t, "../../samples/dumps"))
	t.Chdir(t.TempDir())
	exampleTraces(t)
	if err := os.CopyFS("dumps", dumps); err != nil {
		t.Fatal(err)
	}
	for _, c := range newRoot(&cli.Streams{}).Commands() {
		for line := range strings.Lines(c.Example) {
			line = strings.ReplaceAll(line, "--iterations 1000 ", "--iterations 10 ") // which take their time
			for _, command := range strings.Split(strings.TrimSpace(line), " && ") {
				words, ours := strings.CutPrefix(command, "tracekit ")
				switch {
				case !ours || strings.HasPrefix(words, "view "): // another program; a server, which has tests of its own
					continue
				case strings.Contains(words, "sbatch"): // needs a batch system
					continue
				}
				var args []string
				for _, arg := range arguments(words) {
					found, _ := filepath.Glob(arg)
					if len(found) == 0 {
						found = []string{arg}
					}
					args = append(args, found...)
				}
				if slices.Contains(args, "run.parquet") && slices.Contains(args, "--shard") {
					os.RemoveAll("run.parquet") // as a whole, of an earlier example
				}
				if stdout, stderr, code := tracekit(t, ".", append(args, force(args)...)...); code != exitDone && code != exitGate &&
					!strings.Contains(stderr, "nothing to restore") { // no iteration of this trace repeats another
					t.Errorf("%s: exit code %d: %s%s", command, code, stdout, stderr)
				}
			}
		}
	}
}

// force lets an example write what an earlier one has written.
func force(args []string) []string {
	c, _, err := newRoot(&cli.Streams{}).Find(args)
	if err == nil && (c.Name() != "combine" || slices.Contains(args, "-o")) && c.Flags().Lookup("force") != nil {
		return []string{"--force"}
	}
	return nil
}
