// Package shards keeps the partial results of a stage as files: each of several processes, on
// whatever machine, goes through a share of a trace's locations and leaves one file; who has
// them all goes on as if it had gone through all locations itself.
//
// A file is a stream of package codec: the header, which says of which stage, of which trace, of
// which of its shards and how it was opened, and the partial result. Files are trusted no more than
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
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/codec"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// line begins every file. Its number is that of the version: another program does not guess.
const line = "tracekit shard 5"

// extension is that of the files.
const extension = ".shard"

// MaxShards is the largest number of shards of a trace.
const MaxShards = 1 << 16

// A Stage is what is made of the locations.
type Stage string

// The stages.
const (
	Scanned    Stage = "scan"     // merge.Scans, for 'tracekit analyze'
	Compressed Stage = "compress" // tkf.Parts, for 'tracekit compress'
	Written    Stage = "convert"  // readers.Written, for 'tracekit convert' to tables
	Archived   Stage = "archive"  // otf2.Parts, for 'tracekit convert' to an OTF2 archive
)

// A Part is the partial result of a stage for some locations of a trace: it knows which, takes
// those of others, and is coded, in either direction, for a trace with these definitions, with
// its tables in a store.
type Part[P any] interface {
	Has(trace.LocationID) bool
	Add(P) error
	Code(*codec.Coder, *trace.Defs, *spill.Store)
}

// A Header says what a shard is of.
type Header struct {
	Stage      Stage
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

// Write leaves what was made of a shard's locations as a file in a directory: complete or not at
// all. The header's Trace is filled in.
func Write[P Part[P]](ctx context.Context, dir string, h Header, src trace.Source, part P) (err error) {
	if h.Trace, err = Identity(src); err != nil {
		return err
	}
	made, err := makeDirectory(dir)
	if err == nil {
		err = WriteFile(ctx, filepath.Join(dir, Name(h.Number, h.Of)), func(w io.Writer) error {
			c := codec.NewWriter(w, line)
			h.Code(c)
			part.Code(c, src.Defs(), nil)
			return c.Close()
		})
	}
	if err != nil {
		for _, d := range made {
			os.Remove(d) // fails if another shard stands in it by now
		}
	}
	return err
}

// makeDirectory makes a directory with those above it, and returns which were missing, the innermost first.
func makeDirectory(dir string) (made []string, err error) {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			return made, os.MkdirAll(dir, 0o777)
		}
		made = append(made, d)
	}
}

// Code codes the header.
func (h *Header) Code(c *codec.Coder) {
	codec.Text(c, &h.Stage)
	codec.List(c, &h.Paths, func(p *string) { codec.Text(c, p) })
	codec.Flag(c, &h.AlignStart)
	codec.Number(c, &h.Number)
	codec.Number(c, &h.Of)
	codec.Text(c, &h.Trace)
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
	if path := new(fs.PathError); errors.As(err, &path) {
		return nil, Refused(dir, fmt.Errorf("%w; name the directory with the shards of 'tracekit analyze', 'compress' or "+
			"'convert'", path.Err))
	}
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, Refused(dir, errors.New("it has no shards; make them with --shard of 'tracekit analyze', 'compress' or "+
			"'convert'"))
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
			return nil, Refused(name, fmt.Errorf("it is one of %d shards, but %s is one of "+
				"%d", h.Of, filepath.Base(names[0]), s.Of))
		case h.Stage != s.Stage:
			return nil, Refused(name, fmt.Errorf("it belongs to another command than %s", filepath.Base(names[0])))
		case h.Trace != s.Trace || h.AlignStart != s.AlignStart:
			return nil, Refused(name, fmt.Errorf("it belongs to another trace than %s, or was read with another --align",
				filepath.Base(names[0])))
		case s.files[h.Number-1] != "":
			return nil, Refused(name, fmt.Errorf("it is shard %d, like %s", h.Number, filepath.Base(s.files[h.Number-1])))
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

// Remove removes the files.
func (s *Set) Remove() (err error) {
	for _, name := range s.files {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// escape returns the pattern that matches a path alone.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Read reads the shards of the trace into what empty makes, with tables in the store, and
// returns all locations together.
func Read[P Part[P]](ctx context.Context, s *Set, src trace.Source, store *spill.Store, jobs int, empty func() P) (all P, err error) {
	identity, err := Identity(src)
	if err != nil {
		return all, err
	}
	if identity != s.Trace {
		return all, Refused(s.files[0], fmt.Errorf("%s is another trace, or has changed since", src.Info().Path))
	}
	parts, err := engine.Map(ctx, jobs, len(s.files), func(_ context.Context, i int) (P, error) {
		part := empty()
		return part, ReadFile(s.files[i], line, true, func(c *codec.Coder) {
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
		return all, err
	}
	all = empty()
	for i, part := range parts {
		if err := all.Add(part); err != nil {
			return all, Refused(s.files[i], err)
		}
	}
	return all, nil
}
