//go:build unix

package jsontrace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/readers/internal/nest"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// scales are traces of so many elements that wait for, enclose, overlap or are looked for among
// each other.
var scales = []struct {
	name   string
	lines  int // for each element
	events func(n, i int) string
}{
	{"async", 2, func(n, i int) string { // ends in the order of the begins
		return fmt.Sprintf(`{"ph":"%c","cat":"c","id":1,"name":"a","pid":1,"ts":%d}`, "be"[i/n], 10*(i%n)+5*(i/n))
	}},
	{"async-unsorted", 2, func(n, i int) string { // ends first, begins in the opposite order
		return fmt.Sprintf(`{"ph":"%c","cat":"c","id":1,"name":"a","pid":1,"ts":%d}`, "eb"[i/n], 10*(i/n*(n-1-2*(i%n))+i%n)+5-5*(i/n))
	}},
	{"async-names", 2, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"%c","cat":"c","id":1,"name":"a%d","pid":1,"ts":%d}`, "be"[i/n], i%n, i)
	}},
	{"layers", 1, func(n, i int) string { // one for each slice
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":1,"ts":%d,"dur":%d}`, 10*i, 10*n+i)
	}},
	{"layers-100", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":1,"ts":%d,"dur":1005}`, 10*i)
	}},
	{"nested", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":1,"ts":%d,"dur":%d}`, i, 2*(n-i))
	}},
	{"foreign-ends", 2, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"%c","name":"%c","pid":1,"ts":%d}`, "BE"[i/n], "ab"[i/n], i)
	}},
	{"names", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"X","name":"a%d","pid":1,"ts":%d,"dur":1}`, i, 2*i)
	}},
	{"counters", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"C","name":"a%d","pid":1,"ts":%d,"args":{"v":1}}`, i, i)
	}},
	{"threads", 2, func(n, i int) string {
		if i < n {
			return fmt.Sprintf(`{"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":{"name":"a%d"}}`, i, i)
		}
		return fmt.Sprintf(`{"ph":"i","name":"a","pid":1,"tid":%d,"ts":1}`, i-n)
	}},
	{"blank", 1, func(n, i int) string { return "" }},
	{"flow", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"s","cat":"c","id":1,"name":"a","pid":1,"ts":%d}`, i)
	}},
	{"tau", 2, func(n, i int) string { // the last is received first
		id := i
		if i >= n {
			id = 2*n - 1 - i
		}
		return fmt.Sprintf(`{"ph":"%c","cat":"Message","name":"MPI","id":%d,"pid":0,"ts":%d,"args":{"destNode":0,"message-tag":1,"message-size":8}}`, "sf"[i/n], id, i)
	}},
	{"groups", 1, func(n, i int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":1,"ts":%d,"dur":1,"args":{"Collective name":"allreduce","Process Group Name":"g%d"}}`, i, i)
	}},
}

// BenchmarkScale reads traces of growing size: the time for an element shall not grow with
// their number, but for a logarithm.
func BenchmarkScale(b *testing.B) {
	for _, c := range scales {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("case=%s/n=%d", c.name, n), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "a.json")
				tracetest.WriteFile(b, path, events(c.lines*n, func(i int) string { return c.events(n, i) }))
				for b.Loop() {
					readAll(b, path)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}

// TestScale: the traces of the benchmark hold what they should.
func TestScale(t *testing.T) {
	const n = 500
	want := map[string]int{"blank": 0, "flow": n, "threads": n, "counters": n, "tau": 2 * n, "groups": 4 * n, "foreign-ends": n}
	for _, c := range scales {
		s, err := readData(t, events(c.lines*n, func(i int) string { return c.events(n, i) }), windowBytes)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for l := range s.Defs().Locations {
			for b := range s.Events(context.Background(), trace.LocationID(l)) {
				got += b.Len()
			}
		}
		if w, ok := want[c.name]; ok && got != w || !ok && got != 2*n {
			t.Errorf("%s: %d events of %d", c.name, got, n)
		}
		s.Close()
	}
}

// TestCrowded: of more tracks than are told apart the last are left out, and it is said what helps.
func TestCrowded(t *testing.T) {
	s, err := readData(t, events(nest.TrackLimit+2, func(i int) string {
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":%d,"tid":1,"ts":1,"dur":1}`, i)
	}), windowBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := len(s.Defs().Locations); got != nest.TrackLimit {
		t.Errorf("%d locations, want %d", got, nest.TrackLimit)
	}
	if f := s.Findings(); len(f) != 1 || f[0].Code != trace.CodeLimitExceeded || f[0].Count != 2 ||
		!strings.Contains(f[0].Text, "in several files each may have as many") {
		t.Errorf("findings %v", f)
	}
}

// TestTooManyLayers: of more sub-tracks than there may be those of the last tracks are left out,
// whatever the order in which tracks are surveyed.
func TestTooManyLayers(t *testing.T) {
	const n, tracks, more = 90_000, 3, 3*(90_000-1) + 3 - nest.TrackLimit
	data := events(tracks*n, func(i int) string {
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":%d,"ts":%d,"dur":%d}`, tracks-i%tracks, 10*i, 20*tracks*n+10*i)
	})
	for _, jobs := range []int{1, 3} {
		s, err := readFile(t, data, jobs, func(*file) {})
		if err != nil {
			t.Fatal(err)
		}
		defs := s.Defs()
		if got := len(defs.Locations); got != nest.TrackLimit {
			t.Errorf("%d jobs: %d locations, want %d", jobs, got, nest.TrackLimit)
		}
		last := defs.Locations[nest.TrackLimit-1]
		if got, want := defs.String(last.Name), trace.OverlapName("thread 3", n-1-more); got != want || last.Group != 2 {
			t.Errorf("%d jobs: the last location is %s of group %d, want %s", jobs, got, last.Group, want)
		}
		if f := s.Findings()[0]; f.Code != trace.CodeLimitExceeded || f.Count != more || f.First.Location != 2*n {
			t.Errorf("%d jobs: %v, want %d left out", jobs, f, more)
		}
		s.Close()
	}
}

// TestHeldOfTracks: of a track little is held once the file has been read, beside what the store keeps.
func TestHeldOfTracks(t *testing.T) {
	const few, many, most = 100, 5100, 656
	held := func(n int) int64 {
		store := spill.NewStore(0, t.TempDir())
		defer store.Close()
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, events(n, func(i int) string {
			return fmt.Sprintf(`{"ph":"X","name":"a","pid":%d,"tid":%d,"ts":1,"dur":1}`, i/100, i%100)
		}), 0o600); err != nil {
			t.Fatal(err)
		}
		before := tracetest.LiveBytes()
		s, err := Open(t.Context(), []string{path}, Options{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := len(s.Defs().Locations); got != n {
			t.Fatalf("%d locations of %d", got, n)
		}
		return tracetest.LiveBytes() - before
	}
	got := (held(many) - held(few)) / (many - few)
	t.Logf("%d bytes for each track", got)
	if got > most {
		t.Errorf("%d bytes are held for each track, want at most %d", got, most)
	}
}
