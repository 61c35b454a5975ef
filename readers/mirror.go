package readers

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/trace"
)

// A trace in an object store has addresses in the place of paths, scheme://bucket/key. It is opened
// from a mirror: a directory into which somebody has fetched its files, and in which an address is a
// relative path, scheme:/bucket/key. What is said of the trace then names addresses.

// IsAddress reports whether a name is an address.
func IsAddress(name string) bool {
	scheme, rest, ok := strings.Cut(name, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `./\`) && filepath.IsLocal(strings.TrimLeft(rest, "/"))
}

// InMirror returns the path of what has a name: of an address that in a mirror, of any other name itself.
func InMirror(mirror, name string) string {
	if mirror == "" || !IsAddress(name) {
		return name
	}
	return filepath.Join(mirror, filepath.FromSlash(name))
}

// A mirrored is a source that was opened from a mirror.
type mirrored struct {
	trace.Source
	names *strings.Replacer
}

// addresses returns what puts addresses in the place of paths in a mirror, of names that begin as these do.
func addresses(mirror string, names []string) *strings.Replacer {
	var pairs []string
	for _, name := range names {
		if IsAddress(name) {
			scheme, rest, _ := strings.Cut(name, ":")
			begin := name[:len(name)-len(strings.TrimLeft(rest, "/"))]
			pairs = append(pairs, filepath.Join(mirror, scheme+":")+"/", begin)
		}
	}
	return strings.NewReplacer(pairs...)
}

// openMirrored opens a trace some of whose files have addresses.
func openMirrored(ctx context.Context, names []string, o OpenOptions) (trace.Source, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = InMirror(o.Mirror, name)
	}
	to := addresses(o.Mirror, names)
	src, err := openAll(ctx, paths, o)
	if err != nil {
		return nil, addressed(err, to)
	}
	return &mirrored{src, to}, nil
}

// addressed puts addresses into an error.
func addressed(err error, to *strings.Replacer) error {
	if syntax := (*trace.SyntaxError)(nil); errors.As(err, &syntax) {
		syntax.File = to.Replace(syntax.File)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		path.Path = to.Replace(path.Path)
	}
	return &addressedError{err, to.Replace(err.Error())}
}

// An addressedError is an error whose text names addresses.
type addressedError struct {
	error
	text string
}

func (e *addressedError) Error() string { return e.text }
func (e *addressedError) Unwrap() error { return e.error }

// Info implements trace.Source.
func (m *mirrored) Info() trace.Info {
	info := m.Source.Info()
	info.Path = m.names.Replace(info.Path)
	return info
}

// Events implements trace.Source.
func (m *mirrored) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range m.Source.Events(ctx, l) {
			if err != nil {
				err = addressed(err, m.names)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// EventFile is that of the format, under its address; see there.
func (m *mirrored) EventFile(l trace.LocationID) string {
	return m.names.Replace(EventFile(m.Source, l))
}

// Findings implements trace.Source.
func (m *mirrored) Findings() []trace.Finding {
	found := slices.Clone(m.Source.Findings())
	for i := range found {
		found[i].First.File, found[i].Text = m.names.Replace(found[i].First.File), m.names.Replace(found[i].Text)
	}
	return found
}
