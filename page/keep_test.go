package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest/mutate"
)

// kept returns an index of a small trace and its file.
func kept(t testing.TB) (*Index, []byte) {
	t.Helper()
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 6, Seed: 3, Plant: samples.Plant{LateSender: 9_000}})
	return keep(t, tr, a, 2)
}

// keep makes the index of a trace and its file.
func keep(t testing.TB, tr *trace.Trace, a *analysis.Result, jobs int) (*Index, []byte) {
	t.Helper()
	x, tl, err := NewIndex(context.Background(), tr, a, Bounds(LeastSize), jobs)
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Title: "halo", Trace: tr, Timeline: tl, Document: struct{}{}, Size: LeastSize, Served: true}
	content, err := p.Content(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.Keep(&b, Key{7}, content, "about"); err != nil {
		t.Fatal(err)
	}
	return x, b.Bytes()
}

// reread reads an index.
func reread(t testing.TB, file []byte, key Key) (*Index, *Kept, error) {
	store := spill.NewStore(16<<20, t.TempDir())
	t.Cleanup(func() { store.Close() })
	return ReadIndex(bytes.NewReader(file), key, store, 2)
}

// TestIndexDoesNotDependOnJobs: nor does the timeline that a page begins with, which has some of the messages.
func TestIndexDoesNotDependOnJobs(t *testing.T) {
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 12, Iterations: 300, Seed: 3})
	_, want := keep(t, tr, a, 1)
	for _, jobs := range []int{2, 7} {
		if _, got := keep(t, tr, a, jobs); !bytes.Equal(got, want) {
			t.Errorf("%d jobs make another index", jobs)
		}
	}
}

// TestKept: an index that was kept gives the tiles that it gave.
func TestKept(t *testing.T) {
	x, file := kept(t)
	again, k, err := reread(t, file, Key{7})
	if err != nil {
		t.Fatal(err)
	}
	if string(k.About) != `"about"` || k.Content.Title != "halo" || len(k.Content.Parts) == 0 {
		t.Errorf("kept: %s, %q, %d parts", k.About, k.Content.Title, len(k.Content.Parts))
	}
	for _, steps := range []int{1, 40, 1 << 20} {
		for _, to := range []int64{x.length / 7, x.length} {
			want, err := x.Tile(context.Background(), to/3, to, steps)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := again.Tile(context.Background(), to/3, to, steps); err != nil || !bytes.Equal(got, want) {
				t.Errorf("tile of %d steps to %d: %d bytes, want %d; %v", steps, to, len(got), len(want), err)
			}
		}
	}
}

// TestKeptCurves: an index that was kept gives the curves that it gave.
func TestKeptCurves(t *testing.T) {
	tr, a, _ := counted(t, 5, 3, 4000)
	x, file := keep(t, tr, a, 2)
	again, _, err := reread(t, file, Key{7})
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range []int{1, 100, 1 << 14} {
		want, err := x.Curves(context.Background(), 0, x.length/3, x.length, steps)
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Curves(context.Background(), 0, x.length/3, x.length, steps)
		if len(x.curves) == 0 || err != nil || !bytes.Equal(got, want) {
			t.Errorf("curves of %d steps: %d bytes, want %d; %v", steps, len(got), len(want), err)
		}
	}
}

// TestMovedIndex: an index in another store gives the tiles and curves that it gave, and needs the
// trace's store no more.
func TestMovedIndex(t *testing.T) {
	tr, a, _ := counted(t, 5, 3, 4000)
	x, _ := keep(t, tr, a, 2)
	answers := func() (out []byte) {
		for _, steps := range []int{1, 100, 1 << 14} {
			tile, err := x.Tile(t.Context(), x.length/5, x.length, steps)
			if err != nil {
				t.Fatal(err)
			}
			curves, err := x.Curves(t.Context(), 0, x.length/3, x.length, steps)
			if err != nil {
				t.Fatal(err)
			}
			out = append(append(out, tile...), curves...)
		}
		return out
	}
	want := answers()
	store := spill.NewStore(0, t.TempDir())
	t.Cleanup(func() { store.Close() })
	if err := x.Move(store); err != nil {
		t.Fatal(err)
	}
	tr.Store.Close()
	if got := answers(); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d, or others", len(got), len(want))
	}
}

// TestKeptIsChecked: what is not as it was written is refused, wherever it differs.
func TestKeptIsChecked(t *testing.T) {
	_, file := kept(t)
	if _, _, err := reread(t, file, Key{8}); !errors.Is(err, ErrOtherKey) {
		t.Errorf("another key: %v", err)
	}
	if _, _, err := reread(t, []byte("#!/bin/sh\n"), Key{7}); !errors.Is(err, ErrNoIndex) {
		t.Errorf("another file: %v", err)
	}
	for what, damaged := range mutate.Flips(file, 200, 4) {
		if _, _, err := reread(t, damaged, Key{7}); err == nil {
			t.Errorf("%s: it is not checked", what)
		}
	}
	for what, damaged := range mutate.Cuts(file, 200) {
		if _, _, err := reread(t, damaged, Key{7}); !errors.Is(err, codec.ErrDamaged) && !errors.Is(err, ErrNoIndex) {
			t.Errorf("%s: it is taken for all: %v", what, err)
		}
	}
}

// FuzzReadIndex: whatever a file holds, if it is taken for an index then tiles can be asked
// for, and keeping it again gives the same ones.
func FuzzReadIndex(f *testing.F) {
	payload := func(parts ...[]byte) []byte {
		p, err := codectest.Payload(func(c *codec.Coder) {
			for _, part := range parts {
				codec.Block(c, &part)
			}
		})
		if err != nil {
			f.Fatal(err)
		}
		return p
	}
	x, _ := kept(f)
	key := payload(make([]byte, len(Key{})))
	index, err := codectest.Payload(x.code)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(payload([]byte(`{}`)), index...))
	f.Add(append(payload([]byte(`{}`)), 2, 2, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, body []byte) {
		whole := codectest.Packed(keptLine, append(slices.Clone(key), body...))
		x, k, err := reread(t, whole, Key{})
		if err != nil {
			return
		}
		for _, to := range []int64{1, 1000, x.length} {
			if _, err := x.Tile(context.Background(), to/2, to, 100); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Curves(context.Background(), 0, to/2, to, 100); err != nil {
				t.Fatal(err)
			}
		}
		if html := k.Content.HTML(true); bytes.Count(html, []byte("<script>")) != 1 {
			t.Error("the page has another program")
		}
		if err := x.Keep(io.Discard, Key{7}, &k.Content, k.About); err != nil {
			t.Fatal(err)
		}
	})
}
