package tkf

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// valued returns a trace whose events have values of all kinds: they grow, are multiples of something, are real numbers, hashes of numbers,
// noise, tell when the next event comes, and are read at the same moments as others; and, since version 11, count units that are no whole
// numbers.
func valued(version byte) string {
	const fnvBasis = 0xcbf29ce484222325
	hashOf := func(text string) (h uint64) {
		h = fnvBasis
		for _, b := range []byte(text) {
			h = (h ^ uint64(b)) * 1099511628211
		}
		return h
	}
	var s strings.Builder
	now := 10
	s.WriteString("location 0 rank=0\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 90 {
		lasts := 100 + 50*r.IntN(40)
		arrow := hashOf(fmt.Sprintf("arrow %d \xff", 20+i))
		fmt.Fprintf(&s, "  %d Enter main ; %d Metric 0 uint64:%d uint64:%d\n", now, now, lasts, 1000*r.IntN(9))
		fmt.Fprintf(&s, "  %d Leave main attr=0:4:%d ; %d Metric 1 double:%g\n", now+lasts, arrow, now+lasts, 0.25*float64(i%7))
		now += lasts + 20
	}
	for l := range 3 {
		fmt.Fprintf(&s, "location %d kind=3\n", l+1)
		r, now := rand.New(rand.NewPCG(uint64(l/2), 3)), 10
		for i := range 60 {
			now += 1 + r.IntN(500)
			fmt.Fprintf(&s, "  %d Metric 2 uint64:%d\n", now, uint64(l*i)+r.Uint64N(8)<<60)
		}
	}
	if version >= versionWords {
		s.WriteString("location 4 kind=3\n")
		for i := range 200 {
			fmt.Fprintf(&s, "  %d Metric 2 uint64:%d\n", 10+100*i, uint64(float64(1e12+1000*i+r.IntN(300))*15.3))
		}
	}
	return s.String() + "member 0 lasts\nmember 1 amount\nmember 2 part value=10\nmember 3 watts\n" +
		"metric 0 members=0,1\nmetric 1 members=2\nmetric 2 members=3\nattribute 0 arrow type=4\n"
}

// Files of each version that has values of its own are read as they were meant. They were written by the last build that wrote the version.
func TestFilesOfEarlierVersions(t *testing.T) {
	for version := byte(versionValues); version <= versionLast; version++ {
		src := tracetest.MustParse(t, valued(version))
		file, err := Open(filepath.Join("testdata", fmt.Sprintf("version%d.tkf", version)), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for l := range src.Defs().Locations {
			if d := cmp.Diff(batch(t, src, trace.LocationID(l)), batch(t, file, trace.LocationID(l))); d != "" {
				t.Errorf("version %d: location %d: events differ:\n%s", version, l, d)
			}
		}
	}
}
