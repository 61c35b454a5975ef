package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"tracekit/document/field"
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
	if err := PrintJSON(&text, 1, name); err != nil {
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

// TestJSONOfMembers: a document whose members are encoded one by one is the text that it is as a whole.
func TestJSONOfMembers(t *testing.T) {
	type Part struct {
		Name  field.Name `json:"name"`
		Lists []any      `json:"lists"`
	}
	type inner struct{ A, B int }
	one := 1.5
	for _, document := range []any{
		nil, 7, []int{1, 2}, map[string]int{"b": 1, "a": 2}, struct{}{}, &struct{}{}, inner{1, 2}, (*inner)(nil),
		struct {
			X *int `json:"x,omitempty"`
		}{},
		struct {
			Part
			hidden int
			Left   int      `json:"-"`
			None   *Part    `json:"none"`
			Empty  []Part   `json:"empty,omitempty"`
			Zero   []Part   `json:"zero,omitzero"`
			Ratio  *float64 `json:"ratio"`
			Rank   field.Rank
			Deep   map[string]Part `json:"deep"`
		}{Part: Part{"<a>\x1b", []any{1, "b&", []any{}, map[string]any{}, nil}}, Zero: []Part{}, Ratio: &one, Deep: map[string]Part{"x": {}}},
		struct {
			*Part
			C int
		}{&Part{}, 1},
		struct {
			Part `json:"part"`
			C    int
		}{},
	} {
		var whole, members bytes.Buffer
		e := json.NewEncoder(&whole)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := errors.Join(e.Encode(document), PrintJSON(&members, 2, document)); err != nil || members.String() != whole.String() {
			t.Errorf("%T: %v, got\n%s\nwant\n%s", document, err, members.String(), whole.String())
		}
	}
	if err := PrintJSON(io.Discard, 2, struct{ A, B float64 }{1, math.NaN()}); err == nil {
		t.Error("a number that JSON does not have is no error")
	}
}
