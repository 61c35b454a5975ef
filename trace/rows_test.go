package trace

import (
	"testing"
	"unsafe"
)

// TestRowSizes states how many bytes the rows of tables take that grow with the events of a trace. They are most of the memory of
// an analysis, and go to disk beyond the budget: a field more than fits costs 8 bytes of each row.
func TestRowSizes(t *testing.T) {
	for name, c := range map[string]struct{ size, want uintptr }{
		"Call":   {unsafe.Sizeof(Call{}), 40},
		"Send":   {unsafe.Sizeof(Send{}), 48},
		"Recv":   {unsafe.Sizeof(Recv{}), 56},
		"Member": {unsafe.Sizeof(Member{}), 48},
		"Part":   {unsafe.Sizeof(Part{}), 8},
	} {
		if c.size != c.want {
			t.Errorf("a %s has %d bytes, want %d", name, c.size, c.want)
		}
	}
}

// TestEvent states that an Event keeps a sequence number.
func TestEvent(t *testing.T) {
	for _, seq := range []uint64{0, 1, 1<<16 - 1, 1 << 16, 1 << 32, 1<<48 - 1} {
		if got := EventAt(seq).Seq(); got != seq {
			t.Errorf("event %d is %d", seq, got)
		}
	}
}
