// Package protobuftest writes protocol buffers field by field, for tests.
package protobuftest

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Fixed is a number of eight bytes.
type Fixed uint64

// Message writes fields: pairs of number and value, of which nil ones are left out. A float64 has eight bytes, integers are of
// variable length, a string or []byte is text, bytes or a message.
func Message(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case nil:
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
		case float64:
			b = protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), math.Float64bits(v))
		case Fixed:
			b = protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
		case []byte:
			if v != nil {
				b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
			}
		default:
			panic(fmt.Sprintf("protobuftest: a field of type %T", v))
		}
	}
	return b
}

// Ends returns where the fields of a message end. A message that is cut there is sound.
func Ends(data []byte) map[int]bool {
	ends := map[int]bool{0: true}
	for at := 0; at < len(data); {
		n := protowire.ConsumeFieldValue(1, protowire.BytesType, data[at+1:])
		if n < 0 {
			panic("protobuftest: a field that is no message, or cut")
		}
		at += 1 + n
		ends[at] = true
	}
	return ends
}
