package stragglers

import (
	"errors"
	"testing"
)

// TestTooManyWorkers states that a table in which each operation has a data-parallel rank and stage of its own is refused, and soon: there
// are 2^34 places for workers.
func TestTooManyWorkers(t *testing.T) {
	ops := make([]op, 1<<17)
	for i := range ops {
		ops[i] = op{dp: uint32(i), stage: uint32(i), numbered: true}
	}
	_, err := newJob(ops, 0, 1)
	if missing := new(MissingError); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// TestTooManyRanks states that groups that ask for more workers than an int can count are refused.
func TestTooManyRanks(t *testing.T) {
	const n = 1 << 16
	var groups [3]processGroup
	for r := range uint32(n) {
		groups[0].ranks = append(groups[0].ranks, r)   // stages
		groups[1].ranks = append(groups[1].ranks, n+r) // lanes, all of stage 0
	}
	groups[0].role, groups[0].by = "pipeline", "name"
	groups[1].role = "tensor"
	groups[2] = processGroup{role: "context", ranks: groups[1].ranks}
	_, err := place(groups[:], nil, 3*n)
	if missing := new(MissingError); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// TestCircle states that a step is not replayed whose operations cannot follow each other: the first stage goes backward first, which needs
// the second stage, which needs that the first one has gone forward.
func TestCircle(t *testing.T) {
	at := func(stage uint32, start int64, k kind) op {
		return op{stage: stage, rank: stage, kind: k, start: start, end: start + 10, chunk: none, model: none, batch: none, numbered: true}
	}
	j, err := newJob([]op{
		at(0, 0, backwardRecv), at(0, 20, backwardCompute), at(0, 40, forwardCompute), at(0, 60, forwardSend),
		at(1, 60, forwardRecv), at(1, 80, forwardCompute), at(1, 100, backwardCompute), at(1, 120, backwardSend)}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = newReplayer(j, 1)
	if missing := new(MissingError); !errors.As(err, &missing) {
		t.Error(err)
	}
}
