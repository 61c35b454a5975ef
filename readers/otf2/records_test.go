package otf2

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// TestNames shows that the model names events as the table does.
func TestNames(t *testing.T) {
	for id, layout := range eventRecords() {
		if kind := trace.Kind(id); layout.name != "" && kind.String() != layout.name {
			t.Errorf("record %d is %s here, %s in the model", id, layout.name, kind)
		}
	}
	if definitionRecords().recordName(9) != "record 9" || definitionRecords().recordName(15) != "Region" {
		t.Error("names of records")
	}
}

// TestTables checks what the decoders take for granted: local definitions lie as global
// ones do; a group follows its count and comes last among events; an attribute value
// follows its type; identifiers come first; records have at most two texts.
func TestTables(t *testing.T) {
	for id := defString; id < len(definitionRecords()); id++ {
		if !reflect.DeepEqual(definitionRecords()[id], localRecords()[id]) {
			t.Errorf("definition %d differs in local files", id)
		}
	}
	for _, table := range []*recordTable{eventRecords(), definitionRecords(), localRecords(), snapshotRecords(), markerRecords(),
		thumbnailRecords()} {
		for _, layout := range table {
			texts := 0
			for i, f := range layout.fields {
				ok := true
				switch f.enc {
				case encGroup:
					ok = i > 0 && (table != eventRecords() || i == len(layout.fields)-1)
				case encAttr:
					ok = i > 0 && layout.fields[i-1].enc == encU8
				case encCString:
					texts++
				}
				if numbers := layout.numbers; table == eventRecords() && len(numbers) > 1 {
					bytes := 10 + len(numbers)
					for _, n := range numbers {
						bytes += int(n.size)
					}
					ok = ok && bytes+8 <= window
				}
				if !ok || f.self && i > 0 || texts > 2 {
					t.Errorf("%s: field %d %s", layout.name, i, f.name)
				}
			}
		}
	}
}

// TestScalars encodes and decodes numbers of every encoding.
func TestScalars(t *testing.T) {
	values := []uint64{0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFE, 0xFFFFFF, 1 << 31, undefined - 1, undefined, 1 << 40, math.MaxInt64, 1 << 63,
		undefined64}
	bits := map[encoding]uint{encU8: 8, encU16: 16, encF32: 32, encF64: 64, encC32: 32, encC64: 64, encCI32: 32, encCI64: 64, encDouble: 64}
	for enc, n := range bits {
		for _, v := range values {
			want := v & (undefined64 >> (64 - n))
			if enc == encCI32 {
				want = uint64(int64(int32(v)))
			}
			b := appendScalar(nil, enc, v, 0)
			c := wire.Cursor{Data: b}
			if got := scalar(&c, enc, 0); got != want || c.Err != nil || c.Len() != 0 {
				t.Errorf("encoding %d of %#x: %x, read as %#x, %v", enc, v, b, got, c.Err)
			}
		}
	}
	for typ := range 30 {
		b := appendScalar(nil, encAttr, 5, uint64(typ))
		c := wire.Cursor{Data: b}
		if got := scalar(&c, encAttr, uint64(typ)); got != 5 || c.Len() != 0 {
			t.Errorf("attribute of type %d: %x, read as %d", typ, b, got)
		}
	}
}

// TestSignedForm checks the forms that the reference library writes.
func TestSignedForm(t *testing.T) {
	for _, test := range []struct {
		v    int64
		want string
	}{
		{0, "\x00"}, {1, "\x01\x01"}, {300, "\x02\x2c\x01"}, {-1, "\x08\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		if got := appendScalar(nil, encCI64, uint64(test.v), 0); string(got) != test.want {
			t.Errorf("%d: %x, want %x", test.v, got, test.want)
		}
	}
}

func TestIDTable(t *testing.T) {
	refs := []uint64{5, 0, 1 << 40, 4095, 1<<64 - 2, 4096, 7}
	var ids idTable
	for i, ref := range refs {
		if id, fresh := ids.add(ref); id != uint32(i) || !fresh {
			t.Errorf("%d got %d, fresh %v", ref, id, fresh)
		}
	}
	for i, ref := range refs {
		if id, fresh := ids.add(ref); id != uint32(i) || fresh || ids.get(ref) != uint32(i) {
			t.Errorf("%d again got %d, fresh %v", ref, id, fresh)
		}
	}
	if ids.get(6) != trace.None || ids.get(1<<41) != trace.None || len(ids.dense) > 8192 {
		t.Error("identifiers that were not defined")
	}
}

// TestFindAnchor chooses the anchor file in a directory.
func TestFindAnchor(t *testing.T) {
	for _, test := range []struct {
		files []string
		want  string
	}{
		{[]string{"traces.otf2"}, "traces.otf2"},
		{[]string{"APEX.otf2", "APEX.def"}, "APEX.otf2"},
		{[]string{"a.otf2", "traces.otf2"}, "traces.otf2"},
		{[]string{"a.otf2", "b.otf2"}, ""},
		{[]string{"a.txt"}, ""},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			mustWrite(t, filepath.Join(dir, name), nil)
		}
		got, err := findAnchor(dir)
		if (err != nil) != (test.want == "") || err == nil && got != filepath.Join(dir, test.want) {
			t.Errorf("%v: %s %v", test.files, got, err)
		}
	}
}
