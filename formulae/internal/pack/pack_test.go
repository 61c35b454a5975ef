package pack

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae/internal/coder"
)

// A part is a record with a field of every kind.
type part struct {
	Number uint64
	Signed int64
	Real   float64
	Flag   bool
	Text   string
	List   []uint32
	Map    map[string]string
	Inner  *part
}

func partFields() []Field[part] {
	return []Field[part]{
		Number(func(p *part) *uint64 { return &p.Number }),
		Number(func(p *part) *int64 { return &p.Signed }),
		Real(func(p *part) *float64 { return &p.Real }),
		Flag(func(p *part) *bool { return &p.Flag }),
		Text(func(p *part) *string { return &p.Text }),
		In(func(p *part) *[]uint32 { return &p.List }, Lists(Numbers[uint32]())),
		In(func(p *part) *map[string]string { return &p.Map }, Maps()),
	}
}

func partLayout() Column[part] {
	return Record(8, append(partFields(), In(func(p *part) **part { return &p.Inner }, Optional(partLayout)))...)
}

func parts() []part {
	return []part{
		{},
		{Number: math.MaxUint64, Signed: math.MinInt64, Real: -0.5, Flag: true, Text: "a\x00b", List: []uint32{}, Map: map[string]string{}},
		{Number: 7, Signed: -1, Real: math.Inf(1), Text: "text", List: []uint32{3, 1, 2}, Map: map[string]string{"b": "1", "a": ""},
			Inner: &part{Number: 1, Inner: &part{Text: "innermost"}}},
	}
}

func TestPackedValuesComeBack(t *testing.T) {
	form := Form{Tables: coder.NewTables()}
	want := parts()
	var got []part
	if err := Unpack(form, Pack(form, &want, Lists(partLayout())), &got, Lists(partLayout())); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("packed values differ:\n%s", d)
	}
}

func TestShortBlocksAreTheShorterOnes(t *testing.T) {
	form := Form{Tables: coder.NewTables()}
	for _, want := range [][]uint64{nil, {}, {1 << 63}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {0, math.MaxUint64, 1 << 40, 3}} {
		c := Lists(Numbers[uint64]())
		block := PackShort(form, &want, c)
		if n := min(len(Pack(form, &want, c)), len(PackPlain(&want, c))); len(block) != 1+n {
			t.Errorf("%v takes %d bytes, want %d", want, len(block), 1+n)
		}
		var got []uint64
		if err := UnpackShort(form, block, &got, c); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%v came back as %v, %v", want, got, err)
		}
	}
}

// Programs that know more fields, or fewer, read each other's blocks. What only one of them
// knows may be of any kind, and stand in the middle of other columns.
func TestOneFieldMoreOrLess(t *testing.T) {
	type record struct {
		Name  string
		Count uint64
		New   []part
		After map[string]string
	}
	type pair struct {
		Records []record
		End     uint64
	}
	layout := func(fields int) Column[pair] {
		const base = 1
		all := []Field[record]{
			Text(func(r *record) *string { return &r.Name }),
			Number(func(r *record) *uint64 { return &r.Count }),
			In(func(r *record) *[]part { return &r.New }, Lists(Record(7, append(partFields(), In(func(p *part) **part { return &p.Inner },
				Optional(func() Column[part] { return Record(7, partFields()...) })))...))),
			In(func(r *record) *map[string]string { return &r.After }, Maps()),
		}
		return Record(2,
			In(func(p *pair) *[]record { return &p.Records }, Lists(Record(base, all[:fields]...))),
			Number(func(p *pair) *uint64 { return &p.End }))
	}
	full := pair{Records: []record{
		{"one", 1, []part{{Number: 5, Inner: &part{Text: "in"}, Map: map[string]string{"k": "v"}}, {}}, map[string]string{"x": "y"}},
		{"two", 2, nil, nil},
		{"three", 3, []part{{List: []uint32{9, 9}}}, map[string]string{}},
	}, End: 77}
	knows := func(fields int) pair {
		p := pair{End: full.End}
		for _, r := range full.Records {
			k := record{Name: r.Name}
			if fields > 1 {
				k.Count = r.Count
			}
			if fields > 2 {
				k.New = r.New
			}
			if fields > 3 {
				k.After = r.After
			}
			p.Records = append(p.Records, k)
		}
		return p
	}
	form := Form{Tables: coder.NewTables()}
	for writer := 1; writer <= 4; writer++ {
		block := PackOpen(form, &full, layout(writer))
		for reader := 1; reader <= 4; reader++ {
			var got pair
			if err := UnpackOpen(form, block, &got, layout(reader)); err != nil {
				t.Fatalf("%d fields written, %d known: %v", writer, reader, err)
			}
			if d := cmp.Diff(knows(min(writer, reader)), got); d != "" {
				t.Errorf("%d fields written, %d known:\n%s", writer, reader, d)
			}
		}
	}
}

func TestFieldOfAnotherKindIsDamage(t *testing.T) {
	form := Form{Tables: coder.NewTables()}
	type record struct {
		Number uint64
		Text   string
	}
	number := Number(func(r *record) *uint64 { return &r.Number })
	block := PackOpen(form, &record{1, "x"}, Record(1, number, Text(func(r *record) *string { return &r.Text })))
	if err := UnpackOpen(form, block, &record{}, Record(1, number, number)); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want %v", err, ErrDamaged)
	}
}

// FuzzUnpack: whatever a block holds, it is read in bounded time and memory.
func FuzzUnpack(f *testing.F) {
	form := Form{Tables: coder.NewTables()}
	all := parts()
	f.Add(Pack(form, &all, Lists(partLayout())))
	type record struct{ Parts []part }
	layout := func(base int) Column[record] {
		return Record(base, In(func(r *record) *[]part { return &r.Parts }, Lists(Record(7, partFields()...))))
	}
	f.Add(PackOpen(form, &record{all}, layout(0)))
	f.Add(PackShort(form, &all[0].List, Lists(Numbers[uint32]())))
	f.Fuzz(func(t *testing.T, block []byte) {
		var values []part
		_ = Unpack(form, block, &values, Lists(partLayout()))
		_ = UnpackOpen(form, block, &record{}, layout(1))
		_ = UnpackOpen(form, block, &record{}, Record[record](0))
		var list []uint32
		_ = UnpackShort(form, block, &list, Lists(Numbers[uint32]()))
		if n := uint64(len(values) + len(list)); n > bound(block) {
			t.Errorf("%d values of %d bytes", n, len(block))
		}
	})
}
