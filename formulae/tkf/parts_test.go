package tkf

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// FuzzParts: parts that somebody has made up, with right checksums, are refused, or make a file
// that is read without panic and with bounded memory.
func FuzzParts(f *testing.F) {
	src := statstest.Generated(f, samples.Options{Program: "collectives", Ranks: 3, Iterations: 1, Seed: 1})
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	for _, learn := range []bool{true, false} {
		parts, err := Encode(f.Context(), src, nil, Options{Learn: learn, Store: store})
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
		store := spill.NewStore(1<<20, "")
		defer store.Close()
		got := new(Parts)
		c := codec.NewReader(bytes.NewReader(codectest.Packed("parts", data)), "parts")
		got.Code(c, src.Defs(), store)
		if err := c.Close(); err != nil {
			if !errors.Is(err, codec.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for l := range src.Defs().Locations {
			if !got.Has(trace.LocationID(l)) {
				if _, _, err := got.Write(src, io.Discard); err == nil {
					t.Fatal("a file was written without all locations")
				}
				return
			}
		}
		var file bytes.Buffer
		if _, _, err := got.Write(src, &file); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t, file.Bytes(), 10_000); err != nil && !isSyntaxError(err) {
			t.Fatal(err)
		}
	})
}
