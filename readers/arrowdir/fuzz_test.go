package arrowdir

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"

	"tracekit/readers/otf2"
	"tracekit/trace"
)

// A forger replaces one file of a sound directory and makes the checksum right, as one
// would who means harm.
type forger struct {
	dir      string
	manifest manifest
	names    []string // of all files, the manifest last
	sound    map[string][]byte
}

func newForger(t testing.TB, f Format) *forger {
	src, err := otf2.Open(t.Context(), "../../samples/archives/ring-4-plain", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g := &forger{dir: filepath.Join(t.TempDir(), "x"), sound: make(map[string][]byte)}
	write(t, src, g.dir, Options{Format: f}, false)
	if m, err := readManifest(g.dir); err != nil {
		t.Fatal(err)
	} else {
		g.manifest = *m
	}
	for name := range g.manifest.Files {
		g.names = append(g.names, name)
	}
	sort.Strings(g.names)
	g.names = append(g.names, manifestName)
	for _, name := range g.names {
		if g.sound[name], err = os.ReadFile(filepath.Join(g.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// forge puts data in place of a file; restore undoes it.
func (g *forger) forge(t testing.TB, name string, data []byte) {
	g.put(t, name, data)
	if name == manifestName {
		return
	}
	h := newChecksum()
	h.Write(data)
	sum := h.Sum32()
	old := g.manifest.Files[name]
	g.manifest.Files[name] = sum
	text, err := json.Marshal(g.manifest)
	if err != nil {
		t.Fatal(err)
	}
	g.manifest.Files[name] = old
	g.put(t, manifestName, text)
}

func (g *forger) restore(t testing.TB, name string) {
	g.put(t, name, g.sound[name])
	g.put(t, manifestName, g.sound[manifestName])
}

func (g *forger) put(t testing.TB, name string, data []byte) {
	if err := os.WriteFile(filepath.Join(g.dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzTables reads a directory of which one file has any content and the right checksum.
// The memory taken must be bounded by the size of the input, beyond what the sound directory takes.
func FuzzTables(f *testing.F) {
	forgers := map[bool]*forger{false: newForger(f, Arrow), true: newForger(f, Parquet)}
	for parquet, g := range forgers {
		for i, name := range g.names {
			f.Add(parquet, uint8(i), g.sound[name])
		}
	}
	f.Fuzz(func(t *testing.T, parquet bool, file uint8, data []byte) {
		g := forgers[parquet]
		name := g.names[int(file)%len(g.names)]
		g.forge(t, name, data)
		defer g.restore(t, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(t, g.dir)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20+maxExpansion*uint64(len(data)) {
			t.Errorf("%d bytes of memory for %d bytes of input", taken, len(data))
		}
	})
}

// readAll reads a directory: what comes out is an error, a finding, or the trace. None of them
// is in words of our own machinery.
func readAll(t testing.TB, dir string) {
	t.Helper()
	src, err := Open(t.Context(), dir)
	if err != nil {
		var syntax *trace.SyntaxError
		if !errors.As(err, &syntax) && !errors.Is(err, trace.ErrNotATrace) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error of another kind: %v", err)
		}
		inWords(t, err.Error())
		return
	}
	if err := src.Defs().Check(); err != nil {
		t.Error(err)
	}
	for l := range src.Defs().Locations {
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Check(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, f := range src.Findings() {
		inWords(t, f.Text)
	}
}

func inWords(t testing.TB, text string) {
	t.Helper()
	if strings.Contains(text, "runtime error") || strings.Contains(text, "goroutine") {
		t.Errorf("for programmers: %s", text)
	}
}

// TestForged changes single bytes of metadata, where sizes and types stand, and corrects the
// checksum: no file may end the program.
func TestForged(t *testing.T) {
	step := 31
	if testing.Short() {
		step = 150
	}
	formats(t, func(t *testing.T, f Format) {
		g := newForger(t, f)
		for _, name := range []string{"defs/location." + string(f), "events/flow." + string(f)} {
			sound := g.sound[name]
			for at := max(0, len(sound)-1500); at < len(sound); at += step {
				for _, b := range []byte{0xff, sound[at] ^ 0x80} {
					data := append([]byte(nil), sound...)
					data[at] = b
					g.forge(t, name, data)
					readAll(t, g.dir)
				}
			}
			g.restore(t, name)
		}
	})
}

// TestForgedManifest names more row groups than there are: it once made a list of them all.
func TestForgedManifest(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		g := newForger(t, f)
		m := g.manifest
		m.Schema, m.Rows = manifestBefore, [trace.Tables]layout{}
		m.Groups[trace.TableFlow] = []run{{Location: 0, Count: 1 << 31}}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		g.put(t, manifestName, text)
		src, err := Open(t.Context(), g.dir)
		if err != nil {
			t.Fatal(err)
		}
		for range src.Events(t.Context(), 0) {
			t.Error("there are events")
		}
		if f := src.Findings(); len(f) != 1 || f[0].Code != trace.CodeCorrupt {
			t.Error(f)
		}
	})
}

// TestMissingTable: every table of definitions is written, even if it is empty.
func TestMissingTable(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		g := newForger(t, f)
		if err := os.Remove(filepath.Join(g.dir, "defs", "offset."+string(f))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), g.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}
