package compare

import (
	"testing"

	"tracekit/document/field"
)

// TestNewPlace states that a place that only one side visits is no accident, however few its visits: it counts if it is large enough, with
// the waits that it causes.
func TestNewPlace(t *testing.T) {
	change := func(own, causes int64) *Change {
		p := &place{site: field.Site{SourceLine: field.SourceLine{Region: "compute"}},
			sides: [2][]*series{{nil}, {{own: [blocks]int64{own}, instances: [blocks]int64{1}}}}}
		p.causesNs[1] = float64(causes)
		c := &Comparison{Changes: []Change{p.change(KindTime)}}
		c.decide(1e6)
		return &c.Changes[0]
	}
	for _, c := range []struct {
		own, causes int64
		want        bool
	}{{10, 5000, true}, {2000, 0, true}, {10, 10, false}} {
		if x := change(c.own, c.causes); x.Significant == nil || *x.Significant != c.want {
			t.Errorf("a new place of %d of a million that causes waits of %d is significant: %v, want %v", c.own, c.causes, x.Significant,
				c.want)
		}
	}
}
