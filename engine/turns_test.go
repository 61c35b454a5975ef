package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"tracekit/engine"
)

// TestTurns: sequences of three steps each. Step 1 of sequence 0 needs step 2 of sequence 1; step 0 of
// sequence 1 needs that all have made their first step, and sequence 2 begins the group last.
func TestTurns(t *testing.T) {
	turns, at, begun, missing := engine.NewTurns(3), make([]int, 3), make([]bool, 3), 3
	for i := range at {
		turns.Start(i)
	}
	var all engine.Group
	var got []string
	step := func(i int) bool {
		if !begun[i] {
			begun[i] = true
			if missing--; missing == 0 {
				turns.Complete(&all)
			}
		}
		switch {
		case i == 0 && at[i] == 1 && turns.Steps(1) < 3:
			turns.Await(0, 1, 3)
			return false
		case i == 1 && at[i] == 0 && missing > 0:
			turns.AwaitGroup(1, &all)
			return false
		}
		got = append(got, fmt.Sprint(i, ".", at[i]))
		at[i]++
		turns.Reach(i, at[i])
		return true
	}
	for i, ok := turns.Next(); ok; i, ok = turns.Next() {
		for at[i] < 3 && step(i) {
		}
	}
	if want := []string{"0.0", "2.0", "2.1", "2.2", "1.0", "1.1", "1.2", "0.1", "0.2"}; !slices.Equal(got, want) {
		t.Errorf("steps come in the order %v, want %v", got, want)
	}
	turns.Await(0, 1, 9)
	turns.Forget(1)
	turns.Reach(1, 9)
	if _, ok := turns.Next(); ok {
		t.Error("a sequence goes on that waits for nobody")
	}
}
