package nest

import "math"

// A Timeline is a sequence of times of which some may be taken away. It finds the first or
// the last that has a property, in the logarithm of their number.
//
//	tree[1] is the span of all times, tree[2i] and tree[2i+1] are those of the halves of
//	tree[i]; tree[len(tree)/2+i] is that of time i alone
type Timeline struct {
	n    int
	tree []Span
}

// A Span is the least and the greatest of some times; min > max if there are none.
type Span struct{ Min, Max int64 }

var noSpan = Span{math.MaxInt64, math.MinInt64}

// Add puts a time behind the others.
func (t *Timeline) Add(time int64) {
	if 2*t.n == len(t.tree) {
		t.grow()
	}
	t.n++
	t.Set(t.n-1, time)
}

// grow makes room for twice as many times.
func (t *Timeline) grow() {
	size := max(2*t.n, 16)
	tree := make([]Span, 2*size)
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

// Set replaces time i.
func (t *Timeline) Set(i int, time int64) { t.put(i, Span{time, time}) }

// Remove takes time i away.
func (t *Timeline) Remove(i int) { t.put(i, noSpan) }

func (t *Timeline) put(i int, s Span) {
	i += len(t.tree) / 2
	t.tree[i] = s
	for i /= 2; i > 0; i /= 2 {
		t.join(i)
	}
}

func (t *Timeline) join(i int) {
	a, b := t.tree[2*i], t.tree[2*i+1]
	t.tree[i] = Span{min(a.Min, b.Min), max(a.Max, b.Max)}
}

// First returns the index of the first time that has a property, -1 if there is none. A span
// has it if one of its times has.
func (t *Timeline) First(has func(Span) bool) int { return t.find(has, 0) }

// Last is first from the end.
func (t *Timeline) Last(has func(Span) bool) int { return t.find(has, 1) }

// find looks into the halves of a span in an order: 0 the first one first, 1 the last.
func (t *Timeline) find(has func(Span) bool, from int) int {
	in := func(i int) bool { return t.tree[i].Min <= t.tree[i].Max && has(t.tree[i]) }
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

// Len returns how many times were added.
func (t *Timeline) Len() int { return t.n }
