package readers

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"tracekit/readers/internal/sqlite"
	"tracekit/readers/internal/wire"
	"tracekit/readers/spans"
	"tracekit/trace"
)

// headSize is how much of a file is looked at to recognise its format; blockSize that of a file whose compression is in blocks, of which
// the first must be whole.
const (
	headSize  = 4096
	blockSize = 1 << 20
)

// recognise returns the format of a file or directory, and the path of what is to be opened for
// it: of a file that belongs to a trace, and of a directory with a single trace, that trace.
func recognise(path string) (f *format, open string, err error) {
	if f, err = sniff(path); err == nil && f != nil && f.within != nil && isDir(path) {
		err = mixed(path)
	}
	if f != nil || err != nil {
		return f, path, err
	}
	var traces []string
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, "", err
	case info.IsDir() && slices.ContainsFunc(formats, func(f format) bool { return f.unjoined != nil && f.unjoined(path) }):
		return nil, "", fmt.Errorf("%s: %w: it holds parts of a trace; join them with 'tracekit combine'", path,
			trace.ErrNotATrace)
	case info.IsDir():
		traces = append(companionOf(path, []string{filepath.Clean(path)}), tracesIn(path)...)
	default:
		traces = companionOf(path, stems(path))
	}
	if len(traces) == 1 {
		f, err = sniff(traces[0])
		return f, traces[0], err
	}
	return nil, "", fmt.Errorf("%s: %w: %s", path, trace.ErrNotATrace, hint(path, info, traces))
}

// Kind returns what a trace of a known format at a path is called in a message, such as an OTF2 archive; "" if there is none.
func Kind(path string) string {
	f, _, err := recognise(path)
	if err != nil || f == nil {
		return ""
	}
	kind, _, _ := strings.Cut(f.phrase, " (")
	return kind
}

// mixed refuses a directory whose files are traces of several formats that only their content tells apart.
func mixed(dir string) error {
	var kinds, some []string
	for _, f := range formats {
		if f.within == nil {
			continue
		}
		if files := f.within(dir); len(files) > 0 {
			kinds = append(kinds, fmt.Sprintf("%d of %s (%s)", len(files), f.label, list(files)))
			some = files
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	return fmt.Errorf("%s: %w: it holds files of several formats: %s; name the files of one run, such as %s", dir, trace.ErrNotATrace,
		strings.Join(kinds, " and "), list(some))
}

// sniff returns the format of what is a trace itself, nil if it is none.
func sniff(path string) (*format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var head []byte
	if !info.IsDir() {
		if head, err = readHead(path, info); err != nil {
			return nil, err
		}
	}
	is := func(f format) bool { return f.sniff != nil && f.sniff(path, head) }
	if i := slices.IndexFunc(formats, is); i >= 0 {
		return &formats[i], nil
	}
	return nil, nil
}

// readHead returns the first bytes of a file. A pipe, of which they would be lost, is not
// opened.
func readHead(path string, info os.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: not a regular file; save it as a file first, because it is read more than "+
			"once", path, trace.ErrNotATrace)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err == nil && wire.Blocks(head) {
		var more int
		head = append(head, make([]byte, blockSize-headSize)...)
		more, err = io.ReadFull(f, head[n:])
		n += more
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// tracesIn returns the traces in a directory, of files those whose names say so, in order of
// name.
func tracesIn(dir string) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() && (formatNamed(e.Name()) == nil || !e.Type().IsRegular()) {
			continue
		}
		if f, err := sniff(path); f != nil && err == nil {
			paths = append(paths, path)
		}
	}
	return wire.Once(paths)
}

// stems returns what the name of the trace to which a file belongs may be without its
// extension: the file's, without a number too (traces.0.thumb), or that of its directory, in
// which an OTF2 archive has its events.
func stems(path string) []string {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	dir := filepath.Dir(path)
	if absolute, err := filepath.Abs(dir); err == nil && dir == "." {
		dir = absolute
	}
	return []string{stem, strings.TrimSuffix(stem, filepath.Ext(stem)), dir}
}

// companionOf returns the first trace of those stems of a format that has further files; none if
// there is none.
func companionOf(path string, stems []string) []string {
	for _, f := range formats {
		if len(f.companions) == 0 || !slices.Contains(f.companions, filepath.Ext(path)) && !isDir(path) {
			continue
		}
		for _, stem := range stems {
			for _, extension := range f.extensions {
				for _, candidate := range []string{stem + extension, stem + extension + ".gz"} {
					if found, err := sniff(candidate); err == nil && found != nil && found.name == f.name && !isDir(candidate) {
						return []string{candidate}
					}
				}
			}
		}
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// companionFormat returns the format to whose traces files of that name belong, nil if there is
// none.
func companionFormat(path string) *format {
	i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.companions, filepath.Ext(path)) })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

// hint says why a path cannot be opened, and what might be.
func hint(path string, info os.FileInfo, traces []string) string {
	if len(traces) > 0 {
		return "it holds several traces; open one of " + list(traces)
	}
	if f := companionFormat(path); f != nil && !info.IsDir() {
		return "it is a part of a trace whose other files are missing: open " + f.phrase
	}
	if info.IsDir() && spans.Unnamed(path) {
		return "its tables have no columns of the usual names; name the files, and their columns with --columns"
	}
	if info.IsDir() {
		return "it contains no trace of a known format; 'tracekit info --help' lists them"
	}
	head, err := readHead(path, info)
	switch {
	case err != nil:
		return err.Error()
	case len(head) == 0:
		return "the file is empty"
	case otherTool(path, head) != "":
		return otherTool(path, head)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "it is a ZIP archive: unpack it, and open " + cmp.Or(list(packed(path)), "the trace in it")
	case compressed(path, head) != "":
		return compressed(path, head)
	case isTar(head):
		return "it is a tar archive: unpack it, and open the trace in it"
	}
	return "its format is unknown; 'tracekit info --help' lists the known formats"
}

// compressed says what is in a file that gzip has compressed, if it is a trace of a format whose files are read as they are; "" if not.
func compressed(path string, head []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return ""
	}
	inside, err := io.ReadAll(io.LimitReader(z, headSize)) // the head may end in the middle
	if len(inside) == 0 && err == nil {
		return "it is empty but for the frame of gzip"
	}
	what := ""
	for _, f := range formats {
		if what == "" && len(inside) > 0 && f.sniff != nil && !f.gzipped && f.sniff(path, inside) {
			what = f.phrase
		}
	}
	if sqlite.Is(inside) {
		what = "an SQLite database"
	}
	if what == "" {
		return ""
	}
	return "it is " + what + " that gzip has compressed: decompress it, and open that file"
}

