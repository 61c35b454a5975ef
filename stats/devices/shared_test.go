package devices_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/merge"
	"tracekit/stats/devices"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// heard returns a finder that has heard all locations of a trace.
func heard(t *testing.T, tr *trace.Trace) *devices.Finder {
	t.Helper()
	f := finder(t, tr)
	for l := range tr.Defs.Locations {
		hear, end := f.Listen(nil, trace.LocationID(l))
		for b := range tracetest.Batches(t, tr.Source, trace.LocationID(l)) {
			if hear != nil {
				hear(b)
			}
		}
		if end != nil {
			end()
		}
	}
	return f
}

func finder(t *testing.T, tr *trace.Trace) *devices.Finder {
	t.Helper()
	from, to, err := scope.Window(tr, scope.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return devices.NewFinder(tr, devices.Options{From: from, To: to})
}

// code codes all locations of a trace.
func code(c *codec.Coder, tr *trace.Trace, f *devices.Finder) {
	for l := range tr.Defs.Locations {
		f.Code(c, trace.LocationID(l))
	}
}

// TestShared: what other processes have heard of the locations makes the same result. Damage to it
// is refused, or makes another result, but no panic.
func TestShared(t *testing.T) {
	t.Parallel()
	tracetest.Cases(t, "*.txtar", func(t *testing.T, parts map[string]string) {
		tr := statstest.Merged(t, tracetest.MustParse(t, parts["trace"]), merge.Options{Clock: merge.ClockNone})
		alone, theirs := heard(t, tr), heard(t, tr)
		if _, err := alone.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		payload, err := codectest.Payload(func(c *codec.Coder) { code(c, tr, theirs) })
		if err != nil {
			t.Fatal(err)
		}
		read := func(payload []byte) (*devices.Finder, error) {
			f, c := finder(t, tr), codec.NewReader(bytes.NewReader(codectest.Packed("", payload)), "")
			if code(c, tr, f); c.Close() != nil {
				return nil, c.Err()
			}
			_, err := f.Finish(t.Context())
			return f, err
		}
		shared, err := read(payload)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone.Result, shared.Result); diff != "" {
			t.Errorf("- is found by one process, + by several:\n%s", diff)
		}
		for at := range payload {
			damaged := bytes.Clone(payload)
			damaged[at] ^= 1 << (at % 8)
			_, _ = read(damaged)
		}
	})
}
