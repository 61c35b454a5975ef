package sequence

import "slices"

// DefaultTerms is the memory that the paper allows to a formula, MostTerms the largest that may
// be asked for.
const (
	DefaultTerms = 18
	MostTerms    = 1 << 16
)

// A Learner learns the formula of a sequence while the values come, in bounded memory: it
// keeps the first runs of the sequence, as many as there may be terms, and a hypothesis.
// As long as the hypothesis predicts the next value, nothing else is looked at. When it
// fails, the next one is taken that explains all values so far:
//
//	Identity   as long as all values are equal
//	Iteration  if the first values are an arithmetic progression of three or more
//	Cycle      the one of fewest terms, if its body came twice, or if General is full
//	General    as long as there are no more runs than terms
//	Nested     loops within loops, found as in control flow
//	Failed     what was learned stays as a prefix
//
// Adding a value that the hypothesis predicts takes constant time; space is proportional to
// terms. This is the finite state machine of docs/DEFINITIONS.md 1.4.
//
// The zero value is not usable; see NewLearner.
type Learner struct {
	terms int
	runs  []Term // the first runs; the last one may go on
	all   bool   // runs holds the whole sequence
	seen  uint64
	sum   uint64    // of all values, modulo 2^64
	f     Formula   // the hypothesis; Prologue and Body point into runs
	next  Generator // of the hypothesis
	dead  bool      // the hypothesis failed, and no other one fits

	steps bool      // progressions may be tried
	nests bool      // loops within loops may be tried
	loops []*nested // what is tried after all hypotheses failed
}

// NewLearner returns a learner that may use the given number of terms, at least 2.
func NewLearner(terms int) *Learner {
	return &Learner{terms: max(terms, 2), all: true, steps: true, nests: true}
}

// A Form says what formulae may be. The zero value allows all kinds in the paper's memory.
type Form struct {
	Terms int  // memory allowed to each formula; 0: DefaultTerms
	Paper bool // the paper's four kinds alone: no loops within loops, and no terms beyond Terms for straight-line code
}

// Memory returns the memory allowed to a formula, in terms.
func (f Form) Memory() int {
	if f.Terms == 0 {
		return DefaultTerms
	}
	return f.Terms
}

// Learner returns a learner of such formulae.
func (f Form) Learner() *Learner {
	l := NewLearner(f.Memory())
	l.nests = !f.Paper
	return l
}

// Add learns the next value.
func (l *Learner) Add(v uint64) {
	l.seen++
	l.sum += v
	if l.dead {
		l.addNested(v)
		return
	}
	if l.f.Holds == Iteration || l.f.Holds == Cycle {
		if want, _ := l.next.peek(); want == v {
			l.next.advance()
			l.extend(v)
			return
		}
		if l.wraps(v) {
			l.extend(v)
			return
		}
	}
	l.extend(v)
	if n := len(l.runs); l.all && l.runs[n-1].Count > 1 && l.f.Holds <= General && l.seen > 1 {
		return // the last run goes on
	}
	l.revise(v)
}

// extend notes a value as part of the runs, while there is room for them.
func (l *Learner) extend(v uint64) {
	if !l.all {
		return
	}
	n := len(l.runs)
	switch {
	case n > 0 && l.runs[n-1].Value == v:
		l.runs[n-1].Count++
	case n <= l.terms:
		l.runs = append(l.runs, Term{v, 1})
	default:
		l.all = false
	}
}

// wraps reports whether a progression that went on so far begins again with v, which
// gives it its length.
func (l *Learner) wraps(v uint64) bool {
	if l.f.Holds != Iteration || l.f.Length != 0 || v != l.f.Start || l.next.at < 3 {
		return false
	}
	l.f.Length = l.next.at
	l.next.length, l.next.at = l.f.Length, 1
	return true
}

// revise takes the next hypothesis that explains all values including the last one, v.
func (l *Learner) revise(v uint64) {
	old := l.f
	for f := range l.hypotheses() {
		if l.explains(&f, &old, v) {
			l.f = f
			return
		}
	}
	l.dead, l.f, l.f.Count = true, old, l.seen-1
	if old.Holds <= General { // v began a run of its own
		l.f.Holds, l.f.Prologue = General, l.runs[:len(l.runs)-1]
	}
	l.nest(v)
}

// nest begins to look for nested loops, in all that was seen so far and the newest value.
func (l *Learner) nest(v uint64) {
	const affordable = 1 << 20
	if !l.nests || l.seen > affordable {
		return
	}
	l.loops = []*nested{newNested(l.terms, false), newNested(l.terms, true)}
	for v := range l.f.Values() {
		l.addNested(v)
	}
	l.addNested(v)
}

func (l *Learner) addNested(v uint64) {
	l.loops = slices.DeleteFunc(l.loops, func(n *nested) bool { return !n.add(v) })
}

