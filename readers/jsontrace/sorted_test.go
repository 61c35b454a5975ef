package jsontrace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
)

// TestCutAnywhere states of which files that are cut off events may be missing at any time: those that are in order neither of begins
// nor of ends, and those of PyTorch, which have kernels last.
func TestCutAnywhere(t *testing.T) {
	const events = 200
	in := func(order func(i int) (ts, dur, tid int), category string) string {
		var lines []string
		for i := range events {
			ts, dur, tid := order(i)
			lines = append(lines, fmt.Sprintf(`{"ph":"X","cat":%q,"name":"f","pid":1,"tid":%d,"ts":%d,"dur":%d}`, category, tid, ts, dur))
		}
		return `{"traceEvents":[` + strings.Join(lines, ",\n")
	}
	begins := func(i int) (ts, dur, tid int) { return 10 * i, 5 + i%3*4000, i % 3 }
	ends := func(i int) (ts, dur, tid int) { d := i % 3 * 400; return 10*i - d, d, i % 3 }
	threads := func(i int) (ts, dur, tid int) { return i % 100 * 10, 5, i / 100 }
	for _, c := range []struct {
		what     string
		text     string
		cut      bool
		anywhere bool
	}{
		{"in order of begins", in(begins, ""), true, false},
		{"in order of ends", in(ends, ""), true, false},
		{"one thread after the other", in(threads, ""), true, true},
		{"whole", in(threads, "") + "]}", false, false},
		{"of PyTorch", in(begins, "cpu_op"), true, true},
	} {
		src := openText(t, c.text)
		has := func(code trace.Code) bool {
			return slices.ContainsFunc(src.Findings(), func(f trace.Finding) bool { return f.Code == code })
		}
		if has(trace.CodeTruncated) != c.cut || has(trace.CodeCutAnywhere) != c.anywhere {
			t.Errorf("%s: %+v", c.what, src.Findings())
		}
		src.Close()
	}
}
