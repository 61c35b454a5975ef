package stragglers

import (
	"fmt"
	"slices"
)

// columns gives each lane of a data-parallel rank a column of its own, if operations of several are listed: column = rank · lanes + lane.
// It returns how many lanes there are. The error is a *MissingError if they are too many.
func columns(ops []op) (lanes int, err error) {
	numbers := distinct(ops, func(o *op) uint32 { return o.lane })
	if len(numbers) < 2 {
		return 1, nil
	}
	for i := range ops {
		lane, _ := slices.BinarySearch(numbers, ops[i].lane)
		column := uint64(ops[i].dp)*uint64(len(numbers)) + uint64(lane)
		if column >= none {
			return 0, &MissingError{fmt.Sprintf("data-parallel rank %d of %d lanes is too large a number", ops[i].dp, len(numbers))}
		}
		ops[i].dp = uint32(column)
	}
	return len(numbers), nil
}

// share notes that a job has several lanes, and that those of a data-parallel rank and stage compute together.
func (j *job) share(lanes int) {
	j.lanes = lanes
	j.coupled = make([]int32, j.dps*j.stages)
	for i, column := range j.dpNumbers {
		first := slices.IndexFunc(j.dpNumbers, func(other uint32) bool { return int(other)/lanes == int(column)/lanes })
		for s := range j.stages {
			j.coupled[i*j.stages+s] = int32(first*j.stages + s)
		}
	}
}
