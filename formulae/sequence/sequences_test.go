package sequence_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tracekit/formulae/sequence"
)

// anyOf returns a random sequence that some kind of formula may fit.
func anyOf(r *rand.Rand) (out []uint64) {
	run := func(most int) []uint64 { return slices.Repeat([]uint64{r.Uint64N(6)}, 1+r.IntN(most)) }
	for range r.IntN(3) {
		out = append(out, run(3)...)
	}
	var body []uint64
	for range 1 + r.IntN(5) {
		body = append(body, run(3)...)
	}
	switch r.IntN(4) {
	case 0: // a progression, again and again
		step, n := 1+r.Uint64N(5), 3+r.Uint64N(9)
		out = out[:0]
		for i := range 40 + r.Uint64N(40) {
			out = append(out, 7+i%n*step)
		}
	case 1: // loops within loops
		for range 3 + r.IntN(8) {
			out = append(append(out, slices.Repeat(body, 1+r.IntN(5))...), 9)
		}
	default:
		out = append(out, slices.Repeat(body, 1+r.IntN(30))...)
	}
	if r.IntN(3) == 0 {
		out = append(out, run(2)...)
	}
	return out
}

func formulaOf(l *sequence.Learner, seq []uint64) sequence.Formula {
	for _, v := range seq {
		l.Add(v)
	}
	return l.Formula()
}

// What is learned does not depend on the unit and the origin of the numbers: v → a·v + b with
// an odd a is one to one modulo 2^64 and keeps progressions.
func TestFormulaOfOtherUnits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	kinds := make(map[sequence.Kind]int)
	for range 1500 {
		seq := anyOf(r)
		a, b := r.Uint64()|1, r.Uint64()
		moved := make([]uint64, len(seq))
		for i, v := range seq {
			moved[i] = a*v + b
		}
		terms := 2 + r.IntN(18)
		f, g := formulaOf(sequence.NewLearner(terms), seq), formulaOf(sequence.NewLearner(terms), moved)
		if f.Kind != g.Kind || f.Holds != g.Holds || f.Terms() != g.Terms() || f.Count != g.Count || (f.Nested == nil) != (g.Nested == nil) {
			t.Fatalf("%v: %+v, in other units %+v", seq, f, g)
		}
		if got := slices.Collect(g.Values()); !slices.Equal(got, moved[:g.Count]) {
			t.Fatalf("%v regenerated as %v", moved, got)
		}
		kinds[f.Kind]++
	}
	for k := sequence.Identity; k <= sequence.Failed; k++ {
		if kinds[k] < 10 {
			t.Errorf("only %d formulae are %s", kinds[k], k)
		}
	}
}

// Looking at the formula of a sequence while it goes on does not change what is learned.
func TestFormulaMayBeAskedForAtAnyTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		seq := anyOf(r)
		form := sequence.Form{Terms: 2 + r.IntN(18), Paper: true} // nested loops end where they are looked at
		once, often := form.Learner(), form.Learner()
		want := formulaOf(once, seq)
		for i, v := range seq {
			often.Add(v)
			if f := often.Formula(); f.Seen != uint64(i+1) || !slices.Equal(slices.Collect(f.Values()), seq[:f.Count]) {
				t.Fatalf("%v after %d values: %+v", seq, i+1, f)
			}
		}
		if got := often.Formula(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: %+v, want %+v", seq, got, want)
		}
	}
}

// The formula of what repeats goes on as the sequence does.
func TestFormulaPredicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		prologue, period []uint64
	}{
		{"iteration", nil, []uint64{3, 5, 7, 9}},
		{"iteration that wraps", nil, []uint64{1, 0, ^uint64(0), ^uint64(0) - 1}},
		{"cycle", nil, []uint64{1, 1, 6, 2}},
		{"prologue and cycle", []uint64{8, 8, 3}, []uint64{1, 1, 6, 2}},
	} {
		at := func(i int) uint64 {
			if i < len(c.prologue) {
				return c.prologue[i]
			}
			return c.period[(i-len(c.prologue))%len(c.period)]
		}
		l, learned := sequence.NewLearner(12), len(c.prologue)+4*len(c.period)+1
		for i := range learned {
			l.Add(at(i))
		}
		f := l.Formula()
		g := f.Generate()
		for i := range 3 * learned {
			if v, ok := g.Next(); !ok || v != at(i) {
				t.Errorf("%s (%s): value %d is %d, want %d", c.name, f.Kind, i, v, at(i))
				break
			}
		}
	}
}
