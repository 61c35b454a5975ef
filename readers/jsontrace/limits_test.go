package jsontrace

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// An event or a member that is longer than any window costs itself and nothing else.
func TestLongValues(t *testing.T) {
	long := func() io.Reader { return strings.NewReader(strings.Repeat("x", objectLimit+1)) }
	for name, parts := range map[string][]io.Reader{
		"event": {strings.NewReader("[\n{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"},\n{\"ph\":\"i\",\"ts\":2,\"name\":\""), long(),
			strings.NewReader("\"},\n{\"ph\":\"i\",\"ts\":3,\"name\":\"b\"}\n]")},
		"member": {strings.NewReader(`{"traceEvents":[{"ph":"i","ts":1,"name":"a"}],"long":[1,{"x":"\"`), long(),
			strings.NewReader(`"}],"traceEvents":[{"ph":"i","ts":2,"name":"b"}]}`)},
	} {
		f := newFile(name, nil)
		if err := f.read(context.Background(), io.MultiReader(parts...)); err != nil {
			t.Fatal(err)
		}
		if f.phases['i'] != 2 {
			t.Errorf("%s: %d events, want 2", name, f.phases['i'])
		}
		if n := f.ledger.Count(trace.CodeCorrupt) + f.ledger.Count(trace.CodeBadValue); n != 1 {
			t.Errorf("%s: %v, want one finding", name, f.ledger.Findings())
		}
		f.set.Spool.Close()
	}
}

// After too many errors the rest is given up, and that is said.
func TestTooManyErrors(t *testing.T) {
	f := newFile("x", nil)
	text := "[\n" + strings.Repeat("{bad},\n", 2*errorLimit) + "{\"ph\":\"i\",\"ts\":3,\"name\":\"b\"}]"
	if err := f.read(context.Background(), strings.NewReader(text)); err == nil {
		t.Error("a text without a single event was taken for a trace")
	}
	f.set.Spool.Close()
	f = newFile("x", nil)
	defer f.set.Spool.Close()
	if err := f.read(context.Background(), strings.NewReader("[\n{\"ph\":\"i\",\"ts\":3},\n"+text[2:])); err != nil {
		t.Fatal(err)
	}
	if f.ledger.Count(trace.CodeTruncated) != 1 || f.phases['i'] != 1 {
		t.Errorf("%d events, findings %v", f.phases['i'], f.ledger.Findings())
	}
}

// Names beyond the limit of their memory share one name.
func TestTooManyNames(t *testing.T) {
	n := newNames()
	pad := strings.Repeat("n", 8<<10)
	for i := range 10_000 {
		n.raw([]byte(fmt.Sprint(pad, i)))
	}
	if n.lost == 0 || n.list[n.raw([]byte(pad+"9999"))] != otherName || n.bytes > nameLimit+2<<20 {
		t.Errorf("%d names are lost, %d bytes are held", n.lost, n.bytes)
	}
}

// Slices that are begun and never ended take no memory without limit: inside so many the innermost ends when another begins.
func TestDeepSlices(t *testing.T) {
	const more = 10
	text := "[" + strings.Repeat("{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"f\"},\n", trace.MaxDepth+more) +
		`{"ph":"i","pid":1,"tid":1,"ts":2,"name":"x"}]`
	src, err := readFile(t, []byte(text), 1, func(*file) {})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	depth, deepest := 0, 0
	for b := range tracetest.Batches(t, src, 0) {
		for _, k := range b.Flow.Kind {
			if depth--; k.Enters() {
				depth += 2
			}
			deepest = max(deepest, depth)
		}
	}
	if deepest != trace.MaxDepth {
		t.Errorf("%d slices are open at once, want %d", deepest, trace.MaxDepth)
	}
	for _, f := range src.Findings() {
		if f.Code == trace.CodeLimitExceeded && f.Count == more {
			return
		}
	}
	t.Errorf("findings %v, want %d slices beyond the limit", src.Findings(), more)
}
