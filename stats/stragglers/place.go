package stragglers

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
)

// placed finds, where a table lists neither data-parallel ranks nor stages, or only one of them, the other by the order of ranks. The
// error is a *MissingError if it cannot be known.
func placed(ops []op) error {
	messages, dp, stage := false, false, false
	for i := range ops {
		o := &ops[i]
		messages = messages || o.kind >= forwardSend && o.kind <= backwardRecv
		dp, stage = dp || o.inDP, stage || o.inStage
	}
	switch {
	case dp && stage, !messages && dp:
		return nil
	case !dp && !stage && messages:
		return &MissingError{"stages of the pipeline; the table has messages between them, and neither a column dp_rank nor stage"}
	}
	type part struct{ number, lane uint32 }
	ranks := make(map[part][]uint32)
	of := func(o *op) part { // ranks that differ in what is not listed
		switch {
		case dp:
			return part{o.dp, o.lane}
		case stage:
			return part{o.stage, o.lane}
		}
		return part{0, o.lane}
	}
	for i := range ops {
		o := &ops[i]
		p := of(o)
		if k, known := slices.BinarySearch(ranks[p], o.rank); !known {
			ranks[p] = slices.Insert(ranks[p], k, o.rank)
		}
	}
	for i := range ops {
		o := &ops[i]
		k, _ := slices.BinarySearch(ranks[of(o)], o.rank)
		if dp {
			o.stage = uint32(k)
		} else {
			o.dp = uint32(k)
		}
	}
	return nil
}

// formOf returns a number that steps share whose lowest data-parallel rank does the same, and whether all data-parallel ranks of the
// step do that. Operations are in order of dp, stage, kind and seq.
func formOf(ops []op) (sum uint64, uniform bool) {
	uniform = true
	for first := 0; first < len(ops); {
		h := fnv.New64a()
		end := first
		for ; end < len(ops) && ops[end].dp == ops[first].dp; end++ {
			o := &ops[end]
			var raw [13]byte
			binary.LittleEndian.PutUint32(raw[:], o.stage)
			binary.LittleEndian.PutUint64(raw[4:], o.seq)
			raw[12] = byte(o.kind)
			h.Write(raw[:])
		}
		if first == 0 {
			sum = h.Sum64()
		}
		uniform = uniform && h.Sum64() == sum
		first = end
	}
	return sum, uniform
}

// usual returns the first of the steps that are alike, if they are more than half of all, else the first step.
func usual(steps [][]op) []op {
	counts, first := make(map[uint64]int), make(map[uint64]int)
	for i, ops := range steps {
		if sum, uniform := formOf(ops); uniform {
			if counts[sum]++; counts[sum] == 1 {
				first[sum] = i
			}
		}
	}
	for sum, n := range counts {
		if 2*n > len(steps) {
			return steps[first[sum]]
		}
	}
	return steps[0]
}

// split returns the operations of each step, which are in the order of compareOps.
func split(ops []op) (steps [][]op) {
	for first := 0; first < len(ops); {
		end := first
		for end < len(ops) && ops[end].step == ops[first].step {
			end++
		}
		steps = append(steps, ops[first:end])
		first = end
	}
	return steps
}

// unlike says in what the data-parallel ranks of a step differ, "" if in nothing that is counted.
func unlike(ops []op) string {
	type of struct {
		stage uint32
		kind  kind
	}
	counts := make(map[uint32]map[of]int)
	for i := range ops {
		o := &ops[i]
		if counts[o.dp] == nil {
			counts[o.dp] = make(map[of]int)
		}
		counts[o.dp][of{o.stage, o.kind}]++
	}
	first := counts[ops[0].dp]
	for i := range ops {
		o := &ops[i]
		k := of{o.stage, o.kind}
		for _, dp := range []uint32{o.dp, ops[len(ops)-1].dp} {
			if n := counts[dp][k]; n != first[k] {
				return fmt.Sprintf("; in step %d, data-parallel rank %d has %d operations %s of stage %d, rank %d has %d", o.step, dp, n,
					kindNames[k.kind], k.stage, ops[0].dp, first[k])
			}
		}
	}
	return ""
}
