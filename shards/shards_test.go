package shards_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tracekit/codec"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A fullDisk is a part during whose writing the write fails.
type fullDisk struct{ fail context.CancelCauseFunc }

var errFull = errors.New("no space left")

func (fullDisk) Has(trace.LocationID) bool { return false }

func (fullDisk) Add(fullDisk) error { return nil }

func (p fullDisk) Code(*codec.Coder, *trace.Defs, *spill.Store) { p.fail(errFull) }

// TestNothingIsLeft: a shard that cannot be written leaves nothing, no directory either, but what was there before.
func TestNothingIsLeft(t *testing.T) {
	src := tracetest.MustParse(t, "location 0 thread rank=0\n")
	for _, there := range []bool{false, true} {
		root := t.TempDir()
		dir := filepath.Join(root, "new", "parts")
		if there {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, fail := context.WithCancelCause(t.Context())
		err := shards.Write(ctx, dir, shards.Header{Stage: shards.Scanned, Paths: []string{"x"}, Number: 1, Of: 1}, src, fullDisk{fail})
		if err == nil {
			t.Error("it was written")
		}
		if _, err := os.Stat(filepath.Join(root, "new")); (err == nil) != there {
			t.Errorf("there before: %t; afterwards: %v", there, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Error(left)
		}
	}
}
