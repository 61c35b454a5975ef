package sequence

// A Nested formula describes a sequence as loops within loops: the kinds of
// docs/DEFINITIONS.md 1.4, of which one counts the iterations of another. For example
// 1 2 1 2 1 2 3, 1 2 1 2 3, 1 2 3 is Values 1, 2, 3; Bodies [1 2], [L0 3]; Counts of L0: 3, 2, 1
// (a progression). Items are numbered: those
// below len(Values) stand for values or runs of them, the others for loops, in order.
type Nested struct {
	Values []Term
	Bodies [][]uint32 // of loops: items
	Counts []Formula  // of loops: iterations, each time the loop is met
	Top    Formula    // items that make the sequence
}

// terms returns the memory that the formula takes, in (value, count) pairs: one for each item of a body, and those of the
// formulae in it. An unbroken loop needs no count.
func (n *Nested) terms() int {
	total := n.Top.Terms()
	for i, b := range n.Bodies {
		total += len(b)
		if n.Counts[i].Terms() > 1 {
			total += n.Counts[i].Terms()
		}
	}
	return total
}

// generate returns a generator; see Formula.Generate.
func (n *Nested) generate() *nestedGenerator {
	g := &nestedGenerator{n: n, top: n.Top.Generate(), left: n.Top.Count}
	for i := range n.Counts {
		g.counts = append(g.counts, n.Counts[i].Generate())
	}
	return g
}

// A nestedGenerator yields the values of a nested formula. It is used with formulae from
// files: it ends where an item or a count does not exist, or where loops nest too deeply.
type nestedGenerator struct {
	n      *Nested
	top    *Generator
	left   uint64 // items of the sequence
	counts []*Generator
	loops  LoopStack
	run    Term // what is left of a run
}

func (g *nestedGenerator) next() (v uint64, ok bool) {
	if g.run.Count > 0 {
		g.run.Count--
		return g.run.Value, true
	}
	for {
		item, ok := g.item()
		if !ok {
			return 0, false
		}
		if item < uint64(len(g.n.Values)) {
			g.run = g.n.Values[item]
			g.run.Count -= min(g.run.Count, 1)
			return g.run.Value, true
		}
		loop := item - uint64(len(g.n.Values))
		if loop >= uint64(len(g.n.Bodies)) || len(g.n.Bodies[loop]) == 0 {
			return 0, false
		}
		count, ok := g.counts[loop].Next()
		if !ok || count == 0 || !g.loops.Enter(g.n.Bodies[loop], count) {
			return 0, false
		}
	}
}

// item returns the next item of the innermost loop, or of the sequence.
func (g *nestedGenerator) item() (uint64, bool) {
	if item, ok := g.loops.Next(); ok {
		return uint64(item), true
	}
	if g.left == 0 {
		return 0, false
	}
	g.left--
	return g.top.Next()
}

// A LoopStack holds the loops that are being repeated, the innermost last.
type LoopStack []activeLoop

type activeLoop struct {
	body []uint32
	at   int
	left uint64 // iterations that are not begun
}

// maxNesting bounds the depth of loops that a file may have.
const maxNesting = 64

// Enter begins the first of a number of iterations, at least one, of a body that is not
// empty; ok is false if loops nest too deeply already.
func (s *LoopStack) Enter(body []uint32, iterations uint64) (ok bool) {
	if len(*s) == maxNesting {
		return false
	}
	*s = append(*s, activeLoop{body, 0, iterations - 1})
	return true
}

// Next returns the next item of the innermost loop; ok is false if no loop is open any more.
func (s *LoopStack) Next() (item uint32, ok bool) {
	for len(*s) > 0 {
		top := &(*s)[len(*s)-1]
		if top.at < len(top.body) {
			top.at++
			return top.body[top.at-1], true
		}
		if top.left == 0 {
			*s = (*s)[:len(*s)-1]
			continue
		}
		top.at, top.left = 0, top.left-1
	}
	return 0, false
}

