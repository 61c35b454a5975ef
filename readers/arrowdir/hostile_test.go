package arrowdir

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/google/go-cmp/cmp"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestBefore: directories of an earlier version, whose row groups and records are of one
// location each, hold the same trace.
func TestBefore(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		archive, err := zip.OpenReader("testdata/before.zip")
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		dir := t.TempDir()
		if err := os.CopyFS(dir, archive); err != nil {
			t.Fatal(err)
		}
		src, err := Open(t.Context(), filepath.Join(dir, string(f)))
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		want := tracetest.MustParse(t, tracetest.Everything)
		for l := range want.Definitions.Locations {
			want.Definitions.Locations[l].Events = src.Defs().Locations[l].Events
		}
		if diff := cmp.Diff(text(t, want), text(t, src)); diff != "" || len(src.Findings()) > 0 {
			t.Errorf("%v (-want +got):\n%.2000s", src.Findings(), diff)
		}
	})
}

// TestContradictions: tables and manifest that do not agree are an error, or a finding of
// the locations that it is about.
func TestContradictions(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		flow := trace.TableFlow
		for name, c := range map[string]struct {
			change func(m *manifest)
			want   string // in the error, or the finding of location 1
		}{
			"fewer events":    {func(m *manifest) { m.Events[1]-- }, "events are announced"},
			"absurd events":   {func(m *manifest) { m.Events[1] = math.MaxUint64 }, "has 18446744073709551615 events"},
			"a location more": {func(m *manifest) { m.Events = append(m.Events, 0) }, "it has 5 locations, the definitions have 4"},
			"a location less": {func(m *manifest) { m.Events = m.Events[:3] }, "of location 3 of 3"},
			"another's rows": {func(m *manifest) {
				m.Events[0]--
				m.Rows[flow].Locations[0].Count--
				m.Rows[flow].Locations[1].Count++
			}, "a row of location 0 among those of location 1"},
			"rows left out":     {func(m *manifest) { m.Rows[flow].Locations[3].Count-- }, "rows in groups"},
			"rows of groups":    {func(m *manifest) { m.Rows[flow].Groups[0]++; m.Rows[flow].Locations[3].Count++ }, "the manifest says"},
			"negative groups":   {func(m *manifest) { m.Rows[flow].Groups[0] = -1 }, "a group of -1 rows"},
			"a group more":      {func(m *manifest) { m.Rows[flow].Groups = append(m.Rows[flow].Groups, 0) }, "the manifest names 2"},
			"a million of rows": {func(m *manifest) { m.Rows[flow].Locations[0].Count = 1 << 50 }, "1125899906842624 rows of location"},
		} {
			g := newForger(t, f)
			m := g.manifest
			c.change(&m)
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			g.put(t, manifestName, text)
			got := ""
			if src, err := Open(t.Context(), g.dir); err != nil {
				if syntax := (*trace.SyntaxError)(nil); !errors.As(err, &syntax) {
					t.Errorf("%s: an error of another kind: %v", name, err)
				}
				got = err.Error()
			} else {
				for range src.Events(t.Context(), 1) {
				}
				for _, f := range src.Findings() {
					got += f.Text
				}
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
		// A table of definitions of another trace, with the checksum that it has.
		g, other := newForger(t, f), filepath.Join(t.TempDir(), "x")
		write(t, tracetest.MustParse(t, "location 0\nlocation 1\n"), other, Options{Format: f}, false)
		for _, table := range []string{"location", "process", "string", "region"} {
			name := "defs/" + table + "." + string(f)
			data, err := os.ReadFile(filepath.Join(other, name))
			if err != nil {
				t.Fatal(err)
			}
			g.forge(t, name, data)
			if _, err := Open(t.Context(), g.dir); err == nil {
				t.Errorf("%s of another trace is taken", name)
			}
			g.restore(t, name)
		}
	})
}

// TestForgedRows: a table of a few kilobytes, in which every page is what it says, announces
// many rows: so many that to decode them takes gigabytes, and as many as are plausible.
func TestForgedRows(t *testing.T) {
	g := newForger(t, Parquet)
	location := tableKinds()[slices.IndexFunc(tableKinds(), func(k trace.DefKind) bool { return k.Name == "location" })]
	clear(g.manifest.Events)
	for name, schema := range map[string]*arrow.Schema{
		"events/flow.parquet": withLocation(eventSchemas[trace.TableFlow]), "defs/location.parquet": defSchema(location)} {
		for _, rows := range []int{1 << 27, 1 << 18, 1 << 15} {
			data := repetitive(t, schema, rows)
			sound := g.manifest.Rows[trace.TableFlow]
			if name == "events/flow.parquet" {
				g.manifest.Rows[trace.TableFlow] = layout{[]int{rows}, []run{{0, rows}}}
			}
			g.forge(t, name, data)
			if taken := allocated(func() { readAll(t, g.dir) }); taken > 256<<20+maxExpansion*uint64(len(data)) {
				t.Errorf("%s: %d bytes of memory for a table of %d bytes, %d rows", name, taken, len(data), rows)
			} else {
				t.Logf("%s: %d bytes of memory for a table of %d bytes, %d rows", name, taken, len(data), rows)
			}
			g.restore(t, name)
			g.manifest.Rows[trace.TableFlow] = sound
		}
	}
}

