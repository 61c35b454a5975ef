package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDiscoveries states Benjamini and Hochberg's own example (1995, section 3.2): of 15
// probabilities their procedure finds the first four at 5 %, where Bonferroni's finds three.
func TestDiscoveries(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	for i, found := range discoveries(p) {
		if found != (i < 4) {
			t.Errorf("probability %g: found %v", p[i], found)
		}
	}
	slices.Reverse(p)
	if found := discoveries(p); found[0] || !found[14] || !found[11] || found[10] {
		t.Errorf("the order matters: %v", found)
	}
	if len(discoveries(nil)) != 0 {
		t.Error("discoveries among none")
	}
}

// TestFalseAlarms states how often two series of the same law differ at 5 %: as often as they
// should where blocks are independent, and not much more often where each is like the one before.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var all [blocks]bool
	for k := range all {
		all[k] = true
	}
	series := func(like float64) (out [blocks]int64) {
		x := r.NormFloat64()
		for k := range out {
			x = like*x + r.NormFloat64()
			out[k] = 1_000_000 + int64(10_000*x)
		}
		return out
	}
	const pairs = 2000
	for _, c := range []struct{ like, most float64 }{{0, 0.065}, {0.3, 0.09}, {0.6, 0.12}} {
		alarms := 0
		for range pairs {
			v := estimated([][blocks]int64{series(c.like)}, [][blocks]int64{series(c.like)}, &all).judge(prior{})
			if !v.known || v.p <= 0.05 {
				alarms++
			}
		}
		if share := float64(alarms) / pairs; share > c.most {
			t.Errorf("blocks alike by %g: %.3f of equal pairs differ at 5 %%, want at most %g", c.like, share, c.most)
		}
	}
}

// TestJudge states the edges: what is exactly alike or exactly different, too few blocks, and
// repeated runs that differ more than their blocks say.
func TestJudge(t *testing.T) {
	var all, few [blocks]bool
	var level, higher [blocks]int64
	for k := range blocks {
		all[k], few[k] = true, k < leastBlocks-1
		level[k], higher[k] = int64(1000+k), int64(1010+k)
	}
	one := func(x [blocks]int64) [][blocks]int64 { return [][blocks]int64{x} }
	if v := estimated(one(level), one(level), &all).judge(prior{}); !v.known || v.p != 1 || v.noise != 0 {
		t.Errorf("alike: %+v", v)
	}
	if v := estimated(one(level), one(higher), &all).judge(prior{}); v.p != 0 || v.noise != 0 {
		t.Errorf("each block takes 10 more: %+v", v)
	}
	var seldom, seldomer [blocks]int64
	for k := range leastBlocks - 1 {
		seldom[k], seldomer[k] = 5, 9
	}
	if v := estimated(one(seldom), one(seldomer), &few).judge(prior{}); v.known || v.p != 1 {
		t.Errorf("too few blocks: %+v", v)
	}
	// Within each pair every block differs by 10; runs of one side differ by 20.
	shifted := func(by int64) (out [blocks]int64) {
		for k := range out {
			out[k] = level[k] + by
		}
		return out
	}
	v := estimated([][blocks]int64{shifted(0), shifted(20), shifted(40)}, [][blocks]int64{shifted(10), shifted(30), shifted(50)},
		&all).judge(prior{})
	if !v.known || v.p < 0.3 || v.noise < 10*blocks {
		t.Errorf("runs of one side differ by more than the sides: %+v", v)
	}
}
