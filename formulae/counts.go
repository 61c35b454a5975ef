package formulae

// A fileTree is a call tree as a file has it. What grows with the run is written once for all
// trees: nodes and items have indexes into the file's counts.
type fileTree struct {
	Shapes [][]field
	Nodes  []fileNode
}

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

// unmeasure takes lengths out of the nodes: how often they were visited, how many items
// there are, how long sequences are. The length of an item's formula follows from its
// Count, that of the last term from the length of the formula.
func (t *fileTree) unmeasure(c *counts) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		c.number(&n.Visits)
		c.sequence(&n.Branch)
		for k := range n.Items {
			item := &n.Items[k]
			if item.Body != nil {
				c.sequence(&item.Times)
			}
			for _, f := range item.formulae() {
				f.unmeasure(item.Count)
			}
			c.number(&item.Count)
		}
	}
}

// sequence takes the lengths out of a formula with a length of its own.
func (c *counts) sequence(f *Formula) {
	seen := f.Seen
	f.unmeasure(seen)
	f.Seen = seen
	c.number(&f.Seen)
}

// restore puts the lengths back; ok is false if there is no such count.
func (t *fileTree) restore(list []uint64) (ok bool) {
	ok = true
	number := func(i *uint64) {
		if *i >= uint64(len(list)) {
			ok = false
			return
		}
		*i = list[*i]
	}
	sequence := func(f *Formula) {
		number(&f.Seen)
		seen := f.Seen
		f.Seen = 0
		f.measure(seen)
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
			for _, f := range item.formulae() {
				f.measure(item.Count)
			}
		}
	}
	return ok
}

// formulae returns the formulae of an item that have one value each time it takes place.
func (i *fileItem) formulae() (out []*Formula) {
	if communicates(i.Kind) {
		out = append(out, &i.Peer, &i.Tag, &i.Size, &i.Got)
	}
	for k := range i.Values {
		out = append(out, &i.Values[k])
	}
	return out
}

// unmeasure replaces lengths by differences to what they are as a rule: Seen to seen,
// Count to Seen, the count of the last term of runs to what is left for it.
func (f *Formula) unmeasure(seen uint64) {
	if last := f.last(); last != nil {
		last.Count -= f.Count - f.before()
	}
	f.Count = f.Seen - f.Count
	f.Seen -= seen
}

// measure is the inverse of unmeasure.
func (f *Formula) measure(seen uint64) {
	f.Seen += seen
	f.Count = f.Seen - f.Count
	if last := f.last(); last != nil {
		last.Count += f.Count - f.before()
	}
}

// last returns the last term of runs, before the values of those before it.
func (f *Formula) last() *Term {
	if f.Holds > General || len(f.Prologue) == 0 {
		return nil
	}
	return &f.Prologue[len(f.Prologue)-1]
}

// before returns the number of values before the last term.
func (f *Formula) before() (n uint64) {
	for _, t := range f.Prologue[:len(f.Prologue)-1] {
		n += t.Count
	}
	return n
}
