package overhead

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"tracekit/stats/numbers"
)

// A CallPoint is where calls lie in a picture of the run: when they begin, and how long they
// last, wait states included. Calls that such a picture cannot tell apart are one point.
type CallPoint struct {
	At       int64 // ns from the begin of the run
	Duration int64 // ns
}

// How finely a cloud tells calls apart: a column is narrower than a pixel, a step is 2 %.
const (
	cloudColumns = 1024
	cloudSteps   = 32 // to a factor of two
)

// A cloud holds a point for each call, or for all those in one column and step.
type cloud struct {
	begin, length int64 // ticks
	seen          map[cloudCell]struct{}
}

type cloudCell struct {
	op     uint32
	column uint16
	step   int16
}

func newCloud(begin, end int64) *cloud {
	return &cloud{begin, max(end-begin, 1), make(map[cloudCell]struct{})}
}

// add puts in a call of a time in ns that begins at a tick.
func (c *cloud) add(op uint32, enter, time int64) {
	column := float64(enter-c.begin) / float64(c.length) * (cloudColumns - 1)
	step := math.Log2(float64(max(time, 1))) * cloudSteps
	c.seen[cloudCell{op, uint16(min(max(column, 0), cloudColumns-1)), int16(step)}] = struct{}{}
}

func (c *cloud) combine(o *cloud) {
	if c != nil {
		maps.Copy(c.seen, o.seen)
	}
}

// points returns the points by operation, in order of time and duration.
func (c *cloud) points(ops []string, r numbers.Rate) map[string][]CallPoint {
	out := make(map[string][]CallPoint)
	if c == nil {
		return out
	}
	cells := slices.SortedFunc(maps.Keys(c.seen), func(a, b cloudCell) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.step, b.step))
	})
	for _, x := range cells {
		at := r.Ns(int64(float64(x.column) / (cloudColumns - 1) * float64(c.length)))
		out[ops[x.op]] = append(out[ops[x.op]], CallPoint{at, int64(math.Exp2((float64(x.step) + 0.5) / cloudSteps))})
	}
	return out
}
