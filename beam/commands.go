package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/shards"
	"tracekit/trace"
)

// analysis has a trace analyzed.
func (o *options) analysis(ctx context.Context, paths, flags []string) (code int, err error) {
	report, _ := outputOf(flags)
	if strings.Contains(report, "://") {
		return 2, fmt.Errorf("%s: the report is written to a directory of this machine; copy that", report)
	}
	if err := o.named(paths, ""); err != nil {
		return 2, err
	}
	return o.throughParts(ctx, func() (int, error) {
		if slices.ContainsFunc(flags, mayAskForReport) {
			// Its timeline is drawn from the events.
			if err := each(ctx, o.events, o.objects.get); err != nil {
				return 1, err
			}
		}
		return o.combine(ctx, flags)
	})
}

// mayAskForReport reports whether a flag of combine, or a word behind one, is perhaps -o or --output.
func mayAskForReport(word string) bool {
	return strings.HasPrefix(word, "--out") || len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Contains(word, "o")
}

// file has a trace compressed to the file that flags name.
func (o *options) file(ctx context.Context, paths, flags []string) (code int, err error) {
	given, at := outputOf(flags)
	if !strings.Contains(given, "://") {
		given = ""
	}
	if err := o.named(paths, given); err != nil {
		return 2, err
	}
	if given != "" {
		flags = slices.Clone(flags)
		flags[at] = strings.Replace(flags[at], given, o.out, 1)
		if there, err := o.objects.list(ctx, o.out); err != nil || slices.Contains(there, o.out) && !slices.Contains(flags, "--force") {
			return 2, cmp.Or(err, fmt.Errorf("%s exists; --force, behind --, overwrites it", o.out))
		}
	}
	return o.throughParts(ctx, func() (int, error) { return o.combineTo(ctx, flags) })
}

// outputOf returns what -o or --output names, and which of the flags has it; "" if there is none.
func outputOf(flags []string) (name string, at int) {
	for i, f := range flags {
		switch value, whole := strings.CutPrefix(f, "--output="); {
		case whole:
			return value, i
		case (f == "-o" || f == "--output") && i+1 < len(flags):
			return flags[i+1], i + 1
		case strings.HasPrefix(f, "-o"):
			return strings.TrimPrefix(f[2:], "="), i
		}
	}
	return "", -1
}

