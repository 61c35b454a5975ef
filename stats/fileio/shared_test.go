package fileio_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/codec"
	"tracekit/codec/codectest"
	"tracekit/merge"
	"tracekit/stats/fileio"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestShared: what other processes have heard of the locations makes the same result. Damage to it
// is refused, or makes another result, but no panic.
func TestShared(t *testing.T) {
	t.Parallel()
	tr := statstest.Merged(t, tracetest.MustParse(t, `
string 0 ""
string 1 a
string 2 b
attribute 0 file type=11
attribute 1 bytes type=4
region 0 read role=27
region 1 write role=27
location 0 thread rank=0
  20 Enter read attr=0:11:1 attr=1:4:100 ; 30 Leave read ; 40 Enter read attr=0:11:2 attr=1:4:28 ; 60 Leave read
location 1 thread rank=1
  5 Enter write ; 5 IoOperationBegin 3 1 0 4096 7 ; 29 IoOperationComplete 3 4096 7 ; 30 Leave write
  40 Enter read attr=0:11:1 attr=1:4:1152921504606846976 ; 45 Leave read
location 2 thread rank=2
  5 Enter main ; 50 Leave main
`), merge.Options{Clock: merge.ClockNone})
	from, to, err := scope.Window(tr, scope.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	finder := func() *fileio.Finder { return fileio.NewFinder(tr, fileio.Options{From: from, To: to}) }
	heard := func() *fileio.Finder {
		f := finder()
		for l := range tr.Defs.Locations {
			hear, _ := f.Listen(nil, trace.LocationID(l))
			for b := range tracetest.Batches(t, tr.Source, trace.LocationID(l)) {
				hear(b)
			}
		}
		return f
	}
	code := func(c *codec.Coder, f *fileio.Finder) {
		for l := range tr.Defs.Locations {
			f.Code(c, trace.LocationID(l))
		}
	}
	read := func(payload []byte) (f *fileio.Finder, findings []trace.Finding, err error) {
		f, c := finder(), codec.NewReader(bytes.NewReader(codectest.Packed("", payload)), "")
		if code(c, f); c.Close() != nil {
			return nil, nil, c.Err()
		}
		findings, err = f.Finish(t.Context())
		return f, findings, err
	}
	alone, theirs := heard(), heard()
	want, err := alone.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	payload, err := codectest.Payload(func(c *codec.Coder) { code(c, theirs) })
	if err != nil {
		t.Fatal(err)
	}
	shared, found, err := read(payload)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone.Result, shared.Result) + cmp.Diff(want, found); diff != "" || len(want) == 0 {
		t.Errorf("- is found by one process, + by several:\n%s", diff)
	}
	refused := 0
	for at := range payload {
		for _, bits := range []byte{0x01, 0x40, 0xff} {
			damaged := bytes.Clone(payload)
			damaged[at] ^= bits
			if _, _, err := read(damaged); err != nil {
				refused++
			}
		}
	}
	if refused < len(payload) {
		t.Errorf("%d of %d damaged results are refused", refused, 3*len(payload))
	}
}
