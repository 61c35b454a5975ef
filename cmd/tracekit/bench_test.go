package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkCommands runs what users wait for on generated traces, on one core.
func BenchmarkCommands(b *testing.B) {
	dir := b.TempDir()
	command := func(b *testing.B, line string, args ...string) {
		b.Helper()
		var out, errs bytes.Buffer
		args = append(strings.Fields(line), args...)
		if code := run(b.Context(), &streams{Out: &out, Err: &errs, Width: 120}, args); code != 0 {
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
