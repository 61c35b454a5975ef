package tracetest

import (
	"testing"

	"tracekit/trace"
)

// CheckSource checks what holds for every trace that a reader makes, however bad its file: definitions refer to each other, batches
// follow on each other, times of Enter and Leave do not decrease. If counted, each location has as many events as its definition says.
func CheckSource(t testing.TB, s trace.Source, counted bool) {
	t.Helper()
	if err := s.Defs().Check(); err != nil {
		t.Fatal(err)
	}
	for l := range s.Defs().Locations {
		var events uint64
		last := int64(-1 << 63)
		for b := range Batches(t, s, trace.LocationID(l)) {
			if b.First != events || b.Location != trace.LocationID(l) {
				t.Fatalf("a batch of location %d begins with event %d, want %d of %d", b.Location, b.First, events, l)
			}
			events += uint64(b.Len())
			for i, time := range b.Flow.Time {
				if time < last {
					t.Fatal("times decrease")
				}
				last = time
				if int(b.Flow.Region[i]) >= len(s.Defs().Regions) {
					t.Fatal("a region that does not exist")
				}
			}
		}
		if want := s.Defs().Locations[l].Events; counted && events != want {
			t.Fatalf("location %d has %d events, the definitions say %d", l, events, want)
		}
	}
}
