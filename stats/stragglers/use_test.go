package stragglers

import (
	"testing"

	"tracekit/document/training"
)

// TestRoleByUse states what process groups are for by what they do: neither a reduction of a step that is not
// recorded whole nor one of a number of tokens makes a group tensor-parallel.
func TestRoleByUse(t *testing.T) {
	for _, c := range []struct {
		usage
		serves bool
		want   string
	}{
		{usage{forwardReduce: 40, forwardBytes: 4e6, backward: 40, backwardBytes: 4e6}, false, training.RoleTensor},
		{usage{forwardReduce: 40, backward: 40}, false, training.RoleTensor},
		{usage{forwardReduce: 1, forwardBytes: 8, backward: 3, backwardBytes: 4e6}, false, training.RoleData},
		{usage{forwardReduce: 1, forwardBytes: 8, tail: 3}, false, ""},
		{usage{forwardReduce: 2, backward: 48}, false, training.RoleData},
		{usage{forwardReduce: 24, backward: 48}, false, training.RoleTensor},
		{usage{forwardReduce: 40}, true, training.RoleTensor},
	} {
		if got := (&processGroup{usage: c.usage, steps: 2}).roleByUse(!c.serves, c.serves); got != c.want {
			t.Errorf("%+v: %q, want %q", c.usage, got, c.want)
		}
	}
}

// TestFirstStep: the host launches the first step at 12 while the device works until 50 at what came before. The step lasts from then on.
func TestFirstStep(t *testing.T) {
	before, list := work{start: 0, end: 50, call: -1}, []work{{launch: launch{time: 12, phase: forward}, start: 50, end: 80, call: -1}}
	s := &stepper{reading: &reading{device: true}, out: &ranked{}}
	s.after([]work{before}, 100)
	s.step(&stretch{from: 10, to: 100, step: 1}, false, list)
	if c := s.out.computations[0]; c.from != 50 || c.least != 50 || c.to != 80 {
		t.Errorf("%+v", c)
	}
}
