package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"tracekit/readers/arrowdir"
)

// TestWritingHeeds: who interrupts while a large file is written need not wait for its end.
func TestWritingHeeds(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	written := 0
	err := WriteAtomically(ctx, filepath.Join(dir, "x"), false, func(w io.Writer) (err error) {
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

// TestJSONKeepsNames: what a document escapes for terminals is the same string to a program.
func TestJSONKeepsNames(t *testing.T) {
	const name = "\x1b\u007f\u009b\u202e\ufffe\U000e0001\u2028\n\x00é"
	var text strings.Builder
	if err := PrintJSON(&text, name); err != nil {
		t.Fatal(err)
	}
	for _, r := range text.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q in %q", r, text.String())
		}
	}
	var back string
	if err := json.Unmarshal([]byte(text.String()), &back); err != nil || back != name {
		t.Errorf("%q, %v", back, err)
	}
}
