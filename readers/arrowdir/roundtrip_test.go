package arrowdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/readers/otf2"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// text returns the text form of a trace, in which two traces are equal if their tables are.
func text(t testing.TB, src trace.Source) string {
	t.Helper()
	_, tables, _ := strings.Cut(tracetest.MustFormat(t, src), "\n") // the first line names file and format
	return tables
}

// write copies a trace, location by location, or in turns of one batch each.
func write(t testing.TB, src trace.Source, dir string, o Options, interleaved bool) {
	t.Helper()
	w, err := Create(dir, src.Info(), src.Defs(), o)
	if err != nil {
		t.Fatal(err)
	}
	var batches [][]*trace.Batch
	for l := range src.Defs().Locations {
		batches = append(batches, nil)
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			if !interleaved {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
				continue
			}
			batches[l] = append(batches[l], pieces(b, 100)...)
		}
	}
	for i, more := 0, interleaved; more; i++ {
		more = false
		for _, list := range batches {
			if i < len(list) {
				more = true
				if err := w.Write(list[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// pieces cuts the flow, point-to-point and collective events of a batch into copies of at
// most n events.
func pieces(b *trace.Batch, n int) []*trace.Batch {
	var out []*trace.Batch
	var flow, p2p, coll int
	for i, table := range b.Order {
		if i%n == 0 {
			out = append(out, &trace.Batch{})
			out[len(out)-1].Reset(b.Location, b.First+uint64(i))
		}
		c := out[len(out)-1]
		switch table {
		case trace.TableFlow:
			f := &b.Flow
			if len(f.Context) > 0 && f.Context[flow] != trace.None {
				c.AddContext(f.Time[flow], f.Kind[flow], f.Region[flow], f.Context[flow], f.Unwind[flow])
			} else {
				c.AddFlow(f.Time[flow], f.Kind[flow], f.Region[flow])
			}
			flow++
		case trace.TableP2P:
			p := &b.P2P
			c.AddP2P(trace.P2PRow{Time: p.Time[p2p], Kind: p.Kind[p2p], Peer: p.Peer[p2p], Comm: p.Comm[p2p],
				Tag: p.Tag[p2p], Bytes: p.Bytes[p2p], Request: p.Request[p2p]})
			p2p++
		case trace.TableColl:
			x := &b.Coll
			c.AddColl(trace.CollRow{Time: x.Time[coll], Kind: x.Kind[coll], Op: x.Op[coll], Comm: x.Comm[coll],
				Root: x.Root[coll], Sent: x.Sent[coll], Received: x.Received[coll], Request: x.Request[coll]})
			coll++
		default:
			c.AddOther(0, trace.KindInstant)
		}
	}
	return out
}

func formats(t *testing.T, test func(t *testing.T, f Format)) {
	for _, f := range []Format{Arrow, Parquet} {
		t.Run(string(f), func(t *testing.T) { test(t, f) })
	}
}

// archives returns the sample archives and, where they are, further real ones.
func archives(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../samples/archives/*")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return append(list, tracetest.MoreTraces(t, "otf2/*")...)
}

// TestRoundTrip states that nothing of a trace is lost.
func TestRoundTrip(t *testing.T) {
	for _, name := range archives(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if info, err := os.Stat(filepath.Join(name, "traces.otf2")); err == nil && testing.Short() && info.Size() > 0 {
				if size := sizeOf(name); size > 1<<20 {
					t.Skipf("%d bytes: a large trace, left out of short runs", size)
				}
			}
			formats(t, func(t *testing.T, f Format) { roundTrip(t, name, f) })
		})
	}
}

func roundTrip(t *testing.T, name string, f Format) {
	src, err := otf2.Open(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dir := filepath.Join(t.TempDir(), "copy")
	write(t, src, dir, Options{Format: f}, false)
	got, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	// The text form announces as many events as there are, not as the writer announced.
	for l := range src.Defs().Locations {
		src.Defs().Locations[l].Events = got.Defs().Locations[l].Events
	}
	if diff := cmp.Diff(text(t, src), text(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%.2000s", diff)
	}
	if len(got.Findings()) > 0 {
		t.Error(got.Findings())
	}
}

// TestInterleaved states that locations may be written in turns.
func TestInterleaved(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		src, err := otf2.Open(t.Context(), "../../samples/archives/ring-4", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		whole, turns := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "turns")
		write(t, src, turns, Options{Format: f}, true)
		got, err := Open(t.Context(), turns)
		if err != nil {
			t.Fatal(err)
		}
		for l := range src.Defs().Locations {
			src.Defs().Locations[l].Events = got.Defs().Locations[l].Events
		}
		// What pieces does not copy is replaced by instants; compare with the same copied whole.
		write(t, got, whole, Options{Format: f}, false)
		if len(got.Findings()) > 0 {
			t.Fatal(got.Findings())
		}
		again, err := Open(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Findings()) > 0 {
			t.Fatal(again.Findings())
		}
		if diff := cmp.Diff(text(t, got), text(t, again)); diff != "" {
			t.Errorf("(-turns +whole):\n%.2000s", diff)
		}
	})
}

// TestAtomic states that a directory is there whole or not at all, and is not replaced
// unasked.
func TestAtomic(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		src, err := otf2.Open(t.Context(), "../../samples/archives/ring-4-plain", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		parent := t.TempDir()
		dir := filepath.Join(parent, "x")
		w, err := Create(dir, src.Info(), src.Defs(), Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Discard(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		write(t, src, dir, Options{Format: f}, false)
		if _, err := Create(dir, src.Info(), src.Defs(), Options{Format: f}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second one of that name: %v", err)
		}
		write(t, src, dir, Options{Format: f, Force: true}, false)
	})
}

// TestDamage cuts and changes files: what comes out is an error, a finding, or the trace.
func TestDamage(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		src, err := otf2.Open(t.Context(), "../../samples/archives/ring-4-plain", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		dir := filepath.Join(t.TempDir(), "x")
		write(t, src, dir, Options{Format: f}, false)
		for _, name := range []string{manifestName, "defs/region." + string(f), "events/flow." + string(f), "events/p2p." + string(f)} {
			whole := tracetest.ReadFile(t, filepath.Join(dir, name))
			for _, damaged := range mutate.CutsAndFlips(whole, 20, 0x55) {
				tracetest.WriteFile(t, filepath.Join(dir, name), damaged)
				readAll(t, dir)
			}
			tracetest.WriteFile(t, filepath.Join(dir, name), whole)
		}
	})
}
