package otf2

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"tracekit/trace"
)

// Options says how an archive is written. The zero value is usual.
type Options struct {
	EventChunk int  // size of the chunks of event files in bytes; 0: 1 MiB
	DefChunk   int  // size of the chunks of definition files in bytes; 0: 4 MiB
	Force      bool // replace an archive of the same name
}

// The format's range of chunk sizes.
const (
	minChunk = 256 << 10
	maxChunk = 16 << 20
)

// A Writer writes an archive; it is a trace.Sink. The archive grows in a hidden directory
// beside its place and gets its name in Close, its anchor file last. Identifiers are the
// Ref of the definitions where these are distinct, else the model's own.
//
// No file is open between calls; up to 64 MiB of all files together wait in memory.
type Writer struct {
	target                 target
	temp                   string // directory that is removed in the end
	dir                    string // in temp: what the archive's directory will be
	info                   trace.Info
	defs                   *trace.Defs
	options                Options
	refs                   [spaces][]uint64 // by dense identifier; nil: the identifier itself
	files                  []eventFile      // by location
	instants               atomic.Bool      // some are written; see instants.go
	instant, instantString uint64
	buffered               atomic.Int64
	spare                  sync.Pool // of buffers that no file uses
	closed                 bool

	mu   sync.Mutex // of what follows
	lost map[string]uint64
	err  error
}

// A target is the name of an archive: the directory and the name of its files.
type target struct {
	dir, stem string
	newDir    bool // dir does not exist yet
	whole     bool // dir is to be the archive's own
}

// Create begins an archive. A path that ends in .otf2 names the anchor file, any other a directory, which gets the anchor file traces.otf2.
// The error wraps fs.ErrExist if there is such an archive, unless options say to replace it. It always does if the directory or that of the
// events holds what is no part of one. Events of kinds that OTF2 does not have are left out and counted: see Lost.
//
// If the archive is not to be completed, call Discard.
func Create(path string, info trace.Info, defs *trace.Defs, options Options) (*Writer, error) {
	w, err := newWriter(info, defs, options)
	if err != nil {
		return nil, err
	}
	w.target = targetOf(path)
	if err := errors.Join(w.checkDir(), w.checkTarget()); err != nil {
		return nil, err
	}
	if err := w.makeTemp(); err != nil {
		return nil, err
	}
	for i := range w.files {
		w.files[i].out.path = w.localPath(trace.LocationID(i), ".evt")
	}
	return w, nil
}

// newWriter returns a Writer whose files have no place yet.
func newWriter(info trace.Info, defs *trace.Defs, options Options) (*Writer, error) {
	if options.EventChunk == 0 {
		options.EventChunk = 1 << 20
	}
	if options.DefChunk == 0 {
		options.DefChunk = 4 << 20
	}
	for _, size := range []int{options.EventChunk, options.DefChunk} {
		if size < minChunk || size > maxChunk {
			return nil, fmt.Errorf("chunk size %d is not between %d and %d", size, minChunk, maxChunk)
		}
	}
	w := &Writer{info: info, defs: defs, options: options, files: make([]eventFile, len(defs.Locations))}
	w.makeRefs()
	w.numberInstants()
	for i := range w.files {
		w.files[i].w, w.files[i].out = w, chunkWriter{size: int64(options.EventChunk), counted: true}
	}
	return w, nil
}

func targetOf(path string) target {
	t := target{dir: filepath.Clean(path), stem: "traces", whole: true}
	if stem, ok := strings.CutSuffix(filepath.Base(path), ".otf2"); ok && stem != "" {
		t = target{dir: filepath.Dir(path), stem: stem}
	}
	_, err := os.Stat(t.dir)
	t.newDir = errors.Is(err, fs.ErrNotExist)
	return t
}

// names returns the names of the archive's files in its directory, the anchor file last.
func (t target) names() []string { return []string{t.stem, t.stem + ".def", t.stem + ".otf2"} }

// checkDir refuses a directory that holds something and no archive: files are not strewn over
// the home of a user who mistakes the name.
func (w *Writer) checkDir() error {
	if !w.target.whole || w.target.newDir || w.mayReplace() {
		return nil
	}
	there, err := os.ReadDir(w.target.dir)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s holds files and is not an OTF2 archive that can be replaced: %w", w.target.dir, fs.ErrExist)
	}
	return err
}

