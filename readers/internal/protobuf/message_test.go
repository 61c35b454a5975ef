package protobuf

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestMessage walks over a field of each type.
func TestMessage(t *testing.T) {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, 300)
	b = protowire.AppendTag(b, 200, protowire.BytesType)
	b = protowire.AppendString(b, "text")
	b = protowire.AppendTag(b, 3, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(2.5))
	b = protowire.AppendTag(b, 4, protowire.StartGroupType)
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, 1)
	b = protowire.AppendTag(b, 4, protowire.EndGroupType)
	b = protowire.AppendTag(b, 5, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, 7)
	b = protowire.AppendTag(b, 6, protowire.BytesType)
	b = protowire.AppendBytes(b, []byte{1, 0x80, 1, 3})
	m := Of(b)
	if !m.Next() || m.Number != 1 || m.Value != 300 || !m.IsNumber() || m.At() != 3 {
		t.Error(m)
	}
	if !m.Next() || m.Number != 200 || string(m.Data) != "text" || m.IsNumber() {
		t.Error(m)
	}
	if !m.Next() || m.Number != 3 || m.Double() != 2.5 {
		t.Error(m)
	}
	if !m.Next() || m.Number != 5 || m.Value != 7 || !slices.Equal(m.Numbers(nil), []uint64{7}) {
		t.Error(m)
	}
	if !m.Next() || !slices.Equal(m.Numbers(nil), []uint64{1, 128, 3}) {
		t.Error(m)
	}
	if m.Next() || m.Broken {
		t.Error("it does not end soundly")
	}
}

// TestBroken states that each cut of a message is noticed, unless it lies between fields, and that nothing that is no message is
// taken for one.
func TestBroken(t *testing.T) {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendString(b, "text")
	for cut := 1; cut < len(b); cut++ {
		m := Of(b[:cut])
		for m.Next() {
			t.Error("a field in", b[:cut])
		}
		if !m.Broken {
			t.Error("not broken:", b[:cut])
		}
	}
	for _, bad := range []string{"\x00", "\x07", "\x0c", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		m := Of([]byte(bad))
		for m.Next() {
			t.Errorf("a field in %q", bad)
		}
		if !m.Broken {
			t.Errorf("not broken: %q", bad)
		}
	}
}
