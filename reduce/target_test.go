package reduce

import (
	"context"
	"slices"
	"testing"

	"tracekit/samples"
	"tracekit/stats/statstest"
)

// TestSearch states that of each kind the mildest reduction is found that is small enough, and
// of these the one with the smallest error; a kind that never is small enough has no error.
func TestSearch(t *testing.T) {
	tr := merged(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 10}))
	const most = 700
	families := Families(tr)
	judged := 0
	rules, tries, err := Search(t.Context(), tr, families, most, Options{}, func(_ context.Context, r *Reduction) (Verdict, error) {
		judged++
		return Verdict{Error: float64(r.After(tr)) / most, Records: r.After(tr)}, nil // here the smallest is the best
	})
	if err != nil {
		t.Fatal(err)
	}
	fitting, least := 0, uint64(1<<63)
	for _, x := range tries {
		if x.Fits != (x.Records <= most) || x.Fits != (x.Error != nil) {
			t.Errorf("%+v", x)
		}
		if x.Fits {
			fitting++
			least = min(least, x.Records)
		}
		f := families[slices.IndexFunc(families, func(f Family) bool { return f.Name == x.Family })]
		mildest := uint64(0)
		for i := range f.Settings {
			r := applied(t, tr, f.Rules(i), Options{})
			if n := r.After(tr); n <= most {
				mildest = n
				break
			}
		}
		if x.Fits && x.Records != mildest || !x.Fits && mildest != 0 {
			t.Errorf("%s: %d records, fits %t; the mildest that fits has %d", x.Family, x.Records, x.Fits, mildest)
		}
	}
	if fitting < 3 || judged != fitting {
		t.Errorf("%d kinds fit, %d were judged", fitting, judged)
	}
	r, err := Apply(t.Context(), tr, rules, Options{})
	if err != nil || r.After(tr) != least {
		t.Errorf("the best has %d records, want %d: %v", r.After(tr), least, err)
	}
	if rules, tries, err := Search(t.Context(), tr, families, 1, Options{}, nil); rules != nil || err != nil || len(tries) == 0 {
		t.Errorf("one record: %v %v %v", rules, tries, err)
	}
}
