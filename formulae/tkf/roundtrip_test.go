package tkf_test

import (
	"bytes"
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/formulae/tkf"
	"tracekit/readers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// archives returns the OTF2 archives below a folder.
func archives(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*.otf2"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	return found
}

func openTrace(t testing.TB, path string) trace.Source {
	t.Helper()
	src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// compress returns a trace as a file and what was reported.
func compress(t testing.TB, src trace.Source, opts tkf.Options) (string, *tkf.Report) {
	t.Helper()
	var out bytes.Buffer
	r, err := tkf.Compress(t.Context(), src, &out, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Sizes.File != int64(out.Len()) {
		t.Errorf("%d bytes reported, %d written", r.Sizes.File, out.Len())
	}
	name := filepath.Join(t.TempDir(), "x.tkf")
	tracetest.WriteFile(t, name, out.Bytes())
	return name, r
}

func openTKF(t testing.TB, name string) trace.Source {
	t.Helper()
	src, err := tkf.Open(name, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// events returns all events of a location in one batch, and checks each batch.
func events(t testing.TB, src trace.Source, l trace.LocationID) *trace.Batch {
	t.Helper()
	all := &trace.Batch{}
	all.Reset(l, 0)
	for b := range tracetest.Batches(t, src, l) {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		appendBatch(all, b)
	}
	return all
}

// appendBatch appends the events of a batch, table by table; columns of contexts that are
// left out in one of them are filled up.
func appendBatch(all, b *trace.Batch) {
	a := &all.Flow
	if len(a.Context) == 0 && len(b.Flow.Context) > 0 {
		for range a.Seq {
			a.Context, a.Unwind = append(a.Context, trace.None), append(a.Unwind, 0)
		}
	}
	if len(b.Flow.Context) > 0 {
		a.Context, a.Unwind = append(a.Context, b.Flow.Context...), append(a.Unwind, b.Flow.Unwind...)
	} else if len(a.Context) > 0 {
		for range b.Flow.Seq {
			a.Context, a.Unwind = append(a.Context, trace.None), append(a.Unwind, 0)
		}
	}
	a.Seq, a.Time = append(a.Seq, b.Flow.Seq...), append(a.Time, b.Flow.Time...)
	a.Kind, a.Region = append(a.Kind, b.Flow.Kind...), append(a.Region, b.Flow.Region...)
	p, q := &all.P2P, &b.P2P
	p.Seq, p.Time, p.Kind, p.Peer = append(p.Seq, q.Seq...), append(p.Time, q.Time...), append(p.Kind, q.Kind...), append(p.Peer, q.Peer...)
	p.Comm, p.Tag, p.Bytes, p.Request = append(p.Comm, q.Comm...), append(p.Tag, q.Tag...), append(p.Bytes, q.Bytes...),
		append(p.Request, q.Request...)
	c, d := &all.Coll, &b.Coll
	c.Seq, c.Time, c.Kind, c.Op = append(c.Seq, d.Seq...), append(c.Time, d.Time...), append(c.Kind, d.Kind...), append(c.Op, d.Op...)
	c.Comm, c.Root, c.Sent = append(c.Comm, d.Comm...), append(c.Root, d.Root...), append(c.Sent, d.Sent...)
	c.Received, c.Request = append(c.Received, d.Received...), append(c.Request, d.Request...)
	m, n := &all.Metric, &b.Metric
	m.Seq, m.Time, m.Metric = append(m.Seq, n.Seq...), append(m.Time, n.Time...), append(m.Metric, n.Metric...)
	m.Member, m.Type, m.Value = append(m.Member, n.Member...), append(m.Type, n.Type...), append(m.Value, n.Value...)
	o, r := &all.Other, &b.Other
	for i := range r.Seq {
		if len(o.Offset) == 0 {
			o.Offset = append(o.Offset, 0)
		}
		o.Seq, o.Time, o.Kind = append(o.Seq, r.Seq[i]), append(o.Time, r.Time[i]), append(o.Kind, r.Kind[i])
		o.Args = append(o.Args, r.Args[r.Offset[i]:r.Offset[i+1]]...)
		o.Offset = append(o.Offset, int32(len(o.Args)))
	}
	all.Attrs.Seq = append(all.Attrs.Seq, b.Attrs.Seq...)
	all.Attrs.Attribute = append(all.Attrs.Attribute, b.Attrs.Attribute...)
	all.Attrs.Type = append(all.Attrs.Type, b.Attrs.Type...)
	all.Attrs.Value = append(all.Attrs.Value, b.Attrs.Value...)
	all.Order = append(all.Order, b.Order...)
}

// Topologies are made by the reader of OTF2 from opaque definitions, which are kept.
var butTopologies = cmpopts.IgnoreFields(trace.Defs{}, "Topologies")

// checkSame checks that two traces have the same definitions and events.
func checkSame(t testing.TB, want, got trace.Source) {
	t.Helper()
	if d := cmp.Diff(want.Defs(), got.Defs(), butTopologies); d != "" {
		t.Fatalf("definitions differ:\n%s", d)
	}
	for l := range want.Defs().Locations {
		a, b := events(t, want, trace.LocationID(l)), events(t, got, trace.LocationID(l))
		if !reflect.DeepEqual(a, b) { // cmp is slow
			t.Fatalf("events of location %d differ:\n%.2000s", l, cmp.Diff(a, b))
		}
	}
}

func TestRoundTripOfSamples(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkRoundTrip(t, path) })
	}
}

func TestRoundTripOfRealTraces(t *testing.T) {
	for _, path := range archives(t, tracetest.Shared(t, "otf2")) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkRoundTrip(t, path) })
	}
}

func checkRoundTrip(t *testing.T, path string) {
	src := openTrace(t, path)
	name, r := compress(t, src, tkf.Options{})
	checkSame(t, src, openTKF(t, name))
	s := r.Sizes
	t.Logf("%d bytes -> %d: structure %d, times %d, definitions %d; %d classes of %d locations",
		s.Trace, s.File, s.Structure, s.Times, s.Definitions, r.Ranks.RankClasses, r.Ranks.Ranks)
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b := tracetest.ReadFile(t, name)
	return b
}
