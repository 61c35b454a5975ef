// Package readers opens a trace of any known format; readers/otf2, readers/paraver,
// readers/jsontrace, readers/arrowdir each read and write one.
package readers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tracekit/readers/arrowdir"
	"tracekit/readers/jsontrace"
	"tracekit/readers/otf2"
	"tracekit/readers/paraver"
	"tracekit/trace"
)

// known names the formats that can be read, for messages; Open leaves .tkf files, which are
// no format of traces, to package formulae.
const known = "an OTF2 archive (its .otf2 file or its directory), a Paraver .prv file, a JSON file of Chrome trace events, a directory of Arrow or Parquet tables that 'tracekit convert' wrote, or a .tkf file of 'tracekit compress'"

// Open opens a trace. Its format is recognised by content, whatever the name. The error
// wraps trace.ErrNotATrace if it is none of the known formats.
func Open(ctx context.Context, path string) (trace.Source, error) {
	format, err := recognise(path)
	if err != nil {
		return nil, err
	}
	switch format {
	case otf2.Format:
		return source(otf2.Open(ctx, path))
	case paraver.Format:
		return source(paraver.Open(ctx, path, paraver.Options{}))
	case jsontrace.Format:
		return source(jsontrace.Open(ctx, jsontrace.Files(path), jsontrace.Options{}))
	case arrowdir.Name:
		return source(arrowdir.Open(ctx, path))
	}
	return nil, fmt.Errorf("%s: %w: %s", path, trace.ErrNotATrace, unknown(path))
}

// unknown says why something is none of the known formats.
func unknown(path string) string {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return "the file is empty"
	}
	return "it is not " + known
}

// OpenAll opens one trace that lies in several files, as those that PyTorch and dftracer
// write, one for each rank; with a single path it is Open. The error wraps
// trace.ErrNotATrace if the files are not of a format that allows it.
func OpenAll(ctx context.Context, paths []string) (trace.Source, error) {
	if len(paths) == 1 {
		return Open(ctx, paths[0])
	}
	for _, path := range paths {
		format, err := recognise(path)
		if err != nil {
			return nil, err
		}
		if format != jsontrace.Format {
			return nil, fmt.Errorf("%s: %w: only JSON traces consist of several files", path, trace.ErrNotATrace)
		}
	}
	return source(jsontrace.Open(ctx, paths, jsontrace.Options{}))
}

// source makes an interface of what a reader returns, nil with an error.
func source[S trace.Source](s S, err error) (trace.Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// headSize is how much of a file is looked at to recognise its format.
const headSize = 4096

// recognise returns the name of the format of a file or directory, "" if it is unknown.
func recognise(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return recogniseDir(path)
	}
	head, err := Head(path)
	if err != nil {
		return "", err
	}
	switch {
	case otf2.IsAnchor(head):
		return otf2.Format, nil
	case paraver.IsTrace(head):
		return paraver.Format, nil
	case jsontrace.Sniff(head):
		return jsontrace.Format, nil
	}
	return "", nil
}

// recogniseDir recognises formats that are directories.
func recogniseDir(path string) (string, error) {
	if arrowdir.IsDir(path) {
		return arrowdir.Name, nil
	}
	switch _, err := otf2.FindAnchor(path); {
	case err == nil:
		return otf2.Format, nil
	case !errors.Is(err, trace.ErrNotATrace):
		return "", err
	case len(jsontrace.Files(path)) > 0:
		return jsontrace.Format, nil
	}
	return "", nil
}

// Head returns the first bytes of a file, by which formats are recognised. A pipe, of which
// they would be lost, is not opened.
func Head(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is no regular file; save it as one, which can be read more than once", path, trace.ErrNotATrace)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}
