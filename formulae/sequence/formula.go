package sequence

import (
	"iter"
	"math"
)

// A Kind is the kind of a formula (DEFINITIONS 1.4).
type Kind uint8

// The kinds, from the simplest on.
const (
	Identity  Kind = iota // a^n
	General               // a^r b^s c^t …: runs without repetition
	Iteration             // (a, a+i, a+2i, …, a+ki)^n
	Cycle                 // a prologue, then (a^r b^s c^t …)^n
	Failed                // none fits in the memory allowed; a prefix of the sequence is known
	kinds
)

var kindNames = [kinds]string{"identity", "general", "iteration", "cycle", "failed"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unknown"
}

// A Term is a value and how often it is repeated.
type Term struct{ Value, Count uint64 }

// A Formula describes a sequence of numbers: ranks, tags, bytes, iterations or items of a call
// path (docs/DEFINITIONS.md 1.4). A last partial period is normal: the formula
// holds where the sequence stopped.
type Formula struct {
	Kind  Kind   // of a failed one too: see Holds
	Holds Kind   // what describes the first Count values; = Kind unless that is Failed
	Seen  uint64 // values of the sequence
	Count uint64 // values that the formula describes; < Seen only if it failed

	// Sum is that of all Seen values, modulo 2^64: of amounts (sizes, iterations), so that
	// what was not learned can be made up without changing the total. Of others it is 0.
	Sum uint64

	// Identity, General: Prologue. Cycle: Prologue and then Body again and again.
	Prologue, Body []Term

	// Iteration: Start, Start+Step, … of Length values (0: it never began again), and
	// that again and again. Arithmetic is modulo 2^64.
	Start, Step, Length uint64

	Nested *Nested // Cycle: loops within loops, in place of Prologue and Body
}

// Terms returns the memory that the formula takes, in terms.
func (f *Formula) Terms() int {
	switch {
	case f.Nested != nil:
		return f.Nested.terms()
	case f.Holds == Iteration:
		return 2
	}
	return len(f.Prologue) + len(f.Body)
}

// Described returns the sum of the values that the formula describes, modulo 2^64. It returns 0 for
// loops within loops, whose sum is known only after generating all values.
func (f *Formula) Described() (sum uint64) {
	if f.Nested != nil {
		return 0
	}
	if f.Holds == Iteration {
		if f.Length == 0 || f.Length > f.Count {
			return series(f.Start, f.Step, f.Count)
		}
		return series(f.Start, f.Step, f.Length)*(f.Count/f.Length) + series(f.Start, f.Step, f.Count%f.Length)
	}
	prologue, n := runsSum(f.Prologue, f.Count)
	body, period := runsSum(f.Body, math.MaxUint64)
	if period == 0 || n == f.Count {
		return prologue
	}
	left := f.Count - n
	rest, _ := runsSum(f.Body, left%period)
	return prologue + body*(left/period) + rest
}

// series returns the sum of n values start, start+step, …
func series(start, step, n uint64) uint64 {
	pairs := n / 2 * (n - 1)
	if n%2 == 1 {
		pairs = (n - 1) / 2 * n
	}
	return start*n + step*pairs
}

// runsSum returns the sum of the first most values of runs, and their number.
func runsSum(runs []Term, most uint64) (sum, n uint64) {
	for _, t := range runs {
		k := min(t.Count, most-n)
		sum, n = sum+t.Value*k, n+k
	}
	return sum, n
}

// Values returns the values that the formula describes, in order.
func (f *Formula) Values() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		g := f.Generate()
		for range f.Count {
			v, ok := g.Next()
			if !ok || !yield(v) {
				return
			}
		}
	}
}

// Generate returns a generator of the formula's values, which goes on beyond Count.
func (f *Formula) Generate() *Generator {
	if f.Nested != nil {
		return &Generator{nested: f.Nested.generate()}
	}
	if f.Holds == Iteration {
		return &Generator{progression: true, start: f.Start, step: f.Step, length: f.Length}
	}
	return &Generator{prologue: f.Prologue, body: f.Body}
}

// Constant returns the one value that a formula yields again and again; ok is false if there are
// several, or none.
func (f *Formula) Constant() (v uint64, ok bool) {
	if f.Nested != nil || f.Holds == Iteration || len(f.Prologue) != 1 || len(f.Body) > 0 {
		return 0, false
	}
	return f.Prologue[0].Value, true
}

// A Generator yields the values of a formula one by one. Its next value is known in
// advance, so that confirming a value is one comparison.
type Generator struct {
	prologue, body []Term
	term           int    // position in the prologue, then in the body
	inBody         bool   //
	done           uint64 // values of the current term

	progression         bool
	start, step, length uint64
	at                  uint64 // position in the progression

	nested *nestedGenerator
}

// peek returns the next value of a formula that is not nested; ok is false if the formula
// says nothing about it.
func (g *Generator) peek() (v uint64, ok bool) {
	if g.progression {
		return g.start + g.at*g.step, true
	}
	if t := g.current(); t != nil {
		return t.Value, true
	}
	return 0, false
}

// current returns the term that the next value belongs to, nil after the last one.
func (g *Generator) current() *Term {
	if !g.inBody {
		if g.term < len(g.prologue) {
			return &g.prologue[g.term]
		}
		g.inBody, g.term = true, 0
	}
	if len(g.body) == 0 {
		return nil
	}
	return &g.body[g.term]
}

// Next returns the next value and moves on; ok is false if the formula says nothing about it.
func (g *Generator) Next() (v uint64, ok bool) {
	if g.nested != nil {
		return g.nested.next()
	}
	if v, ok = g.peek(); ok {
		g.advance()
	}
	return v, ok
}

// advance moves past the value that peek returned.
func (g *Generator) advance() {
	if g.progression {
		if g.at++; g.at == g.length {
			g.at = 0
		}
		return
	}
	t := g.current()
	if g.done++; g.done < t.Count {
		return
	}
	g.done = 0
	if g.term++; g.inBody && g.term == len(g.body) {
		g.term = 0
	}
}
