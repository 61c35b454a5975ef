package paraver

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// sharedFolder returns the collection of real traces, which is not part of the
// repository: TRACEKIT_SHARED names it, by default the folder "shared" beside the
// repository. It is "" if there is none.
func sharedFolder() string {
	shared := os.Getenv("TRACEKIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "traces")); err != nil {
		return ""
	}
	return shared
}

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
