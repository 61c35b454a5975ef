package page

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"tracekit/stats/analysis"
	"tracekit/trace"
)

// Sources are the files below a directory in which those that a trace names are looked up. Nothing
// outside it is ever opened, whatever a trace names and wherever links lead.
type Sources struct {
	root  *os.Root
	named map[string][]string // by the last part of the name: slash-separated paths, sorted
}

// Bounds of what is looked at and shown.
const (
	mostEntries   = 1 << 18 // of the directory
	mostFiles     = 200
	longestSource = 8 << 20 // bytes; a longer file is not read
	wholeSource   = 128 << 10
	around        = 15 // lines before and after one with costs, of a file that is not shown whole
)

// OpenSources lists a directory. Hidden folders are passed over, links are not followed. The caller
// closes it.
func OpenSources(dir string) (*Sources, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Sources{root: root, named: make(map[string][]string)}
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > mostEntries {
			return fmt.Errorf("%s has more than %d files; choose a directory inside it", dir, mostEntries)
		}
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil // what cannot be read is not there
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular():
			s.named[d.Name()] = append(s.named[d.Name()], name)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Stamp writes what tells whether files have changed: their names, sizes and times of change.
func (s *Sources) Stamp(to io.Writer) {
	for _, last := range slices.Sorted(maps.Keys(s.named)) {
		for _, name := range s.named[last] {
			if info, err := s.root.Lstat(name); err == nil {
				fmt.Fprintf(to, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
}

// Close ends the use of the directory.
func (s *Sources) Close() error { return s.root.Close() }

// find returns the file that a trace means by a name: of those whose last part is the same, that
// which shares the most folders with it, from the last one backwards; of several the one with the
// shortest path. Others is how many share as many.
func (s *Sources) find(name string) (file string, others int) {
	parts := strings.Split(strings.ReplaceAll(name, `\`, "/"), "/")
	best := -1
	for _, candidate := range s.named[parts[len(parts)-1]] {
		folders, same := strings.Split(candidate, "/"), 0
		for same < min(len(folders), len(parts)) && folders[len(folders)-1-same] == parts[len(parts)-1-same] {
			same++
		}
		switch {
		case same > best:
			file, others, best = candidate, 0, same
		case same == best:
			others++
			if c := cmp.Or(cmp.Compare(len(candidate), len(file)), cmp.Compare(candidate, file)); c < 0 {
				file = candidate
			}
		}
	}
	return file, others
}

// A sourceFile is a file that the trace names, or what of it is shown.
type sourceFile struct {
	Name   string       `json:"name"`   // as the trace has it
	Found  string       `json:"found"`  // below the directory
	Others int          `json:"others"` // files that may be meant as well
	Lines  int          `json:"lines"`
	Parts  []sourcePart `json:"parts"`
}

// A sourcePart is some lines of a file, one after another.
type sourcePart struct {
	First int      `json:"first"` // number of its first line, from 1
	Text  []string `json:"text"`
}

// A namedFile is a file that a trace names, with the lines that have costs.
type namedFile struct {
	name  string
	lines []int
}

// namedLines lists the files of an analysis, that with the most time in calls of MPI first.
func namedLines(d *trace.Defs, a *analysis.Result) (out []namedFile) {
	if a == nil {
		return nil
	}
	index := map[string]int{}
	add := func(file string, line uint32) {
		if file == "" || line == 0 {
			return
		}
		k, ok := index[file]
		if !ok {
			k = len(out)
			index[file] = k
			out = append(out, namedFile{name: file})
		}
		out[k].lines = append(out[k].lines, int(min(line, 1<<30)))
	}
	for _, l := range a.Lines {
		add(string(l.File), uint32(l.Line))
	}
	for _, r := range a.Profile {
		add(string(r.File), uint32(r.Line))
	}
	for _, s := range d.SourceLocations {
		add(d.String(s.File), s.Line)
	}
	return out
}

// take reads files until their text has so many bytes, and says which were not found.
func (s *Sources) take(files []namedFile, limit int) (out []sourceFile, lost []string) {
	out, lost = []sourceFile{}, []string{}
	for _, f := range files[:min(len(files), mostFiles)] {
		found, others := s.find(f.name)
		text, ok := s.read(found)
		if !ok {
			lost = append(lost, shorten(f.name))
			continue
		}
		x := sourceFile{Name: shorten(f.name), Found: shorten(found), Others: others, Lines: len(text)}
		for _, part := range partsOf(text, f.lines) {
			p := sourcePart{First: part[0] + 1}
			for _, line := range text[part[0]:part[1]] {
				line = shorten(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
				if limit -= len(line) + 4; limit < 0 {
					break
				}
				p.Text = append(p.Text, line)
			}
			if len(p.Text) > 0 {
				x.Parts = append(x.Parts, p)
			}
		}
		if out = append(out, x); limit < 0 {
			break
		}
	}
	return out, lost
}

// read returns the lines of a file below the directory; ok is false if it is none that people
// read.
func (s *Sources) read(name string) (lines []string, ok bool) {
	if name == "" {
		return nil, false
	}
	f, err := s.root.Open(path.Clean(name))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > longestSource {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(f, longestSource))
	if err != nil || len(text) == 0 || bytes.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), true
}

// partsOf chooses which lines of a file are shown, as [from, to): all, or those around lines with
// costs.
func partsOf(text []string, costs []int) (parts [][2]int) {
	size := 0
	for _, line := range text {
		size += len(line)
	}
	if size <= wholeSource {
		return [][2]int{{0, len(text)}}
	}
	slices.Sort(costs)
	for _, line := range costs {
		from, to := max(line-1-around, 0), min(line+around, len(text))
		if from >= to {
			continue
		}
		if n := len(parts); n > 0 && from <= parts[n-1][1] {
			parts[n-1][1] = to
			continue
		}
		parts = append(parts, [2]int{from, to})
	}
	return parts
}