// A nested learns a nested formula in bounded memory, with the loops that a LoopFinder finds:
// at most limit different values and 4·terms items in bodies. It looks either at values one by one,
// where runs are loops that may be of any length, or at whole runs, where runs of different
// lengths are different things.
type nested struct {
	runs   bool
	run    Term            // the last run, which may go on
	limit  int             // distinct values, and items of one body
	values map[Term]uint32 // to items
	order  []Term
	items  []nestedItem // item 0 is not used
	top    *Learner
	finder LoopFinder
}

// A nestedItem is a value or a loop with the learner of its counts.
type nestedItem struct {
	value  uint32 // index into order
	body   []uint32
	counts *Learner
}

func newNested(terms int, runs bool) *nested {
	n := &nested{runs: runs, limit: terms, values: make(map[Term]uint32), items: make([]nestedItem, 1)}
	n.top = plainLearner(terms)
	n.top.steps = false // items are names, not numbers
	n.finder = LoopFinder{
		Most:   terms,
		Budget: 4 * terms,
		Body:   func(item uint32) []uint32 { return n.items[item].body },
		Define: func(body []uint32) uint32 {
			n.items = append(n.items, nestedItem{body: body, counts: plainLearner(n.limit)})
			return uint32(len(n.items) - 1)
		},
		Ended: func(loop uint32, count uint64) { n.items[loop].counts.Add(count) },
		Emit:  func(item uint32) { n.top.Add(uint64(item)) },
	}
	return n
}

// plainLearner returns a learner that does not try nested loops.
func plainLearner(terms int) *Learner {
	l := NewLearner(terms)
	l.nests = false
	return l
}

// add learns a value; it returns false if there is no hope.
func (n *nested) add(v uint64) bool {
	if !n.runs {
		return n.push(Term{v, 1})
	}
	if v == n.run.Value && n.run.Count > 0 {
		n.run.Count++
		return true
	}
	last := n.run
	n.run = Term{v, 1}
	return last.Count == 0 || n.push(last)
}

// push adds a value or a run of one to the items.
func (n *nested) push(t Term) bool {
	id, ok := n.values[t]
	if !ok {
		if len(n.values) == n.limit {
			return false
		}
		id = uint32(len(n.items))
		n.items = append(n.items, nestedItem{value: uint32(len(n.order))})
		n.order = append(n.order, t)
		n.values[t] = id
	}
	n.finder.Add(id)
	return !n.top.dead
}

// formula returns what was learned so far, nil if that is nothing. It ends the loops that
// are open, so nothing may be added afterwards.
func (n *nested) formula() *Nested {
	if n.run.Count > 0 && !n.push(n.run) {
		return nil
	}
	n.run = Term{}
	n.finder.End()
	if n.top.dead {
		return nil
	}
	f := &Nested{Values: n.order, Top: n.top.Formula()}
	used := n.used(&f.Top)
	number := make([]uint32, len(n.items)) // of items, as the formula has them
	next := uint32(len(n.order))
	for i, item := range n.items {
		switch {
		case i == 0 || item.body == nil:
			number[i] = item.value
		case used[i]:
			number[i] = next
			next++
		}
	}
	for i, item := range n.items {
		if !used[i] || item.body == nil {
			continue
		}
		if item.counts.dead {
			return nil
		}
		body := make([]uint32, len(item.body))
		for k, b := range item.body {
			body[k] = number[b]
		}
		f.Bodies, f.Counts = append(f.Bodies, body), append(f.Counts, item.counts.Formula())
	}
	renumber(f.Top.Prologue, number)
	renumber(f.Top.Body, number)
	return f
}

func renumber(terms []Term, number []uint32) {
	for i := range terms {
		terms[i].Value = uint64(number[terms[i].Value])
	}
}

// used returns which items (by number) the sequence is made of. A loop is defined after what is in it.
func (n *nested) used(top *Formula) []bool {
	used := make([]bool, len(n.items))
	for _, terms := range [][]Term{top.Prologue, top.Body} {
		for _, t := range terms {
			used[t.Value] = true
		}
	}
	for i := len(n.items) - 1; i > 0; i-- {
		if used[i] {
			for _, b := range n.items[i].body {
				used[b] = true
			}
		}
	}
	return used
}
