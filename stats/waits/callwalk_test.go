package waits

import (
	"slices"
	"testing"
)

func TestInFlight(t *testing.T) {
	var f inFlight
	for i := range uint32(100) {
		f.add(i+3, 2*i)
		f.add(i+2, 2*i+1)
		var want []uint32
		if i >= 2 {
			want = append(want, 2*(i-2)+1)
		}
		if i >= 3 {
			want = append([]uint32{2 * (i - 3)}, want...)
		}
		var got []uint32
		for f.due(i) {
			got = append(got, f.take().Row())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("call %d completes the sends %v, want %v", i, got, want)
		}
	}
}
