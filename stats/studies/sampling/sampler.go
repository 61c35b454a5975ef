package sampling

import (
	"math/rand/v2"

	"tracekit/stats/numbers"
)

// A sampler decides for one rank which of its sends are sampled.
//
//	counter: count is the sends since the last sample, target what it must exceed
//	timer: last is when the last send (or sample) was, in ticks, as target is
type sampler struct {
	strategy    Strategy
	sinceSample bool
	threshold   float64
	low, width  int64 // targets are drawn from low … low+width-1
	random      *rand.Rand
	count       int64
	last        int64
	target      int64
}

// newSampler returns the sampler of a stream of sends that begins at a tick. All that it draws
// depends on the seed and the number of the stream, which is the rank.
func newSampler(c *Config, stream uint64, begin int64, ticks func(ns int64) int64) sampler {
	s := sampler{strategy: c.Strategy, sinceSample: c.SinceSample, threshold: c.Threshold, last: begin,
		random: rand.New(rand.NewPCG(numbers.Mix(c.Seed), numbers.Mix(^stream)))}
	low, high := c.Period-c.Variance, c.Period+c.Variance
	if c.Strategy == Timer {
		low, high = ticks(low), ticks(high)
	}
	s.low, s.width = low, high-low+1
	s.aim()
	if c.Strategy == Counter && c.Variance > 0 {
		s.start()
	}
	return s
}

// start lets a counter begin somewhere in an interval, as if it had run for long: the interval
// with a probability that grows with its length, the place uniform in it. So each send is
// sampled with the same probability, one over the mean interval, from the first one on (ours: the
// paper's counter begins at 0, as ours does without a variance).
func (s *sampler) start() {
	for longest := s.low + s.width; s.random.Int64N(longest) > s.target; {
		s.aim()
	}
	s.count = s.random.Int64N(s.target + 1)
}

// aim draws the next target.
func (s *sampler) aim() {
	if s.strategy == Counter || s.strategy == Timer {
		s.target = s.low + s.random.Int64N(s.width)
	}
}

// decide reports whether the send at a tick is sampled.
func (s *sampler) decide(at int64) bool {
	switch s.strategy {
	case Original, Unprofiled:
		return false
	case Random:
		return 1-s.random.Float64() <= s.threshold // 1-[0, 1) is (0, 1]
	case Counter:
		if s.count++; s.count <= s.target {
			return false
		}
		s.count = 0
	default:
		passed := at-s.last > s.target
		if passed || !s.sinceSample {
			s.last = at
		}
		if !passed {
			return false
		}
	}
	s.aim()
	return true
}
