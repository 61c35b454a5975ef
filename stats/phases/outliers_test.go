package phases

import "testing"

// TestCriticalGrows: with more values the farthest lies farther, on which Outliers rests.
func TestCriticalGrows(t *testing.T) {
	for n := 3.0; n < 1e7; n = max(n+1, n*1.01) {
		if critical(n+1) < critical(n) {
			t.Fatalf("critical(%g) = %g, critical(%g) = %g", n+1, critical(n+1), n, critical(n))
		}
	}
}
