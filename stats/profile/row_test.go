package profile

import (
	"math"
	"testing"

	"tracekit/spill"
	"tracekit/trace"
)

// TestRow states that rows keep segments, whatever is in them, and which of them take more than 8 bytes.
func TestRow(t *testing.T) {
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	s := &Segments{store: store}
	paths := []trace.PathID{0, 1, 1<<17 - 1, 1 << 17, 1<<18 - 1, 1 << 31, PathOff, PathFlush, PathNotRecorded, PathWait, PathOutside,
		trace.PathID(trace.None) - 1<<17, trace.PathID(trace.None) - 1<<17 + 1}
	for _, path := range paths {
		for _, visits := range []uint32{0, 1, 1<<12 - 1, 1 << 12, math.MaxUint32} {
			for _, time := range []int64{0, 1, 1<<34 - 1, 1 << 34, math.MaxInt64, -1} {
				x, before := Segment{path, visits, time}, s.wide.Len()
				if got := s.Of(s.row(x)); got != x {
					t.Errorf("%+v is kept as %+v", x, got)
				}
				fits := (path < 1<<17 || path > trace.PathID(trace.None)-1<<17+1) && visits < 1<<12 && time >= 0 && time < 1<<34
				if s.wide.Len() == before && !fits || s.wide.Len() > before && fits {
					t.Errorf("%+v: %d segments do not fit, before %d", x, s.wide.Len(), before)
				}
			}
		}
	}
}
