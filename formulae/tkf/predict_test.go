package tkf

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// fnv is the FNV-1a hash of a text.
func fnv(text string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(text) {
		h = (h ^ uint64(b)) * hashPrime
	}
	return h
}

// The hash of a number is that of the text with it, and the prefix comes back from both.
func TestHashesOfNumbers(t *testing.T) {
	for _, n := range []uint64{0, 7, 10, 99_999, 1 << 63} {
		for _, before := range []string{"", "ac2g\xffac2g\xff"} {
			h := fnv(fmt.Sprint(before, n, " \xff"))
			if hashed(fnv(before), n) != h || prefixOf(h, n) != fnv(before) {
				t.Errorf("%q, %d: other hash or prefix", before, n)
			}
		}
	}
}

// sizeOf returns the bytes of a location's values, and of its times, in a file of the trace, which comes back from it.
func sizeOf(t *testing.T, text string) (values, times int64) {
	t.Helper()
	src := tracetest.MustParse(t, text)
	var out bytes.Buffer
	report, err := Compress(context.Background(), src, &out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := open(bytes.NewReader(out.Bytes()), int64(out.Len()), "file", 1, nil, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for l := range src.Batches {
		for range 2 { // again, too
			events := 0
			for b := range tracetest.Batches(t, got, src.Batches[l][0].Location) {
				events += b.Len()
			}
			if events != src.Batches[l][0].Len() {
				t.Fatalf("location %d has %d events, want %d", l, events, src.Batches[l][0].Len())
			}
		}
	}
	if back, want := tracetest.MustFormat(t, got), tracetest.MustFormat(t, src); !strings.Contains(want, "Metric") || len(back) == 0 {
		t.Fatal("the trace is empty")
	}
	return report.Sizes.Structure, report.Sizes.Times
}

// Of hashes of numbers that count up, or that an event before them has, the numbers are kept; of others all 64 bits.
func TestHashesAreShort(t *testing.T) {
	const n = 1000
	trace := func(value func(i int) uint64) string {
		var s strings.Builder
		s.WriteString("member 0 id\nmetric 0 members=0\nmetric 1 members=0\nlocation 0 rank=0\n")
		for i := range n {
			fmt.Fprintf(&s, "  %d Metric 0 uint64:%d\n  %d Metric 1 uint64:%d\n", 10*i, 3*i, 10*i, value(i))
		}
		return s.String()
	}
	r := rand.New(rand.NewPCG(7, 7))
	for name, one := range map[string]struct {
		value func(i int) uint64
		most  int64
	}{
		"of the event before": {func(i int) uint64 { return fnv(fmt.Sprintf("a\xffb\xff%d \xff", 3*i)) }, 400},
		"counting":            {func(i int) uint64 { return fnv(fmt.Sprintf("a\xffb\xff%d \xff", 500+i)) }, 5 * n},
		"noise":               {func(int) uint64 { return r.Uint64() }, 8*n + 400},
	} {
		if got, _ := sizeOf(t, trace(one.value)); got > one.most {
			t.Errorf("%s: %d bytes, at most %d expected", name, got, one.most)
		}
	}
}

// Times that values announce cost nearly nothing; the values hold them.
func TestAnnouncedTimes(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(1, 9))
	trace := func(announced bool) string {
		var s strings.Builder
		s.WriteString("member 0 duration\nmetric 0 members=0\nlocation 0 rank=0\n")
		now := uint64(10)
		for range n {
			length := 1000 + r.Uint64N(1<<16)
			value := length
			if !announced {
				value = 1000 + r.Uint64N(1<<16)
			}
			fmt.Fprintf(&s, "  %d Metric 0 uint64:%d\n  %d Enter main\n  %d Leave main\n", now, value, now+length, now+length)
			now += length
		}
		return s.String()
	}
	if _, times := sizeOf(t, trace(true)); times > n/10 {
		t.Errorf("%d bytes of times that values announce", times)
	}
	if _, times := sizeOf(t, trace(false)); times < n {
		t.Errorf("%d bytes of times that nothing announces", times)
	}
}
