package waits

import (
	"math"
	"testing"
)

// TestExchangesDivide states what calls show that send and receive: nothing if no receiver is late, or if only few are; that they wait from
// a size on if most calls end behind their late receivers; that they do not if calls end before.
func TestExchangesDivide(t *testing.T) {
	type calls struct {
		bytes                     uint64
		ready, behind, before, by int // by: how many times as long as a call takes receivers are late
	}
	for name, c := range map[string]struct {
		calls []calls
		want  uint64
	}{
		"nobody is late":             {[]calls{{1024, 100, 50, 0, 4}}, math.MaxUint64},
		"they wait":                  {[]calls{{1024, 10, 4, 0, 40}}, 1024},
		"too few":                    {[]calls{{1024, 10, 3, 0, 40}}, math.MaxUint64},
		"no receiver is there first": {[]calls{{1024, 0, 50, 0, 40}}, math.MaxUint64},
		"they go on":                 {[]calls{{1024, 10, 4, 100, 40}}, math.MaxUint64},
		"large ones wait":            {[]calls{{64, 10, 1, 50, 40}, {1 << 20, 10, 20, 1, 40}}, 1 << 20},
	} {
		x := make(exchanges)
		for _, at := range c.calls {
			const takes = 100
			for range at.ready {
				x.of(at.bytes).note(0, takes, 0)
			}
			late := int64(at.by * takes)
			for range at.behind {
				x.of(at.bytes).note(0, late+takes, late)
			}
			for range at.before {
				x.of(at.bytes).note(0, takes, late)
			}
		}
		other := make(exchanges).combine(x)
		if got := other.divide(); got != c.want {
			t.Errorf("%s: from %d bytes on, want %d", name, got, c.want)
		}
	}
}
