package tkf

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// counters returns a trace of a process and three counters of n values: the first two are read at the same moments, the third at others.
func counters(n int) string {
	var s strings.Builder
	s.WriteString("location 0 rank=0\n  1 Enter main ; 9000000 Leave main\n")
	for l := range 3 {
		fmt.Fprintf(&s, "location %d kind=3\n", l+1)
		r, now := rand.New(rand.NewPCG(uint64(l/2), 1)), 10
		for i := range n {
			now += 1 + r.IntN(50_000)
			fmt.Fprintf(&s, "  %d Metric 0 uint64:%d\n", now, l*i)
		}
	}
	return s.String() + "member 0 watts\nmetric 0 members=0\n"
}

// withCounters compresses counters.
func withCounters(t testing.TB, n int) (*trace.MemorySource, []byte) {
	t.Helper()
	src := tracetest.MustParse(t, counters(n))
	var out bytes.Buffer
	if _, err := Compress(context.Background(), src, &out, Options{}); err != nil {
		t.Fatal(err)
	}
	return src, out.Bytes()
}

// readings returns times and values of a location.
func readings(t *testing.T, src trace.Source, l trace.LocationID) (out []int64) {
	for b := range tracetest.Batches(t, src, l) {
		for i, at := range b.Metric.Time {
			out = append(out, at, int64(b.Metric.Value[i]))
		}
		out = append(out, b.Flow.Time...)
	}
	return out
}

// TestSharedTimes states that a file keeps times of several locations once, and that each has all its events.
func TestSharedTimes(t *testing.T) {
	for _, n := range []int{100, 5000, 70_000} { // less than what is learned from, more than a block
		src, file := withCounters(t, n)
		got, err := open(bytes.NewReader(file), int64(len(file)), "file", 1, nil, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		same := got.(*source).same
		if want := []trace.LocationID{trace.None, trace.None, 1, trace.None}; n > 100 && !slices.Equal(same, want) {
			t.Errorf("%d values: locations have the times of %d, want %d", n, same, want)
		}
		for _, l := range []trace.LocationID{3, 2, 1, 0, 2} { // in any order, and again
			if !slices.Equal(readings(t, src, l), readings(t, got, l)) {
				t.Errorf("%d values: location %d differs", n, l)
			}
		}
	}
}

// TestForgedTimes states that times of a location that is not there, has none of its own or is the same one, and times for more events than
// there are, are damage.
func TestForgedTimes(t *testing.T) {
	_, file := withCounters(t, 200)
	sections, _, err := scanSections(bytes.NewReader(file), int64(len(file)), "file")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(sections, func(s section) bool { return s.kind == sectionTimes })
	if at < 0 {
		t.Fatal("no location has the times of another")
	}
	if _, err := readAll(t, file, 1000); err != nil {
		t.Fatal(err)
	}
	for _, of := range []byte{0, 2, 4, 127, 128} { // of location 2; 0 has two events, 128 is half a number
		forged := bytes.Clone(file)
		forged[sections[at].body] = of
		if _, err := readAll(t, reseal(forged), 1000); !isSyntaxError(err) {
			t.Errorf("times of location %d: %v", of, err)
		}
	}
}
