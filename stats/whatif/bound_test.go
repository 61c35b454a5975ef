package whatif

import (
	"fmt"
	"testing"

	"tracekit/samples"
	"tracekit/trace"
)

// TestBound: no place gains more than its bound, which is the time of the place on one path through the run: not more than the run takes.
func TestBound(t *testing.T) {
	for _, program := range samples.Programs() {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("program=%s/seed=%d", program.Name, seed), func(t *testing.T) {
				m := run(t, samples.Options{Program: program.Name, Ranks: 6, Iterations: 12, Seed: seed})
				defer m.Release()
				whole := m.ns(m.last - m.first)
				b := m.Bound()
				for path := range m.t.Tree.Nodes {
					at := func(p trace.PathID) bool { return p == trace.PathID(path) }
					for _, factor := range []float64{0.5, 0} {
						bound, gain := b.Scale(at, factor), whole-predicted(t, m, Scale(at, factor))
						if gain > bound {
							t.Errorf("%s scaled by %v gains %d ns, more than %d", m.NameOf(trace.PathID(path)), factor, gain, bound)
						}
						if most := whole + m.ns(b.loose+b.pieces[path]) + 3; bound > most {
							t.Errorf("%s scaled by %v gains at most %d ns, of %d", m.NameOf(trace.PathID(path)), factor, bound, most)
						}
					}
				}
			})
		}
	}
}

// TestHalf: where half of the time of a place gains so much that no other place can gain as much, none does.
func TestHalf(t *testing.T) {
	decided := 0
	for _, program := range samples.Programs() {
		for seed := range uint64(3) {
			m := run(t, samples.Options{Program: program.Name, Ranks: 6, Iterations: 12, Seed: seed})
			whole, most, others := m.ns(m.last-m.first), int64(0), int64(0)
			for path := range m.t.Tree.Nodes {
				at := func(p trace.PathID) bool { return p == trace.PathID(path) }
				gain := whole - predicted(t, m, Scale(at, 0.5))
				most, others = max(most, gain), max(others, min(most, gain))
			}
			if m.Half(most) {
				if decided++; others >= most {
					t.Errorf("%s/%d: a place gains %d ns, another one %d", program.Name, seed, most, others)
				}
			}
			m.Release()
		}
	}
	if decided == 0 {
		t.Error("no place gains so much")
	}
}
