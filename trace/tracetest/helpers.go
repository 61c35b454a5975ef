package tracetest

import (
	"runtime"
	"testing"

	"tracekit/trace"
)

// Copy writes all events of a trace to a sink, location by location, and closes it.
func Copy(t testing.TB, src trace.Source, w trace.Sink) {
	t.Helper()
	for l := range src.Defs().Locations {
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err == nil {
				err = w.Write(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// LiveBytes returns the size of what is alive on the heap. What is pooled outlives one collection of
// garbage, and what has a cleanup may need another.
func LiveBytes() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
