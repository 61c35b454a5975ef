// Package otf2 reads and writes archives of the Open Trace Format 2, without the
// reference library.
//
// The format is a table: records.go lists the fields of every record, and definitions, events, names and the writer follow it. Framing
// (files, chunks, records; chunks.go) and decoding (cursor of fields; encoding.go) do not mix. The few kinds of event that make up nearly
// all of every trace have a decoder of their own (hot.go). It gives what the table would give.
//
// Identifiers in files may be sparse and are local to a location; Open makes them dense,
// and batches hold dense identifiers. The exceptions are Batch.Other.Args and the values
// of attributes whose type is a reference: they hold the file's global references.
//
// Instants, for which OTF2 has no event, are written as parameters and read back; see
// instants.go.
package otf2

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"tracekit/engine"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info and in opaque definitions.
const Format = "otf2"

// A Source is an open archive. It holds the definitions in memory and no file open but
// those of the locations that are being read.
type Source struct {
	path   string // of the anchor file
	stem   string // path without .otf2: the prefix of all other files
	anchor *anchor
	info   trace.Info
	defs   *trace.Defs
	ids    [spaces]idTable

	hasInstants bool   // the events of a parameter are instants; see instants.go
	instant     uint64 // its identifier
	batch       int    // events in a batch
	slow        bool   // decode everything by the tables: tests compare with that
	pool        sync.Pool
	mu          sync.Mutex
	opening     trace.Ledger // findings of Open
	reading     []progress   // by location: findings of its events
	members     []members
	extras      *extras // nil until they are asked for
}

// members are the sizes of a location's files when the archive was opened, 0 of those that
// are not there, and whether its definitions map identifiers: others need not be read again.
type members struct {
	def, evt int64
	maps     bool
}

// progress is what was noticed in the furthest iteration over a location so far.
type progress struct {
	events   uint64
	done     bool
	findings []trace.Finding
}

// Open opens an archive by the path of its anchor file or of the directory that holds it. It reads all definitions with that many
// goroutines, below 1: one per processor. The error wraps trace.ErrNotATrace if there is no OTF2 archive. It is a *trace.SyntaxError if the
// anchor file or the global definitions cannot be used at all.
func Open(ctx context.Context, path string, jobs int) (*Source, error) {
	anchorPath := path
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if anchorPath, err = findAnchor(path); err != nil {
			return nil, err
		}
	}
	a, err := readAnchor(anchorPath)
	if err != nil {
		return nil, err
	}
	s := &Source{path: anchorPath, stem: strings.TrimSuffix(anchorPath, ".otf2"), anchor: a, batch: maxBatch}
	s.describe(path)
	if err := s.readGlobal(); err != nil {
		return nil, err
	}
	if err := s.readLocals(ctx, jobs); err != nil {
		return nil, err
	}
	s.reading = make([]progress, len(s.defs.Locations))
	return s, nil
}

// describe fills the info, and notes what the anchor file says about the archive.
func (s *Source) describe(path string) {
	a := s.anchor
	s.info = trace.Info{Path: path, Format: Format,
		Version: fmt.Sprintf("%d.%d.%d", a.version[0], a.version[1], a.version[2]),
		Creator: a.creator, Machine: a.machine, Description: a.description,
		Properties: unpackProperties(a.properties), TraceID: a.traceID}
	at := trace.Place{Location: trace.None, File: s.path, Offset: -1}
	if complete := "OTF2::MPI_COMMUNICATION_COMPLETE"; s.info.Properties[complete] == "false" {
		s.opening.Add(trace.CodeIncompleteByWriter, at, complete)
	}
	if a.noEnd {
		s.opening.Add(trace.CodeUnfinalised, at, "the anchor file has no end mark")
	}
	if a.trailing >= 0 {
		at.Offset = a.trailing
		s.opening.Add(trace.CodeTrailingData, at, "")
	}
	s.info.Bytes = fileSize(s.path) + fileSize(s.stem+".def") + fileSize(s.stem+".marker")
}

