package jsontrace

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"tracekit/trace"
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
		f.spool.Close()
	}
}

// After too many errors the rest is given up, and that is said.
func TestTooManyErrors(t *testing.T) {
	f := newFile("x", nil)
	text := "[\n" + strings.Repeat("{bad},\n", 2*errorLimit) + "{\"ph\":\"i\",\"ts\":3,\"name\":\"b\"}]"
	if err := f.read(context.Background(), strings.NewReader(text)); err == nil {
		t.Error("a text without a single event was taken for a trace")
	}
	f.spool.Close()
	f = newFile("x", nil)
	defer f.spool.Close()
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
