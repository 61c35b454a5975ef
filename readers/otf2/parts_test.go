package otf2

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/engine"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// FuzzParts: parts that somebody has made up, with right checksums, are refused, or make an archive
// that is read without panic; nothing is left of what was not completed.
func FuzzParts(f *testing.F) {
	src, _, err := samples.InMemory(f.Context(), samples.Options{Program: "collectives", Ranks: 3, Iterations: 1, Seed: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, locations := range [][]trace.LocationID{nil, {1}} {
		parts, err := Encode(f.Context(), src, locations, storeOf(f), engine.Options{})
		if err != nil {
			f.Fatal(err)
		}
		payload, err := codectest.Payload(func(c *codec.Coder) { parts.Code(c, src.Defs(), nil) })
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "archive")
		w, err := Create(path, src.Info(), src.Defs(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		parts := w.Parts()
		c := codec.NewReader(bytes.NewReader(codectest.Packed("parts", data)), "parts")
		parts.Code(c, src.Defs(), nil)
		if err := c.Close(); err != nil && !errors.Is(err, codec.ErrDamaged) {
			t.Fatal(err)
		} else if err == nil {
			_, _, err = parts.Join(src)
			if missing := parts.Missing(src.Defs()); (missing == nil) != (err == nil) {
				t.Fatalf("%v, %v", missing, err)
			}
			if err == nil {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				readThrough(t, path)
			}
		}
		if err := w.Discard(); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
}

// readThrough reads all events of an archive.
func readThrough(t *testing.T, path string) {
	t.Helper()
	src, err := Open(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for l := range src.Defs().Locations {
		for _, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPartsOfOneLocation: what is read twice, or where no file can be made, is an error, of the data or not.
func TestPartsOfOneLocation(t *testing.T) {
	src, _, err := samples.InMemory(t.Context(), samples.Options{Program: "ring", Ranks: 2, Iterations: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Encode(t.Context(), src, []trace.LocationID{1}, storeOf(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	out := codec.NewWriter(&stream, "parts")
	parts.Code(out, src.Defs(), nil)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := Create(filepath.Join(t.TempDir(), "archive"), src.Info(), src.Defs(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		c := codec.NewReader(bytes.NewReader(stream.Bytes()), "parts")
		w.Parts().Code(c, src.Defs(), nil)
		return c.Close()
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	if err := read(); !errors.Is(err, codec.ErrDamaged) {
		t.Errorf("read twice: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, os.ErrNotExist) || errors.Is(err, codec.ErrDamaged) {
		t.Errorf("without a directory: %v", err)
	}
}

// storeOf returns a store that keeps next to nothing in memory.
func storeOf(tb testing.TB) *spill.Store {
	store := spill.NewStore(0, tb.TempDir())
	tb.Cleanup(func() { store.Close() })
	return store
}

// TestLargeParts: files of many chunks, whose headers are completed behind their events, are those of an
// archive that is written at once; and none of them lies in the system's directory for temporary files.
func TestLargeParts(t *testing.T) {
	src, _, err := samples.InMemory(t.Context(), samples.Options{Program: "ring", Ranks: 2, Iterations: 30_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	one, parts, dir := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "parts"), t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	w, err := Create(one, src.Info(), src.Defs(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Copy(t.Context(), src, w, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	store := spill.NewStore(0, dir)
	defer store.Close()
	var stream bytes.Buffer
	encoded, err := Encode(t.Context(), src, nil, store, engine.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	out := codec.NewWriter(&stream, "parts")
	encoded.Code(out, src.Defs(), nil)
	joined, err := Create(parts, src.Info(), src.Defs(), Options{})
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	read, in := joined.Parts(), codec.NewReader(&stream, "parts")
	read.Code(in, src.Defs(), nil)
	_, _, err = read.Join(src)
	if err = errors.Join(in.Close(), err, w.Close(), joined.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0.evt", "1.evt"} {
		want := tracetest.ReadFile(t, filepath.Join(one, "traces", name))
		if got := tracetest.ReadFile(t, filepath.Join(parts, "traces", name)); len(want) < 2<<20 || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes that are not the %d of the archive", name, len(got), len(want))
		}
	}
}
