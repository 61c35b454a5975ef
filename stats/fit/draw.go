package fit

import (
	"math/rand/v2"
	"slices"
)

// mostDraws is how often calls are drawn from a sample at most.
const mostDraws = 20

// fitDrawn fits o.Draw calls of the sample, and others if no law is accepted. The result is about the calls that were drawn last; Over and
// Overhead are about all.
func fitDrawn(s *Sample, o Options) (r Result) {
	random, n := rand.New(rand.NewPCG(o.Seed, uint64(s.Len()))), o.Draw
	o.Draw = 0
	for draws := 1; draws <= mostDraws && r.From != FromLaw; draws++ {
		r = Fit(s.draw(n, random), o)
		r.Draws = draws
		if r.From == FromEqual {
			break // others may differ, but by calls that are rare
		}
	}
	r.Over, r.Overhead = s.Above(r.TMax)
	return r
}

// draw returns n of the calls of a larger sample; any n are as likely.
func (s *Sample) draw(n int, random *rand.Rand) *Sample {
	s.settle()
	chosen := make(map[int64]bool, n) // positions in the order of durations, by Floyd's method
	for last := s.n - int64(n); last < s.n; last++ {
		if at := random.Int64N(last + 1); !chosen[at] {
			chosen[at] = true
		} else {
			chosen[last] = true
		}
	}
	places := make([]int64, 0, n)
	for at := range chosen {
		places = append(places, at)
	}
	slices.Sort(places)
	out, run, before := &Sample{Limit: s.Limit, Class: s.Class}, 0, int64(0)
	for _, at := range places {
		for before+s.runs[run].n <= at {
			before += s.runs[run].n
			run++
		}
		out.Add(s.clamp(s.runs[run].t))
	}
	return out
}
