package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	stdio "io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/page"
	"tracekit/readers"
	"tracekit/spill"
	"tracekit/viewer"
)

// indexFlags say whether and where the index of a timeline is kept from one use to the next.
type indexFlags struct {
	place string
	path  string   // of the file; "": nothing is kept
	key   page.Key // of what the index is made
	set   *pflag.FlagSet
}

// Values of --keep-index that are no names of files.
const (
	inCache = "cache"
	beside  = "beside"
)

// Add adds the flag.
func (f *indexFlags) Add(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.place, "keep-index", "", "keep the index: in the user's `cache` (default, up to 8 GiB), beside the trace, or "+
		"in a file")
	set.Lookup("keep-index").NoOptDefVal = inCache
}

// prepare finds the file of the index of a trace, and the key of what it is made of: the trace's
// files, by name, size and time of change, and how they are analyzed; and likewise the program's
// source below a directory, if there is one.
func (f *indexFlags) prepare(paths []string, source string) error {
	if f.place == "" {
		return nil
	}
	if _, err := os.Stat(paths[0]); f.place == inCache && len(paths) > 1 && errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("%s: no such trace; to name an index file, write --keep-index=%s", paths[0], paths[0])
	}
	sum := sha256.New()
	fmt.Fprintln(sum, version())
	f.set.Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "keep-index", "jobs", "memory", "quiet", "json", "strict", "port", "open": // change nothing in it
		default:
			fmt.Fprintf(sum, "%s=%q\n", flag.Name, flag.Value)
		}
	})
	names := sha256.New()
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		fmt.Fprintf(names, "%q\n", p)
		if err := viewer.FilesOf(p, func(name string, info fs.FileInfo) {
			fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}); err != nil {
			return cli.Unreadable(err)
		}
	}
	if source != "" {
		files, err := page.OpenSources(source)
		if err != nil {
			return cli.Usagef("--source: %w", err)
		}
		files.Stamp(sum)
		files.Close()
	}
	f.key = page.Key(sum.Sum(nil))
	switch f.place {
	case inCache:
		cache, err := os.UserCacheDir()
		if err != nil {
			return cli.Usagef("--keep-index: %v: name a file", err)
		}
		f.path = filepath.Join(cache, "tracekit", fmt.Sprintf("%x", names.Sum(nil)[:16])+page.KeptSuffix)
	case beside:
		f.path = filepath.Clean(paths[0]) + page.KeptSuffix
	default:
		f.path = f.place
		if info, err := os.Stat(filepath.Dir(f.path)); err != nil || !info.IsDir() {
			return cli.Usagef("--keep-index=%s: there is no directory %s", f.path, filepath.Dir(f.path))
		}
	}
	return nil
}

// load returns the index that was kept; nil if there is none of this trace as it is.
func (f *indexFlags) load(io *cli.Streams, store *spill.Store, jobs int) (*page.Index, *page.Kept, *outcome.View, error) {
	if f.path == "" {
		return nil, nil, nil, nil
	}
	file, err := readers.OpenRegular(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, cli.Usagef("--keep-index: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, nil, err
	}
	doc := &outcome.View{}
	x, kept, err := page.ReadIndex(file, f.key, store, jobs)
	if err == nil {
		err = json.Unmarshal(kept.About, doc)
	}
	switch {
	case err == nil:
		if f.place == inCache {
			viewer.NoteUse(f.path, info.ModTime())
		}
		return x, kept, doc, nil
	case errors.Is(err, page.ErrNoIndex) && f.place != inCache && !strings.HasSuffix(f.path, page.KeptSuffix):
		return nil, nil, nil, cli.Usagef("--keep-index: %s is not an index: %v", f.path, err)
	}
	fmt.Fprintf(io.Err, "tracekit: %s: %v; a new one is made\n", f.path, err)
	return nil, nil, nil, nil
}

// save keeps an index. That it cannot is no reason not to serve it.
func (f *indexFlags) save(ctx context.Context, io *cli.Streams, x *page.Index, content *page.Content, doc *outcome.View) {
	if f.path == "" {
		return
	}
	var err error
	if f.place == inCache {
		err = os.MkdirAll(filepath.Dir(f.path), 0o700)
	}
	if err == nil {
		err = cli.WriteAtomically(ctx, f.path, true, func(w stdio.Writer) error { return x.Keep(w, f.key, content, doc) })
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(io.Err, "tracekit: the index is not kept: %v\n", err)
	}
	if f.place == inCache {
		if err := viewer.CleanCache(filepath.Dir(f.path), f.path, viewer.MostCached); err != nil {
			fmt.Fprintf(io.Err, "tracekit: old indices are left in the cache: %v\n", err)
		}
	}
}
