package jsontrace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestSinceBoot states which files are on one time axis although none says what it counts from: those that record the same time long after
// the begin of their count.
func TestSinceBoot(t *testing.T) {
	for _, c := range []struct {
		what   string
		starts [2]int64 // µs; each file lasts 1000
		apart  bool
	}{
		{"one machine", [2]int64{86_400_000_000, 86_400_000_400}, false},
		{"each from its begin", [2]int64{0, 0}, true},
		{"nearly from their begins", [2]int64{400, 900}, true},
		{"two machines", [2]int64{86_400_000_000, 99_400_000_000}, true},
	} {
		dir := t.TempDir()
		var paths []string
		for rank, start := range c.starts {
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)))
			tracetest.WriteFile(t, paths[rank], fmt.Sprintf(`[{"ph":"X","name":"f","pid":1,"tid":1,"ts":%d,"dur":1000}]`, start))
		}
		unaligned := func(f trace.Finding) bool { return f.Code == trace.CodeUnalignedClocks }
		if got := slices.ContainsFunc(open(t, paths...).Findings(), unaligned); got != c.apart {
			t.Errorf("%s: unaligned clocks: %v", c.what, got)
		}
	}
}