// checkTarget refuses to replace what is there, unless it is an archive and nothing else, and
// options say to replace it.
func (w *Writer) checkTarget() error {
	events := filepath.Join(w.target.dir, w.target.stem)
	there, _ := os.ReadDir(events)
	for _, e := range there {
		if !slices.Contains([]string{".def", ".evt", ".snap"}, filepath.Ext(e.Name())) {
			return fmt.Errorf("%s holds %s, which is not part of an OTF2 archive: %w", events, e.Name(), fs.ErrExist)
		}
	}
	for _, name := range w.target.names() {
		path := filepath.Join(w.target.dir, name)
		if _, err := os.Lstat(path); err == nil && !w.mayReplace() {
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	return nil
}

// mayReplace reports whether the target is an archive that may be replaced. A folder or
// file that merely has the name of one stays.
func (w *Writer) mayReplace() bool {
	_, err := readAnchor(filepath.Join(w.target.dir, w.target.stem+".otf2"))
	return w.options.Force && err == nil
}

// makeTemp makes the hidden directory where the archive grows, on the same file system.
func (w *Writer) makeTemp() (err error) {
	parent := w.target.dir
	if w.target.newDir {
		parent = filepath.Dir(parent)
	}
	if w.temp, err = os.MkdirTemp(parent, ".tracekit-*.tmp"); err != nil {
		return err
	}
	w.dir = filepath.Join(w.temp, "archive") // with the permissions that the user wants
	if err = os.MkdirAll(filepath.Join(w.dir, w.target.stem), 0o777); err != nil {
		os.RemoveAll(w.temp)
	}
	return err
}

func (w *Writer) localPath(id trace.LocationID, suffix string) string {
	return filepath.Join(w.dir, w.target.stem, strconv.FormatUint(w.ref(spaceLocation, uint32(id)), 10)+suffix)
}

// Lost counts, by what it is, what was written so far and has no form in OTF2.
func (w *Writer) Lost() map[string]uint64 { return w.lost }

// Discard removes all that was written. After Close it does nothing.
func (w *Writer) Discard() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return os.RemoveAll(w.temp)
}

// Close completes the archive and gives it its name. If it returns an error, or if a
// Write has, nothing is left behind.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	if w.err == nil {
		w.err = w.complete()
	}
	if w.err == nil {
		w.err = w.publish()
	}
	return errors.Join(w.err, w.Discard())
}

// complete writes what was kept until the numbers of events are known.
func (w *Writer) complete() error {
	for i := range w.files {
		if err := w.files[i].out.close(); err != nil {
			return err
		}
		if err := w.writeLocal(trace.LocationID(i)); err != nil {
			return err
		}
	}
	records, err := w.writeGlobal()
	if err != nil {
		return err
	}
	creator := w.info.Creator
	if creator == "" {
		creator = "tracekit"
	}
	a := anchor{traceFormat: 2, version: [3]uint8{3, 0, 0}, eventChunk: uint64(w.options.EventChunk),
		defChunk: uint64(w.options.DefChunk), substrate: 1, compression: 1,
		locations: uint64(len(w.defs.Locations)), definitions: records,
		machine: w.info.Machine, creator: creator, description: w.info.Description, traceID: w.info.TraceID}
	a.properties = packProperties(w.info.Properties)
	return os.WriteFile(filepath.Join(w.dir, w.target.stem+".otf2"), a.bytes(), 0o666)
}

// publish moves the archive to its place.
func (w *Writer) publish() error {
	if w.target.newDir {
		return os.Rename(w.dir, w.target.dir)
	}
	if err := w.checkTarget(); err != nil {
		return err
	}
	if err := w.target.removeOld(); err != nil {
		return err
	}
	for _, name := range w.target.names() {
		if err := os.Rename(filepath.Join(w.dir, name), filepath.Join(w.target.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes the files of an archive, the anchor file first, so that half an
// archive never looks whole.
func (t target) removeOld() error {
	stem := filepath.Join(t.dir, t.stem)
	old := []string{stem + ".otf2", stem + ".def", stem + ".marker"}
	for _, pattern := range []string{".*.thumb", "/*.def", "/*.evt", "/*.snap"} {
		found, err := filepath.Glob(escapeGlob(stem) + pattern)
		if err != nil {
			return err
		}
		old = append(old, found...)
	}
	for _, path := range append(old, stem) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// escapeGlob makes a pattern that matches a path literally.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
