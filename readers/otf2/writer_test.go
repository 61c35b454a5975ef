package otf2

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/trace"
)

// smallTrace returns a trace of n locations, without batches.
func smallTrace(n int) *trace.Defs {
	d := &trace.Defs{Clock: trace.ClockProperties{Resolution: 1e9}, Strings: []string{"r"},
		Regions: []trace.Region{{Description: trace.None, File: trace.None}}}
	for i := range n {
		d.Locations = append(d.Locations, trace.Location{Ref: uint64(i), Kind: trace.LocationCPUThread, Group: trace.None})
	}
	return d
}

// names returns the names in a directory.
func names(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func flowBatch(l trace.LocationID, first uint64, n int) *trace.Batch {
	b := new(trace.Batch)
	b.Reset(l, first)
	for i := range n {
		b.AddFlow(int64(first)+int64(i), []trace.Kind{trace.KindEnter, trace.KindLeave}[i%2], 0)
	}
	return b
}

func TestCreatePlaces(t *testing.T) {
	for _, test := range []struct {
		path, want string // of the archive; what the directory holds then
	}{
		{"new", "new"},
		{"old", "old"},
		{"x.otf2", "old x x.def x.otf2"},
		{"old/y.otf2", "old"},
	} {
		t.Run(test.path, func(t *testing.T) {
			dir := t.TempDir()
			if test.path != "new" {
				if err := os.Mkdir(filepath.Join(dir, "old"), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, test.path)
			for _, force := range []bool{false, true} {
				w, err := Create(path, trace.Info{Creator: fmt.Sprint(force)}, smallTrace(1), Options{Force: force})
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(w.Write(flowBatch(0, 0, 2)), w.Close(), w.Close()); err != nil {
					t.Fatal(err)
				}
				if got := names(t, dir); got != test.want {
					t.Errorf("the directory has %s, want %s", got, test.want)
				}
				s, err := Open(context.Background(), path, 0)
				if err != nil || s.Info().Creator != fmt.Sprint(force) || s.Defs().Locations[0].Events != 2 {
					t.Errorf("reading it again: %v %v", s, err)
				}
			}
			if _, err := Create(path, trace.Info{}, smallTrace(1), Options{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("replacing an archive without force: %v", err)
			}
		})
	}
}

// TestDiscard shows that nothing is left behind when an archive is not completed.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a"), trace.Info{}, smallTrace(1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(flowBatch(0, 0, 200_000)), w.Discard(), w.Discard()); err != nil {
		t.Error(err)
	}
	if w, err = Create(filepath.Join(dir, "b.otf2"), trace.Info{}, smallTrace(1), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(flowBatch(7, 0, 1)); err == nil {
		t.Error("a location that is not defined was written")
	}
	if err := w.Close(); err == nil {
		t.Error("an archive was completed after an error")
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
	if _, err := Create(filepath.Join(dir, "c"), trace.Info{}, smallTrace(1), Options{EventChunk: 1000}); err == nil {
		t.Error("a chunk size that the format does not allow")
	}
}

// TestForce replaces archives only: nothing that merely has the name of one, and no file
// that somebody put beside the events.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.otf2")
	write := func() error {
		w, err := Create(path, trace.Info{}, smallTrace(1), Options{Force: true})
		if err != nil {
			return err
		}
		return w.Close()
	}
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(dir, "x", "thesis.tex")
	mustWrite(t, precious, nil)
	if err := write(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder of the same name: %v", err)
	}
	if err := os.Rename(precious, filepath.Join(dir, "thesis.tex")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "x")), write(), write()); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, precious, nil)
	if err := write(); err == nil {
		t.Error("a folder with other files was replaced")
	}
	for _, kept := range []string{precious, path} {
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
	}
	there := names(t, dir)
	if _, err := Create(dir, trace.Info{}, smallTrace(1), Options{Force: true}); !errors.Is(err, fs.ErrExist) || names(t, dir) != there {
		t.Errorf("a folder of other files: %v, it holds %s", err, names(t, dir))
	}
}

