package tracetest

import (
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
