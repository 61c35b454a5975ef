package wire

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCursor(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 'a', 'b', 0, 0xFF}
	for _, test := range []struct {
		big           bool
		two, four, at uint64
	}{
		{false, 0x0302, 0x07060504, 0x0F0E0D0C0B0A0908},
		{true, 0x0203, 0x04050607, 0x08090A0B0C0D0E0F},
	} {
		c := Cursor{Data: data, BigEndian: test.big}
		one, two, four, eight := c.Uint8(), c.Uint16(), c.Uint32(), c.Uint64()
		if one != 1 || uint64(two) != test.two || uint64(four) != test.four || eight != test.at {
			t.Errorf("big-endian %v: %x %x %x %x", test.big, one, two, four, eight)
		}
		if s := c.CString(); s != "ab" || c.Len() != 1 || c.Err != nil {
			t.Errorf("text %q, %d bytes left, %v", s, c.Len(), c.Err)
		}
	}
}

// TestCursorEnds reads each kind of field from too few bytes: zero, and the first error
// stays.
func TestCursorEnds(t *testing.T) {
	for name, read := range map[string]func(*Cursor) bool{
		"byte":   func(c *Cursor) bool { return c.Uint8() == 0 },
		"two":    func(c *Cursor) bool { return c.Uint16() == 0 },
		"four":   func(c *Cursor) bool { return c.Uint32() == 0 },
		"eight":  func(c *Cursor) bool { return c.Uint64() == 0 },
		"text":   func(c *Cursor) bool { return c.CString() == "" },
		"bytes":  func(c *Cursor) bool { return c.Bytes(1) == nil },
		"minus":  func(c *Cursor) bool { return c.Bytes(-1) == nil },
		"absurd": func(c *Cursor) bool { return c.Count(1<<63, 1) == 0 },
	} {
		first := errors.New("first")
		for _, c := range []Cursor{{}, {Data: []byte{1, 2, 3}, Err: first}} {
			before := c.Err
			if !read(&c) || c.Err == nil || before != nil && c.Err != before || c.Len() != 0 {
				t.Errorf("%s: error %v", name, c.Err)
			}
		}
	}
}

func TestCount(t *testing.T) {
	c := Cursor{Data: make([]byte, 10)}
	if c.Count(5, 2) != 5 || c.Count(10, 0) != 10 || c.Err != nil {
		t.Error("a count that fits was refused", c.Err)
	}
	if c.Count(6, 2) != 0 || c.Err != ErrShort {
		t.Error("a count that does not fit was believed", c.Err)
	}
}

// openUnmapped opens a file as where it cannot be mapped.
func openUnmapped(name string) (*File, error) {
	return open(name, func(*os.File, int64) []byte { return nil })
}

// TestSpans reads a file in pieces, mapped and not, and a small one.
func TestSpans(t *testing.T) {
	for _, size := range []int{300 << 10, 9 << 10} {
		name := filepath.Join(t.TempDir(), "f")
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * i >> 8)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for how, open := range map[string]func(string) (*File, error){"mapped": Open, "read": openUnmapped} {
			testSpans(t, how, name, data, open)
		}
	}
}

func testSpans(t *testing.T, how, name string, data []byte, open func(string) (*File, error)) {
	f, err := open(name)
	if err != nil || f.Size() != int64(len(data)) || f.Name() != name {
		t.Fatal(how, f, err)
	}
	const step = 7_000
	var all []byte
	for off := int64(0); ; off += step {
		span, err := f.Span(off, step)
		if err != nil {
			t.Fatal(how, err)
		}
		if len(span) == 0 {
			break
		}
		all = append(all, span...)
	}
	if !bytes.Equal(all, data) {
		t.Error(how, "spans do not make up the file")
	}
	if again, _ := f.Span(0, 10); !bytes.Equal(again, data[:10]) {
		t.Error(how, "a span that was given back is lost")
	}
	for _, at := range []int64{-1, int64(len(data)), 1 << 62} {
		if span, err := f.Span(at, 10); len(span) != 0 || err != nil {
			t.Error(how, at, span, err)
		}
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(how, err)
	}
	if span, err := f.Span(0, 10); len(span) != 0 || err != nil {
		t.Error(how, "a file that is closed has", span, err)
	}
}

// TestShrinks cuts a file short while it is read.
func TestShrinks(t *testing.T) {
	for how, open := range map[string]func(string) (*File, error){"mapped": Open, "read": openUnmapped} {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, make([]byte, 1<<20), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, 100); err != nil {
			t.Fatal(err)
		}
		sum := 0
		err = f.Guard(func() {
			span, spanErr := f.Span(0, 1<<20)
			err = spanErr
			for _, b := range span {
				sum += int(b)
			}
		})
		if how == "read" {
			_, err = f.Span(0, 1<<20)
		}
		if !errors.Is(err, ErrFileChanged) {
			t.Errorf("%s: %v", how, err)
		}
		f.Close()
	}
}

// TestGuardPanics lets panics pass that are no faults of the file.
func TestGuardPanics(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer func() {
		if recover() == nil {
			t.Error("a panic was swallowed")
		}
	}()
	_ = f.Guard(func() { panic("a bug") })
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
}
