package sequence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// learn returns the formula of a sequence.
func learn(terms int, seq []uint64) Formula {
	l := NewLearner(terms)
	for _, v := range seq {
		l.Add(v)
	}
	return l.Formula()
}

func repeat(n int, seq ...uint64) []uint64 {
	var out []uint64
	for range n {
		out = append(out, seq...)
	}
	return out
}

func join(parts ...[]uint64) []uint64 { return slices.Concat(parts...) }

// checkFormula checks what every formula promises.
func checkFormula(t *testing.T, f *Formula, seq []uint64, terms int) {
	t.Helper()
	got := slices.Collect(f.Values())
	if uint64(len(got)) != f.Count || !slices.Equal(got, seq[:len(got)]) {
		t.Fatalf("%s/%s regenerates %v of %v", f.Kind, f.Holds, got, seq)
	}
	if f.Kind != Failed && f.Count != uint64(len(seq)) || f.Seen != uint64(len(seq)) {
		t.Fatalf("%s: %d of %d values, %d seen", f.Kind, f.Count, len(seq), f.Seen)
	}
	if v, ok := f.Constant(); ok && slices.ContainsFunc(got, func(w uint64) bool { return w != v }) {
		t.Fatalf("%s yields %v, not %d alone", f.Kind, got, v)
	}
	if f.Terms() > terms {
		t.Fatalf("%s takes %d terms of %d", f.Kind, f.Terms(), terms)
	}
}

func TestKinds(t *testing.T) {
	long := make([]uint64, 100)
	for i := range long {
		long[i] = uint64(i * i % 17)
	}
	for _, c := range []struct {
		name  string
		seq   []uint64
		kind  Kind
		terms int
	}{
		{"nothing", nil, Identity, 0},
		{"one value", repeat(1, 7), Identity, 1},
		{"one value again and again", repeat(1000, 7), Identity, 1},
		{"runs", join(repeat(5, 1), repeat(3, 2), repeat(9, 1)), General, 3},
		{"progression", []uint64{3, 5, 7, 9, 11}, Iteration, 2},
		{"progression downwards", []uint64{9, 6, 3, 0}, Iteration, 2},
		{"progression again and again", join(repeat(50, 0, 1, 2, 3), []uint64{0, 1}), Iteration, 2},
		{"long progression", join(long[:0], progression(0, 1, 5000), progression(0, 1, 5000)), Iteration, 2},
		{"cycle", repeat(100, 4, 4, 9), Cycle, 2},
		{"cycle that stops early", join(repeat(100, 4, 4, 9), []uint64{4}), Cycle, 2},
		{"prologue and cycle", join([]uint64{8, 8, 1}, repeat(40, 5, 2, 2)), Cycle, 4},
		{"cycle of 16", repeat(5, 1, 3, 2, 4, 7, 5, 8, 6, 1, 9, 2, 4, 3, 5, 7, 6), Cycle, 16},
		{"cycle and an end", join(repeat(3, 1, 5), []uint64{9}), General, 7},
		{"squares modulo 17", long, Cycle, 16},
		{"loop in a loop", repeat(20, join(repeat(7, 1, 2, 3), repeat(1, 4, 5))...), Cycle, 7},
		{"triangle", triangle(30), Cycle, 10},
		{"random", random(200), Failed, 17},
	} {
		f := learn(18, c.seq)
		if f.Kind != c.kind || f.Terms() != c.terms {
			t.Errorf("%s: %s of %d terms, want %s of %d", c.name, f.Kind, f.Terms(), c.kind, c.terms)
		}
		checkFormula(t, &f, c.seq, 18)
	}
}

func progression(start, step, n uint64) (out []uint64) {
	for i := range n {
		out = append(out, start+i*step)
	}
	return out
}

func triangle(n int) (out []uint64) {
	for i := range n {
		out = append(out, join(repeat(i+1, 1, 2), repeat(1, 3))...)
	}
	return out
}

func random(n int) (out []uint64) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		out = append(out, r.Uint64N(5))
	}
	return out
}

// What was learned before a failure stays usable.
func TestPrefixOfFailure(t *testing.T) {
	seq := join(repeat(100, 1, 2, 3, 3), random(99))
	f := learn(18, seq)
	if f.Kind != Failed || f.Holds != Cycle || f.Count != 400 {
		t.Errorf("%s, %s holds for %d of %d", f.Kind, f.Holds, f.Count, f.Seen)
	}
	checkFormula(t, &f, seq, 18)
}

// More memory learns more.
func TestMemory(t *testing.T) {
	seq := repeat(10, 1, 5, 2, 9, 7, 3, 8, 6)
	for _, c := range []struct {
		terms int
		kind  Kind
	}{{6, Failed}, {7, Failed}, {8, Cycle}, {64, Cycle}} {
		if f := learn(c.terms, seq); f.Kind != c.kind {
			t.Errorf("%d terms: %s, want %s", c.terms, f.Kind, c.kind)
		}
	}
}