// repetitive returns a sound Parquet file of so many rows, all of zeros.
func repetitive(t *testing.T, s *arrow.Schema, rows int) []byte {
	name := filepath.Join(t.TempDir(), "x.parquet")
	w, err := newParquetWriter(name, s)
	if err != nil {
		t.Fatal(err)
	}
	all := metadata.NewFileMetadataBuilder(w.schema, w.props, nil)
	group, e := all.AppendRowGroup(), encoded{}
	for i := range w.schema.NumColumns() {
		p := newPageWriter(&e.pages, group.NextColumnChunk())
		value := make([]byte, w.schema.Column(i).PhysicalType().ByteSize())
		p.info.DictPageOffset = p.position()
		p.page(dictionaryPage, int64(len(value)), p.Compress(nil, value), 0x4C, 1, encodingPlain)
		p.info.DataPageOffset, p.info.NumValues = p.position(), int64(rows)
		run := append(binary.AppendUvarint([]byte{1}, uint64(rows)<<1), 0) // so many zeros, of one bit
		p.page(dataPage, int64(len(run)), p.Compress(nil, run), 0x2C, int64(rows), encodingDict, encodingLevels, encodingLevels)
		if err := p.Close(true, false); err != nil {
			t.Fatal(err)
		}
	}
	group.SetNumRows(rows)
	if err := group.Finish(int64(e.pages.Len()), 0); err != nil {
		t.Fatal(err)
	}
	if e.meta, err = all.Finish(); err == nil {
		err = w.put(nil, &e)
	}
	if _, failed := w.close(); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if f, err := file.OpenParquetFile(name, false); err != nil || f.NumRows() != int64(rows) {
		t.Fatal("it is no table for the library: ", err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// allocated returns how much memory is taken, given back or not.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBomb: a page that decompresses to more than it announces is not decompressed.
func TestBomb(t *testing.T) {
	var out bytes.Buffer
	w := newPageWriter(&out, nil)
	w.page(dataPage, 100, w.Compress(nil, make([]byte, 1<<28)), 0x2C, 1, encodingPlain, encodingLevels, encodingLevels)
	p := &pages{packed: out.Bytes(), room: 200, values: 1}
	var err error
	if taken := allocated(func() { _, err = p.next() }); err == nil || taken > 64<<20 {
		t.Errorf("%d bytes of memory for a page of %d: %v", taken, out.Len(), err)
	}
}

// longTrace writes a directory of one location whose events fill groups of its own, as
// regular as can be.
func longTrace(t testing.TB, f Format, events int) (dir string) {
	src := ranksOf(t, 1)
	b := src.Batches[0][0]
	b.Reset(0, 0)
	for i := range events {
		b.AddP2P(trace.P2PRow{Time: int64(i), Kind: trace.KindMpiSend})
	}
	dir = filepath.Join(t.TempDir(), "x")
	writeRanks(t, src, dir, f)
	return dir
}

// eventsOf counts the events of location 0.
func eventsOf(t testing.TB, src trace.Source) (n int) {
	for b, err := range src.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n += b.Len()
	}
	return n
}

// TestRegular: what takes next to no space in the file is believed nevertheless.
func TestRegular(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		const events = 2_000_000
		src, err := Open(t.Context(), longTrace(t, f, events))
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if n := eventsOf(t, src); n != events || len(src.Findings()) > 0 {
			t.Errorf("%d events of %d, %v", n, events, src.Findings())
		}
	})
}

// TestShrinking: a table that gets shorter between two passes is a finding.
func TestShrinking(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		dir := longTrace(t, f, 2*MaxGroupRows)
		src, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if n := eventsOf(t, src); n != 2*MaxGroupRows || len(src.Findings()) > 0 {
			t.Fatal(n, src.Findings())
		}
		if err := os.Truncate(filepath.Join(dir, "events", "p2p."+string(f)), 1000); err != nil {
			t.Fatal(err)
		}
		if n := eventsOf(t, src); n == 2*MaxGroupRows || len(src.Findings()) != 1 {
			t.Error(n, src.Findings())
		}
	})
}

// TestPageValues states that a page of few bytes does not stand for any number of values.
func TestPageValues(t *testing.T) {
	for n, want := range map[int64]bool{-1: false, 0: true, pageValues: true, pageValues + 1: false, math.MaxInt64: false} {
		r := &cellReader{left: math.MaxInt64}
		if err := r.begin(n, encodingPlain, nil, nil); (err == nil) != want {
			t.Errorf("%d values: %v", n, err)
		}
	}
}
