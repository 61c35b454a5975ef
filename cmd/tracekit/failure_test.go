package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"tracekit/cmd/tracekit/internal/cli"
)

// fullDisk takes some bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		return 0, errors.New("no space left on device")
	}
	d.left -= len(p)
	return len(p), nil
}

// TestOutputThatCannotBeWritten: results that did not arrive are no success.
func TestOutputThatCannotBeWritten(t *testing.T) {
	archive := "../../samples/archives/ring-4-plain"
	for _, args := range [][]string{{"info", archive}, {"info", "--json", archive}, {"analyze", archive}, {"fit", archive}} {
		var errs bytes.Buffer
		code := run(context.Background(), &cli.Streams{Out: &fullDisk{100}, Err: &errs, Width: 120}, args)
		if code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit code %d, %q", args, code, errs.String())
		}
	}
}

// TestGenerateInterrupted: what was written of a trace goes when the user interrupts.
func TestGenerateInterrupted(t *testing.T) {
	for _, name := range []string{"x", "x.json", "x.prv", "x.arrow", "x.parquet"} {
		t.Chdir(t.TempDir())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var out, errs bytes.Buffer
		code := run(ctx, &cli.Streams{Out: &out, Err: &errs, Width: 120}, []string{"generate", "halo", "-o", name})
		if left, _ := os.ReadDir("."); code != exitFailed || len(left) > 0 {
			t.Errorf("%s: exit code %d, left behind: %v", name, code, left)
		}
	}
}
