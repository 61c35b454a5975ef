package codec_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/codec"
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

func columns() []codec.Column[row] {
	return []codec.Column[row]{
		codec.Numbers(func(r *row) *uint8 { return &r.Small }),
		codec.Numbers(func(r *row) *int64 { return &r.Time }),
		codec.Numbers(func(r *row) *uint32 { return &r.ID }),
		codec.Numbers(func(r *row) *uint64 { return &r.Wide }),
		codec.Flags(func(r *row) *bool { return &r.Flag }),
	}
}

func (r *record) code(c *codec.Coder, store *spill.Store) {
	codec.Number(c, &r.Number)
	codec.Number(c, &r.Signed)
	codec.Number(c, &r.None)
	codec.Flag(c, &r.Flag)
	codec.Text(c, &r.Text)
	codec.List(c, &r.Names, func(s *string) { codec.Text(c, s) })
	table := spill.NewTable[row](store)
	table.AppendRows(r.Rows)
	codec.Table(c, store, &table, columns()...)
	if c.Reading() {
		r.Rows = nil
		for _, rows := range table.Rows {
			r.Rows = append(r.Rows, rows...)
		}
	}
}

func example(rows int) *record {
	r := &record{Number: -7, Signed: math.MinInt64, None: math.MaxUint32, Flag: true, Text: "läuft\x00",
		Names: []string{"", strings.Repeat("x", 70_000), "b"}}
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
	w := codec.NewWriter(&b, "test 1")
	codec.Table(w, store, &table, codec.Numbers(func(r *wide) *uint64 { return &r.N }))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, narrow := codec.NewReader(&b, "test 1"), new(spill.Table[row])
	codec.Table(c, store, &narrow, codec.Numbers(func(r *row) *uint8 { return &r.Small }))
	if err := c.Close(); !errors.Is(err, codec.ErrDamaged) {
		t.Errorf("300 as a byte: %v", err)
	}
}

