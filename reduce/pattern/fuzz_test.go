package pattern_test

import (
	"testing"

	"tracekit/merge"
	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest/mutate"
)

// FuzzDecode states that a description that is read can be written, and that whatever it
// says of a trace, its events can be made again one after another.
func FuzzDecode(f *testing.F) {
	m := statstest.Generated(f, samples.Options{Program: "halo", Ranks: 2, Iterations: 400, Seed: 1, Threads: 2, Plant: samples.Plant{Odd: 6}})
	t := statstest.Merged(f, m, merge.Options{})
	var reduced trace.Source
	for _, times := range []pattern.Times{pattern.ExactTimes, pattern.LawTimes} {
		var found *pattern.Result
		found, reduced = cut(f, t, pattern.Options{Times: times})
		if (found.Repeats.Laws != nil) != (times == pattern.LawTimes) {
			f.Fatalf("laws: %v", found.Repeats.Laws != nil)
		}
		packed, err := pattern.Unpack(found.Repeats.Encode())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
		for i := 1; i < len(packed); i += 5 {
			f.Add(mutate.Flip(packed, i, 1<<(i%8)))
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		r, err := pattern.Decode(pattern.Pack(packed), len(m.Definitions.Locations))
		if err != nil {
			return
		}
		if _, err := pattern.Decode(r.Encode(), len(r.Locations)); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		store := spill.NewStore(0, "")
		defer store.Close()
		again, err := pattern.Regenerate(reduced, r, store)
		if err != nil {
			return
		}
		for l := range r.Locations {
			next := uint64(0)
			for b, err := range again.Events(t.Context(), trace.LocationID(l)) {
				if err != nil {
					break // not the trace that it describes
				}
				if b.First != next {
					t.Fatalf("event %d follows %d", b.First, next)
				}
				if next += uint64(b.Len()); next > 1<<16 {
					break // it says so
				}
			}
		}
	})
}
