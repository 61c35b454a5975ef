package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
)

// What commands read beside a trace is damaged as traces are: profiles of MPI calls, and what other
// commands have left behind. Of such a sample the files beside the trace come first, and the
// trace lies in a directory of its own.

// traceBeside is that directory.
const traceBeside = "trace"

// beside reports whether the sample is more than a trace, for a command that reads it.
func (s *sample) beside() bool { return s.made > 0 }

// trace returns the paths of the trace.
func (s *sample) trace() []string {
	if s.beside() {
		return []string{traceBeside}
	}
	return s.open
}

// damaged chooses the file to damage. Of what stands beside a trace it is hardly ever the trace's: that
// is damaged after the others were made of it.
func (s *sample) damaged(r *rand.Rand) int {
	if s.beside() && (s.left == nil || r.IntN(6) > 0) {
		return r.IntN(s.made)
	}
	return r.IntN(len(s.files))
}

// left are files that commands leave behind, by the commands that make them of the trace, in the
// directory above the trace's.
var left = []struct {
	format string
	open   string // what a command is given that reads them
	files  string // which are damaged, a pattern
	makers []command
	anew   bool // for each run: they note where the trace lies
}{
	{"shards", "parts", "parts/*", []command{
		{args: []string{"analyze", "--shard", "1/3", "-o", "t/parts", "t/trace"}},
		{args: []string{"analyze", "--shard", "2/3", "-o", "t/parts", "t/trace"}},
		{args: []string{"analyze", "--shard", "3/3", "-o", "t/parts", "t/trace"}},
	}, false},
	{"tasks", "parts", "left/*", secondPass("task"), false},
	{"profiles of tasks", "parts", "left/*", secondPass("profile"), false},
	{"coded shards", "parts", "parts/*", []command{
		{args: []string{"compress", "--shard", "1/2", "-o", "t/parts", "t/trace"}},
		{args: []string{"compress", "--shard", "2/2", "-o", "t/parts", "t/trace"}},
	}, false},
	{"event files", "parts", "parts/*", []command{
		{args: []string{"convert", "--shard", "1/2", "t/trace", "t/parts"}},
		{args: []string{"convert", "--shard", "2/2", "t/trace", "t/parts"}},
	}, false},
	{"index", traceBeside, "*", []command{{args: []string{"view", "--keep-index=beside", "t/trace"}, serves: true}}, true},
}

// bothShares makes both shares of a second pass, in the shell.
const bothShares = `$TRACEKIT combine -q --shard 1/2 t/parts && $TRACEKIT combine -q --shard 2/2 t/parts`

// secondPass returns the commands that leave shards, and copies of the files of a second pass with an
// extension, for combine removes them. Whoever combines the shards once more puts the copies, damaged by
// then, in the place of the new ones, which are the same.
func secondPass(ext string) []command {
	return []command{
		{args: []string{"analyze", "--shard", "1/2", "-o", "t/parts", "t/trace"}},
		{args: []string{"analyze", "--shard", "2/2", "-o", "t/parts", "t/trace"}},
		{args: []string{"combine", "--second-pass", "mkdir t/left && " + bothShares + " && cp t/parts/*." + ext + " t/left", "t/parts"}},
	}
}

// leftovers returns what commands leave behind of originals.
func leftovers(ctx context.Context, originals []string, tracekit *program, work string) ([]*sample, error) {
	var out []*sample
	for _, original := range originals {
		trace, err := traceFiles(original)
		if err != nil {
			return nil, err
		}
		for _, l := range left {
			s := &sample{name: filepath.Base(original), format: l.format, open: []string{l.open}, left: trace, makers: l.makers}
			dir := filepath.Join(work, l.format+"-"+s.name)
			if err := (&campaign{tracekit: tracekit}).lay(ctx, s, dir, first); err != nil {
				return nil, err
			}
			all, err := readFiles(filepath.Join(dir, first))
			if err != nil {
				return nil, err
			}
			if !l.anew {
				s.left, s.makers = all, nil
			}
			found := slices.DeleteFunc(slices.Clone(all), func(f file) bool {
				damaged, err := path.Match(l.files, f.name)
				return err != nil || !damaged || slices.ContainsFunc(trace, func(t file) bool { return t.name == f.name })
			})
			if len(found) == 0 {
				return nil, fmt.Errorf("%s: its commands have left nothing behind", dir)
			}
			s.files, s.made, s.weight = slices.Concat(found, trace), len(found), weightOf(trace)
			out = append(out, s)
		}
	}
	return out, nil
}

// profiles returns the profile of MPI calls that the repository holds.
func profiles(root string) ([]*sample, error) {
	files, err := readFiles(filepath.Join(root, "samples", "profiles"))
	if err != nil {
		return nil, err
	}
	trace, err := traceFiles(filepath.Join(root, "samples", "archives", "ring-4-plain"))
	s := &sample{name: "profile", format: "profile", open: []string{traceBeside}, weight: 8, made: len(files)}
	for _, f := range files {
		s.files = append(s.files, file{"profile.json", f.data})
	}
	s.files = append(s.files, trace...)
	return []*sample{s}, err
}

// traceFiles reads the files of a trace, named as if they lay in the directory of traces.
func traceFiles(dir string) ([]file, error) {
	files, err := readFiles(dir)
	for i := range files {
		files[i].name = traceBeside + "/" + files[i].name
	}
	return files, err
}
