package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/engine"
	"tracekit/merge"
	"tracekit/page"
	"tracekit/readers"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// BenchmarkCommands runs what users wait for on generated traces, on one core.
func BenchmarkCommands(b *testing.B) {
	dir := b.TempDir()
	command := func(b *testing.B, line string, args ...string) {
		b.Helper()
		var out, errs bytes.Buffer
		args = append(strings.Fields(line), args...)
		if code := run(b.Context(), &cli.Streams{Out: &out, Err: &errs, Width: 120}, args); code != 0 {
			b.Fatalf("%s: exit code %d\n%s", args, code, &errs)
		}
	}
	for _, program := range []string{
		"halo --ranks 64 --iterations 400", "sweep --ranks 16 --iterations 800", "multigrid --ranks 16 --iterations 40",
	} {
		name, _, _ := strings.Cut(program, " ")
		in := filepath.Join(dir, name)
		command(b, "generate "+program+" --quiet --force -o", in)
		archive := filepath.Join(in, "traces.otf2")
		for _, line := range []string{
			"analyze --json", "compress -o OUT.tkf", "convert OUT.arrow", "convert OUT.prv", "convert OUT.json", "spacetime -o OUT.png",
		} {
			what, _, _ := strings.Cut(line, " -")
			b.Run(strings.ReplaceAll("program="+name+"/command="+what, " OUT", ""), func(b *testing.B) {
				words := strings.Fields(strings.ReplaceAll(line, "OUT", filepath.Join(b.TempDir(), "out")))
				args := append([]string{"--quiet", "--jobs=1"}, words[1:]...)
				switch words[0] {
				case "convert": // convert IN OUT
					args = []string{"--quiet", "--jobs=1", "--force", archive, words[1]}
				case "compress", "spacetime":
					args = append(args, "--force", archive)
				default:
					args = append(args, archive)
				}
				for b.Loop() {
					command(b, words[0], args...)
				}
			})
		}
	}
}

// BenchmarkIndex makes the index of a timeline, and moves it to where it is served from, on one core;
// beside it stands what reading the trace alone takes.
func BenchmarkIndex(b *testing.B) {
	dir := b.TempDir()
	var out, errs bytes.Buffer
	if code := run(b.Context(), &cli.Streams{Out: &out, Err: &errs}, []string{"generate", "halo", "--ranks=64", "--iterations=2400", "-o",
		filepath.Join(dir, "halo")}); code != 0 {
		b.Fatal(&errs)
	}
	store := spill.NewStore(192<<20, dir)
	defer store.Close()
	src, err := readers.Open(b.Context(), filepath.Join(dir, "halo"), readers.OpenOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	t, err := merge.Merge(b.Context(), src, merge.Options{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	a := statstest.Analysis(b, t, analysis.Options{})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := engine.Each(b.Context(), src, engine.Options{Jobs: 1},
				func(_ context.Context, _ trace.LocationID, batches engine.Batches) (none struct{}, err error) {
					for _, err := range batches {
						if err != nil {
							return none, err
						}
					}
					return none, nil
				}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			x, _, err := page.NewIndex(b.Context(), t, a, page.Bounds(page.DefaultSize), 1)
			if err != nil {
				b.Fatal(err)
			}
			served := spill.NewStore(48<<20, dir)
			if err := x.Move(served); err != nil {
				b.Fatal(err)
			}
			served.Close()
		}
	})
}
