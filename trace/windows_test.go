package trace

import (
	"maps"
	"testing"
)

// TestWindows states that the communicators of windows are known by the numbers of both in either order of bytes, and those of others are
// not: of a communicator that is not defined, of a cut definition, and of what is no window.
func TestWindows(t *testing.T) {
	d := &Defs{Comms: []Comm{{Ref: 0}, {Ref: 0x1234}}, Opaque: []OpaqueDefinition{
		{Format: "otf2", Kind: 24, Payload: []byte{0, 1, 9, 0}},
		{Format: "otf2", Kind: 24, Payload: []byte{2, 1, 2, 0, 2, 0x34, 0x12, 1, 1}},
		{Format: "otf2", Kind: 24, BigEndian: true, Payload: []byte{2, 1, 3, 0, 2, 0x12, 0x34}},
		{Format: "otf2", Kind: 24, Payload: []byte{1, 8, 0, 1, 7}},
		{Format: "otf2", Kind: 24, Payload: []byte{1, 9, 0, 2, 0x34}},
		{Format: "otf2", Kind: 24, Payload: []byte{1, 10, 0xff, 0}},
		{Format: "otf2", Kind: 25, Payload: []byte{1, 11, 0, 0}},
		{Format: "other", Kind: 24, Payload: []byte{1, 12, 0, 0}},
	}}
	if got, want := d.Windows(), map[uint64]CommID{0: 0, 0x0201: 1, 0x0103: 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
