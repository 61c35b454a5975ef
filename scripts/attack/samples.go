package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"tracekit/readers"
	"tracekit/samples/oracle"
	"tracekit/trace"
)

// A sample is a sound trace: its files, and which of them a command is given.
type sample struct {
	name   string
	format string
	files  []file
	open   []string // paths below the directory of the files; "." is the directory
	weight int      // how often it is taken, relative to others

	// Of what stands beside a trace: see beside.go.
	made   int       // the first so many files are not the trace's
	left   []file    // what is laid down if it is not the files: the trace and what commands have left behind beside it
	makers []command // which leave more behind, in each run anew
}

// A file is a file of a trace by its path below the trace's directory.
type file struct {
	name string
	data []byte
}

// weightOf returns the weight of a sample by the size of the trace that it was made of: what a run takes grows with it.
func weightOf(files []file) int {
	size := 0
	for _, f := range files {
		size += len(f.data)
	}
	return 1 + 100_000/(size+5_000)
}

// made are the formats that samples are converted to, by the name of the copy.
var made = []struct {
	format, name string
	args         []string
}{
	{"paraver", "x.prv", []string{"convert"}},
	{"paraver.gz", "x.prv.gz", []string{"convert"}},
	{"json", "x.json", []string{"convert"}},
	{"json.gz", "x.json.gz", []string{"convert"}},
	{"arrow", "x.arrow", []string{"convert"}},
	{"parquet", "x.parquet", []string{"convert"}},
	{"tkf lossless", "x.tkf", []string{"compress", "-o"}},
	{"tkf stat", "x.tkf", []string{"compress", "--mode", "stat", "-o"}},
	{"tkf stat", "x.tkf", []string{"compress", "--mode", "stat", "--durations", "law", "-o"}},
}

// recorded are the traces of recorders of accelerators, as they lie with their readers.
var recorded = []struct{ format, dir, open string }{
	{"nsight", "nsight/testdata/run", "."}, {"nsight", "nsight/testdata/run", "report0.sqlite"},
	{"rocpd", "rocpd/testdata/v3", "."}, {"rocpd", "rocpd/testdata/v40", "."}, {"rocpd", "rocpd/testdata/v41", "7.db"},
	{"rocprofv3", "rocpd/testdata/json", "7_results.json"},
	{"perfetto", "perfetto/testdata/run", "."}, {"perfetto", "perfetto/testdata/run", "rank0.pftrace"},
	{"spans", "spans/testdata/run", "rank0.csv"}, {"spans", "spans/testdata/run", "rank1.parquet"},
	{"spans", "spans/testdata/job", "job.arrow"},
	{"xplane", "xplane/testdata/run", "."}, {"xplane", "xplane/testdata/run", "worker0.xplane.pb"},
}

// small are the patterns of samples/testdata/patterns that are damaged as archives are: a few records, of which they have most kinds.
var small = []string{"intercommunicator", "late-sender-waitall", "nonblocking-collective", "threads"}

