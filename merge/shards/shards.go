// Package shards keeps scans of a trace as files: each of several processes, on whatever machine,
// decodes a share of the locations and leaves one file; who has them all merges the trace
// without decoding it first.
//
// A file is a stream of package partial: the header, which says of which trace, of which of its
// shards and how it was opened, and the scans (merge.Scans). Files are trusted no more than
// traces are.
package shards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/engine"
	"tracekit/merge"
	"tracekit/partial"
	"tracekit/spill"
	"tracekit/trace"
)

// line begins every file. Its number is that of the version: another program does not guess.
const line = "tracekit shard 2"

// extension is that of the files.
const extension = ".shard"

// MaxShards is the largest number of shards of a trace.
const MaxShards = 1 << 16

// A Header says what a shard is of.
type Header struct {
	Paths      []string // of the trace, as they were named
	AlignStart bool     // see readers.OpenOptions
	Number, Of int      // this is shard Number of 1 … Of
	Trace      string   // tells one trace from another: see Identity
}

// Identity returns what is equal for every process that opens one trace, and hardly for two
// traces: a hash of its definitions, format, writer and size.
func Identity(src trace.Source) (string, error) {
	about := src.Info()
	about.Path = ""
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(struct {
		About trace.Info
		Defs  *trace.Defs
	}{about, src.Defs()}); err != nil {
		return "", fmt.Errorf("identifying the trace: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Name returns the name of the file of a shard.
func Name(number, of int) string { return fmt.Sprintf("%05d-of-%05d%s", number, of, extension) }

// Locations returns the locations of a shard, ascending. Those that announce the most events are
// dealt out first, one to each shard in turn.
func Locations(d *trace.Defs, number, of int) []trace.LocationID {
	order := make([]trace.LocationID, len(d.Locations))
	for l := range order {
		order[l] = trace.LocationID(l)
	}
	slices.SortStableFunc(order, func(a, b trace.LocationID) int {
		return cmp.Compare(d.Locations[b].Events, d.Locations[a].Events)
	})
	own := []trace.LocationID{}
	for i := number - 1; i < len(order); i += of {
		own = append(own, order[i])
	}
	slices.Sort(own)
	return own
}

// Make decodes the locations of a shard, of a source that has read none of them, and leaves the
// file in a directory: complete or not at all. The header's Trace is filled in. The tables lie in
// the store.
func Make(ctx context.Context, dir string, h Header, src trace.Source, store *spill.Store, opts merge.Options) (err error) {
	if h.Trace, err = Identity(src); err != nil {
		return err
	}
	scans, err := merge.Scan(ctx, src, Locations(src.Defs(), h.Number, h.Of), store, opts)
	if err = errors.Join(err, store.Err()); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return WriteFile(ctx, filepath.Join(dir, Name(h.Number, h.Of)), func(w io.Writer) error { return write(w, h, src.Defs(), scans) })
}

func write(w io.Writer, h Header, d *trace.Defs, scans *merge.Scans) error {
	c := partial.NewWriter(w, line)
	h.Code(c)
	scans.Code(c, d, nil)
	return c.Close()
}

// Code codes the header.
func (h *Header) Code(c *partial.Coder) {
	partial.List(c, &h.Paths, func(p *string) { partial.Text(c, p) })
	partial.Flag(c, &h.AlignStart)
	partial.Number(c, &h.Number)
	partial.Number(c, &h.Of)
	partial.Text(c, &h.Trace)
	if c.Err() == nil && (h.Of < 1 || h.Of > MaxShards || h.Number < 1 || h.Number > h.Of || len(h.Paths) == 0) {
		c.Refuse("it is shard %d of %d of %d files", h.Number, h.Of, len(h.Paths))
	}
}

// A Set is all shards of one trace.
type Set struct {
	Header
	files []string
}

// Open finds the shards in a directory. An error says what is missing, or does not belong
// together.
func Open(dir string) (*Set, error) {
	names, err := filepath.Glob(filepath.Join(escape(dir), "*"+extension))
	if err == nil {
		_, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, Refused(dir, errors.New("there is no shard in it; 'tracekit analyze --shard' makes them"))
	}
	s := &Set{}
	for i, name := range names {
		var h Header
		if err := ReadFile(name, line, false, h.Code); err != nil {
			return nil, err
		}
		if i == 0 {
			s.Header, s.files = h, make([]string, h.Of)
		}
		switch {
		case h.Of != s.Of:
			return nil, Refused(name, fmt.Errorf("it is one of %d shards, %s is one of %d", h.Of, filepath.Base(names[0]), s.Of))
		case h.Trace != s.Trace || h.AlignStart != s.AlignStart:
			return nil, Refused(name, fmt.Errorf("it is of another trace than %s, or was read with another --align", filepath.Base(names[0])))
		case s.files[h.Number-1] != "":
			return nil, Refused(name, fmt.Errorf("it is shard %d, and so is %s", h.Number, filepath.Base(s.files[h.Number-1])))
		}
		s.files[h.Number-1] = name
	}
	var missing []string
	for i, name := range s.files {
		if name == "" {
			missing = append(missing, fmt.Sprint(i+1))
		}
	}
	if n := len(missing); n > 0 {
		if n > 10 {
			missing = append(missing[:10], "…")
		}
		return nil, Refused(dir, fmt.Errorf("%d of %d shards are missing: %s", n, s.Of, strings.Join(missing, ", ")))
	}
	s.Number = 0
	return s, nil
}

// escape returns the pattern that matches a path alone.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Scans reads the shards of the trace into tables of the store.
func (s *Set) Scans(ctx context.Context, src trace.Source, store *spill.Store, jobs int) (*merge.Scans, error) {
	identity, err := Identity(src)
	if err != nil {
		return nil, err
	}
	if identity != s.Trace {
		return nil, Refused(s.files[0], fmt.Errorf("%s is not, or not any more, the trace that it was made of", src.Info().Path))
	}
	parts, err := engine.Map(ctx, jobs, len(s.files), func(_ context.Context, i int) (*merge.Scans, error) {
		part := new(merge.Scans)
		return part, ReadFile(s.files[i], line, true, func(c *partial.Coder) {
			new(Header).Code(c)
			part.Code(c, src.Defs(), store)
			for _, l := range Locations(src.Defs(), i+1, s.Of) {
				if c.Err() == nil && !part.Has(l) {
					c.Refuse("location %d is missing", l)
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	all := new(merge.Scans)
	for i, part := range parts {
		if err := all.Add(part); err != nil {
			return nil, Refused(s.files[i], err)
		}
	}
	return all, nil
}
