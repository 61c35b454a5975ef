package arrowdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tracekit/trace"
)

// Name is the name of the format of a directory, whatever that of its tables.
const Name = "tables"

// Manifest file and schema of a directory.
const (
	manifestName   = "tracekit.json"
	manifestSchema = "tracekit.tables/1"
)

// A Format is the format of the tables.
type Format string

// The formats, which are also the endings of file names.
const (
	Arrow   Format = "arrow"
	Parquet Format = "parquet"
)

// maxManifest bounds the size of a manifest that is read into memory.
const maxManifest = 1 << 30

// A manifest says what lies in the directory. Groups[t] are the row groups (Parquet) or
// records (Arrow) of table t in order.
type manifest struct {
	Schema string                 `json:"schema"`
	Format Format                 `json:"format"`
	Info   trace.Info             `json:"info"`
	Events []uint64               `json:"events"` // of each location
	Groups [trace.Tables][]groups `json:"groups"`
	Files  map[string]uint32      `json:"files"` // CRC-32C of each file but this one
}

// groups are consecutive row groups or records of one location.
type groups struct {
	Location trace.LocationID `json:"location"`
	Count    int              `json:"count"`
}

// add counts one more row group of a location.
func (m *manifest) add(t trace.TableID, l trace.LocationID) {
	list := m.Groups[t]
	if n := len(list); n > 0 && list[n-1].Location == l {
		list[n-1].Count++
		return
	}
	m.Groups[t] = append(list, groups{l, 1})
}

// A span is row groups [from, to) of a table.
type span struct{ from, to int }

// A contents says which row groups of each table hold a location's events, in order.
type contents map[trace.LocationID]*[trace.Tables][]span

// contents sorts the row groups by location. Counts are not negative and small enough to
// be added, or there is an error.
func (m *manifest) contents() (contents, error) {
	c := make(contents)
	for t, list := range m.Groups {
		next := 0
		for _, g := range list {
			if g.Count < 0 || g.Count > 1<<31 {
				return nil, fmt.Errorf("%d row groups of location %d", g.Count, g.Location)
			}
			if c[g.Location] == nil {
				c[g.Location] = new([trace.Tables][]span)
			}
			spans := &c[g.Location][t]
			*spans = append(*spans, span{next, next + g.Count})
			next += g.Count
		}
	}
	return c, nil
}

// indices lists the row groups of spans in order. A table of n row groups must have them:
// only then their number is believed.
func indices(spans []span, n int) ([]int, error) {
	var out []int
	for _, s := range spans {
		if s.to > n {
			return nil, fmt.Errorf("there are %d row groups, the manifest names %d", n, s.to)
		}
		for i := s.from; i < s.to; i++ {
			out = append(out, i)
		}
	}
	return out, nil
}

// IsDir reports whether a directory holds a trace of this package, sound or not.
func IsDir(path string) bool {
	info, err := os.Stat(filepath.Join(path, manifestName))
	return err == nil && info.Mode().IsRegular()
}

func readManifest(dir string) (*manifest, error) {
	name := filepath.Join(dir, manifestName)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, trace.ErrNotATrace, manifestName)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &manifest{}
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(m); err != nil {
		return nil, &trace.SyntaxError{File: name, Offset: -1, Err: err}
	}
	if m.Schema != manifestSchema || m.Format != Arrow && m.Format != Parquet {
		return nil, fmt.Errorf("%s: %w: schema %q, format %q", name, trace.ErrNotATrace, m.Schema, m.Format)
	}
	return m, nil
}

func (m *manifest) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), append(data, '\n'), 0o644)
}

// fileOf returns the name of a table's file.
func fileOf(dir, part, table string, f Format) string {
	return filepath.Join(dir, part, table+"."+string(f))
}
