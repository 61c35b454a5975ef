package stragglers

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A Line is where the time of all steps grows evenly with x, from From to To: it is Base + Slope·x. Each message and collective, or each
// byte of it, takes x ns longer. Slope is how many of these are on the longest paths; Messages how many messages and collectives.
type Line struct{ From, To, Base, Slope, Messages float64 }

// mostLines bounds the replays of a curve.
const mostLines = 2048

// Latency returns how the time of all steps grows with latency, up to a latency in ns; 0: until it is a tenth longer, if communication
// makes it so. It is exact, and the lines follow each other.
func (m *Model) Latency(to float64, c Change) (lines []Line, replays int) {
	return m.curve(to, c, func(*replayer, int, int) float64 { return 1 })
}

// Bandwidth returns how the time of all steps grows with the time that each byte takes, in ns, as Latency does. What has no size takes
// what it takes. The error is that of Sized.
func (m *Model) Bandwidth(to float64, c Change) (lines []Line, replays int, err error) {
	if _, err := m.Sized(); err != nil {
		return nil, 0, err
	}
	lines, replays = m.curve(to, c, (*replayer).size)
	return lines, replays, nil
}

// ErrNoSizes says that sizes of messages and collectives are not recorded.
var ErrNoSizes = errors.New("no message and no collective has a size: the column bytes of a table, or number and type of elements in a " +
	"profile")

// Sized returns the types of messages and collectives of which some have no size. The error is ErrNoSizes if none has one.
func (m *Model) Sized() (without []string, err error) {
	r, any := m.r, false
	for n, is := range r.joint {
		if !is {
			continue
		}
		for s := range r.took {
			if r.bytes[s][n] >= 0 {
				any = true
			} else if name := r.kind[n].shown(); !slices.Contains(without, name) {
				without = append(without, name)
			}
		}
	}
	slices.Sort(without)
	if len(without) > 0 && !any {
		return nil, ErrNoSizes
	}
	return without, nil
}

func (m *Model) curve(to float64, c Change, grows func(r *replayer, step, n int) float64) (lines []Line, replays int) {
	r, keep := m.changed(c)
	n := len(r.kind)
	s := &stretcher{run: r.newRun(), kept: r.kept(keep), grows: grows, growth: make([]float64, n), messages: make([]float64, n)}
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
	n = 0
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

// A stretcher replays steps on a slower network.
//
//	grows says how much longer a communication is for each unit of x
//	growth[n] is how much longer the longest path to the end of node n is, messages[n] how many messages and collectives it has
type stretcher struct {
	*run
	kept             []bool
	grows            func(r *replayer, step, n int) float64
	growth, messages []float64
	replays          int
}

// at returns the line of the longest paths at an x.
func (s *stretcher) at(x float64) (l Line) {
	s.replays++
	for step := range s.took {
		took := s.taken(step, s.kept)
		length, growth, messages := 0.0, 0.0, 0.0
		for _, unit := range s.units {
			latest, most, count := 0.0, 0.0, 0.0
			for _, i := range unit {
				for _, k := range s.follows[i] {
					if s.ends[k] > latest || s.ends[k] == latest && s.growth[k] > most {
						latest, most, count = s.ends[k], s.growth[k], s.messages[k]
					}
				}
			}
			for _, i := range unit {
				s.ends[i], s.growth[i], s.messages[i] = latest+took[i], most, count
				if s.joint[i] {
					by := s.grows(s.replayer, step, int(i))
					s.ends[i], s.growth[i], s.messages[i] = latest+took[i]+by*x, most+by, count+1
				}
			}
		}
		for _, i := range s.final {
			if s.ends[i] > length || s.ends[i] == length && s.growth[i] > growth {
				length, growth, messages = s.ends[i], s.growth[i], s.messages[i]
			}
		}
		l.Base, l.Slope, l.Messages = l.Base+length-growth*x, l.Slope+growth, l.Messages+messages
	}
	return l
}

// between returns the lines between two x, from those of these.
func (s *stretcher) between(a, b Line, from, to float64) []Line {
	line := func(l Line, from, to float64) Line { return Line{from, to, l.Base, l.Slope, l.Messages} }
	if b.Slope <= a.Slope || s.replays >= mostLines {
		return []Line{line(a, from, to)}
	}
	x := (a.Base - b.Base) / (b.Slope - a.Slope)
	if x <= from || x >= to {
		if x <= from {
			a = b
		}
		return []Line{line(a, from, to)}
	}
	if c := s.at(x); c.at(x) > a.at(x)+1e-3 {
		return append(s.between(a, c, from, x), s.between(c, b, x, to)...)
	}
	return []Line{line(a, from, x), line(b, x, to)}
}
