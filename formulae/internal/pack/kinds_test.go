package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// comeBack packs values in every form, and reads them again.
func comeBack[T any](t *testing.T, form Form, column Column[T], values ...T) {
	t.Helper()
	list := Lists(column)
	early := Form{Tables: form.Tables, Early: true}
	for name, of := range map[string]func() ([]T, error){
		"early": func() (got []T, err error) {
			err = Unpack(early, Pack(early, &values, list), &got, list)
			return got, err
		},
		"packed": func() (got []T, err error) {
			err = Unpack(form, Pack(form, &values, list), &got, list)
			return got, err
		},
		"open": func() (got []T, err error) {
			err = UnpackOpen(form, PackOpen(form, &values, list), &got, list)
			return got, err
		},
	} {
		if got, err := of(); err != nil || !reflect.DeepEqual(got, values) {
			t.Errorf("%s, %v comes back as %v, %v", name, values, got, err)
		}
	}
}

// Columns of every kind hold all values of their type, the extremes and nothing among them.
func TestColumnsOfAllKinds(t *testing.T) {
	t.Parallel()
	form := Form{Tables: coder.NewTables()}
	comeBack(t, form, Numbers[uint8](), 0, 255, 1)
	comeBack(t, form, Numbers[int32](), 0, math.MinInt32, -1, math.MaxInt32)
	comeBack(t, form, Numbers[int64](), math.MaxInt64, math.MinInt64, 0)
	comeBack(t, form, Numbers[uint64](), math.MaxUint64, 0, 1<<63)
	comeBack(t, form, Flags(), true, false, true)
	comeBack(t, form, Reals(), 0, math.Copysign(0, -1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64)
	comeBack(t, form, Texts[string](), "", "\xff\x00", "äöü", string(bytes.Repeat([]byte("long "), 1000)))
	comeBack(t, form, Lists(Lists(Numbers[uint32]())), nil, [][]uint32{}, [][]uint32{nil, {}, {1}})
	comeBack(t, form, Maps(), nil, map[string]string{}, map[string]string{"": "", "b": "x", "a": ""})
	comeBack(t, form, Optional(Flags), nil, new(bool))
	var none []uint64
	comeBack(t, form, Lists(Numbers[uint64]()), none)
	nan, got := []float64{math.Float64frombits(0x7ff8_0000_dead_beef)}, []float64{}
	if err := Unpack(form, Pack(form, &nan, Lists(Reals())), &got, Lists(Reals())); err != nil ||
		math.Float64bits(got[0]) != math.Float64bits(nan[0]) {
		t.Errorf("the bits of what is no number come back as %x, %v", math.Float64bits(got[0]), err)
	}
}

// A number that is out of its bounds is refused, wherever it stands, and one within is not.
func TestNumbersOutOfBounds(t *testing.T) {
	t.Parallel()
	form := Form{Tables: coder.NewTables()}
	for _, values := range [][]uint64{{0}, {9}, {10}, {1, 2, 10, 3}, {math.MaxUint64}, {}} {
		within := true
		for _, v := range values {
			within = within && v < 10
		}
		bounded := Lists(Numbers[uint64](codec.Below("thing", 10)))
		var got []uint64
		err := Unpack(form, Pack(form, &values, Lists(Numbers[uint64]())), &got, bounded)
		if short := UnpackShort(form, PackShort(form, &values, Lists(Numbers[uint64]())), &got, bounded); (err == nil) != within ||
			(short == nil) != within || !within && !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, each below 10: %v, %v", values, err, short)
		}
	}
}

// narrow reads numbers as those of a narrower type.
func narrow[N codec.Integer](form Form, values ...int64) (got []N, err error) {
	err = Unpack(form, Pack(form, &values, Lists(Numbers[int64]())), &got, Lists(Numbers[N]()))
	return got, err
}

// A number that its type cannot hold is refused, and not cut.
func TestNumbersOutOfTheirType(t *testing.T) {
	t.Parallel()
	form := Form{Tables: coder.NewTables()}
	for _, v := range []int64{-1, math.MaxUint8 + 1, 1 << 40} {
		if got, err := narrow[uint8](form, 0, v, 0); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d in 8 bits is %d, %v", v, got, err)
		}
	}
	for _, v := range []int64{math.MinInt32 - 1, math.MaxInt32 + 1, math.MaxUint32} {
		if got, err := narrow[int32](form, v); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d in 32 bits with a sign is %d, %v", v, got, err)
		}
	}
	if got, err := narrow[int32](form, math.MinInt32, -1, math.MaxInt32); err != nil || got[0] != math.MinInt32 || got[1] != -1 {
		t.Errorf("numbers of 32 bits come back as %d, %v", got, err)
	}
}

