package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/readers"
	"tracekit/report/text"
	"tracekit/spill"
	"tracekit/tempfile"
	"tracekit/trace"
)

// WriteAtomically makes a file complete or not at all: it is written under a temporary
// name beside its own and renamed when write has returned without error. Writing ends when
// the context does.
func WriteAtomically(ctx context.Context, path string, force bool, write func(io.Writer) error) error {
	return WriteFileAtomically(path, force, func(f *os.File) error {
		w := bufio.NewWriterSize(tempfile.Cancelable{Context: ctx, Writer: f}, 1<<16)
		return cmp.Or(write(w), w.Flush())
	})
}

// WriteFileAtomically does the same where the file itself is wanted.
func WriteFileAtomically(path string, force bool, write func(*os.File) error) error {
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	f, err := tempfile.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// OutputFormat returns the format in which a trace of a name is written: the given one, or
// that which the name stands for.
func OutputFormat(path, given string) (string, error) {
	formats := readers.Formats()
	switch of := readers.FormatOf(path); {
	case slices.Contains(formats, given):
		return given, nil
	case given != "":
		return "", Usagef("--format %q: want %s", given, strings.Join(formats, ", "))
	case slices.Contains(formats, of):
		return of, nil
	case of != "":
		return "", Usagef("%s: use 'tracekit compress' to write a %s file", path, readers.Label(of))
	}
	return "", Usagef("%s: unknown extension %s; want a directory or a name that ends in %s", path, filepath.Ext(path),
		readers.Extensions())
}

// OutFlags are the flags of a command that writes a trace, of whatever format, if out names it.
type OutFlags struct {
	Out, Format string
	Force       bool
	Plain       bool // without what programs of the format do not know
}

// AddOut adds -o, --format and --force.
func (f *OutFlags) AddOut(set *pflag.FlagSet, usage string) {
	set.StringVarP(&f.Out, "output", "o", "", usage)
	f.AddFormat(set)
}

// AddFormat adds --format and --force.
func (f *OutFlags) AddFormat(set *pflag.FlagSet) {
	flags.Var(set, &f.Format, flags.Choice(readers.Formats()...), "format", "", "`format` to write: "+strings.Join(readers.Formats(),
		", ")+" (default: as the name says)")
	set.BoolVar(&f.Force, "force", false, ForceUsage)
}

// Validate settles the format, and refuses a trace that cannot be made.
func (f *OutFlags) Validate() (err error) {
	if f.Out == "" {
		return nil
	}
	if f.Format, err = OutputFormat(f.Out, f.Format); err != nil {
		return err
	}
	return CheckTrace(f.Out, f.Force)
}

// WriteTrace writes a trace, and returns the number of its events and what the format has no place for.
func (f *OutFlags) WriteTrace(ctx context.Context, io *Streams, in *ReadFlags, src trace.Source, store *spill.Store) (events uint64,
	lost map[string]uint64, err error) {
	w, err := readers.Create(f.Out, src.Info(), src.Defs(), readers.CreateOptions{Format: f.Format, Plain: f.Plain, Force: f.Force,
		Jobs: in.Jobs, Store: store, Context: ctx})
	if errors.Is(err, fs.ErrExist) {
		return 0, nil, Usagef("%w", err)
	}
	if err != nil {
		return 0, nil, err
	}
	if events, err = in.copyEvents(ctx, io, src, w); err != nil {
		return 0, nil, errors.Join(err, w.Discard())
	}
	return events, LostBy(w), w.Close()
}

// FileFlags are the flags of a command that writes one file.
type FileFlags struct {
	Output string // "": no file
	Force  bool

	Extensions []string // without their dots
}

// AddFile adds -o, for a file with the first of these extensions or another of them, and --force.
func (f *FileFlags) AddFile(set *pflag.FlagSet, usage string, extensions ...string) {
	f.Extensions = extensions
	flags.VarP(set, &f.Output, flags.File(extensions...), "output", "o", "", usage)
	set.BoolVar(&f.Force, "force", false, ForceUsage)
}

// Validate refuses, before any work is done, a file that cannot be made, or whose name says that something else is in it.
func (f *FileFlags) Validate() error {
	if f.Output == "" {
		return nil
	}
	if slices.Contains(f.Extensions, string(plots.PNG)) {
		if _, err := plots.FormatOf(f.Output); err != nil {
			return Usagef("%w", err)
		}
	} else if ext := strings.ToLower(filepath.Ext(f.Output)); !slices.Contains(f.Extensions, strings.TrimPrefix(ext, ".")) {
		return Usagef("%s: want a name that ends in .%s", f.Output, f.Extensions[0])
	}
	if info, err := os.Stat(f.Output); err == nil && info.IsDir() {
		return Usagef("%s is a directory, not a file", f.Output)
	}
	return CheckTrace(f.Output, f.Force)
}

// RefuseInput refuses a file that is one of the traces, whatever is forced: what is made of them is none.
func (f *FileFlags) RefuseInput(traces []string) error {
	there, err := os.Stat(f.Output)
	if err != nil {
		return nil
	}
	for _, t := range traces {
		if in, err := os.Stat(t); err == nil && os.SameFile(there, in) {
			return Usagef("%s is an input trace; choose another file", f.Output)
		}
	}
	return nil
}

// Write makes the file, complete or not at all, if it has a name.
func (f *FileFlags) Write(ctx context.Context, write func(io.Writer) error) error {
	if f.Output == "" {
		return nil
	}
	return WriteAtomically(ctx, f.Output, f.Force, write)
}

// Draw makes the file of a picture.
func (f *FileFlags) Draw(ctx context.Context, picture *plots.Figure) error {
	format, err := plots.FormatOf(f.Output)
	if err != nil {
		return err
	}
	return f.Write(ctx, func(w io.Writer) error { return picture.Encode(w, format) })
}

// CheckTrace refuses, before any work is done, a trace that cannot be made. The directory
// of an anchor is part of the trace and made with it.
func CheckTrace(path string, force bool) error {
	if err := refuseExisting(path, force); err != nil || readers.IsAnchor(path) {
		return err
	}
	return checkParent(path)
}

// checkParent refuses a name in a directory that does not exist.
func checkParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return Usagef("%s: there is no directory %s", path, parent)
	}
	return nil
}