func encode(t *testing.T, r *record) []byte {
	t.Helper()
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	var b bytes.Buffer
	c := codec.NewWriter(&b, "test 1")
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
	r, c := new(record), codec.NewReader(bytes.NewReader(data), "test 1")
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
		if _, err := decode(t, damaged); !errors.Is(err, codec.ErrDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, err := decode(t, append(whole, 0)); !errors.Is(err, codec.ErrDamaged) {
		t.Errorf("with a byte more: %v", err)
	}
}

// TestHostile: lengths that are announced and not there take no memory, and numbers that do not
// fit their type are refused, although every checksum is right.
func TestHostile(t *testing.T) {
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	huge := int64(math.MaxInt64)
	for name, read := range map[string]func(*codec.Coder){
		"list":   func(c *codec.Coder) { codec.List(c, new([]int), func(v *int) { codec.Number(c, v) }) },
		"table":  func(c *codec.Coder) { codec.Table(c, store, new(*spill.Table[row]), columns()...) },
		"text":   func(c *codec.Coder) { codec.Text(c, new(string)) },
		"flag":   func(c *codec.Coder) { codec.Flag(c, new(bool)) },
		"narrow": func(c *codec.Coder) { codec.Number(c, new(uint32)) },
		"more":   func(*codec.Coder) {},
	} {
		var b bytes.Buffer
		w := codec.NewWriter(&b, "test 1")
		codec.Number(w, &huge)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		c := codec.NewReader(&b, "test 1")
		read(c)
		if err := c.Close(); !errors.Is(err, codec.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMemory: in memory values take what varints take and nothing else, and come back; what is cut off or followed by
// more is refused.
func TestMemory(t *testing.T) {
	type values struct {
		Plain  uint64
		Signed int64
		Items  []uint32
	}
	code := func(c *codec.Coder, v *values) {
		codec.Unsigned(c, &v.Plain)
		v.Signed = c.Varint(v.Signed)
		codec.Items(c, &v.Items, 3, func(n *uint32) { codec.Unsigned(c, n) })
	}
	want := values{math.MaxUint64, math.MinInt64, []uint32{127, 128, math.MaxUint32}}
	c := codec.ToMemory([]byte("head"))
	code(c, &want)
	all, head := bytes.CutPrefix(c.Data(), []byte("head"))
	if !head || len(all) != 10+10+1+2+5 || c.Close() != nil {
		t.Fatalf("%q, %v", c.Data(), c.Err())
	}
	var got values
	c = codec.FromMemory(all)
	code(c, &got)
	if err := c.Close(); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v: %s", err, cmp.Diff(want, got))
	}
	for n := range all {
		c := codec.FromMemory(all[:n])
		if code(c, new(values)); !errors.Is(c.Close(), codec.ErrDamaged) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(all), c.Err())
		}
	}
	c = codec.FromMemory(append(all, 0))
	if code(c, &got); c.Err() != nil || !errors.Is(c.Close(), codec.ErrDamaged) {
		t.Errorf("with a byte more: %v", c.Err())
	}
}

// TestBounds: a bound allows its numbers and no others, as those of fields and as those of columns. What is
// written is not looked at.
func TestBounds(t *testing.T) {
	const none = math.MaxUint32
	for _, x := range []struct {
		name  string
		bound func() *codec.Bound
		good  []int64
		bad   int64 // after the good ones
	}{
		{"below", func() *codec.Bound { return codec.Below("row", 3) }, []int64{0, 2, 0}, 3},
		{"negative", func() *codec.Bound { return codec.Below("row", 3) }, nil, -1},
		{"nothing", func() *codec.Bound { return codec.Below("row", 0) }, nil, 0},
		{"nothing or none", func() *codec.Bound { return codec.Below("row", 0).Or(none) }, []int64{none}, 0},
		{"or none", func() *codec.Bound { return codec.Below("row", 1).Or(none) }, []int64{0, none}, none - 1},
		{"within", func() *codec.Bound { return codec.Within("time", -5, 5) }, []int64{-5, 5}, -6},
		{"above", func() *codec.Bound { return codec.Within("time", -5, 5) }, nil, 6},
		{"all", func() *codec.Bound { return codec.Within[int64]("time", math.MinInt64, 9) }, []int64{math.MinInt64, 9}, 10},
		{"none between", func() *codec.Bound { return codec.Within("time", 1, 0) }, nil, 1},
		{"narrow", func() *codec.Bound { return codec.Within[int32]("time", math.MinInt32, math.MaxInt32) },
			[]int64{math.MinInt32, math.MaxInt32}, math.MaxInt32 + 1},
		{"wide", func() *codec.Bound { return codec.Within[uint64]("event", 1<<63, math.MaxUint64) }, []int64{math.MinInt64, -1}, 0},
		{"ascending", func() *codec.Bound { return codec.Within("time", -2, 9).Ascending(0) }, []int64{-2, 4, 4}, 3},
		{"strictly", func() *codec.Bound { return codec.Within("time", 0, 9).Ascending(1) }, []int64{0, 4, 5}, 5},
		{"up to the last", func() *codec.Bound { return codec.Below("row", 2).Ascending(1).Or(none) }, []int64{0, none, 1, none}, 1},
		{"up to the end", func() *codec.Bound { return codec.Within[uint64]("event", 0, math.MaxUint64).Ascending(1) }, []int64{7, -1}, 0},
	} {
		for _, bad := range []bool{false, true} {
			rows := append([]int64{}, x.good...)
			if bad {
				rows = append(rows, x.bad)
			}
			code := func(c *codec.Coder, bounds ...*codec.Bound) error {
				got := rows
				codec.Items(c, &got, len(rows), func(v *int64) { codec.Number(c, v, bounds...) })
				if err := c.Close(); err != nil {
					return err
				}
				if !cmp.Equal(got, rows, cmpopts.EquateEmpty()) {
					t.Errorf("%s: %v came back as %v", x.name, rows, got)
				}
				return nil
			}
			column := func(c *codec.Coder, bounds ...*codec.Bound) error {
				got := append([]int64{}, rows...)
				if len(got) > 0 {
					codec.Numbers(func(v *int64) *int64 { return v }, bounds...)(c, got)
				}
				return c.Close()
			}
			for how, code := range map[string]func(*codec.Coder, ...*codec.Bound) error{"fields": code, "column": column} {
				w := codec.ToMemory(nil)
				if err := code(w, x.bound()); err != nil {
					t.Errorf("%s, %s: %v is not written: %v", x.name, how, rows, err)
				}
				if err := code(codec.FromMemory(w.Data()), x.bound()); errors.Is(err, codec.ErrDamaged) != bad || (err != nil) != bad {
					t.Errorf("%s, %s: %v: %v", x.name, how, rows, err)
				}
			}
		}
	}
}

// FuzzCoder: whatever bytes hold, what is read of them without an error is within its bounds, and is read again once it is
// written.
func FuzzCoder(f *testing.F) {
	type values struct {
		Version uint8
		IDs     []uint32
		Times   []int64
	}
	code := func(c *codec.Coder, v *values) {
		n := len(v.Times)
		codec.Unsigned(c, &v.Version, codec.Within("version", 1, 2))
		id := codec.Below("row", 9).Or(math.MaxUint32)
		codec.List(c, &v.IDs, func(v *uint32) { codec.Number(c, v, id) })
		codec.Unsigned(c, &n, codec.Below("length", 1<<20))
		time := codec.Within("time", -1000, 1000).Ascending(1)
		codec.Items(c, &v.Times, n, func(v *int64) { codec.Number(c, v, time) })
	}
	c := codec.ToMemory(nil)
	code(c, &values{1, []uint32{8, math.MaxUint32}, []int64{-1000, 3, 1000}})
	f.Add(c.Data())
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, again values
		c := codec.FromMemory(data)
		if code(c, &got); c.Close() != nil {
			return
		}
		for i, x := range got.Times {
			if x < -1000 || x > 1000 || i > 0 && x <= got.Times[i-1] {
				t.Fatalf("time %d is %d", i, x)
			}
		}
		w := codec.ToMemory(nil)
		code(w, &got)
		if r := codec.FromMemory(w.Data()); w.Err() == nil {
			code(r, &again)
		}
		if w.Err() != nil || !cmp.Equal(got, again) {
			t.Fatalf("%v: %s", w.Err(), cmp.Diff(got, again))
		}
	})
}