// otherTool says what a file of another tool is that people take for a trace, and what to open in
// its place; "" if it is none.
func otherTool(path string, head []byte) string {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.HasSuffix(name, ".cubex"):
		return "it is a profile of Cube, which has no events: measure with SCOREP_ENABLE_TRACING=true, and open traces.otf2"
	case strings.HasSuffix(name, ".trc"), strings.HasSuffix(name, ".edf"):
		return "it is a trace of TAU: tau_trace2json makes a JSON file of it and of its other half"
	case strings.HasSuffix(name, ".nsys-rep"), strings.HasSuffix(name, ".qdrep"):
		return "it is a report of Nsight Systems in its own form: 'nsys export --type sqlite' makes a file of it that can be opened"
	case sqlite.Is(head):
		return "it is an SQLite database, but none of Nsight Systems, rocprofv3 or rocprofiler-systems"
	case strings.HasSuffix(name, ".mpit"):
		return "it is an intermediate file of Extrae: mpi2prv makes a .prv file of them"
	case head[0] == '\n' && bytes.ContainsFunc(head[:min(len(head), 64)], func(r rune) bool { return r < '\t' }):
		// Its first record is field 1 of a protocol buffer; no text has such characters.
		return "it looks like a protocol buffer, but it is neither a trace of Perfetto nor a profile of XLA"
	}
	return ""
}

// packed returns the files of a ZIP archive whose names are those of traces.
func packed(path string) (names []string) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil
	}
	defer z.Close()
	for _, f := range z.File {
		if formatNamed(f.Name) != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// isTar reports whether a file that begins so is a tar archive, plain or gzip.
func isTar(head []byte) bool {
	if z, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		plain := make([]byte, 512)
		n, _ := io.ReadFull(z, plain)
		head = plain[:n]
	}
	return len(head) > 262 && string(head[257:262]) == "ustar"
}

// listed is how many names a message lists.
const listed = 3

// list lists names for a message.
func list(names []string) string {
	if len(names) > listed {
		return strings.Join(names[:listed], ", ") + fmt.Sprintf(" and %d more", len(names)-listed)
	}
	return strings.Join(names, ", ")
}