// named takes the names of the trace, and of what is made of it if that has an address. Combine then works where this
// is a path, in the mirror, so that it finds no other path that does not begin at the root.
func (o *options) named(paths []string, out string) (err error) {
	if o.trace, err = o.objects.names(paths); err != nil {
		return err
	}
	if o.parts, err = o.objects.name(o.parts); err != nil || out == "" {
		return err
	}
	if o.out, err = o.objects.name(out); err != nil || !readers.IsAddress(o.out) {
		return err
	}
	o.away = true
	for i, name := range o.trace {
		if !readers.IsAddress(name) {
			if o.trace[i], err = filepath.Abs(name); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(filepath.Dir(o.objects.local(o.out)), 0o777)
}

// throughParts has the shards made, and then something of them.
func (o *options) throughParts(ctx context.Context, then func() (int, error)) (code int, err error) {
	remove, err := o.makeParts(ctx, o.trace[0])
	if err != nil {
		return 1, err
	}
	defer func() {
		if failed := remove(); failed != nil {
			code, err = max(code, 1), errors.Join(err, failed)
		}
	}()
	if err := o.make(ctx); err != nil {
		return 1, err
	}
	return then()
}

// convert has the parts of a trace written, of which combine makes the trace: complete or not at all.
func (o *options) convert(ctx context.Context, paths, flags []string) (code int, err error) {
	if len(paths) < 2 {
		return 2, errors.New("want convert TRACE OUT")
	}
	paths, given := paths[:len(paths)-1], paths[len(paths)-1]
	if err := o.named(paths, given); err != nil {
		return 2, err
	}
	if o.format = readers.FormatOf(o.out); o.format == otf2.Format {
		return o.archive(ctx, flags)
	}
	if o.parts != "" {
		return 2, errors.New("convert does not take -parts for tables: the parts are OUT's own")
	}
	if !slices.Contains(readers.PartFormats(), o.format) {
		return 2, fmt.Errorf("%s: a trace is written in parts as %s or otf2 only; 'tracekit convert' writes other formats", o.out,
			strings.Join(readers.PartFormats(), ", "))
	}
	if o.parts = o.out; !o.away {
		o.parts, err = filepath.Abs(o.out)
	}
	if err == nil {
		err = o.makeDirectory(ctx)
	}
	if err != nil {
		return 1, err
	}
	if err = o.make(ctx); err == nil {
		code, err = o.combine(ctx, flags)
	}
	err = errors.Join(err, o.objects.removeLayout(ctx, o.parts))
	if err == nil && readers.IsJoined(o.objects.local(o.parts)) {
		err = o.joined(ctx)
	}
	if err != nil || !readers.IsJoined(o.objects.local(o.parts)) {
		err = errors.Join(err, o.removeParts(ctx))
		code = max(code, 1)
	}
	return code, err
}

// joined puts into its store what makes a trace of parts, and removes the shards there.
func (o *options) joined(ctx context.Context) error {
	if !o.away {
		return nil
	}
	if err := o.objects.putTrace(ctx, o.parts); err != nil {
		return err
	}
	var left []string
	for i := range o.shards {
		left = append(left, o.parts+"/"+shards.Name(i+1, o.shards))
	}
	return o.objects.remove(ctx, left)
}

// archive has the event files of an archive written, which combine joins.
func (o *options) archive(ctx context.Context, flags []string) (code int, err error) {
	if there, err := o.isThere(ctx); err != nil {
		return 1, err
	} else if there && (o.away || !slices.Contains(flags, "--force")) {
		return 2, fmt.Errorf("%s exists; --force, behind --, replaces an archive, but none in a store", o.out)
	}
	return o.throughParts(ctx, func() (int, error) { return o.combineTo(ctx, append(slices.Clone(flags), "-o", o.out)) })
}

// isThere reports whether what is to be made is there already.
func (o *options) isThere(ctx context.Context) (bool, error) {
	if !o.away {
		_, err := os.Lstat(o.out)
		return err == nil, nil
	}
	_, err := filesOf(o.out, func(prefix string) ([]string, error) { return o.objects.list(ctx, prefix) })
	if errors.Is(err, trace.ErrNotATrace) {
		return false, nil
	}
	return err == nil, err
}

// combineTo runs 'tracekit combine', and puts what it has made into its store if it has an address.
func (o *options) combineTo(ctx context.Context, flags []string) (code int, err error) {
	if code, err = o.combine(ctx, flags); err != nil || !o.away {
		return code, err
	}
	if _, missing := os.Lstat(o.objects.local(o.out)); missing == nil {
		err = o.objects.putTrace(ctx, o.out)
	}
	return code, err
}

// makeParts makes the directory for the shards, and says how it is removed.
func (o *options) makeParts(ctx context.Context, trace string) (remove func() error, err error) {
	stays := func() error { return o.objects.removeLayout(ctx, o.parts) }
	switch {
	case readers.IsAddress(o.parts):
		return stays, o.makeDirectory(ctx)
	case o.parts != "":
		if o.parts, err = filepath.Abs(o.parts); err == nil {
			err = o.makeDirectory(ctx)
		}
		return stays, err
	case readers.IsAddress(trace):
		o.parts = trace[:strings.LastIndex(trace, "/")+1] + ".tracekit-parts-" + rand.Text()
	default:
		beside, err := filepath.Abs(filepath.Dir(trace))
		if err == nil {
			o.parts, err = os.MkdirTemp(beside, ".tracekit-parts-*")
		}
		if err != nil {
			return nil, err
		}
	}
	return func() error { return o.removeParts(ctx) }, nil
}

// makeDirectory makes the directory of the parts, which must be new. In a store there is none before
// there are objects.
func (o *options) makeDirectory(ctx context.Context) error {
	if !readers.IsAddress(o.parts) {
		return os.Mkdir(o.parts, 0o777)
	}
	there, err := o.objects.list(ctx, o.parts+"/")
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s: %w: name another one, or remove it first", o.parts, fs.ErrExist)
	}
	return err
}

// removeParts removes the directory of the parts.
func (o *options) removeParts(ctx context.Context) error {
	if !readers.IsAddress(o.parts) {
		return os.RemoveAll(o.parts)
	}
	return o.objects.removeBelow(ctx, o.parts)
}