func refuseExisting(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil // if it cannot be written, that shows later
	case !force:
		return Usagef("%s exists; use --force to overwrite it", path)
	case filepath.Dir(path) == "/dev":
		return Usagef("%s belongs to the system and is not overwritten", path)
	}
	if to, err := os.Stat(path); err == nil {
		info = to // not a link's own mode
	}
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket) != 0 {
		return Usagef("%s is neither a file nor a directory and is not overwritten", path)
	}
	return nil
}

// PrintJSON writes a document as one indented JSON value, whose strings have escapes for all
// that a plainWriter holds back. So many members of an object are encoded at a time.
func PrintJSON(w io.Writer, jobs int, document any) error {
	if plain, ok := w.(text.Writer); ok {
		w = plain.W
	}
	members := membersOf(document)
	texts, err := engine.Map(context.Background(), jobs, len(members), func(_ context.Context, i int) ([]byte, error) {
		var out bytes.Buffer
		e := json.NewEncoder(text.Writer{W: &out})
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err := e.Encode(members[i])
		return out.Bytes(), err
	})
	if err == nil {
		_, err = w.Write(joined(texts))
	}
	return err
}

// membersOf returns the members of a document that is a struct, each in an object of its own; else the document itself.
func membersOf(document any) []any {
	whole := []any{document}
	v := reflect.Indirect(reflect.ValueOf(document))
	if _, own := document.(json.Marshaler); own || v.Kind() != reflect.Struct {
		return whole
	}
	var members []any
	for _, f := range reflect.VisibleFields(v.Type()) {
		switch {
		case f.Anonymous && (f.Tag != "" || f.Type.Kind() != reflect.Struct):
			return whole
		case f.Anonymous || !f.IsExported():
			continue // what is embedded follows, field by field
		}
		one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}}))
		one.Elem().Field(0).Set(v.FieldByIndex(f.Index))
		members = append(members, one.Interface())
	}
	return members
}

// joined returns indented objects as one.
func joined(texts [][]byte) []byte {
	if len(texts) == 1 {
		return texts[0]
	}
	const first, last = "{\n", "\n}\n"
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	out := make([]byte, 0, size)
	for _, text := range texts {
		if len(text) > len(first)+len(last) { // not an object without members
			out = append(append(out, ",\n"...), text[len(first):len(text)-len(last)]...)
		}
	}
	if len(out) == 0 {
		return []byte("{}\n")
	}
	out[0] = '{'
	return append(out, last...)
}

// LostBy returns what a writer counted, never nil.
func LostBy(w readers.Writer) map[string]uint64 {
	lost := w.Lost()
	if lost == nil {
		lost = map[string]uint64{}
	}
	return lost
}

// copyEvents gives all events to a sink, and returns their number.
func (f *ReadFlags) copyEvents(ctx context.Context, io *Streams, src trace.Source, w trace.Sink) (uint64, error) {
	events, err := Watch(io, f.Quiet, "converting", func(p *engine.Progress) ([]*uint64, error) {
		return engine.Copy(ctx, src, w, engine.Options{Jobs: f.Jobs, Progress: p})
	})
	return SumOf(events), err
}

// SumOf adds up the numbers of locations; nil: none is known.
func SumOf(numbers []*uint64) (sum uint64) {
	for _, n := range numbers {
		if n != nil {
			sum += *n
		}
	}
	return sum
}
