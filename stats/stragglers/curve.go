package stragglers

import (
	"cmp"
	"math"
	"slices"
)

// A Line is where the time of all steps grows evenly with how much longer, x ns, each message and each collective takes: it is
// Base + Slope·x, from From to To. Slope is how many of them are on the longest paths.
type Line struct{ From, To, Base, Slope float64 }

// mostLines bounds the replays of a curve.
const mostLines = 2048

// Latency returns how the time of all steps grows with latency, up to a latency in ns; 0: until it is a tenth longer, if communication
// makes it so. It is exact, and the lines follow each other.
func (m *Model) Latency(to float64, c Change) (lines []Line, replays int) {
	r, keep := m.changed(c)
	s := &stretcher{replayer: r, keep: keep, latencies: make([]float64, len(r.kind))}
	first := s.at(0)
	if to <= 0 {
		to = 1
		if first.Slope > 0 {
			to = 0.1 * first.Base / first.Slope // the curve is convex: it is a tenth higher at the latest there
			for s.at(to).at(to) < 1.1*first.Base*(1-1e-12) {
				to *= 2
			}
		}
	}
	lines = s.between(first, s.at(to), 0, to)
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.From, b.From) })
	n := 0
	for _, l := range lines {
		if n > 0 && l.Slope == lines[n-1].Slope && math.Abs(l.Base-lines[n-1].Base) < 1 {
			lines[n-1].To = l.To
			continue
		}
		lines[n] = l
		n++
	}
	return lines[:n], s.replays
}

func (l Line) at(x float64) float64 { return l.Base + l.Slope*x }

// A stretcher replays steps with a latency.
//
//	latencies[n] is how many latencies the longest path to the end of node n has
type stretcher struct {
	*replayer
	keep      func(n int) bool
	latencies []float64
	replays   int
}

// at returns the line of the longest paths at a latency.
func (s *stretcher) at(x float64) (l Line) {
	s.replays++
	for _, took := range s.taken(s.keep) {
		length, count := 0.0, 0.0
		for _, unit := range s.units {
			latest, most := 0.0, 0.0
			for _, i := range unit {
				for _, k := range s.follows[i] {
					if s.ends[k] > latest || s.ends[k] == latest && s.latencies[k] > most {
						latest, most = s.ends[k], s.latencies[k]
					}
				}
			}
			for _, i := range unit {
				s.ends[i], s.latencies[i] = latest+took[i], most
				if len(unit) > 1 && !s.kind[i].computes() {
					s.ends[i], s.latencies[i] = latest+took[i]+x, most+1
				}
			}
		}
		for _, i := range s.final {
			if s.ends[i] > length || s.ends[i] == length && s.latencies[i] > count {
				length, count = s.ends[i], s.latencies[i]
			}
		}
		l.Base, l.Slope = l.Base+length-count*x, l.Slope+count
	}
	return l
}

// between returns the lines between two latencies, from those of these.
func (s *stretcher) between(a, b Line, from, to float64) []Line {
	if b.Slope <= a.Slope || s.replays >= mostLines {
		return []Line{{from, to, a.Base, a.Slope}}
	}
	x := (a.Base - b.Base) / (b.Slope - a.Slope)
	if x <= from || x >= to {
		if x <= from {
			a = b
		}
		return []Line{{from, to, a.Base, a.Slope}}
	}
	if c := s.at(x); c.at(x) > a.at(x)+1e-3 {
		return append(s.between(a, c, from, x), s.between(c, b, x, to)...)
	}
	return []Line{{from, x, a.Base, a.Slope}, {x, to, b.Base, b.Slope}}
}
