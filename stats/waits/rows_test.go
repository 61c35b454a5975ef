package waits

import (
	"testing"
	"unsafe"
)

// TestRowSizes states how many bytes the rows of tables take that grow with the calls of a trace: see trace.TestRowSizes.
func TestRowSizes(t *testing.T) {
	if size := unsafe.Sizeof(Wait{}); size != 40 {
		t.Errorf("a Wait has %d bytes, want 40", size)
	}
}
