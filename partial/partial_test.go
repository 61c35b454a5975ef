package partial_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/partial"
	"tracekit/spill"
	"tracekit/trace/tracetest/mutate"
)

type row struct {
	Small uint8
	Time  int64
	ID    uint32
	Wide  uint64
	Flag  bool
}

// A record is something of everything.
type record struct {
	Number int
	Signed int64
	None   uint32
	Flag   bool
	Text   string
	Names  []string
	Rows   []row
}

func columns() []partial.Column[row] {
	return []partial.Column[row]{
		partial.Numbers(func(r *row) *uint8 { return &r.Small }),
		partial.Numbers(func(r *row) *int64 { return &r.Time }),
		partial.Numbers(func(r *row) *uint32 { return &r.ID }),
		partial.Numbers(func(r *row) *uint64 { return &r.Wide }),
		partial.Flags(func(r *row) *bool { return &r.Flag }),
	}
}

func (r *record) code(c *partial.Coder, store *spill.Store) {
	partial.Number(c, &r.Number)
	partial.Number(c, &r.Signed)
	partial.Number(c, &r.None)
	partial.Flag(c, &r.Flag)
	partial.Text(c, &r.Text)
	partial.List(c, &r.Names, func(s *string) { partial.Text(c, s) })
	table := spill.NewTable[row](store)
	table.AppendRows(r.Rows)
	partial.Table(c, store, &table, columns()...)
	if c.Reading() {
		r.Rows = nil
		for _, rows := range table.Rows {
			r.Rows = append(r.Rows, rows...)
		}
	}
}

func example(rows int) *record {
	r := &record{Number: -7, Signed: math.MinInt64, None: math.MaxUint32, Flag: true, Text: "läuft\x00", Names: []string{"", strings.Repeat("x", 70_000), "b"}}
	for i := range rows {
		r.Rows = append(r.Rows, row{uint8(i), math.MaxInt64 - int64(i*i), uint32(-i), uint64(i) << 52, i%3 == 0})
	}
	return r
}

// TestColumns: columns that change evenly, within the range of their type or around it, take a few
// bytes and come back; what they would run to beyond the range is refused.
func TestColumns(t *testing.T) {
	want := &record{}
	for i := range 1024 {
		want.Rows = append(want.Rows, row{7, math.MinInt64 + int64(i), math.MaxUint32, uint64(i) << 54, true})
	}
	data := encode(t, want)
	if got, err := decode(t, data); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v: %s", err, cmp.Diff(want, got))
	}
	if len(data) > 100 {
		t.Errorf("even columns take %d bytes", len(data))
	}
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	type wide struct{ N uint64 }
	table := spill.NewTable[wide](store)
	table.AppendRows([]wide{{100}, {200}, {300}})
	var b bytes.Buffer
	w := partial.NewWriter(&b, "test 1")
	partial.Table(w, store, &table, partial.Numbers(func(r *wide) *uint64 { return &r.N }))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, narrow := partial.NewReader(&b, "test 1"), new(spill.Table[row])
	partial.Table(c, store, &narrow, partial.Numbers(func(r *row) *uint8 { return &r.Small }))
	if err := c.Close(); !errors.Is(err, partial.ErrDamaged) {
		t.Errorf("300 as a byte: %v", err)
	}
}

func encode(t *testing.T, r *record) []byte {
	t.Helper()
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	var b bytes.Buffer
	c := partial.NewWriter(&b, "test 1")
	r.code(c, store)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, data []byte) (*record, error) {
	t.Helper()
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	r, c := new(record), partial.NewReader(bytes.NewReader(data), "test 1")
	r.code(c, store)
	return r, c.Close()
}

// TestRoundTrip: what is read is what was written, of tables within a packet and over many.
func TestRoundTrip(t *testing.T) {
	for _, rows := range []int{0, 1, 1024, 1025, 40_000} {
		want := example(rows)
		got, err := decode(t, encode(t, want))
		if err != nil {
			t.Fatalf("%d rows: %v", rows, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d rows: %s", rows, diff)
		}
	}
}

// TestDamaged: a stream that is cut off anywhere, has a changed byte or goes on behind its end is
// refused as damaged.
func TestDamaged(t *testing.T) {
	r := example(9)
	r.Names = nil
	whole := encode(t, r)
	for what, damaged := range mutate.CutsAndFlips(whole, mutate.Everywhere, 0x41) {
		if _, err := decode(t, damaged); !errors.Is(err, partial.ErrDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, err := decode(t, append(whole, 0)); !errors.Is(err, partial.ErrDamaged) {
		t.Errorf("with a byte more: %v", err)
	}
}

// TestHostile: lengths that are announced and not there take no memory, and numbers that do not
// fit their type are refused, although every checksum is right.
func TestHostile(t *testing.T) {
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	huge := int64(math.MaxInt64)
	for name, read := range map[string]func(*partial.Coder){
		"list":   func(c *partial.Coder) { partial.List(c, new([]int), func(v *int) { partial.Number(c, v) }) },
		"table":  func(c *partial.Coder) { partial.Table(c, store, new(*spill.Table[row]), columns()...) },
		"text":   func(c *partial.Coder) { partial.Text(c, new(string)) },
		"flag":   func(c *partial.Coder) { partial.Flag(c, new(bool)) },
		"narrow": func(c *partial.Coder) { partial.Number(c, new(uint32)) },
		"more":   func(*partial.Coder) {},
	} {
		var b bytes.Buffer
		w := partial.NewWriter(&b, "test 1")
		partial.Number(w, &huge)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		c := partial.NewReader(&b, "test 1")
		read(c)
		if err := c.Close(); !errors.Is(err, partial.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
