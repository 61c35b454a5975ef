package cause

import (
	"strings"
	"testing"

	"tracekit/document/field"
)

// TestAdviceOnCopies: nobody is told to pin memory that is pinned, or that lies on the device.
func TestAdviceOnCopies(t *testing.T) {
	for name, want := range map[string]string{"Memcpy HtoD (Pageable -> Device)": "use pinned memory", "Memcpy HtoD": "use pinned memory",
		"Memcpy HtoD (Pinned -> Device)": "while kernels compute", "Memcpy DtoH (Device -> Pinned)": "while kernels compute",
		"Memcpy DtoD (Device -> Device)": "avoid copies on the device"} {
		c := Cause{Kind: Transfer, Operation: field.Name(name), Evidence: map[string]float64{"exposed_ns": 1}}
		if c.Advise(false); !strings.Contains(c.Try, want) {
			t.Errorf("%s: %q, want %q", name, c.Try, want)
		}
	}
}
