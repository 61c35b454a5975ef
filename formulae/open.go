package formulae

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "tkf"

// IsTKF reports whether a file that begins with these bytes is a compressed trace.
func IsTKF(head []byte) bool { return len(head) >= 3 && string(head[:3]) == magic[:3] }

// A source is an open file that was compressed without loss. Its memory holds the definitions,
// the dictionary and the places of the sections; events are decoded while they are read, each
// location on its own.
type source struct {
	tables    *tables
	file      io.ReaderAt
	close     func() error
	name      string
	head      head
	kept      kept
	dict      *dictionary
	frame     *frame
	classes   []class
	class     []uint32    // by location
	position  []uint32    // of each location in its class
	structure [][]section // by class
	events    [][]section // by location

	once     sync.Once
	learnErr error
	models   timeModels                      // of all locations but the leader
	leading  atomic.Pointer[locationDecoder] // the leader's, behind what was learned from
}

// Open opens a compressed trace. Of one that was compressed without loss the events are
// those of the trace; of one in stat mode they are rebuilt from the formulae. The error
// wraps trace.ErrNotATrace if it is no compressed trace, and is a *trace.SyntaxError if it
// is damaged; so are errors of reading events, for every block has a checksum.
func Open(path string) (trace.Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var s trace.Source
		if s, err = open(f, info.Size(), path, f.Close); err == nil {
			return s, nil
		}
	}
	f.Close()
	return nil, err
}

// open reads all but the events: sections are scanned, those before the events decoded.
func open(r io.ReaderAt, size int64, name string, close func() error) (trace.Source, error) {
	sections, err := scanSections(r, size, name)
	if err != nil {
		if errors.Is(err, errNotTKF) {
			err = fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
		}
		return nil, err
	}
	s := &source{tables: newTables(), file: r, close: close, name: name}
	if len(sections) < 3 || sections[0].kind != sectionHead || sections[1].kind != sectionDefinitions {
		return nil, syntaxError(name, 0, "", errDamaged)
	}
	if err := s.readHead(sections[0], size); err != nil {
		return nil, err
	}
	if err := s.readDefinitions(sections[1], size); err != nil {
		return nil, err
	}
	if s.head.Mode == uint64(Statistics) {
		return statistic(openStatistics(s, sections[2:]))
	}
	if err := s.readClasses(sections[2:]); err != nil {
		return nil, err
	}
	return s, nil
}

// statistic makes an interface of what openStatistics returns, nil with an error.
func statistic(s *statSource, err error) (trace.Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// damaged makes errDamaged the syntax error of a section; other errors stay as they are.
func (s *source) damaged(at section, err error) error {
	if errors.Is(err, errDamaged) {
		return syntaxError(s.name, at.offset, at.kind.String(), err)
	}
	return err
}

func (s *source) readHead(at section, size int64) error {
	block, err := at.load(s.file, s.name)
	if err != nil {
		return err
	}
	if err := unpack(s.tables, block, &s.head); err != nil {
		return s.damaged(at, err)
	}
	q := quantiser{unit: s.head.Unit, keep: uint(min(s.head.Keep, 64))}
	if s.head.Mode > uint64(Statistics) || q.check() != nil {
		return s.damaged(at, errDamaged)
	}
	return nil
}

func (s *source) readDefinitions(at section, size int64) error {
	block, err := at.load(s.file, s.name)
	if err != nil {
		return err
	}
	if err := unpack(s.tables, block, &s.kept.Layout); err != nil || s.kept.Layout != uint64(layout(&kept{})) {
		return syntaxError(s.name, at.offset, at.kind.String(), errors.New("the definitions are those of another version"))
	}
	if err := unpack(s.tables, block, &s.kept); err != nil {
		return s.damaged(at, err)
	}
	if err := s.kept.Defs.Check(); err != nil {
		return syntaxError(s.name, at.offset, at.kind.String(), err)
	}
	s.kept.Info.Path, s.kept.Info.Format, s.kept.Info.Bytes = s.name, Format, size
	s.frame = newFrame(&s.kept.Defs)
	return nil
}

// readClasses reads the dictionary and the classes, and sorts the sections of events and
// structure by their owners.
func (s *source) readClasses(rest []section) error {
	locations := len(s.kept.Defs.Locations)
	at := rest[0]
	if len(rest) < 2 || at.kind != sectionClasses || s.head.Leader != trace.None && s.head.Leader >= uint64(locations) {
		return s.damaged(at, errDamaged)
	}
	block, err := at.load(s.file, s.name)
	if err != nil {
		return err
	}
	c := newColumnCoder(s.tables)
	c.decode(block)
	s.dict = newDictionary()
	c.dictionary(s.dict)
	if !c.damaged {
		s.classes = c.classes(nil, locations)
	}
	if c.damaged {
		return s.damaged(at, errDamaged)
	}
	s.class, s.position = make([]uint32, locations), make([]uint32, locations)
	for i, c := range s.classes {
		for k, l := range c.members {
			s.class[l], s.position[l] = uint32(i), uint32(k)
		}
	}
	s.structure, s.events = make([][]section, len(s.classes)), make([][]section, locations)
	for _, at := range rest[1 : len(rest)-1] {
		owners := s.events
		if at.kind == sectionStructure {
			owners = s.structure
		}
		if at.kind != sectionStructure && at.kind != sectionEvents || at.owner >= uint64(len(owners)) {
			return s.damaged(at, errDamaged)
		}
		owners[at.owner] = append(owners[at.owner], at)
	}
	return nil
}

// Info implements trace.Source.
func (s *source) Info() trace.Info { return s.kept.Info }

// Defs implements trace.Source.
func (s *source) Defs() *trace.Defs { return &s.kept.Defs }

// Findings implements trace.Source: what was noticed when the trace was read that was
// compressed.
func (s *source) Findings() []trace.Finding { return s.kept.Findings }

// Close implements trace.Source.
func (s *source) Close() error { return s.close() }
