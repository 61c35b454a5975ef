package paraver

import (
	"context"
	"errors"
	"io"
	"testing"
)

// texts are the contents of the files of a trace. Labels and names may be nil.
type texts struct {
	Trace  io.Reader // .prv, plain or gzip
	Labels io.Reader // .pcf
	Names  io.Reader // .row
}

// readTexts reads a trace from texts; name is for messages only.
func readTexts(ctx context.Context, name string, texts texts, opts Options) (*Source, error) {
	r := newReading(name, opts)
	if texts.Labels != nil {
		r.readLabels(name, texts.Labels)
	}
	if texts.Names != nil {
		r.readNames(name, texts.Names)
	}
	if err := r.read(ctx, texts.Trace); err != nil {
		return nil, errors.Join(err, r.spool.Close())
	}
	s, err := r.source(ctx)
	if err != nil {
		return nil, errors.Join(err, r.spool.Close())
	}
	return s, nil
}

// openFor opens a trace until the test ends.
func openFor(t testing.TB, path string) *Source {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
