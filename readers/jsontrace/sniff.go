package jsontrace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "json"

// Sniff reports whether a path is a JSON trace: head is how its file begins, nil if it is a
// directory. 4096 bytes are enough of a head.
func Sniff(path string, head []byte) bool {
	if head == nil {
		return len(Files(path)) > 0
	}
	return sniff(head)
}

// sniff reports whether a file that begins so is a JSON trace, compressed or not: it
// begins with an array of objects, with an object that is an event, or with an object that
// has members of a trace as far as head shows it.
func sniff(head []byte) bool {
	plain, err := uncompressed(bytes.NewReader(head))
	if err != nil {
		return false
	}
	head = make([]byte, 4096)
	n, _ := io.ReadFull(plain, head)
	head = bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))
	head = head[skipSpace(head, 0):]
	if len(head) == 0 {
		return false
	}
	if head[0] == '[' {
		rest := bytes.TrimLeft(head[1:], " \t\r\n,")
		return len(rest) == 0 || rest[0] == '{' || rest[0] == ']'
	}
	return head[0] == '{' && startsLikeTrace(head)
}

// Files returns the files of a trace: the paths themselves, or in place of a directory the
// JSON traces in it whose names say so (.json or .pfw, perhaps compressed), in order of name.
func Files(paths ...string) (files []string) {
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			files = append(files, path)
		}
		for _, e := range entries {
			if file := filepath.Join(path, e.Name()); named(e.Name()) && sniffFile(file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// named reports whether the name of a file says that it may be a JSON trace.
func named(name string) bool {
	for _, ext := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, ext)
	}
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".pfw")
}

func sniffFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return sniff(head[:n])
}

// startsLikeTrace looks at the keys of an object as far as they are there.
func startsLikeTrace(head []byte) bool {
	var ev event
	if ev.parse(head, false, nanoDigits) > 0 && (ev.phase != 0 || ev.empty && len(head) > 2) {
		return true
	}
	found := false
	i := 1
	for !found {
		if i = skipSpace(head, i); i < len(head) && head[i] == ',' {
			i = skipSpace(head, i+1)
		}
		if i >= len(head) || head[i] != '"' {
			return false
		}
		end := skipString(head, i+1)
		if end < 0 {
			return false
		}
		found = traceMembers[string(head[i+1:end-1])]
		if i = skipSpace(head, end); i >= len(head) || head[i] != ':' {
			return found
		}
		if i = skipValue(head, skipSpace(head, i+1), false); i < 0 {
			return found
		}
	}
	return true
}

// traceMembers are the members of the outer object, or of an event, by which a trace is
// recognised before its events are seen.
var traceMembers = map[string]bool{"traceEvents": true, "displayTimeUnit": true, "schemaVersion": true,
	"deviceProperties": true, "baseTimeNanoseconds": true, "systemTraceEvents": true, "stackFrames": true,
	"tracekit": true, "ph": true, "viztracer_metadata": true, "otherData": true, "distributedInfo": true}

var _ trace.Source = (*Source)(nil)
var _ trace.Sink = (*Writer)(nil)
