package pattern

import "testing"

// TestStride states that intervals whose begins are not described lie evenly between those
// that are, and that each run ends when it did.
func TestStride(t *testing.T) {
	r := &Repeats{Stride: 4, Runs: []int{6, 1, 4}, Locations: []Location{{Kept: []Kept{{}}, Times: []int64{0, 40, 70, 100, 110, 200, 280}}}}
	want := [][]int64{{0, 10, 20, 30, 40, 55, 70}, {100, 110}, {200, 220, 240, 260, 280}}
	for i, run := range r.times(0) {
		for k, at := range want[i] {
			if got := run.begin(k); got != at {
				t.Errorf("run %d, interval %d begins at %d, want %d", i, k, got, at)
			}
		}
	}
}