// writeSmall writes them as archives below a directory.
func writeSmall(ctx context.Context, root, dir string) error {
	patterns, err := oracle.ReadPatterns(filepath.Join(root, "samples", "testdata", "patterns"))
	if err != nil {
		return err
	}
	for _, name := range small {
		at := slices.IndexFunc(patterns, func(p oracle.Pattern) bool { return p.Name == name })
		if at < 0 {
			return fmt.Errorf("there is no pattern %s", name)
		}
		src := patterns[at].Trace
		w, err := readers.Create(filepath.Join(dir, name), src.Info(), src.Defs(), readers.CreateOptions{Format: "otf2"})
		if err != nil {
			return err
		}
		for l := range src.Defs().Locations {
			for b, readErr := range src.Events(ctx, trace.LocationID(l)) {
				if err = errors.Join(err, readErr); err == nil {
					err = w.Write(b)
				}
			}
		}
		if err = errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// findSamples returns the samples of the repository: its archives and small patterns in every format, and the
// traces of the readers' goldens that are sound. It makes copies below work.
func findSamples(ctx context.Context, root string, tracekit *program, work string) ([]*sample, error) {
	if err := errors.Join(os.MkdirAll(filepath.Join(work, "small"), 0o777), writeSmall(ctx, root, filepath.Join(work, "small"))); err != nil {
		return nil, err
	}
	var originals []string
	for _, pattern := range []string{filepath.Join(root, "samples", "archives", "*"), filepath.Join(work, "small", "*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		originals = append(originals, found...)
	}
	var out []*sample
	add := func(original *sample, name, format, dir string, open ...string) (*sample, error) {
		files, err := readFiles(dir)
		s := &sample{name: name, format: format, open: open, files: files, weight: weightOf(files)}
		if original != nil {
			s.weight = original.weight
		}
		out = append(out, s)
		return s, err
	}
	for _, original := range originals {
		name := filepath.Base(original)
		recorded, err := add(nil, name, "otf2", original, ".")
		if err != nil {
			return nil, err
		}
		for i, m := range made {
			dir := filepath.Join(work, fmt.Sprintf("%s-%d", name, i))
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, err
			}
			args := slices.Concat(m.args, []string{filepath.Join(dir, m.name), "--quiet"})
			if err := runs(ctx, tracekit, slices.Insert(args, 1, original)...); err != nil {
				return nil, err
			}
			if _, err := add(recorded, name, m.format, dir, m.name); err != nil {
				return nil, err
			}
		}
		dir := filepath.Join(work, name+"-parts")
		if err := writeParts(ctx, tracekit, original, filepath.Join(dir, "x.parquet")); err != nil {
			return nil, err
		}
		if _, err := add(recorded, name, "parts", dir, "x.parquet"); err != nil {
			return nil, err
		}
	}
	for _, r := range recorded {
		if _, err := add(nil, filepath.Base(r.dir), r.format, filepath.Join(root, "readers", filepath.FromSlash(r.dir)), r.open); err != nil {
			return nil, err
		}
	}
	texts, err := goldens(ctx, root, tracekit, work)
	if err != nil {
		return nil, err
	}
	calls, err := profiles(root)
	if err != nil {
		return nil, err
	}
	beside, err := leftovers(ctx, originals, tracekit, work)
	return slices.Concat(out, texts, calls, beside), err
}

// writeParts writes a trace in two parts.
func writeParts(ctx context.Context, tracekit *program, trace, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	for _, args := range [][]string{{"convert", "--shard", "1/2", trace, out}, {"convert", "--shard", "2/2", trace, out},
		{"combine", out}} {
		if err := runs(ctx, tracekit, append(args, "--quiet")...); err != nil {
			return err
		}
	}
	return nil
}

// runs runs a command that is to succeed.
func runs(ctx context.Context, tracekit *program, args ...string) error {
	if text, err := exec.CommandContext(ctx, tracekit.path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, text)
	}
	return nil
}

// goldens returns the traces in the goldens of the readers of text that lose nothing.
func goldens(ctx context.Context, root string, tracekit *program, work string) ([]*sample, error) {
	var out []*sample
	for _, pattern := range []string{"paraver/testdata/*.txtar", "jsontrace/testdata/goldens/*.txtar"} {
		paths, err := filepath.Glob(filepath.Join(root, "readers", filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			a, err := txtar.ParseFile(path)
			if err != nil {
				return nil, err
			}
			s := &sample{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), format: strings.SplitN(pattern, "/", 2)[0], weight: 4}
			for _, f := range a.Files {
				if f.Name == "want" {
					continue
				}
				s.files = append(s.files, file{f.Name, bytes.TrimSuffix(f.Data, []byte("\\\n"))})
				if ext := filepath.Ext(f.Name); ext == ".prv" || ext == ".json" {
					s.open = append(s.open, f.Name)
				}
			}
			s.format = strings.Replace(s.format, "jsontrace", "json", 1)
			dir := filepath.Join(work, s.format+"-"+s.name)
			if err := writeFiles(dir, s.files); err != nil {
				return nil, err
			}
			if len(s.open) > 0 && exec.CommandContext(ctx, tracekit.path, append([]string{"info", "--counts", "--strict"},
				under(dir, s.open)...)...).Run() == nil {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// readFiles reads a directory with all below it, in order of name.
func readFiles(dir string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, file{filepath.ToSlash(name), data})
		return err
	})
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, err
}

// writeFiles writes files below a directory.
func writeFiles(dir string, files []file) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// under returns paths below a directory.
func under(dir string, paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, filepath.Join(dir, p))
	}
	return out
}

// choose returns the samples of the formats, and the commands of the names, in lists; all of
// an empty one.
func choose(samples []*sample, commands []command, formats, names string) ([]*sample, []command) {
	other := func(list, name string) bool { return list != "" && !slices.Contains(strings.Split(list, ","), name) }
	commands = slices.DeleteFunc(slices.Clone(commands), func(c command) bool { return other(names, c.name) })
	samples = slices.DeleteFunc(samples, func(s *sample) bool {
		return other(formats, s.format) || !slices.ContainsFunc(commands, func(c command) bool { return c.takes(s) })
	})
	return samples, commands
}