// nestedFormula returns the shorter of the nested formulae that fit in the memory, nil if
// none does.
func (l *Learner) nestedFormula() (best *Nested) {
	for _, n := range l.loops {
		if f := n.formula(); f != nil && f.terms() <= l.terms && (best == nil || f.terms() < best.terms()) {
			best = f
		}
	}
	return best
}

// hypotheses yields the formulae that the first runs allow, in the order of preference.
func (l *Learner) hypotheses() func(func(Formula) bool) {
	return func(yield func(Formula) bool) {
		n := len(l.runs)
		if n == 1 {
			yield(Formula{Holds: Identity, Prologue: l.runs})
			return
		}
		if f, ok := l.progression(); ok && !yield(f) {
			return
		}
		full := n > l.terms
		for size := 2; size <= min(l.terms, n-1); size++ {
			for body := size; body >= 2; body-- {
				p := size - body
				evident := full || n-p > 2*body || n-p == 2*body && l.runs[n-1].Count >= l.runs[p+body-1].Count
				if evident && l.repeats(p, body) && !yield(Formula{Holds: Cycle, Prologue: l.runs[:p:p], Body: l.runs[p:size:size]}) {
					return
				}
			}
		}
		if l.all && !full {
			yield(Formula{Holds: General, Prologue: l.runs})
		}
	}
}

// progression returns the progression that the first runs are, if they are one.
func (l *Learner) progression() (Formula, bool) {
	r := l.runs
	if len(r) < 3 || !l.steps {
		return Formula{}, false
	}
	f := Formula{Holds: Iteration, Start: r[0].Value, Step: r[1].Value - r[0].Value}
	for i, t := range r {
		at := uint64(i)
		if f.Length > 0 {
			at %= f.Length
		}
		switch {
		case t.Count != 1:
			return f, false
		case t.Value == f.Start+at*f.Step:
		case i >= 3 && f.Length == 0 && t.Value == f.Start:
			f.Length = at
		default:
			return f, false
		}
	}
	return f, true
}

// repeats reports whether the runs after the prologue repeat the body, as far as the last
// run goes. A body whose ends are alike would melt into longer runs.
func (l *Learner) repeats(prologue, body int) bool {
	b := l.runs[prologue : prologue+body]
	if b[0].Value == b[body-1].Value {
		return false
	}
	last := len(l.runs) - 1
	for i := prologue + body; i <= last; i++ {
		want := b[(i-prologue)%body]
		if l.runs[i] != want && (i != last || l.runs[i].Value != want.Value || l.runs[i].Count > want.Count) {
			return false
		}
	}
	return true
}

// explains reports whether a hypothesis explains all values so far, given that the old one
// explains all but the last, v; if so, l.next stands behind v. While runs holds everything,
// hypotheses are made to explain it. Later the two are compared value by value, as far as
// that is cheap; a long sequence whose formula fails late is not learned.
func (l *Learner) explains(f, old *Formula, v uint64) bool {
	l.next = *f.Generate()
	if f.Holds <= General {
		return true
	}
	if l.all {
		l.next.skip(l.runs)
		return true
	}
	const cheap = 1 << 12
	if old.Holds <= General || l.seen > cheap {
		return false
	}
	o := old.Generate()
	for range l.seen - 1 {
		a, _ := l.next.Next()
		if b, _ := o.Next(); a != b {
			return false
		}
	}
	w, _ := l.next.Next()
	return w == v
}

// skip moves a generator at its beginning past runs that it generates and that end in its
// body or progression.
func (g *Generator) skip(runs []Term) {
	n := len(runs)
	if g.progression {
		g.at = uint64(n)
		if g.length > 0 {
			g.at %= g.length
		}
		return
	}
	g.inBody, g.term = true, (n-1-len(g.prologue))%len(g.body)
	if g.done = runs[n-1].Count; g.done == g.body[g.term].Count {
		g.done, g.term = 0, (g.term+1)%len(g.body)
	}
}

// Extend allows the formula more terms, as long as it has fewer than most.
func (l *Learner) Extend(terms, most int) {
	if l.terms < most {
		l.terms += terms
	}
}

// Amount returns what was learned of a sequence of amounts: a formula with their sum, modulo 2^64.
func (l *Learner) Amount() Formula {
	f := l.Formula()
	f.Sum = l.sum
	return f
}

// Formula returns what was learned. It may be called at any time, but open
// nested loops end there.
func (l *Learner) Formula() Formula {
	f := l.f
	f.Prologue, f.Body = slices.Clone(f.Prologue), slices.Clone(f.Body)
	f.Kind, f.Seen = f.Holds, l.seen
	if l.dead {
		if n := l.nestedFormula(); n != nil {
			return Formula{Kind: Cycle, Holds: Cycle, Seen: l.seen, Count: l.seen, Nested: n}
		}
		f.Kind = Failed
		return f
	}
	f.Count = l.seen
	if f.Holds <= General {
		f.Prologue = slices.Clone(l.runs)
	}
	return f
}
