package main

import (
	"testing"

	"tracekit/document"
)

// TestInfoOfGenerated states that the definitions of a generated trace say how long it is
// and how many events it has, in every format, with true and with wrong clocks.
func TestInfoOfGenerated(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x", "x.prv", "x.json", "x.arrow", "x.parquet", "skewed"} {
		args := []string{"generate", "sweep", "--ranks", "4", "--threads", "2", "--iterations", "20", "-o", name}
		if name == "skewed" {
			args = append(args, "--skew", "1000", "--drift", "50")
		}
		succeed(t, dir, args...)
		var traces [2]document.TraceInfo
		for i, command := range []string{"info", "analyze"} {
			text := succeed(t, dir, command, "--json", name)
			document := struct{ Trace *document.TraceInfo }{&traces[i]}
			decode(t, text, &document)
		}
		if traces[0] != traces[1] || traces[0].DurationNs == 0 || traces[0].Events == 0 {
			t.Errorf("%s: info says %+v, analyze %+v", name, traces[0], traces[1])
		}
	}
}
