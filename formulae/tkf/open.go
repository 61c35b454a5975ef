package tkf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/reconstruct"
	"tracekit/spill"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "tkf"

// Is reports whether a file that begins with these bytes is a compressed trace.
func Is(head []byte) bool { return len(head) >= len(magic) && string(head[:len(magic)]) == magic }

// A file is an open file whose first sections were read.
type file struct {
	tables  *coder.Tables
	reader  io.ReaderAt
	name    string
	version byte
	head    head
	about   about
}

// A source is a file that was compressed without loss. Its memory holds the definitions,
// the dictionary and the places of the sections; events are decoded while they are read, each
// location on its own.
type source struct {
	*file
	directory
	close     func() error
	ranks     *partners.Ranks
	structure [][]section        // by class
	events    [][]section        // by location
	same      []trace.LocationID // by location: whose times it has, too; trace.None: its own

	once     sync.Once
	learnErr error
	models   timeModels                      // of all locations but the leader
	values   valueModels                     // of the same
	leading  atomic.Pointer[locationDecoder] // the leader's, behind what was learned from
}

// A directory says what the symbols of each location mean.
type directory struct {
	dict     *symbols.Dictionary
	classes  []symbols.Class
	class    []uint32 // by location
	position []uint32 // of each location in its class
}

// newDirectory finds the members of classes.
func newDirectory(d *symbols.Dictionary, classes []symbols.Class, locations int) directory {
	out := directory{d, classes, make([]uint32, locations), make([]uint32, locations)}
	for i, c := range classes {
		for k, l := range c.Members {
			out.class[l], out.position[l] = uint32(i), uint32(k)
		}
	}
	return out
}

// readDirectory reads the section of classes.
func (f *file) readDirectory(at section) (directory, error) {
	block, err := f.load(at)
	if err != nil {
		return directory{}, err
	}
	c, d := pack.OpenColumns(f.form(), block), symbols.NewDictionary()
	locations := len(f.about.Defs.Locations)
	classes := d.Code(c, nil, locations)
	if c.Damaged {
		return directory{}, f.damaged(at, pack.ErrDamaged)
	}
	return newDirectory(d, classes, locations), nil
}

// Open opens a compressed trace. Of one that was compressed without loss the events are
// those of the trace; of one in stat mode they are rebuilt from the formulae, so many
// locations at the same time as there are jobs (below 1: one per processor), with a store as
// reconstruct.NewSource takes it. The error wraps trace.ErrNotATrace if it is no compressed
// trace, and is a *trace.SyntaxError if it is damaged; so are errors of reading events, for
// every block has a checksum.
func Open(path string, jobs int, store *spill.Store) (trace.Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var s trace.Source
		if s, err = open(f, info.Size(), path, jobs, store, f.Close); err == nil {
			return s, nil
		}
	}
	f.Close()
	return nil, err
}

// open reads all but the events: sections are scanned, those before the events decoded.
func open(r io.ReaderAt, size int64, name string, jobs int, store *spill.Store, close func() error) (trace.Source, error) {
	sections, version, err := scanSections(r, size, name)
	if err != nil {
		if errors.Is(err, errNotTKF) {
			err = fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
		}
		return nil, err
	}
	f := &file{tables: coder.NewTables(), reader: r, name: name, version: version}
	if len(sections) < 3 || sections[0].kind != sectionHead || sections[1].kind != sectionDefinitions {
		return nil, syntaxError(name, 0, "", pack.ErrDamaged)
	}
	if err := f.readHead(sections[0]); err != nil {
		return nil, err
	}
	if err := f.readDefinitions(sections[1], size); err != nil {
		return nil, err
	}
	if f.head.Mode == uint64(Statistics) {
		return f.rebuilt(sections[2:], jobs, store, close)
	}
	s := &source{file: f, close: close, ranks: partners.RanksOf(&f.about.Defs)}
	if err := s.readClasses(sections[2:]); err != nil {
		return nil, err
	}
	return s, nil
}

