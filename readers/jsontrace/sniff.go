package jsontrace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "json"

// Sniff reports whether a path is a JSON trace: head is how its file begins, nil if it is a
// directory. Of a file that begins as an object as much is read as it takes to find events: any
// amount of metadata may come first.
func Sniff(path string, head []byte) bool {
	switch {
	case head == nil:
		return len(Files(path)) > 0
	case isTrace(bytes.NewReader(head)):
		return true
	}
	plain, err := uncompressed(bytes.NewReader(head))
	if err != nil {
		return false
	}
	first, ok := newInput(plain, len(head)).peek(0)
	if !ok || first != '{' && first != '\xef' {
		return false
	}
	is, err := sniffFile(path)
	return is && err == nil
}

// isTrace reports whether a text, compressed or not, is a JSON trace: it begins with an array of
// objects, with an object that is an event, or with an object that has a member of a trace.
func isTrace(r io.Reader) bool {
	plain, err := uncompressed(r)
	if err != nil {
		return false
	}
	c := &container{in: newInput(plain, windowBytes), h: ignored{}}
	if c.start() != nil {
		return false
	}
	if c.array {
		first, ok := c.in.peek(',')
		return !ok || first == '{' || first == ']'
	}
	if !c.object {
		return true // it is an event
	}
	for c.object && !c.array && !traceMembers[c.latest] && c.step() {
	}
	return c.array || traceMembers[c.latest]
}

// ignored is a handler to which nothing matters.
type ignored struct{}

func (ignored) digits() int                    { return nanoDigits }
func (ignored) event(*event, int64)            {}
func (ignored) member(string, []byte, int64)   {}
func (ignored) find(trace.Code, int64, string) {}

// Files returns the files of a trace: the paths themselves. In place of a directory stand the JSON traces in it whose names say so (.json
// or .pfw, perhaps compressed), in order of name. With them come those that cannot be opened: they may be traces. If there are none, those
// in its directories for iterations, in each of which torchtitan writes a file of each rank, stand for it.
func Files(paths ...string) (files []string) {
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			files = append(files, path)
		}
		var in, iterations []string
		some := false
		for _, e := range entries {
			file := filepath.Join(path, e.Name())
			if iteration().MatchString(e.Name()) && isDir(file) {
				iterations = append(iterations, file)
			}
			if !named(e.Name()) || isDir(file) {
				continue
			}
			is, err := sniffFile(file)
			if is || err != nil {
				in = append(in, file)
			}
			some = some || is
		}
		if some {
			files = append(files, wire.Once(in)...)
		} else if len(iterations) > 0 {
			files = append(files, Files(iterations...)...)
		}
	}
	return files
}

// iteration matches the name of a directory for what is recorded of an iteration.
var iteration = trace.Expression(`(?i)^(?:iter(?:ation)?|step)[-_]?\d{1,18}$`)

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// named reports whether the name of a file says that it may be a JSON trace.
func named(name string) bool {
	name = wire.Unpacked(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".pfw")
}

// sniffFile reports whether a file is a JSON trace; the error is that it cannot be opened.
func sniffFile(path string) (bool, error) {
	f, _, err := wire.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return isTrace(f), nil
}

// traceMembers are the members of the outer object, or of an event, by which a trace is
// recognised before its events are seen.
var traceMembers = map[string]bool{"traceEvents": true, "displayTimeUnit": true, "schemaVersion": true,
	"deviceProperties": true, "baseTimeNanoseconds": true, "systemTraceEvents": true, "stackFrames": true,
	"tracekit": true, "ph": true, "viztracer_metadata": true, "otherData": true, "distributedInfo": true}

var _ trace.Source = (*Source)(nil)
var _ trace.Sink = (*Writer)(nil)
