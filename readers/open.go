// Package readers opens a trace of any known format, and writes one; the packages below it
// know one format each, and this package is the table of them.
package readers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tracekit/readers/internal/wire"
	"tracekit/spill"
	"tracekit/trace"
)

// OpenOptions say with what means a trace is opened. The zero value is usual.
type OpenOptions struct {
	Jobs int // goroutines that decode while a trace is opened; below 1: one per processor

	// AlignStart lets the files of a trace begin together, with the time 0, where they count
	// their times from different moments. Only a format of which a trace may lie in several
	// files can be opened with it.
	AlignStart bool

	// Store takes the events of formats whose locations are interleaved, which are sorted when the trace is opened. It also takes what
	// formats that rebuild events note for it. It is to be closed after the trace; nil: the trace has one of its own.
	Store *spill.Store

	// Columns, Unit and Job say what tables of spans mean, and which of several jobs is read: see spans.Options.
	Columns   map[string]string
	Unit, Job string

	// Mirror is the directory in which the files of traces lie whose names are addresses, such as
	// s3://bucket/run/traces.otf2; "": there is none.
	Mirror string
}

// Open opens a trace. Its format is recognised by content, whatever the name. A file that
// belongs to a trace, and a directory that holds a single one, stand for that trace. The error
// wraps trace.ErrNotATrace if it is none of the known formats.
func Open(ctx context.Context, path string, o OpenOptions) (trace.Source, error) {
	return OpenAll(ctx, []string{path}, o)
}

// OpenAll opens one trace that lies in several files, as those that PyTorch and dftracer
// write, one for each rank; with a single path it is Open. The error wraps
// trace.ErrNotATrace if the files are not of a format that allows it.
func OpenAll(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
	open := openAll
	if o.Mirror != "" && slices.ContainsFunc(paths, IsAddress) {
		open = openMirrored
	}
	src, err := open(ctx, paths, o)
	if errors.Is(err, fs.ErrNotExist) && o.Mirror == "" && slices.ContainsFunc(paths, IsAddress) {
		err = fmt.Errorf("%w: this command reads files; use tracekit-beam for object stores", err)
	}
	if errors.Is(err, wire.ErrNotRegular) && !errors.Is(err, trace.ErrNotATrace) {
		err = fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
	}
	return src, err
}

func openAll(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
	var first *format
	paths = wire.Once(paths)
	for i, path := range paths {
		f, path, err := recognise(path)
		if err != nil {
			return nil, err
		}
		paths[i] = path
		if first == nil {
			first = f
		}
		if len(paths) > 1 && (!f.parts || f.name != first.name) {
			return nil, fmt.Errorf("%s: %w: several files can form one trace only in format %s",
				path, trace.ErrNotATrace, strings.Join(partFormats(), " or "))
		}
	}
	if first == nil {
		return nil, trace.ErrNoFile
	}
	if o.AlignStart && !first.parts {
		return nil, fmt.Errorf("%s: --align start works only for files of format %s", paths[0], strings.Join(partFormats(), " or "))
	}
	return first.open(ctx, paths, o)
}

// Parts reports whether paths are files of one trace, as OpenAll takes them; a single path is.
func Parts(paths []string) (bool, error) {
	var first *format
	for _, path := range paths {
		f, _, err := recognise(path)
		if err != nil {
			return false, err
		}
		if first == nil {
			first = f
		}
		if len(paths) > 1 && (!f.parts || f.name != first.name) {
			return false, nil
		}
	}
	return true, nil
}

// OpenRegular opens a file that is no trace, for reading. What is no regular file, and might be
// waited for without end, is not opened.
func OpenRegular(name string) (*os.File, error) {
	f, _, err := wire.OpenRegular(name)
	return f, err
}

// partFormats names the formats whose traces may lie in several files.
func partFormats() []string { return names(func(f format) bool { return f.parts }) }

// A Writer writes a trace in some format. What the format cannot express is left out and
// counted.
type Writer interface {
	trace.Sink

	// Lost counts, by what it is, what was left out so far.
	Lost() map[string]uint64

	// Discard removes what was written of a trace that is not to be completed.
	Discard() error
}

// CreateOptions say how a trace is written. The zero value is usual.
type CreateOptions struct {
	Format string       // one of Formats; "": that of the name
	Force  bool         // replace what has the name
	Plain  bool         // leave out what other programs do not know, of a Foreign format
	Jobs   int          // goroutines that encode; 1: none but the caller's
	Store  *spill.Store // of events that wait to be sorted, as in OpenOptions

	// Context, if there is one, ends Close as well, where a format has most of its writing.
	Context context.Context
}

// Create begins a trace. The error wraps fs.ErrExist if there is something of that name,
// unless options say to replace it.
func Create(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
	if o.Format == "" {
		o.Format = FormatOf(path)
	}
	if f := rowOf(o.Format); f.create != nil {
		return f.create(path, info, defs, o)
	}
	if o.Format == "" {
		return nil, fmt.Errorf("%s: unknown format; want a directory or a name that ends in %s", path, Extensions())
	}
	return nil, fmt.Errorf("%s: format %q cannot be written; want %s", path, o.Format, strings.Join(Formats(), ", "))
}
