package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/readers/arrowdir"
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
		code := run(context.Background(), &streams{Out: &fullDisk{100}, Err: &errs, Width: 120}, args)
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
		code := run(ctx, &streams{Out: &out, Err: &errs, Width: 120}, []string{"generate", "halo", "-o", name})
		if left, _ := os.ReadDir("."); code != exitFailed || len(left) > 0 {
			t.Errorf("%s: exit code %d, left behind: %v", name, code, left)
		}
	}
}

// TestReportDirectoryAtomic: a report appears whole or not at all, and one that is there
// stays.
func TestReportDirectoryAtomic(t *testing.T) {
	parent := t.TempDir()
	broken := errors.New("broken")
	d := newReportDir(filepath.Join(parent, "new"))
	d.json("folder/a.json", 1)
	if err := d.close(t.Context(), 1, broken); !errors.Is(err, broken) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	d = newReportDir(filepath.Join(parent, "new"))
	d.json("folder/a.json", 1)
	if err := d.close(t.Context(), 1, nil); err != nil {
		t.Error(err)
	}
	d = newReportDir(filepath.Join(parent, "new"))
	d.json("b.json", func() {})
	if err := d.close(t.Context(), 1, nil); err == nil {
		t.Error("a function was written as JSON")
	}
	if _, err := os.Stat(filepath.Join(parent, "new", "folder", "a.json")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWritingHeeds: who interrupts while a large file is written need not wait for its end.
func TestWritingHeeds(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	written := 0
	err := writeAtomically(ctx, filepath.Join(dir, "x"), false, func(w io.Writer) (err error) {
		for err == nil && written < 1<<30 {
			if _, err = w.Write(make([]byte, 1<<20)); written == 8<<20 {
				cancel()
			}
			written += 1 << 20
		}
		return err
	})
	if !errors.Is(err, context.Canceled) || written > 10<<20 {
		t.Errorf("%d bytes written, %v", written, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	err = arrowdir.WriteParquet(ctx, dir, 1, arrowdir.Table{Name: "x", Columns: []arrowdir.TableColumn{{Name: "n"}},
		Fill: func(r *arrowdir.Rows) {
			for written = 0; written < 1<<20; written++ {
				if !r.Int(1).End() {
					return
				}
			}
		}})
	if !errors.Is(err, context.Canceled) || written > 1<<16 {
		t.Errorf("%d rows written, %v", written, err)
	}
}
