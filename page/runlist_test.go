package page

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRuns: runs are what a list of them is, also encoded, and after their activities got other numbers.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 200 {
		numbers := make([]uint32, 300)
		for i := range numbers {
			numbers[i] = uint32(i * 7)
		}
		r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		kept, want := newRuns(n/2), []Run(nil)
		for range n {
			steps, activity := r.Int64N(1<<r.IntN(40)+1), r.Uint32N(300)
			kept.add(steps, activity)
			if k := len(want) - 1; k >= 0 && want[k].Activity == activity {
				want[k].Steps += steps
			} else {
				want = append(want, Run{steps, activity})
			}
		}
		for _, again := range []bool{false, true} {
			if again {
				kept.renumber(numbers)
				for i := range want {
					want[i].Activity = numbers[want[i].Activity]
				}
			}
			if got := slices.Collect(kept.All); kept.Len() != len(want) || !slices.Equal(got, want) {
				t.Fatalf("%d runs are %v, want %v", n, got, want)
			}
			encoded := binary.AppendUvarint(nil, uint64(len(want)))
			for _, run := range want {
				encoded = binary.AppendUvarint(encoded, uint64(run.Steps))
			}
			for _, run := range want {
				encoded = binary.AppendUvarint(encoded, uint64(run.Activity))
			}
			if got := slices.Concat(kept.appendActivities(kept.appendSteps(nil))...); !slices.Equal(got, encoded) {
				t.Fatalf("%d runs are encoded as %v, want %v", n, got, encoded)
			}
		}
	}
}
