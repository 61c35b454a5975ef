package report

import (
	"strings"
	"testing"

	"tracekit/document/accelerator"
)

// TestDeviceVerdictLosses states which losses the first sentences name: of the largest three those of 5 % of
// the run that are half of the largest at least.
func TestDeviceVerdictLosses(t *testing.T) {
	for _, c := range []struct {
		name              string
		span, host, waits int64
		first, last       string
		named             int
	}{
		{"near equal", 70, 29, 28, "before the first", "ranks that come late (28.0 %).", 3},
		{"a small third", 70, 29, 14, "before the first", "queue is empty (29.0 %).", 2},
		{"one", 100, 60, 4, "to hosts", "queue is empty (60.0 %).", 1},
		{"none", 100, 4, 4, "", "of the time.", 0},
	} {
		d := accelerator.Device{Device: "GPU 0", Times: accelerator.Times{SpanNs: c.span, ExposedCommunicationNs: c.waits},
			IdleCauses: accelerator.IdleCauses{HostBoundNs: c.host, CollectiveWaitNs: c.waits}}
		text := deviceVerdict([]accelerator.Device{d}, 100)
		_, lost, _ := strings.Cut(text, "Most of the run is lost ")
		n := 0
		if lost != "" {
			n = 1 + strings.Count(lost, ", then ")
		}
		if n != c.named || !strings.HasPrefix(lost, c.first) || !strings.HasSuffix(text, c.last) {
			t.Errorf("%s: %d losses, want %d: %s", c.name, n, c.named, text)
		}
	}
}
