package arrowdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/tempfile"
	"tracekit/trace"
)

// A trace may lie in parts: directories of tables below one, each with all definitions and the events
// of some locations. Several processes write one each, and nobody has to go through what another one
// has written.
//
//	X.parquet/00001-of-00002/    a directory of tables
//	X.parquet/00002-of-00002/
//	X.parquet/tracekit.json      says how many parts there are; a trace without it is not complete

// manifestParts is the schema of the manifest of a directory of parts.
const manifestParts = "tracekit.tables.parts/1"

// maxParts is the largest number of parts of a trace.
const maxParts = 1 << 16

// PartName returns the name of the directory of part number, from 1.
func PartName(number, of int) string { return fmt.Sprintf("%05d-of-%05d", number, of) }

// HasParts reports whether there are parts in a directory, complete or not.
func HasParts(dir string) bool {
	there, _ := os.ReadDir(dir)
	return slices.ContainsFunc(there, func(e fs.DirEntry) bool {
		var number, of int
		n, err := fmt.Sscanf(e.Name(), "%d-of-%d", &number, &of)
		return n == 2 && err == nil && e.IsDir() && e.Name() == PartName(number, of)
	})
}

// Join makes a trace of all its parts, which are there, and returns the format of the first.
func Join(dir string, of int) (f Format, err error) {
	for i := range of {
		m, err := readManifest(filepath.Join(dir, PartName(i+1, of)))
		if err != nil {
			return "", err
		}
		if i == 0 {
			f = m.Format
		}
		if m.Format != f {
			return "", fmt.Errorf("%s is %s, the first part %s", filepath.Join(dir, PartName(i+1, of)), m.Format, f)
		}
	}
	data, err := json.Marshal(struct {
		Schema string `json:"schema"`
		Parts  int    `json:"parts"`
	}{manifestParts, of})
	if err != nil {
		return "", err
	}
	temp, err := tempfile.Create(filepath.Join(dir, manifestName))
	if err != nil {
		return "", err
	}
	_, err = temp.Write(append(data, '\n'))
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, manifestName))
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return f, nil
}

// partsReplaceable states that a directory of parts holds nothing else.
func partsReplaceable(dir string, of int) error {
	there, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	parts := make(map[string]bool)
	for i := range of {
		parts[PartName(i+1, of)] = true
	}
	for _, e := range there {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == manifestName && e.Type().IsRegular():
		case !parts[e.Name()]:
			return foreign(dir, e.Name())
		default:
			if m, err := readManifest(name); err == nil && m.Schema == manifestParts {
				return fmt.Errorf("%s is not a part of a trace: %w", name, fs.ErrExist)
			}
			if err := replaceable(name, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// A parted is an open directory of parts.
type parted struct {
	dir   string
	parts []*Source // nil: not there, or not sound
	of    []*Source // by location: who has its events; nil: nobody
	info  trace.Info
	defs  *trace.Defs
	lost  trace.Ledger // parts that cannot be read
}

// openParts opens the parts of a directory. Those that are not sound are a finding, unless none is.
func openParts(dir string, of int) (trace.Source, error) {
	s := &parted{dir: dir, parts: make([]*Source, of)}
	var first *Source
	var failed error
	for i := range s.parts {
		name := filepath.Join(dir, PartName(i+1, of))
		part, err := openPart(name, first)
		if err != nil {
			code := trace.CodeCorrupt
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, trace.ErrNotATrace) {
				code = trace.CodeMissingFile
			}
			s.lost.Add(code, trace.Place{Location: trace.None, File: name, Offset: -1}, fmt.Sprintf("a part of the trace: %v", err))
			if failed == nil {
				failed = err
			}
			continue
		}
		if s.parts[i] = part; first == nil {
			first = part
		}
	}
	if first == nil {
		return nil, failed
	}
	s.defs, s.info, s.of = first.defs, first.Info(), make([]*Source, len(first.defs.Locations))
	s.info.Path, s.info.Bytes = dir, sizeOf(dir)
	for _, part := range s.parts {
		for l := range s.of {
			switch {
			case part == nil || part.manifest.Events[l] == 0:
			case s.of[l] != nil:
				err := fmt.Errorf("it has events of location %d, which are also in %s", l, s.of[l].dir)
				return nil, errors.Join(&trace.SyntaxError{File: part.dir, Offset: -1, Err: err}, s.Close())
			default:
				s.of[l], s.defs.Locations[l].Events = part, part.manifest.Events[l]
			}
		}
	}
	return s, nil
}

func openPart(dir string, beside *Source) (*Source, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.Schema == manifestParts {
		return nil, &trace.SyntaxError{File: filepath.Join(dir, manifestName), Offset: -1,
			Err: errors.New("a part of a trace consists of parts itself")}
	}
	return openTables(dir, m, beside)
}

// sameDefs reports whether two directories have the same definitions.
func sameDefs(a, b *manifest) bool {
	n := 0
	for name, sum := range a.Files {
		if !strings.HasPrefix(name, "defs/") {
			continue
		}
		if other, ok := b.Files[name]; !ok || other != sum {
			return false
		}
		n++
	}
	for name := range b.Files {
		if strings.HasPrefix(name, "defs/") {
			n--
		}
	}
	return n == 0
}

// Info implements trace.Source.
func (s *parted) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *parted) Defs() *trace.Defs { return s.defs }

// Events implements trace.Source.
func (s *parted) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	if part := s.of[l]; part != nil {
		return part.Events(ctx, l)
	}
	return func(func(*trace.Batch, error) bool) {}
}

// Findings implements trace.Source.
func (s *parted) Findings() []trace.Finding {
	var ledger trace.Ledger
	ledger.Merge(s.lost.Findings())
	for _, part := range s.parts {
		if part != nil {
			ledger.Merge(part.Findings())
		}
	}
	return ledger.Findings()
}

// Close implements trace.Source.
func (s *parted) Close() (err error) {
	for _, part := range s.parts {
		if part != nil {
			err = errors.Join(err, part.Close())
		}
	}
	return err
}
