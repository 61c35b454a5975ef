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
