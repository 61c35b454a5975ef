package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestStabilitySizes(t *testing.T) {
	tests := []struct {
		n    int
		want []int
	}{
		{0, nil}, {-1, nil}, {1, []int{1}}, {50, []int{50}}, {75, []int{50, 60, 70, 75}},
	}
	for _, tt := range tests {
		if got := stabilitySizes(tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("sizes up to %d: %v, want %v", tt.n, got, tt.want)
		}
	}
	if all := stabilitySizes(1_000_000); !slices.IsSorted(all) || len(all) > 200 {
		t.Errorf("%d sizes up to a million", len(all))
	}
}

// Each row is what Fit says about the first N calls; sizes that cannot be had
// are left out.
func TestStabilityRows(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var durations []int64
	for range 120 {
		durations = append(durations, gammaTruth("", 1000, 3, 100).duration(r))
	}
	rows := Stability(durations, []int{60, 120, 50, 121}, Options{})
	if len(rows) != 2 || rows[0].N != 60 || rows[1].N != 120 || !rows[1].Within {
		t.Fatalf("rows %+v", rows)
	}
	if want := Fit(sampleOf(durations[:60]...), Options{}); rows[0].TMax != want.TMax || rows[0].From != want.From {
		t.Errorf("row %+v, want t_max %d from %s", rows[0], want.TMax, want.From)
	}
	if rows := Stability(nil, nil, Options{}); rows != nil {
		t.Errorf("no calls gave %+v", rows)
	}
}
