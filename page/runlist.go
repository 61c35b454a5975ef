package page

import "encoding/binary"

// Runs follow one another from time 0. They are kept as the page has them, which takes less memory than
// a slice: all steps, and apart from them all activities, as variable-length integers.
type Runs struct {
	n                 int // with the last
	last              Run // the bytes have those before
	steps, activities []byte
}

// newRuns returns runs with room for about so many.
func newRuns(room int) Runs {
	return Runs{steps: make([]byte, 0, 3*room), activities: make([]byte, 0, room)}
}

// Len returns how many runs there are.
func (r *Runs) Len() int { return r.n }

// All yields the runs in order.
func (r *Runs) All(yield func(Run) bool) {
	steps, activities := r.steps, r.activities
	for range r.n - 1 {
		length, n := binary.Uvarint(steps)
		activity, m := binary.Uvarint(activities)
		if !yield(Run{Steps: int64(length), Activity: uint32(activity)}) {
			return
		}
		steps, activities = steps[n:], activities[m:]
	}
	if r.n > 0 {
		yield(r.last)
	}
}

// add adds a run, or makes the last one longer.
func (r *Runs) add(steps int64, activity uint32) {
	switch {
	case r.n > 0 && r.last.Activity == activity:
		r.last.Steps += steps
		return
	case r.n > 0:
		r.steps = binary.AppendUvarint(r.steps, uint64(r.last.Steps))
		r.activities = appendSmall(r.activities, r.last.Activity)
	}
	r.n++
	r.last = Run{Steps: steps, Activity: activity}
}

// renumber gives the activities other numbers, which are different again.
func (r *Runs) renumber(numbers []uint32) {
	if r.n == 0 {
		return
	}
	r.last.Activity = numbers[r.last.Activity]
	old := r.activities
	r.activities = make([]byte, 0, len(old)+len(old)/8)
	for i := 0; i < len(old); {
		activity, n := uint64(old[i]), 1
		if activity >= 0x80 {
			activity, n = binary.Uvarint(old[i:])
		}
		r.activities = appendSmall(r.activities, numbers[activity])
		i += n
	}
}

// appendSmall appends a number that mostly is a byte.
func appendSmall(to []byte, v uint32) []byte {
	if v < 0x80 {
		return append(to, byte(v))
	}
	return binary.AppendUvarint(to, uint64(v))
}

// appendSteps appends the number of runs and the steps of each, encoded.
func (r *Runs) appendSteps(to [][]byte) [][]byte {
	to = append(to, binary.AppendUvarint(nil, uint64(r.n)), r.steps)
	if r.n > 0 {
		to = append(to, binary.AppendUvarint(nil, uint64(r.last.Steps)))
	}
	return to
}

// appendActivities appends the activity of each run, encoded.
func (r *Runs) appendActivities(to [][]byte) [][]byte {
	if r.n > 0 {
		to = append(to, r.activities, binary.AppendUvarint(nil, uint64(r.last.Activity)))
	}
	return to
}
