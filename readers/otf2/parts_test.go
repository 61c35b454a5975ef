package otf2

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tracekit/engine"
	"tracekit/partial"
	"tracekit/partial/partialtest"
	"tracekit/samples"
	"tracekit/trace"
)

// FuzzParts: parts that somebody has made up, with right checksums, are refused, or make an archive
// that is read without panic; nothing is left of what was not completed.
func FuzzParts(f *testing.F) {
	src, _, err := samples.InMemory(f.Context(), samples.Options{Program: "collectives", Ranks: 3, Iterations: 1, Seed: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, locations := range [][]trace.LocationID{nil, {1}} {
		parts, err := Encode(f.Context(), src, locations, engine.Options{})
		if err != nil {
			f.Fatal(err)
		}
		payload, err := partialtest.Payload(func(c *partial.Coder) { parts.Code(c, src.Defs(), nil) })
		if err = errors.Join(err, parts.Close()); err != nil {
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
		c := partial.NewReader(bytes.NewReader(partialtest.Packed("parts", data)), "parts")
		parts.Code(c, src.Defs(), nil)
		if err := c.Close(); err != nil && !errors.Is(err, partial.ErrDamaged) {
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
	parts, err := Encode(t.Context(), src, []trace.LocationID{1}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	out := partial.NewWriter(&stream, "parts")
	parts.Code(out, src.Defs(), nil)
	if err := errors.Join(out.Close(), parts.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := Create(filepath.Join(t.TempDir(), "archive"), src.Info(), src.Defs(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		c := partial.NewReader(bytes.NewReader(stream.Bytes()), "parts")
		w.Parts().Code(c, src.Defs(), nil)
		return c.Close()
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	if err := read(); !errors.Is(err, partial.ErrDamaged) {
		t.Errorf("read twice: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, os.ErrNotExist) || errors.Is(err, partial.ErrDamaged) {
		t.Errorf("without a directory: %v", err)
	}
}
