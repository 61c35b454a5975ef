package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/plots"
	"tracekit/readers"
	"tracekit/report/text"
	"tracekit/spill"
	"tracekit/tempfile"
	"tracekit/trace"
)

// writeAtomically makes a file complete or not at all: it is written under a temporary
// name beside its own and renamed when write has returned without error. Writing ends when
// the context does.
func writeAtomically(ctx context.Context, path string, force bool, write func(io.Writer) error) error {
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	f, err := tempfile.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	w := bufio.NewWriterSize(heedful{ctx, f}, 1<<16)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// A heedful writer fails once its context has ended.
type heedful struct {
	ctx context.Context
	io.Writer
}

func (h heedful) Write(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.Writer.Write(p)
}

// checkFile refuses, before any work is done, a file that cannot be made.
func checkFile(path string, force bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("%s is a directory, not a file", path)
	}
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	return checkParent(path)
}

// outputFormat returns the format in which a trace of a name is written: the given one, or
// that which the name stands for.
func outputFormat(path, given string) (string, error) {
	formats := readers.Formats()
	switch of := readers.FormatOf(path); {
	case slices.Contains(formats, given):
		return given, nil
	case given != "":
		return "", usagef("--format %q: want %s", given, strings.Join(formats, ", "))
	case slices.Contains(formats, of):
		return of, nil
	case of != "":
		return "", usagef("%s: use 'tracekit compress' to write a %s file", path, readers.Label(of))
	}
	return "", usagef("%s: unknown extension %s; want a directory or a name that ends in %s", path, filepath.Ext(path),
		readers.Extensions())
}

// outFlags are the flags of a command that writes a trace, of whatever format, if out names it.
type outFlags struct {
	out, format string
	force       bool
}

func (f *outFlags) add(set *pflag.FlagSet, usage string) {
	set.StringVarP(&f.out, "output", "o", "", usage)
	cli.Var(set, &f.format, cli.Choice(readers.Formats()...), "format", "", "`format` to write: "+strings.Join(readers.Formats(),
		", ")+" (default: as the name says)")
	set.BoolVar(&f.force, "force", false, forceUsage)
}

func (f *outFlags) validate() (err error) {
	if f.out == "" {
		return nil
	}
	if f.format, err = outputFormat(f.out, f.format); err != nil {
		return err
	}
	return checkTrace(f.out, f.force)
}

// write writes a trace, and returns the number of its events and what the format has no place for.
func (f *outFlags) write(ctx context.Context, io *streams, in *readFlags, src trace.Source, store *spill.Store) (events uint64,
	lost map[string]uint64, err error) {
	w, err := readers.Create(f.out, src.Info(), src.Defs(), readers.CreateOptions{Format: f.format, Force: f.force, Jobs: in.jobs,
		Store: store, Context: ctx})
	if errors.Is(err, fs.ErrExist) {
		return 0, nil, usageError{err}
	}
	if err != nil {
		return 0, nil, err
	}
	if events, err = in.copyEvents(ctx, io, src, w); err != nil {
		return 0, nil, errors.Join(err, w.Discard())
	}
	return events, lostBy(w), w.Close()
}

// writeFigure writes a picture into a file.
func writeFigure(ctx context.Context, path string, force bool, format plots.Format, f *plots.Figure) error {
	return writeAtomically(ctx, path, force, func(w io.Writer) error { return f.Encode(w, format) })
}

// checkExtension refuses a file whose name says that something else is in it.
func checkExtension(path string, want ...string) error {
	if ext := strings.ToLower(filepath.Ext(path)); !slices.Contains(want, ext) {
		return usagef("%s: want a name that ends in %s", path, want[0])
	}
	return nil
}

// refuseInput refuses a file that is one of the traces, whatever is forced: what is made of them is none.
func refuseInput(path string, traces []string) error {
	there, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, t := range traces {
		if in, err := os.Stat(t); err == nil && os.SameFile(there, in) {
			return usagef("%s is an input trace; choose another file", path)
		}
	}
	return nil
}

// checkTrace refuses, before any work is done, a trace that cannot be made. The directory
// of an anchor is part of the trace and made with it.
func checkTrace(path string, force bool) error {
	if err := refuseExisting(path, force); err != nil || readers.IsAnchor(path) {
		return err
	}
	return checkParent(path)
}

// checkParent refuses a name in a directory that does not exist.
func checkParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return usagef("%s: there is no directory %s", path, parent)
	}
	return nil
}

func refuseExisting(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil // if it cannot be written, that shows later
	case !force:
		return usagef("%s exists; use --force to overwrite it", path)
	case filepath.Dir(path) == "/dev":
		return usagef("%s belongs to the system and is not overwritten", path)
	}
	if to, err := os.Stat(path); err == nil {
		info = to // not a link's own mode
	}
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket) != 0 {
		return usagef("%s is neither a file nor a directory and is not overwritten", path)
	}
	return nil
}

// printJSON writes a document as one indented JSON value, whose strings have escapes for all
// that a plainWriter holds back.
func printJSON(w io.Writer, document any) error {
	e := json.NewEncoder(text.Writer{W: w})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
