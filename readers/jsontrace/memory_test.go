package jsontrace

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracekit/spill"
	"tracekit/trace"
)

// Memory is bounded whatever the size of the file, sorted or not. The stream is made
// while it is read. TRACEKIT_STREAM_MIB makes it larger than the usual 64 MiB; then the
// peak of the whole process is printed.
func TestMemoryIsBounded(t *testing.T) {
	mib := int64(64)
	if testing.Short() {
		mib = 24
	}
	if s := os.Getenv("TRACEKIT_STREAM_MIB"); s != "" {
		mib, _ = strconv.ParseInt(s, 10, 64)
	}
	const budget, limit = 2 << 20, 32 << 20          // on a busy machine garbage waits longer
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // so that little of the heap is what nobody uses any more
	for _, sorted := range []bool{true, false} {
		store := spill.NewStore(budget, t.TempDir())
		defer store.Close()
		r, w := io.Pipe()
		go func() {
			_, err := generator{mib << 20, sorted}.WriteTo(w)
			w.CloseWithError(err)
		}()
		runtime.GC()
		runtime.GC() // what other tests have left, and then what pools have kept of it
		peak := watchHeap()
		begin := time.Now()
		s := newSource([]string{"stream"}, Options{Store: store})
		s, err := s.complete(context.Background(), s.files[0].read(context.Background(), r))
		if err != nil {
			t.Fatal(err)
		}
		n, last := 0, int64(0)
		for l := range s.Defs().Locations {
			last = 0
			for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
				if err != nil {
					t.Fatal(err)
				}
				n += b.Len()
				for _, time := range b.Flow.Time {
					if time < last {
						t.Fatal("the events are not in order of time")
					}
					last = time
				}
			}
		}
		heap := peak()
		t.Logf("%d MiB, sorted %v: %d events in %v, heap up to %d MiB, %d MiB spilled, %s", mib, sorted, n,
			time.Since(begin).Round(time.Millisecond), heap>>20, store.Spilled()>>20, peakOfProcess())
		if mib <= 64 && heap > limit {
			t.Errorf("the heap grew to %d MiB, want at most %d", heap>>20, limit>>20)
		}
		s.Close()
	}
}

// watchHeap looks at what of the heap is in use, as the latest collection has found it, until the
// function that it returns is called, which tells the greatest. Garbage is left out: how much of
// it lies about depends on what else the machine does.
func watchHeap() func() uint64 {
	var peak atomic.Uint64
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			metrics.Read(live)
			peak.Store(max(peak.Load(), live[0].Value.Uint64()))
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); <-done; return peak.Load() }
}

// peakOfProcess returns the line of the largest resident size, where the system tells it.
func peakOfProcess() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	return "peak not known"
}