// TestManyLocations writes more locations than files can be open, in turns.
func TestManyLocations(t *testing.T) {
	const locations, rounds = 1200, 3
	dir := filepath.Join(t.TempDir(), "many")
	w, err := Create(dir, trace.Info{}, smallTrace(locations), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r := range rounds {
		for l := range locations {
			if err := w.Write(flowBatch(trace.LocationID(l), uint64(4*r), 4)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []trace.LocationID{0, 600, locations - 1} {
		for b, err := range s.Events(context.Background(), l) {
			if err != nil || b.Len() != 4*rounds || b.Flow.Time[11] != 11 {
				t.Errorf("location %d: %v %v", l, b.Flow, err)
			}
		}
	}
	if f := s.Findings(); len(f) > 0 {
		t.Error(f)
	}
}

// TestConcurrentWrites writes several locations at a time, more than may wait in memory; the
// archive is the same as when they are written in turn.
func TestConcurrentWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	const locations, rounds, events = 400, 20, 1000
	archive := func(goroutines int) (dir string) {
		dir = filepath.Join(t.TempDir(), "a")
		w, err := Create(dir, trace.Info{}, smallTrace(locations), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for g := range goroutines {
			wait.Go(func() {
				for r := range rounds {
					for l := g; l < locations; l += goroutines {
						b := flowBatch(trace.LocationID(l), uint64(events*r), events)
						b.AddOther(int64(events*(r+1)), trace.KindUnknown)
						if err := w.Write(b); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		wait.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := w.Lost()["Unknown events"]; got != locations*rounds {
			t.Errorf("%d goroutines: %d events lost, want %d", goroutines, got, locations*rounds)
		}
		return dir
	}
	one, many := os.DirFS(archive(1)), os.DirFS(archive(8))
	err := fs.WalkDir(one, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, err1 := fs.ReadFile(one, name)
		got, err2 := fs.ReadFile(many, name)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs", name)
		}
		return errors.Join(err1, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestChunkHeaders checks the rules for chunks against the bytes of a file: events are
// numbered through, every chunk begins with a timestamp and fits, the last one is cut.
func TestChunkHeaders(t *testing.T) {
	const events = 200_001
	dir := filepath.Join(t.TempDir(), "a")
	w, err := Create(dir, trace.Info{}, smallTrace(1), Options{EventChunk: minChunk})
	if err != nil {
		t.Fatal(err)
	}
	for first := uint64(0); first < events; first += 3 {
		if err := w.Write(flowBatch(0, first, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "traces", "0.evt"))
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(1)
	for at := 0; at < len(data); at += minChunk {
		chunk := data[at:min(at+minChunk, len(data))]
		first, last := binary.LittleEndian.Uint64(chunk[2:]), binary.LittleEndian.Uint64(chunk[10:])
		if first != next || last < first || chunk[headerSize] != idTimestamp {
			t.Errorf("chunk at %d has the events %d to %d, want from %d on", at, first, last, next)
		}
		next = last + 1
	}
	if next != events+1 {
		t.Errorf("the chunks have %d events, want %d", next-1, events)
	}
	if end := data[len(data)-2:]; end[0] != idEndOfFile || end[1] != idEndOfBuffer {
		t.Errorf("the file ends in %x", end)
	}
}

// TestLargeRecords writes records that do not fit the rest of a chunk, and one that fits
// none.
func TestLargeRecords(t *testing.T) {
	args := func(n int) []uint64 {
		a := make([]uint64, 2+n)
		a[1] = uint64(n)
		return a
	}
	b := new(trace.Batch)
	for i := range 10 {
		b.AddOther(int64(i), trace.KindProgramBegin, args(100_000)...)
	}
	m := &trace.MemorySource{Definitions: smallTrace(1), Batches: [][]*trace.Batch{{b}}}
	dir := filepath.Join(t.TempDir(), "a")
	copyArchive(t, m, dir, Options{EventChunk: minChunk}, false)
	s, err := Open(context.Background(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := eventsOnly(tables(t, s)), eventsOnly(tables(t, m)); got != want {
		t.Error("large records differ")
	}
	w, err := Create(dir+"2", trace.Info{}, smallTrace(1), Options{EventChunk: minChunk})
	if err != nil {
		t.Fatal(err)
	}
	b.AddOther(10, trace.KindProgramBegin, args(minChunk)...)
	if err := w.Write(b); !errors.Is(err, errTooLarge) {
		t.Errorf("a record larger than a chunk: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Error(err)
	}
}

// TestInstants: instants become parameters of our own, beside those of the archive, and come back
// as they were, attributes and order included; the definitions of the trace stay what they are.
func TestInstants(t *testing.T) {
	d := smallTrace(2)
	d.Strings, d.StringRefs = append(d.Strings, "a moment"), nil
	name := uint64(len(d.Strings) - 1)
	d.Attributes = append(d.Attributes, trace.Attribute{Name: 0, Description: 0, Type: trace.TypeUint64})
	d.Opaque = append(d.Opaque, trace.OpaqueDefinition{Format: Format, Kind: defParameter,
		Payload: []byte{1, 7, 0, byte(trace.TypeString)}}) // parameter 7, called by string 0
	b := flowBatch(1, 0, 1)
	b.AddOther(5, trace.KindInstant, name)
	b.AddOther(5, trace.KindParameterString, 7, 0)
	b.AddAttr(0, trace.TypeUint64, 3)
	b.AddOther(6, trace.KindInstant, 0)
	m := &trace.MemorySource{Definitions: d, Batches: [][]*trace.Batch{nil, {b}}}
	dir := filepath.Join(t.TempDir(), "a")
	copyArchive(t, m, dir, Options{}, false)
	s, err := Open(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.Findings()) > 1 || len(s.Defs().Opaque) != 1 || !slices.Equal(s.Defs().Strings, d.Strings) {
		t.Errorf("findings %v, definitions %+v", s.Findings(), s.Defs())
	}
	for got, err := range s.Events(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.Other, got.Other, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(b.Attrs, got.Attrs, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDropped counts what OTF2 cannot express.
func TestDropped(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "a"), trace.Info{}, smallTrace(1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := flowBatch(0, 0, 1)
	b.AddOther(5, trace.KindInstant, 1<<40) // its name is not defined
	b.AddOther(6, trace.KindUnknown)
	b.AddOther(7, trace.KindThreadFork, 1) // an argument is missing
	if err := errors.Join(w.Write(b), w.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"Instant events": 1, "Unknown events": 1, "ThreadFork events": 1}
	if got := w.Lost(); !maps.Equal(got, want) {
		t.Errorf("lost %v, want %v", got, want)
	}
}

// TestReferences shows that identifiers which are not distinct are replaced.
func TestReferences(t *testing.T) {
	d := smallTrace(2)
	d.Regions = append(d.Regions, d.Regions[0], d.Regions[0])
	d.Locations[0].Ref, d.Locations[1].Ref = 5, 5
	d.Regions[1].BeginLine, d.Regions[2].BeginLine = 1, 2
	d.Regions[2].Ref = 9
	b := new(trace.Batch)
	b.Reset(1, 0)
	b.AddFlow(1, trace.KindEnter, 2)
	m := &trace.MemorySource{Definitions: d, Batches: [][]*trace.Batch{nil, {b}}}
	dir := filepath.Join(t.TempDir(), "a")
	copyArchive(t, m, dir, Options{}, false)
	s, err := Open(context.Background(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for got, err := range s.Events(context.Background(), 1) {
		if err != nil || got.Flow.Region[0] != 2 || s.Defs().Regions[2].Ref != 2 || s.Defs().Locations[1].Ref != 1 {
			t.Errorf("read %v %v %v", got.Flow, s.Defs(), err)
		}
	}
}

// TestConcurrent reads all locations at a time, some of them twice; findings are counted
// once and do not depend on the order.
func TestConcurrent(t *testing.T) {
	anchor := goldenArchive(t, "damaged", false)
	s, err := Open(context.Background(), anchor, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 4 * len(s.Defs().Locations) {
		wait.Go(func() {
			for range s.Events(context.Background(), trace.LocationID(i%len(s.Defs().Locations))) {
			}
		})
	}
	wait.Wait()
	if got, want := describe(s), describePath(anchor, maxBatch); got != want {
		t.Errorf("concurrently:\n%s\nin order:\n%s", got, want)
	}
}

// TestCancel ends an iteration with the context's error.
func TestCancel(t *testing.T) {
	s, err := Open(context.Background(), goldenArchive(t, "usual", false), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for b, err := range s.Events(ctx, 0) {
		if b != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v %v", b, err)
		}
	}
	if _, err := Open(ctx, s.path, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: %v", err)
	}
}

// TestProperties keeps properties of any name in an archive that the reference library
// reads.
func TestProperties(t *testing.T) {
	want := map[string]string{"": "empty", "plain": "1", "a::b::c": "2", "A::B": "3\n", "blank :: name": "é\x00", otherProperties: "4"}
	m := &trace.MemorySource{About: trace.Info{Properties: want}, Definitions: smallTrace(1), Batches: make([][]*trace.Batch, 1)}
	dir := filepath.Join(t.TempDir(), "a")
	copyArchive(t, m, dir, Options{}, false)
	s, err := Open(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Info().Properties; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	otf2Print(t, "-A", filepath.Join(dir, "traces.otf2"))
}
