package arrowdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/trace"
)

// Manifest file and schema of a directory.
const (
	manifestName   = "tracekit.json"
	manifestSchema = "tracekit.tables/2"
	manifestBefore = "tracekit.tables/1" // of earlier versions, which we still read
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

// A manifest says what lies in the directory.
type manifest struct {
	Schema string               `json:"schema"`
	Format Format               `json:"format"`
	Info   trace.Info           `json:"info"`
	Events []uint64             `json:"events"` // of each location
	Rows   [trace.Tables]layout `json:"rows,omitzero"`
	Groups [trace.Tables][]run  `json:"groups,omitzero"` // before: row groups or records, each of one location
	Files  map[string]uint32    `json:"files"`           // CRC-32C of each file but this one
	Parts  int                  `json:"parts,omitzero"`  // with manifestParts, and then nothing else
}

// A layout says how many rows the row groups (Parquet) or records (Arrow) of a table have,
// and whose the rows are, in order.
type layout struct {
	Groups    []int `json:"groups"`
	Locations []run `json:"locations"`
}

// A run is consecutive rows, or groups, of one location.
type run struct {
	Location trace.LocationID `json:"location"`
	Count    int              `json:"count"`
}

// add counts more rows of a location.
func (l *layout) add(location trace.LocationID, rows int) {
	if n := len(l.Locations); n > 0 && l.Locations[n-1].Location == location {
		l.Locations[n-1].Count += rows
		return
	}
	l.Locations = append(l.Locations, run{location, rows})
}

// runs returns whose the rows of a table are; before, whose its groups are.
func (m *manifest) runs(t trace.TableID) []run {
	if m.Schema == manifestBefore {
		return m.Groups[t]
	}
	return m.Rows[t].Locations
}

// A span is rows [from, to) of a table; before, groups.
type span struct{ from, to int }

// A contents says where in each table a location's events are, in order.
type contents map[trace.LocationID]*[trace.Tables][]span

// most bounds numbers in the manifest: sums of them are right.
const most = 1 << 40

// contents sorts the rows by location. What the manifest says agrees with itself, or there
// is an error.
func (m *manifest) contents() (contents, error) {
	c := make(contents)
	for t := range trace.TableID(trace.Tables) {
		next := 0
		for _, r := range m.runs(t) {
			if r.Count < 0 || r.Count > most-next || int(r.Location) >= len(m.Events) {
				return nil, fmt.Errorf("table %s: %d rows of location %d of %d", t, r.Count, r.Location, len(m.Events))
			}
			if c[r.Location] == nil {
				c[r.Location] = new([trace.Tables][]span)
			}
			spans := &c[r.Location][t]
			*spans = append(*spans, span{next, next + r.Count})
			next += r.Count
		}
		if m.Schema == manifestBefore {
			continue
		}
		starts, err := m.Rows[t].starts()
		if end := starts[len(starts)-1]; err != nil || end != next {
			return nil, fmt.Errorf("table %s: %d rows in groups, %d of locations: %v", t, end, next, err)
		}
	}
	for l, n := range m.Events {
		rows := most
		if at := c[trace.LocationID(l)]; m.Schema != manifestBefore {
			rows = 0
			if at != nil {
				for _, s := range slices.Concat(at[:]...) {
					rows += s.to - s.from
				}
			}
		}
		if n > uint64(rows) {
			return nil, fmt.Errorf("location %d has %d events in %d rows", l, n, rows)
		}
	}
	return c, nil
}

// starts returns the first row of each group, and the number of rows.
func (l *layout) starts() ([]int, error) {
	starts := []int{0}
	for _, n := range l.Groups {
		last := starts[len(starts)-1]
		if n < 0 || n > most-last {
			return starts, fmt.Errorf("a group of %d rows", n)
		}
		starts = append(starts, last+n)
	}
	return starts, nil
}

// IsDir reports whether a directory holds a trace of this package, sound or not.
func IsDir(path string) bool {
	_, err := os.Lstat(filepath.Join(path, manifestName))
	return err == nil
}

// ManifestOf returns the path of the manifest of a directory, without which that is none.
func ManifestOf(dir string) string { return filepath.Join(dir, manifestName) }

// FilesOf returns, of files that are there, those below a directory of this package, its manifest last;
// none if it is not one. Paths are slash-separated.
func FilesOf(dir string, there []string) (files []string) {
	manifest := dir + "/" + manifestName
	if !slices.Contains(there, manifest) {
		return nil
	}
	for _, file := range there {
		if strings.HasPrefix(file, dir+"/") && file != manifest {
			files = append(files, file)
		}
	}
	return append(files, manifest)
}

func readManifest(dir string) (*manifest, error) {
	name := filepath.Join(dir, manifestName)
	f, err := openRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, trace.ErrNotATrace, manifestName)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, in := &manifest{}, json.NewDecoder(io.LimitReader(f, maxManifest))
	if err := in.Decode(m); err != nil {
		return nil, damaged(name, in.InputOffset(), err)
	}
	if m.Schema == manifestParts && 1 <= m.Parts && m.Parts <= maxParts {
		return m, nil
	}
	if m.Schema != manifestSchema && m.Schema != manifestBefore || m.Format != Arrow && m.Format != Parquet {
		return nil, fmt.Errorf("%s: %w: schema %q, format %q", name, trace.ErrNotATrace, m.Schema, m.Format)
	}
	return m, nil
}

// damaged says where and why a manifest cannot be decoded. Read is the number of bytes before what
// could not be; of a value of the wrong type only its end is known.
func damaged(name string, read int64, err error) error {
	const remedy = "; write the tables again from the trace that they were made of"
	at := &trace.SyntaxError{File: name, Offset: read}
	var syntax *json.SyntaxError
	var value *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at.Offset, at.Err = syntax.Offset-1, errors.New("this is not JSON"+remedy) // Offset counts the offending byte
	case errors.As(err, &value):
		at.Offset, at.Record, at.Err = value.Offset, value.Field, fmt.Errorf("a %s is not allowed here%s", value.Value, remedy)
	case errors.Is(err, io.EOF):
		at.Err = errors.New("the file is empty" + remedy)
	case errors.Is(err, io.ErrUnexpectedEOF):
		at.Offset, at.Err = sizeOf(name), errors.New("the file is cut off"+remedy)
	default:
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return at
}

func (m *manifest) write(dir string) error {
	data, err := trace.MarshalJSON(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), append(data, '\n'), 0o666)
}

// fileOf returns the name of a table's file.
func fileOf(dir, part, table string, f Format) string {
	return filepath.Join(dir, part, table+"."+string(f))
}
