package stragglers

import "testing"

// TestDistance states that slow steps in a regular distance are told from others.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		steps []int64
		want  int64 // 0: none
	}{{[]int64{4, 9, 14, 19}, 5}, {[]int64{3, 5, 7}, 2}, {[]int64{3, 5, 8}, 0}, {[]int64{3, 5}, 0}, {[]int64{3, 4, 5}, 0}} {
		if got := distance(c.steps); (got == nil) != (c.want == 0) || got != nil && *got != c.want {
			t.Errorf("%v: %v, want %d", c.steps, got, c.want)
		}
	}
}
