package readers

import (
	"fmt"
	"path/filepath"
	"strings"

	"tracekit/readers/arrowdir"
	"tracekit/readers/jsontrace"
	"tracekit/readers/otf2"
	"tracekit/readers/paraver"
	"tracekit/trace"
)

// A Writer writes a trace in some format. What the format cannot express is left out and
// counted.
type Writer interface {
	trace.Sink

	// Lost counts, by what it is, what was left out so far.
	Lost() map[string]uint64

	// Discard removes what was written of a trace that is not to be completed.
	Discard() error
}

// Formats returns the names of the formats that Create writes.
func Formats() []string { return []string{"otf2", "paraver", "json", "arrow", "parquet"} }

// FormatOf returns the format that a name stands for: .otf2, .prv, .prv.gz, .json,
// .json.gz, .arrow, .parquet; any other name is a directory for an OTF2 archive.
func FormatOf(path string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	switch filepath.Ext(name) {
	case ".prv":
		return "paraver"
	case ".json":
		return "json"
	case ".arrow":
		return "arrow"
	case ".parquet":
		return "parquet"
	}
	return "otf2"
}

// Create begins a trace of the given format ("": that of the name). The error wraps
// fs.ErrExist if there is something of that name and force is not set.
func Create(path, format string, force bool, info trace.Info, defs *trace.Defs) (Writer, error) {
	if format == "" {
		format = FormatOf(path)
	}
	switch format {
	case "otf2":
		return writer(otf2.Create(path, info, defs, otf2.Options{Force: force}))
	case "paraver":
		return writer(paraver.Create(path, info, defs, paraver.CreateOptions{Force: force}))
	case "json":
		return writer(jsontrace.Create(path, info, defs, jsontrace.WriteOptions{Force: force}))
	case "arrow", "parquet":
		return writer(arrowdir.Create(path, info, defs, arrowdir.Options{Format: arrowdir.Format(format), Force: force}))
	}
	return nil, fmt.Errorf("%q is not a format that can be written: want %s", format, strings.Join(Formats(), ", "))
}

// writer makes an interface of what a format returns, nil with an error.
func writer[W Writer](w W, err error) (Writer, error) {
	if err != nil {
		return nil, err
	}
	return w, nil
}
