package tkf

import (
	"tracekit/formulae"
	"tracekit/formulae/sequence"
)

// What grows with the run is written once for all trees: nodes and items have indexes into
// the file's counts.

// counts holds each different number of visits, events or values of a file once.
type counts struct {
	list  []uint64
	index map[uint64]uint64
}

// number replaces a count by its index.
func (c *counts) number(n *uint64) {
	i, ok := c.index[*n]
	if !ok {
		if c.index == nil {
			c.index = make(map[uint64]uint64)
		}
		i = uint64(len(c.list))
		c.index[*n] = i
		c.list = append(c.list, *n)
	}
	*n = i
}

// take takes lengths out of the nodes of a tree: how often they were visited, how many items
// there are, how long sequences are, sums of amounts beyond what the formula describes. The
// length of an item's formula follows from its Count, that of the last term from the length of the formula.
func (c *counts) take(t *formulae.Tree) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		c.number(&n.Visits)
		c.sequence(&n.Branch)
		for k := range n.Items {
			item := &n.Items[k]
			for f := range item.Amounts() {
				f.Sum -= f.Described()
				c.number(&f.Sum)
			}
			if item.Body != nil {
				c.sequence(&item.Times)
			}
			for f := range item.Formulae() {
				unmeasure(f, item.Count)
			}
			c.number(&item.Count)
		}
	}
}

// sequence takes the lengths out of a formula with a length of its own.
func (c *counts) sequence(f *sequence.Formula) {
	seen := f.Seen
	unmeasure(f, seen)
	f.Seen = seen
	c.number(&f.Seen)
}

// restore puts the lengths of a tree back; ok is false if there is no such count.
func restore(t *formulae.Tree, list []uint64) (ok bool) {
	ok = true
	number := func(i *uint64) {
		if *i >= uint64(len(list)) {
			ok = false
			return
		}
		*i = list[*i]
	}
	sequence := func(f *sequence.Formula) {
		number(&f.Seen)
		seen := f.Seen
		f.Seen = 0
		measure(f, seen)
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		number(&n.Visits)
		sequence(&n.Branch)
		for k := range n.Items {
			item := &n.Items[k]
			number(&item.Count)
			if item.Body != nil {
				sequence(&item.Times)
			}
			for f := range item.Formulae() {
				measure(f, item.Count)
			}
			for f := range item.Amounts() {
				number(&f.Sum)
				f.Sum += f.Described()
			}
		}
	}
	return ok
}

// unmeasure replaces lengths by differences to what they are as a rule: Seen to seen,
// Count to Seen, the count of the last term of runs to what is left for it.
func unmeasure(f *sequence.Formula, seen uint64) {
	if last := lastTerm(f); last != nil {
		last.Count -= f.Count - before(f)
	}
	f.Count = f.Seen - f.Count
	f.Seen -= seen
}

// measure is the inverse of unmeasure.
func measure(f *sequence.Formula, seen uint64) {
	f.Seen += seen
	f.Count = f.Seen - f.Count
	if last := lastTerm(f); last != nil {
		last.Count += f.Count - before(f)
	}
}

// lastTerm returns the last term of runs, before the values of those before it.
func lastTerm(f *sequence.Formula) *sequence.Term {
	if f.Holds > sequence.General || len(f.Prologue) == 0 {
		return nil
	}
	return &f.Prologue[len(f.Prologue)-1]
}

// before returns the number of values before the last term.
func before(f *sequence.Formula) (n uint64) {
	for _, t := range f.Prologue[:len(f.Prologue)-1] {
		n += t.Count
	}
	return n
}