// Sequences that are made from formulae are learned.
func TestLearnsWhatFormulaeMake(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		f := Formula{Holds: Cycle}
		for i := range 2 + r.IntN(10) {
			f.Body = append(f.Body, Term{uint64(2*i) + 10, 1 + r.Uint64N(4)})
		}
		for i := range r.IntN(18 - len(f.Body)) {
			f.Prologue = append(f.Prologue, Term{uint64(2*i) + 100, 1 + r.Uint64N(4)})
		}
		f.Count = r.Uint64N(500)
		seq := slices.Collect(f.Values())
		got := learn(18, seq)
		if got.Kind == Failed {
			t.Fatalf("not learned: %v", seq)
		}
		checkFormula(t, &got, seq, 18)
	}
}

func FuzzLearner(f *testing.F) {
	f.Add([]byte{1, 1, 2, 2, 1, 1, 2, 2}, uint8(4))
	f.Add([]byte{0, 1, 2, 3, 0, 1, 2, 3, 0, 9}, uint8(3))
	f.Add([]byte{5, 1, 2, 1, 2, 1, 3}, uint8(18))
	f.Fuzz(func(t *testing.T, data []byte, terms uint8) {
		seq := make([]uint64, len(data))
		for i, b := range data {
			seq[i] = uint64(b & 7)
		}
		n := max(int(terms%70), 2)
		got := learn(n, seq)
		checkFormula(t, &got, seq, n)
	})
}

func BenchmarkLearner(b *testing.B) {
	l := NewLearner(DefaultTerms)
	seq := []uint64{1, 1, 2, 5, 3, 3, 3, 7}
	for i := 0; b.Loop(); i++ {
		l.Add(seq[i&7])
	}
}

// The sum of what a formula describes is told from its terms.
func TestDescribedSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	kinds := make(map[Kind]int)
	for range 3000 {
		l := NewLearner(2 + r.IntN(8))
		period, step := 1+r.IntN(6), r.Uint64()>>(r.UintN(64))
		values := make([]uint64, period)
		for i := range values {
			values[i] = uint64(r.IntN(3))*step + uint64(i)*step
		}
		for i := range r.IntN(60) {
			v := values[i%period]
			if r.IntN(80) == 0 {
				v++
			}
			l.Add(v)
		}
		f := l.Formula()
		if f.Nested != nil || f.Seen == 0 {
			continue
		}
		kinds[f.Kind]++
		var want uint64
		for v := range f.Values() {
			want += v
		}
		if got := f.Described(); got != want {
			t.Fatalf("%+v: sum %d, want %d", f, got, want)
		}
	}
	for k := Identity; k <= Failed; k++ {
		if kinds[k] < 50 {
			t.Errorf("only %d formulae are %s", kinds[k], k)
		}
	}
}

// The paper's kinds are four: loops within loops are learned only in the other form.
func TestPaperForm(t *testing.T) {
	four, all := Form{Paper: true}.Learner(), Form{}.Learner()
	for i := range 200 {
		for range 2 + i/20 {
			for v := range uint64(3) {
				four.Add(v * v)
				all.Add(v * v)
			}
		}
		four.Add(100)
		all.Add(100)
	}
	if f, a := four.Formula(), all.Formula(); f.Kind != Failed || a.Nested == nil {
		t.Errorf("loops within loops: %s with the paper's kinds, %s with all", f.Kind, a.Kind)
	}
}

// BenchmarkAdd measures what a learning module costs for each value, by what the sequence is.
func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var irregular []uint64
	for range 1 << 12 {
		irregular = append(irregular, r.Uint64N(8))
	}
	var nested []uint64
	for i := range 240 {
		nested = append(append(nested, repeat(3+i%2, 1, 2, 2, 5)...), 7)
	}
	for _, c := range []struct {
		name   string
		period []uint64
	}{
		{"identity", []uint64{3}}, {"iteration", []uint64{1, 2, 3, 4, 5, 6, 7, 8}}, {"cycle", []uint64{1, 1, 5, 2, 9, 7, 3, 3}},
		{"nested", nested}, {"failed", irregular},
	} {
		b.Run("kind="+c.name, func(b *testing.B) {
			l, at := NewLearner(DefaultTerms), 0
			for b.Loop() {
				l.Add(c.period[at])
				if at++; at == len(c.period) {
					at = 0
				}
			}
			if l.seen > 100_000 && l.dead != (c.name == "failed" || c.name == "nested") {
				b.Fatalf("the sequence is %s", l.f.Holds)
			}
		})
	}
}
