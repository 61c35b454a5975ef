package stragglers

import (
	"testing"

	"tracekit/document/training"
)

// TestRoleByUse: a reduction in the forward pass of one step of many, which is not recorded whole, makes no tensor-parallel group.
func TestRoleByUse(t *testing.T) {
	for want, u := range map[string]usage{training.RoleData: {forwardReduce: 2, backward: 48}, training.RoleTensor: {forwardReduce: 24,
		backward: 48}} {
		if got := (&processGroup{usage: u}).roleByUse(true); got != want {
			t.Errorf("%+v: %s, want %s", u, got, want)
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
