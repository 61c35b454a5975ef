package diagram

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// crowd is a trace of so many ranks, each of which spends its time in main and one of five functions.
func crowd(ranks int) string {
	var text strings.Builder
	for r := range ranks {
		fmt.Fprintf(&text, "location %d rank=%d\n  0 Enter main ; %d Enter f%d ; %d Leave f%d ; 2000 Leave main\n", r, r, 10*(r%7+1), r%5,
			1000+r%9, r%5)
	}
	return text.String()
}

// A weighed source says how much memory is in use when the events of its last location are asked for.
type weighed struct {
	trace.Source
	used *uint64
}

func (w weighed) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	if int(l) == len(w.Defs().Locations)-1 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		*w.used = m.HeapAlloc
	}
	return w.Source.Events(ctx, l)
}

// TestMemoryDoesNotGrowWithRanks: where ranks share rows of pixels, memory is that of the pixels.
func TestMemoryDoesNotGrowWithRanks(t *testing.T) {
	const ranks, width, height = 3000, 800, 200
	tr := statstest.Merged(t, tracetest.MustParse(t, crowd(ranks)), merge.Options{Clock: merge.ClockNone})
	waits := waitsOf(t, tr)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var used uint64
	tr.Source = weighed{tr.Source, &used}
	if _, err := Draw(t.Context(), tr, waits, Options{ColorBy: ByRegion, Width: width, Height: height, Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	if most := uint64(2*64*width*height + ranks*1000); used > before.HeapAlloc+most {
		t.Errorf("%d bytes at the last rank, want %d at most", used-before.HeapAlloc, most)
	}
}

// TestSharedRowsDoNotDependOnJobs: the picture of ranks that share rows of pixels is the same, however many goroutines draw.
func TestSharedRowsDoNotDependOnJobs(t *testing.T) {
	tr := statstest.Merged(t, tracetest.MustParse(t, crowd(1000)), merge.Options{Clock: merge.ClockNone})
	want := picture(t, tr, Options{ColorBy: ByRegion, Height: 160, Jobs: 1})
	for range 5 {
		if got := picture(t, tr, Options{ColorBy: ByRegion, Height: 160, Jobs: 8}); got != want {
			t.Fatal("the pictures differ")
		}
	}
}