// A block has a byte for some things of its lists at least, so that what a short one claims is refused, and what was written never is.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	form, list := Form{Tables: coder.NewTables()}, Lists(Lists(Numbers[uint8]()))
	values := [][]uint8{make([]uint8, 100000), nil, make([]uint8, 50000)} // which packs to hardly anything
	block, got := Pack(form, &values, list), [][]uint8(nil)
	if err := Unpack(form, block, &got, list); err != nil || len(block) < 150000/PerByte-8 || !reflect.DeepEqual(got, values) {
		t.Errorf("%d bytes of 150000 numbers: %v", len(block), err)
	}
	if err := Unpack(form, block[:len(block)/2], &got, list); !errors.Is(err, ErrDamaged) {
		t.Errorf("half of the block: %v", err)
	}
	for _, claim := range []uint64{1 << 20, 1 << 40, math.MaxUint64} {
		c := NewColumns(form)
		c.Begin(1)
		c.Number(claim)
		if err := Unpack(form, c.Finish(), &got, list); !errors.Is(err, ErrDamaged) {
			t.Errorf("a list of %d things in no bytes: %v", claim, err)
		}
	}
}

// A chain is part of itself.
type chain struct{ Next *chain }

func chainLayout() Column[chain] {
	return Record(1, In(func(c *chain) **chain { return &c.Next }, Optional(chainLayout)))
}

// What is deeper in itself than any formula is refused.
func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	form := Form{Tables: coder.NewTables()}
	for depth, sound := range map[int]bool{1: true, 100: true, 101: false, 5000: false} {
		var value, got chain
		for range depth {
			value = chain{&chain{value.Next}}
		}
		if err := Unpack(form, Pack(form, &value, chainLayout()), &got, chainLayout()); (err == nil) != sound {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
}

// A field that another program knows as something else is damage, whatever both are.
func TestFieldsOfOtherKindsAreDamage(t *testing.T) {
	t.Parallel()
	type record struct {
		Number uint64
		Text   string
		List   []uint64
		Some   *uint64
		Part   part
	}
	fields := []Field[record]{
		Number(func(r *record) *uint64 { return &r.Number }),
		Text(func(r *record) *string { return &r.Text }),
		In(func(r *record) *[]uint64 { return &r.List }, Lists(Numbers[uint64]())),
		In(func(r *record) **uint64 { return &r.Some }, Optional(func() Column[uint64] { return Numbers[uint64]() })),
		In(func(r *record) *part { return &r.Part }, Record(7, partFields()...)),
	}
	form := Form{Tables: coder.NewTables()}
	for i, written := range fields {
		block := PackOpen(form, &record{}, Record(0, written))
		for k, known := range fields {
			if err := UnpackOpen(form, block, &record{}, Record(0, known)); errors.Is(err, ErrDamaged) != (i != k) {
				t.Errorf("field %d, known as field %d: %v", i, k, err)
			}
		}
	}
}

// A schema that says nothing is refused: of an unknown kind, with parts that the kind has not, deeper than any.
func TestSchemasThatMeanNothing(t *testing.T) {
	t.Parallel()
	form, deep := Form{Tables: coder.NewTables()}, Schema{kind: number}
	for range 200 {
		deep = Schema{list, []Schema{deep}}
	}
	leaf := Schema{kind: number}
	for name, s := range map[string]Schema{
		"an unknown kind":          {kind: kinds},
		"a number with a part":     {number, []Schema{leaf}},
		"a text with a part":       {text, []Schema{leaf}},
		"a list of nothing":        {kind: list},
		"a list of two":            {list, []Schema{leaf, leaf}},
		"nothing that is optional": {kind: optional},
		"a deep one":               deep,
	} {
		p := &packer{Columns: NewColumns(form), form: form}
		p.Single(0, 1)
		p.describe(&Schema{record, []Schema{s}})
		if err := UnpackOpen(form, p.Finish(), &chain{}, Record[chain](0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A plain block is the zigzag differences as varints; one of no form is refused.
func TestPlainBlocks(t *testing.T) {
	t.Parallel()
	var want []byte
	for _, d := range []int64{4, 1000, -1000, 1} { // of the length, plus 1, and of the numbers
		want = binary.AppendVarint(want, d)
	}
	values, list := []uint64{1000, 0, 1}, Lists(Numbers[uint64]())
	if got := PackPlain(&values, list); !bytes.Equal(got, want) {
		t.Errorf("plain block %x, want %x", got, want)
	}
	for _, block := range [][]byte{nil, {2}, {255, 1}, {codedPlain}, {codedPlain, 6, 2}} {
		if err := UnpackShort(Form{Tables: coder.NewTables()}, block, &values, list); !errors.Is(err, ErrDamaged) {
			t.Errorf("block %v: %v", block, err)
		}
	}
}
