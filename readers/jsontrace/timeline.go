package jsontrace

import "math"

// A timeline is a sequence of times of which some may be taken away. It finds the first or
// the last that has a property, in the logarithm of their number.
//
//	tree[1] is the span of all times, tree[2i] and tree[2i+1] are those of the halves of
//	tree[i]; tree[len(tree)/2+i] is that of time i alone
type timeline struct {
	n    int
	tree []span
}

// A span is the least and the greatest of some times; min > max if there are none.
type span struct{ min, max int64 }

var noSpan = span{math.MaxInt64, math.MinInt64}

// add puts a time behind the others.
func (t *timeline) add(time int64) {
	if 2*t.n == len(t.tree) {
		t.grow()
	}
	t.n++
	t.set(t.n-1, time)
}

// grow makes room for twice as many times.
func (t *timeline) grow() {
	size := max(2*t.n, 16)
	tree := make([]span, 2*size)
	for i := range tree {
		tree[i] = noSpan
	}
	if t.n > 0 {
		copy(tree[size:], t.tree[t.n:])
	}
	t.tree = tree
	for i := size - 1; i > 0; i-- {
		t.join(i)
	}
}

// set replaces time i.
func (t *timeline) set(i int, time int64) { t.put(i, span{time, time}) }

// remove takes time i away.
func (t *timeline) remove(i int) { t.put(i, noSpan) }

func (t *timeline) put(i int, s span) {
	i += len(t.tree) / 2
	t.tree[i] = s
	for i /= 2; i > 0; i /= 2 {
		t.join(i)
	}
}

func (t *timeline) join(i int) {
	a, b := t.tree[2*i], t.tree[2*i+1]
	t.tree[i] = span{min(a.min, b.min), max(a.max, b.max)}
}

// first returns the index of the first time that has a property, -1 if there is none. A span
// has it if one of its times has.
func (t *timeline) first(has func(span) bool) int { return t.find(has, 0) }

// last is first from the end.
func (t *timeline) last(has func(span) bool) int { return t.find(has, 1) }

// find looks into the halves of a span in an order: 0 the first one first, 1 the last.
func (t *timeline) find(has func(span) bool, from int) int {
	in := func(i int) bool { return t.tree[i].min <= t.tree[i].max && has(t.tree[i]) }
	if t.n == 0 || !in(1) {
		return -1
	}
	i := 1
	for i < len(t.tree)/2 {
		if i = 2*i + from; !in(i) {
			i ^= 1
		}
	}
	return i - len(t.tree)/2
}