// rebuilt returns the trace that a file in stat mode describes, of which all is read.
func (f *file) rebuilt(rest []section, jobs int, store *spill.Store, close func() error) (trace.Source, error) {
	s, err := f.readStatistics(rest)
	if err != nil {
		return nil, err
	}
	a, h := &f.about, &f.head
	m := reconstruct.Model{Name: filepath.Base(f.name), Info: a.Info, Defs: &a.Defs, Findings: a.Findings, Locations: s.locations,
		Form: sequence.Form{Terms: int(min(h.Terms, math.MaxInt32)), Paper: h.Paper}, Seed: h.Seed}
	if h.Laws {
		m.Durations = formulae.Laws
	}
	if s.structure == nil {
		return reconstruct.NewSource(m, jobs, store), close()
	}
	m.Prepare, m.Close = func(ctx context.Context) error { return s.prepare(ctx, jobs) }, close
	return reconstruct.NewSource(m, jobs, store), nil
}

// form is that of the file's blocks.
func (f *file) form() pack.Form { return pack.Form{Tables: f.tables, Early: f.version < versionWords} }

// load reads the payload of a section.
func (f *file) load(at section) ([]byte, error) { return at.load(f.reader, f.name) }

// damaged makes damage the syntax error of a section; other errors stay as they are.
func (f *file) damaged(at section, err error) error {
	if errors.Is(err, pack.ErrDamaged) {
		return syntaxError(f.name, at.offset, at.kind.String(), err)
	}
	return err
}

func (f *file) readHead(at section) error {
	block, err := f.load(at)
	if err != nil {
		return err
	}
	if err := pack.Unpack(f.form(), block, &f.head, headLayout(f.version)); err != nil {
		return f.damaged(at, err)
	}
	q := quantiser{unit: f.head.Unit, keep: uint(min(f.head.Keep, 64))}
	if q.check() != nil {
		return f.damaged(at, pack.ErrDamaged)
	}
	return nil
}

func (f *file) readDefinitions(at section, size int64) error {
	block, err := f.load(at)
	if err != nil {
		return err
	}
	if err := pack.UnpackOpen(f.form(), block, &f.about, aboutLayout()); err != nil {
		return f.damaged(at, err)
	}
	if err := f.about.Defs.Check(); err != nil {
		return syntaxError(f.name, at.offset, at.kind.String(), err)
	}
	f.about.Info.Path, f.about.Info.Format, f.about.Info.Bytes = f.name, Format, size
	return nil
}

// readClasses reads the dictionary and the classes, and sorts the sections of events and
// structure by their owners.
func (s *source) readClasses(rest []section) error {
	locations := len(s.about.Defs.Locations)
	at := rest[0]
	if len(rest) < 2 || at.kind != sectionClasses || s.head.Leader != trace.None && s.head.Leader >= uint64(locations) {
		return s.damaged(at, pack.ErrDamaged)
	}
	var err error
	if s.directory, err = s.readDirectory(at); err != nil {
		return err
	}
	s.structure, s.events, s.same = make([][]section, len(s.classes)), make([][]section, locations),
		slices.Repeat([]trace.LocationID{trace.None}, locations)
	for _, at := range rest[1 : len(rest)-1] {
		if at.kind == sectionTimes {
			if err := s.readShared(at); err != nil {
				return err
			}
			continue
		}
		owners := s.events
		if at.kind == sectionStructure {
			owners = s.structure
		}
		if at.kind != sectionStructure && at.kind != sectionEvents || at.owner >= uint64(len(owners)) {
			return s.damaged(at, pack.ErrDamaged)
		}
		owners[at.owner] = append(owners[at.owner], at)
	}
	for _, of := range s.same {
		if of != trace.None && s.same[of] != trace.None {
			return s.damaged(at, pack.ErrDamaged)
		}
	}
	return nil
}

// Info implements trace.Source.
func (s *source) Info() trace.Info { return s.about.Info }

// Defs implements trace.Source.
func (s *source) Defs() *trace.Defs { return &s.about.Defs }

// Findings implements trace.Source: what was noticed when the trace was read that was
// compressed.
func (s *source) Findings() []trace.Finding { return s.about.Findings }

// Close implements trace.Source.
func (s *source) Close() error { return s.close() }
