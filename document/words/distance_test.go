package words

import "testing"

// TestDistance states distances that are easy to count, in both directions.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"region", "region", 0}, {"reigon", "region", 2}, {"wait", "waits", 1}, {"kitten", "sitting", 3},
		{"abc", "xyz", 3}} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
