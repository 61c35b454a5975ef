package readers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"tracekit/trace"
)

// Files are the files of a trace, by what they are for who opens it. Paths are slash-separated.
type Files struct {
	Opened []string // are read when the trace is opened; without the last there is none
	Events []string // have the events of one location each, see EventFile: opening takes their size alone
}

// FilesOf returns the files of the trace that is opened by a path, in a store of which only the content is known: find returns the paths
// that begin with a prefix. What the files hold shows when the trace is opened. The error wraps trace.ErrNotATrace if the path is that of
// no file, and of no directory with a single trace.
func FilesOf(name string, find func(prefix string) ([]string, error)) (Files, error) {
	name = strings.TrimRight(name, "/")
	// The names of the files of a trace begin alike, up to their extensions.
	base, _, _ := strings.Cut(path.Base(name), ".")
	there, err := find(strings.TrimSuffix(name, path.Base(name)) + base)
	if err != nil {
		return Files{}, err
	}
	if slices.Contains(there, name) {
		return filesOfFile(name, there), nil
	}
	if there, err = find(name + "/"); err != nil {
		return Files{}, err
	}
	var traces []string
	for i := range formats {
		if f := formats[i].files; f != nil {
			if files := f(name, there); len(files.Opened) > 0 {
				return files, nil
			}
		}
	}
	for _, file := range there {
		if path.Dir(file) == name && formatNamed(file) != nil {
			traces = append(traces, file)
		}
	}
	switch len(traces) {
	case 0:
		return Files{}, fmt.Errorf("%s: %w: no such file, and no trace in this directory", name, trace.ErrNotATrace)
	case 1:
		return filesOfFile(traces[0], there), nil
	}
	return Files{}, fmt.Errorf("%s: %w: it holds several traces; open one of %s", name, trace.ErrNotATrace, list(traces))
}

// filesOfFile returns the files of the trace that is opened by a file.
func filesOfFile(name string, there []string) Files {
	if f := formatNamed(name); f != nil && f.files != nil {
		return f.files(name, there)
	}
	return Files{Opened: []string{name}}
}

// EventFile returns the path of the file that has the events of a location, and nothing else; "" if the
// source knows of none. It is read when the events are, and only then.
func EventFile(src trace.Source, l trace.LocationID) string {
	if s, ok := src.(interface {
		EventFile(trace.LocationID) string
	}); ok {
		return s.EventFile(l)
	}
	return ""
}

// ExtraCounts returns how many records a trace has, by kind, besides definitions and events: snapshots,
// markers and thumbnails, which nothing else looks at. It is nil if the source knows of none.
func ExtraCounts(src trace.Source) map[string]uint64 {
	if s, ok := src.(interface{ ExtraCounts() map[string]uint64 }); ok {
		return s.ExtraCounts()
	}
	return nil
}