func fileSize(path string) int64 {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

func (s *Source) readGlobal() error {
	f, err := openNeeded(s.stem + ".def")
	if err != nil {
		return fmt.Errorf("opening the global definitions: %w", err)
	}
	defer f.Close()
	var d *defReader
	fault := f.Guard(func() { d, err = readDefinitions(f, s.anchor.defChunk, &s.opening) })
	if err := errors.Join(fault, err); err != nil {
		return err
	}
	s.defs, s.ids, s.hasInstants, s.instant = d.defs, d.ids, d.hasInstants, d.instant
	if !s.anchor.noEnd && s.opening.Count(trace.CodeTruncated)+s.opening.Count(trace.CodeUnfinalised)+s.opening.Count(trace.CodeCorrupt) == 0 {
		s.checkCount("locations", s.anchor.locations, uint64(len(s.defs.Locations)))
		s.checkCount("global definitions", s.anchor.definitions, d.records)
	}
	return nil
}

// checkCount notes a number in the anchor file that is not the number of what is there.
func (s *Source) checkCount(what string, announced, found uint64) {
	if announced != found {
		s.opening.Add(trace.CodeCountMismatch, trace.Place{Location: trace.None, File: s.path, Offset: -1},
			fmt.Sprintf("the anchor file announces %d %s, there are %d", announced, what, found))
	}
}

// localPath returns the path of a location's file. Its name is the identifier in the file.
func (s *Source) localPath(location trace.LocationID, suffix string) string {
	return filepath.Join(s.stem, strconv.FormatUint(s.defs.Locations[location].Ref, 10)+suffix)
}

// EventFile returns the path of the file that has a location's events.
func (s *Source) EventFile(location trace.LocationID) string { return s.localPath(location, ".evt") }

// FilesOf returns, of files that are there, those of an archive. Its path is that of its anchor file or of the directory that holds it:
// what Open reads, the anchor file last, and the files of events, of which it takes the size alone. Paths are slash-separated.
func FilesOf(name string, there []string) (opened, events []string) {
	if !slices.Contains(there, name) {
		var names []string
		for _, file := range there {
			if path.Dir(file) == name {
				names = append(names, path.Base(file))
			}
		}
		anchors := anchorsOf(names)
		if len(anchors) != 1 {
			return nil, nil
		}
		name = path.Join(name, anchors[0])
	}
	stem, anchor := strings.TrimSuffix(name, ".otf2"), []string(nil)
	for _, file := range there {
		extension := path.Ext(file)
		_, err := strconv.ParseUint(strings.TrimSuffix(path.Base(file), extension), 10, 64)
		switch local := err == nil && path.Dir(file) == stem; {
		case local && extension == ".evt":
			events = append(events, file)
		case local && extension == ".def", file == stem+".def", file == stem+".marker":
			opened = append(opened, file)
		case file == name:
			anchor = []string{file}
		}
	}
	return append(opened, anchor...), events
}

// A found is what Open finds of a location.
type found struct {
	members
	defined bool // it has definitions
	lacking bool // it has none, but events
	offsets []trace.ClockOffset
	noted   trace.Ledger
	err     error
}

// readLocals reads the clock offsets of all locations and looks for their files, those of several
// locations at a time: where they lie far away, that is the time to open an archive.
func (s *Source) readLocals(ctx context.Context, jobs int) error {
	all, err := engine.Map(ctx, jobs, len(s.defs.Locations), func(_ context.Context, i int) (found, error) {
		return s.find(trace.LocationID(i)), nil
	})
	if err != nil {
		return err
	}
	local := slices.ContainsFunc(all, func(f found) bool { return f.defined }) // archives without local definitions are usual
	s.members = make([]members, len(all))
	for i := range all {
		id, f := trace.LocationID(i), &all[i]
		if f.err != nil {
			return f.err
		}
		s.opening.Merge(f.noted.Findings())
		if local && f.lacking {
			s.opening.Add(trace.CodeMissingFile, trace.Place{Location: id, File: s.localPath(id, ".def"), Offset: -1},
				"other locations have local definitions")
		}
		if f.defined {
			s.defs.Locations[id].ClockOffsets = f.offsets
		}
		s.members[id] = f.members
		s.info.Bytes += f.def + f.evt
	}
	return nil
}

// find reads a location's definitions and looks for its files.
func (s *Source) find(id trace.LocationID) (f found) {
	local, err := s.readLocal(id, &f.noted)
	switch path := s.localPath(id, ".def"); {
	case err != nil:
		return found{err: err}
	case local != nil:
		f.defined, f.offsets, f.maps = true, local.offsets, local.maps != [mappingTypes]*idMap{}
	case isThere(path):
		f.noted.Add(trace.CodeMissingFile, trace.Place{Location: id, File: path, Offset: -1},
			"its name belongs to a directory or a device, not to a file")
	default:
		f.lacking = s.defs.Locations[id].Events > 0
	}
	f.def, f.evt = fileSize(s.localPath(id, ".def")), s.eventSize(id, &f.noted)
	return f
}

// isMissing reports whether opening a file failed since there is none: nothing of its name, or
// what is no file, such as a directory, a pipe, or a link that leads to itself.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, wire.ErrNotRegular) || errors.Is(err, syscall.ELOOP)
}

// openNeeded opens a file without which there is no archive.
func openNeeded(path string) (*wire.File, error) {
	f, err := wire.Open(path)
	if errors.Is(err, wire.ErrNotRegular) {
		err = &trace.SyntaxError{File: path, Offset: -1, Err: err}
	}
	return f, err
}

// isThere reports whether a directory has an entry of that name, whatever it is.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readLocal reads a location's definitions; nil if there are none.
func (s *Source) readLocal(id trace.LocationID, l *trace.Ledger) (*localDefs, error) {
	f, err := wire.Open(s.localPath(id, ".def"))
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var local *localDefs
	err = f.Guard(func() { local = readLocalDefs(f, s.anchor.defChunk, id, l) })
	return local, err
}

// eventSize returns the size of the file that has a location's events, and notes if there is none and
// there should be.
func (s *Source) eventSize(id trace.LocationID, l *trace.Ledger) int64 {
	path, announced := s.EventFile(id), s.defs.Locations[id].Events
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode().IsRegular():
		return info.Size()
	case announced > 0 || isThere(path):
		l.Add(trace.CodeMissingFile, trace.Place{Location: id, File: path, Offset: -1}, fmt.Sprintf("%d events are announced", announced))
	}
	return 0
}

// Info implements trace.Source.
func (s *Source) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all trace.Ledger
	all.Merge(s.opening.Findings())
	for i := range s.reading {
		all.Merge(s.reading[i].findings)
	}
	if s.extras != nil {
		all.Merge(s.extras.ledger.Findings())
	}
	return all.Findings()
}

// note keeps the findings of an iteration over a location, unless an earlier one got as
// far: every iteration notices the same things.
func (s *Source) note(location trace.LocationID, p progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := &s.reading[location]
	if !old.done && (p.done || p.events > old.events || old.findings == nil) {
		*old = p
	}
}

// Close implements trace.Source. Iterations that run meanwhile keep their files until
// they end.
func (s *Source) Close() error { return nil }
