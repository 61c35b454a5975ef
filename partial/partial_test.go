package partial_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// TestMemory: in memory values take what varints take and nothing else, and come back; what is cut off or followed by
// more is refused.
func TestMemory(t *testing.T) {
	type values struct {
		Plain  uint64
		Signed int64
		Items  []uint32
	}
	code := func(c *partial.Coder, v *values) {
		partial.Unsigned(c, &v.Plain)
		v.Signed = c.Varint(v.Signed)
		partial.Items(c, &v.Items, 3, func(n *uint32) { partial.Unsigned(c, n) })
	}
	want := values{math.MaxUint64, math.MinInt64, []uint32{127, 128, math.MaxUint32}}
	c := partial.ToMemory([]byte("head"))
	code(c, &want)
	all, head := bytes.CutPrefix(c.Data(), []byte("head"))
	if !head || len(all) != 10+10+1+2+5 || c.Close() != nil {
		t.Fatalf("%q, %v", c.Data(), c.Err())
	}
	var got values
	c = partial.FromMemory(all)
	code(c, &got)
	if err := c.Close(); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v: %s", err, cmp.Diff(want, got))
	}
	for n := range all {
		c := partial.FromMemory(all[:n])
		if code(c, new(values)); !errors.Is(c.Close(), partial.ErrDamaged) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(all), c.Err())
		}
	}
	c = partial.FromMemory(append(all, 0))
	if code(c, &got); c.Err() != nil || !errors.Is(c.Close(), partial.ErrDamaged) {
		t.Errorf("with a byte more: %v", c.Err())
	}
}

// TestBounds: a bound allows its numbers and no others, as those of fields and as those of columns. What is
// written is not looked at.
func TestBounds(t *testing.T) {
	const none = math.MaxUint32
	for _, x := range []struct {
		name  string
		bound func() *partial.Bound
		good  []int64
		bad   int64 // after the good ones
	}{
		{"below", func() *partial.Bound { return partial.Below("row", 3) }, []int64{0, 2, 0}, 3},
		{"negative", func() *partial.Bound { return partial.Below("row", 3) }, nil, -1},
		{"nothing", func() *partial.Bound { return partial.Below("row", 0) }, nil, 0},
		{"nothing or none", func() *partial.Bound { return partial.Below("row", 0).Or(none) }, []int64{none}, 0},
		{"or none", func() *partial.Bound { return partial.Below("row", 1).Or(none) }, []int64{0, none}, none - 1},
		{"within", func() *partial.Bound { return partial.Within("time", -5, 5) }, []int64{-5, 5}, -6},
		{"above", func() *partial.Bound { return partial.Within("time", -5, 5) }, nil, 6},
		{"all", func() *partial.Bound { return partial.Within[int64]("time", math.MinInt64, 9) }, []int64{math.MinInt64, 9}, 10},
		{"none between", func() *partial.Bound { return partial.Within("time", 1, 0) }, nil, 1},
		{"narrow", func() *partial.Bound { return partial.Within[int32]("time", math.MinInt32, math.MaxInt32) },
			[]int64{math.MinInt32, math.MaxInt32}, math.MaxInt32 + 1},
		{"wide", func() *partial.Bound { return partial.Within[uint64]("event", 1<<63, math.MaxUint64) }, []int64{math.MinInt64, -1}, 0},
		{"ascending", func() *partial.Bound { return partial.Within("time", -2, 9).Ascending(0) }, []int64{-2, 4, 4}, 3},
		{"strictly", func() *partial.Bound { return partial.Within("time", 0, 9).Ascending(1) }, []int64{0, 4, 5}, 5},
		{"up to the last", func() *partial.Bound { return partial.Below("row", 2).Ascending(1).Or(none) }, []int64{0, none, 1, none}, 1},
		{"up to the end", func() *partial.Bound { return partial.Within[uint64]("event", 0, math.MaxUint64).Ascending(1) }, []int64{7, -1}, 0},
	} {
		for _, bad := range []bool{false, true} {
			rows := append([]int64{}, x.good...)
			if bad {
				rows = append(rows, x.bad)
			}
			code := func(c *partial.Coder, bounds ...*partial.Bound) error {
				got := rows
				partial.Items(c, &got, len(rows), func(v *int64) { partial.Number(c, v, bounds...) })
				if err := c.Close(); err != nil {
					return err
				}
				if !cmp.Equal(got, rows, cmpopts.EquateEmpty()) {
					t.Errorf("%s: %v came back as %v", x.name, rows, got)
				}
				return nil
			}
			column := func(c *partial.Coder, bounds ...*partial.Bound) error {
				got := append([]int64{}, rows...)
				if len(got) > 0 {
					partial.Numbers(func(v *int64) *int64 { return v }, bounds...)(c, got)
				}
				return c.Close()
			}
			for how, code := range map[string]func(*partial.Coder, ...*partial.Bound) error{"fields": code, "column": column} {
				w := partial.ToMemory(nil)
				if err := code(w, x.bound()); err != nil {
					t.Errorf("%s, %s: %v is not written: %v", x.name, how, rows, err)
				}
				if err := code(partial.FromMemory(w.Data()), x.bound()); errors.Is(err, partial.ErrDamaged) != bad || (err != nil) != bad {
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
	code := func(c *partial.Coder, v *values) {
		n := len(v.Times)
		partial.Unsigned(c, &v.Version, partial.Within("version", 1, 2))
		id := partial.Below("row", 9).Or(math.MaxUint32)
		partial.List(c, &v.IDs, func(v *uint32) { partial.Number(c, v, id) })
		partial.Unsigned(c, &n, partial.Below("length", 1<<20))
		time := partial.Within("time", -1000, 1000).Ascending(1)
		partial.Items(c, &v.Times, n, func(v *int64) { partial.Number(c, v, time) })
	}
	c := partial.ToMemory(nil)
	code(c, &values{1, []uint32{8, math.MaxUint32}, []int64{-1000, 3, 1000}})
	f.Add(c.Data())
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, again values
		c := partial.FromMemory(data)
		if code(c, &got); c.Close() != nil {
			return
		}
		for i, x := range got.Times {
			if x < -1000 || x > 1000 || i > 0 && x <= got.Times[i-1] {
				t.Fatalf("time %d is %d", i, x)
			}
		}
		w := partial.ToMemory(nil)
		code(w, &got)
		if r := partial.FromMemory(w.Data()); w.Err() == nil {
			code(r, &again)
		}
		if w.Err() != nil || !cmp.Equal(got, again) {
			t.Fatalf("%v: %s", w.Err(), cmp.Diff(got, again))
		}
	})
}
