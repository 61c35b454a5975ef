package main

import (
	"strings"
	"testing"
)

// TestGateOnEveryRow states that each call site of a report can be chosen by the words that
// an error names for it, if those tell it apart.
func TestGateOnEveryRow(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "halo2d-8")
	_, stderr, code := tracekit(t, dir, "analyze", "--fail-if", "call_sites[nowhere].time_ns>0", archive)
	if code != exitUsage || !strings.Contains(stderr, "call_sites[MPI_Waitall exchange halo2d.c:63]") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	_, stderr, code = tracekit(t, dir, "analyze", "--fail-if", "call_sites[MPI_Waitall exchange halo2d.c:63].time_ns>290e6", archive)
	if code != exitGate {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
