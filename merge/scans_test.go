package merge

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// through returns scans of a trace that were written by n processes and read by another.
func through(t *testing.T, src trace.Source, n int, store *spill.Store) *Scans {
	t.Helper()
	all := new(Scans)
	for i := range n {
		only := []trace.LocationID{}
		for l := i; l < len(src.Defs().Locations); l += n {
			only = append(only, trace.LocationID(l))
		}
		scans, err := Scan(t.Context(), src, only, store, Options{Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		got, err := recoded(scans, src.Defs(), store)
		if err != nil {
			t.Fatal(err)
		}
		if err := all.Add(got); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// recoded returns what is read of scans that were written.
func recoded(s *Scans, d *trace.Defs, store *spill.Store) (*Scans, error) {
	var b bytes.Buffer
	c := codec.NewWriter(&b, "scans")
	s.Code(c, d, nil)
	if err := c.Close(); err != nil {
		return nil, err
	}
	got := new(Scans)
	c = codec.NewReader(&b, "scans")
	got.Code(c, d, store)
	return got, c.Close()
}

// TestScansMerge: a trace that is merged of scans which were written and read again, of any
// number of processes, is that of a merge which decodes.
func TestScansMerge(t *testing.T) {
	for seed := range uint64(12) {
		m, _ := samples.Random(seed)
		src := &trace.MemorySource{About: m.About, Definitions: m.Definitions, Batches: m.Batches}
		want := text(t, src, nil)
		for _, n := range []int{1, 2, 3, 7} {
			store := spill.NewStore(1<<20, "")
			got := text(t, src, through(t, src, n, store))
			if got != want {
				t.Errorf("seed %d, %d processes: the merged traces differ", seed, n)
			}
			store.Close()
		}
	}
}

// text returns all of a merged trace.
func text(t *testing.T, src trace.Source, scans *Scans) string {
	t.Helper()
	tr, err := Merge(t.Context(), src, Options{Jobs: 2, Scans: scans})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	if err := tracetest.CheckTrace(tr); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, tr.Tree.Nodes, tr.Rank, tr.Span, tr.Clock, tr.Coverage, tr.Findings)
	for l := range tr.Calls {
		list(&b, tr.Calls[l])
		list(&b, tr.Sends[l])
		list(&b, tr.Recvs[l])
		list(&b, tr.Parts[l])
	}
	list(&b, tr.Collectives)
	list(&b, tr.Members)
	return b.String()
}

func list[T any](b *strings.Builder, table *spill.Table[T]) {
	for _, rows := range table.Rows {
		fmt.Fprintf(b, "%+v\n", rows)
	}
}

// TestScansRefused: scans that refer to what is not there, or are not in order, are refused,
// although they are encoded as they should be.
func TestScansRefused(t *testing.T) {
	for name, spoil := range map[string]func(*located){
		"path":      func(l *located) { l.calls.Ptr(0).Path = 1 << 20 },
		"class":     func(l *located) { l.calls.Ptr(0).Class = 200 },
		"order":     func(l *located) { l.calls.Ptr(1).Enter = l.calls.Ptr(0).Enter - 1 },
		"late":      func(l *located) { l.calls.Ptr(0).Leave = l.span.Last + 1 },
		"sends":     func(l *located) { l.calls.Ptr(0).FirstSend = 1 << 30 },
		"claimed":   func(l *located) { l.calls.Ptr(0).Coll = 0 },
		"receiver":  func(l *located) { l.sends.Ptr(0).RecvLoc = 1 << 30 },
		"state":     func(l *located) { l.sends.Ptr(0).State = trace.Matched },
		"call":      func(l *located) { l.sends.Ptr(0).Call = 1 << 30 },
		"partner":   func(l *located) { l.recvs.Ptr(0).Send = 0 },
		"posted":    func(l *located) { l.recvs.Ptr(0).PostSeq = 1 << 60 },
		"sender":    func(l *located) { l.recvs.Ptr(0).SendLoc = trace.None },
		"part":      func(l *located) { l.parts.Ptr(0).done = 1 << 30 },
		"part ends": func(l *located) { l.parts.Ptr(0).to = l.parts.Ptr(0).from - 1 },
		"no events": func(l *located) { l.span = trace.Span{} },
		"caller":    func(l *located) { l.tree.Nodes[0].Parent = 5 },
	} {
		store := spill.NewStore(1<<20, "")
		src, _, err := samples.InMemory(t.Context(), samples.Options{Program: "halo", Ranks: 4, Iterations: 3, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		scans, err := Scan(t.Context(), src, []trace.LocationID{1}, store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recoded(scans, src.Defs(), store); err != nil {
			t.Fatalf("before it is spoilt: %v", err)
		}
		spoil(scans.Of[1])
		if _, err := recoded(scans, src.Defs(), store); !errors.Is(err, codec.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		store.Close()
	}
}

// TestScansMissing: a trace is not merged of a part of its scans, or of one location twice.
func TestScansMissing(t *testing.T) {
	m, _ := samples.Random(1)
	src := &trace.MemorySource{About: m.About, Definitions: m.Definitions, Batches: m.Batches}
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	one, err := Scan(t.Context(), src, []trace.LocationID{0}, store, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), src, Options{Store: store, Scans: one}); err == nil ||
		!strings.Contains(err.Error(), "location 1 is missing") {
		t.Errorf("merged of one location: %v", err)
	}
	if err := one.Add(one); err == nil {
		t.Error("a location was added twice")
	}
}

// FuzzScans: scans that somebody has made up, with right checksums, are refused, or the trace
// that is merged of them is sound.
func FuzzScans(f *testing.F) {
	src, _, err := samples.InMemory(f.Context(), samples.Options{Program: "collectives", Ranks: 3, Iterations: 1, Seed: 1})
	if err != nil {
		f.Fatal(err)
	}
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	scans, err := Scan(f.Context(), src, nil, store, Options{})
	if err != nil {
		f.Fatal(err)
	}
	payload, err := codectest.Payload(func(c *codec.Coder) { scans.Code(c, src.Defs(), nil) })
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Fuzz(func(t *testing.T, data []byte) {
		store := spill.NewStore(1<<20, "")
		defer store.Close()
		got := new(Scans)
		c := codec.NewReader(bytes.NewReader(codectest.Packed("scans", data)), "scans")
		got.Code(c, src.Defs(), store)
		if err := c.Close(); err != nil {
			if !errors.Is(err, codec.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for l := range src.Defs().Locations {
			if !got.Has(trace.LocationID(l)) {
				return
			}
		}
		tr, err := Merge(t.Context(), src, Options{Jobs: 1, Store: store, Scans: got})
		if err != nil {
			t.Fatal(err)
		}
		if err := tracetest.CheckTrace(tr); err != nil {
			t.Fatal(err)
		}
	})
}
