package sampling

import (
	"math"
	"slices"
	"testing"
)

func ticks(ns int64) int64 { return ns }

// taken returns which of some sends, given by their times, are sampled.
func taken(c Config, stream uint64, at ...int64) (list []int) {
	s := newSampler(&c, stream, 0, ticks)
	for i, t := range at {
		if s.decide(t) {
			list = append(list, i)
		}
	}
	return list
}

// TestRules: who samples when, without a variance, worked out by hand.
func TestRules(t *testing.T) {
	twelve := make([]int64, 12)
	for _, x := range []struct {
		name   string
		config Config
		at     []int64
		want   []int
	}{
		{"a counter samples when it exceeds the period", Config{Strategy: Counter, Period: 3}, twelve, []int{3, 7, 11}},
		{"a counter of 0 samples all", Config{Strategy: Counter}, twelve[:3], []int{0, 1, 2}},
		{"a threshold of 1 samples all", Config{Strategy: Random, Threshold: 1}, twelve[:3], []int{0, 1, 2}},
		{"a timer samples what comes late after the send before", Config{Strategy: Timer, Period: 10}, []int64{5, 15, 26, 30, 41, 42},
			[]int{2, 4}},
		{"or after the sample before", Config{Strategy: Timer, Period: 10, SinceSample: true}, []int64{5, 10, 11, 15, 21, 22, 40},
			[]int{2, 5, 6}},
		{"from the begin on", Config{Strategy: Timer, Period: 10}, []int64{11, 12}, []int{0}},
	} {
		if got := taken(x.config, 0, x.at...); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}

// TestInclusion: random sampling and counters with a variance sample each send, also the first and
// the last, with the probability that Share says; a counter draws intervals from P-V+1 to P+V+1.
func TestInclusion(t *testing.T) {
	const sends, streams = 40, 40_000
	for _, c := range []Config{{Strategy: Random, Threshold: 0.1}, {Strategy: Counter, Period: 9, Variance: 4},
		{Strategy: Counter, Period: 9, Variance: 9}} {
		share, _ := c.share()
		var hits [sends]float64
		for s := range uint64(streams) {
			before := -1
			for _, i := range taken(c, s, make([]int64, sends)...) {
				hits[i]++
				if gap := int64(i - before); c.Strategy == Counter && before >= 0 && (gap < c.Period-c.Variance+1 || gap > c.Period+c.Variance+1) {
					t.Fatalf("%s: an interval of %d", c, gap)
				}
				before = i
			}
		}
		for i, n := range hits {
			if z := (n - streams*share) / math.Sqrt(streams*share*(1-share)); math.Abs(z) > 4.5 {
				t.Errorf("%s: send %d is sampled with probability %g, not %g", c, i, n/streams, share)
			}
		}
	}
}

// TestStreamsDiffer: neither neighbouring ranks nor neighbouring seeds draw the same, and
// what they draw is not related.
func TestStreamsDiffer(t *testing.T) {
	const n = 10_000
	sample := func(seed, stream uint64) map[int]bool {
		set := make(map[int]bool)
		for _, i := range taken(Config{Strategy: Random, Threshold: 0.5, Seed: seed}, stream, make([]int64, n)...) {
			set[i] = true
		}
		return set
	}
	base := sample(1, 0)
	for _, x := range [][2]uint64{{1, 1}, {2, 0}, {0, 1}, {1, 1 << 32}} {
		both := 0.0
		for i := range sample(x[0], x[1]) {
			if base[i] {
				both++
			}
		}
		if z := (both - n/4) / math.Sqrt(n*3.0/16); math.Abs(z) > 4 {
			t.Errorf("seed %d, stream %d: %g sends in both samples", x[0], x[1], both)
		}
	}
}
