package whatif

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"tracekit/engine"
)

// A Curve is the run time by how much longer messages are on the network (DEFINITIONS 2.11): pieces of lines that follow
// each other. Times are in nanoseconds; x is how much longer a message takes, in ns, or a byte, in ns a byte.
type Curve struct {
	Unit      string      `json:"unit"`        // of x: "ns" or "ns/B"
	RunTime   int64       `json:"run_time_ns"` // at 0
	To        float64     `json:"to"`          // the last x
	Pieces    []Piece     `json:"pieces"`      // by x
	Tolerance []Tolerance `json:"tolerance"`
	// by how much run times may be off, as each message and collective takes whole ticks
	Rounding float64 `json:"rounding_ns"`
	// by how much they may be larger where no break points were looked for; 0: all are found
	Gap         float64 `json:"gap_ns"`
	Replays     int     `json:"replays"`                // that it took
	Collectives uint64  `json:"collectives"`            // of the run: what the shortest of an operation takes stays as it is
	Otherwise   *int64  `json:"otherwise_ns,omitempty"` // run time at to if undecided sends behave the other way
	// of training jobs: types of operations of which some have no size, and stay as they are
	Unsized []string `json:"unsized,omitempty"`
}

// A Piece is where the run time grows evenly: it is Base + Slope · x.
type Piece struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Base  float64 `json:"base_ns"`
	Slope float64 `json:"slope"` // ns by unit of x: of a latency, how many of them the longest path has, else how many bytes

	Messages    uint64 `json:"messages"`    // on the longest path
	Collectives uint64 `json:"collectives"` // on it that the network makes longer
}

// A Tolerance says at which x the run is longer by a share.
type Tolerance struct {
	Share float64  `json:"share"`
	At    *float64 `json:"at"` // null: at none of the curve
}

// shares are those of tolerances.
var shares = [...]float64{0.01, 0.05, 0.10}

// At returns the run time in ns at x, which lies on the curve.
func (c *Curve) At(x float64) float64 {
	i, _ := slices.BinarySearchFunc(c.Pieces, x, func(p Piece, x float64) int { return cmp.Compare(p.To, x) })
	p := &c.Pieces[min(i, len(c.Pieces)-1)]
	return p.Base + p.Slope*x
}

// LatencyCurve returns how the run time grows with the latency of messages, on the network of the changes: until each message
// takes that many ns longer (0: until the run is a tenth longer, if it is before messages take as long as the run).
func (m *Model) LatencyCurve(ctx context.Context, to float64, changes ...Change) (*Curve, error) {
	return m.curve(ctx, &search{unit: "ns", step: 1, most: 1}, to, changes)
}

// byteStep is the distance in ticks a byte between points of a curve of bandwidth.
const byteStep = 1.0 / (1 << 20)

// BandwidthCurve returns how the run time grows with the time that each byte of a message takes, in ns: as LatencyCurve does.
func (m *Model) BandwidthCurve(ctx context.Context, to float64, changes ...Change) (*Curve, error) {
	s := &search{unit: "ns/B", step: byteStep, bytes: true, most: 1}
	for _, f := range m.network.flights {
		if f.kind != atOnce && f.kind != collective && f.bytes < math.MaxInt64 {
			s.most = max(s.most, float64(f.bytes))
		}
	}
	return m.curve(ctx, s, to, changes)
}

// A search finds the pieces of a curve. Points are whole numbers of steps. As the run time is the largest of sums of what grows
// with the network, it is convex: it lies above the line of each point's longest path and below the chord between two points.
type search struct {
	model   *Model
	changes []Change
	unit    string
	step    float64 // in ticks, or ticks a byte
	bytes   bool
	whole   bool    // all slopes are whole numbers: between two that differ by 1 there is none
	most    float64 // bytes of the largest message; of a latency 1
	points  []sample
	replays int
}

// A sample is a point of a curve, with the line of a longest path.
type sample struct {
	x     int64   // steps
	time  int64   // ticks
	slope float64 // ticks a step
	route route
}

// mostReplays bounds what a curve takes; what is not resolved then is told.
const mostReplays = 2048

// wave is how many points are looked at before the next ones are chosen.
const wave = 8

var errOrder = errors.New("the order of receives and a curve cannot be combined, because messages that overtake each other bend it both " +
	"ways")

func (m *Model) curve(ctx context.Context, s *search, to float64, changes []Change) (*Curve, error) {
	one := *m
	one.jobs = 1
	s.model, s.changes = &one, changes
	if slices.ContainsFunc(changes, func(c Change) bool { return c.kind == anyOrder }) {
		return nil, errOrder
	}
	if m.network.hull == nil {
		return nil, errNoNetwork
	}
	if err := s.ends(ctx, to*float64(m.t.Defs.Clock.Resolution)/1e9); err != nil {
		return nil, err
	}
	gap, err := s.refine(ctx, m.jobs)
	if err != nil {
		return nil, err
	}
	return s.result(gap), m.t.Store.Err()
}

// at replays the run with the network x steps slower.
func (s *search) at(ctx context.Context, x int64) (sample, error) {
	p := sample{x: x}
	c := Change{kind: otherNetwork, added: true}
	if s.bytes {
		c.perByte = float64(x) * s.step
	} else {
		c.latency = float64(x) * s.step
	}
	plan, err := s.model.plan(append(slices.Clone(s.changes), c))
	if err != nil {
		return p, err
	}
	in, err := plan.input(ctx, false, true)
	defer in.release()
	if err != nil {
		return p, err
	}
	r, err := s.model.run(ctx, in, true)
	defer r.release()
	if err != nil {
		return p, err
	}
	_, end := r.lastEnd(r.end)
	p.time, p.route = end-s.model.first, r.longest(plan)
	if p.slope = p.route.latencies * s.step; s.bytes {
		p.slope = p.route.bytes * s.step
	}
	return p, nil
}

// add replays the run at some points, several at a time.
func (s *search) add(ctx context.Context, jobs int, xs ...int64) error {
	points, err := engine.Map(ctx, jobs, len(xs), func(ctx context.Context, i int) (sample, error) { return s.at(ctx, xs[i]) })
	if err != nil {
		return err
	}
	s.replays += len(xs)
	s.points = append(s.points, points...)
	slices.SortFunc(s.points, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return nil
}

// ends finds the first and the last point of the curve: the latter is at to ticks, or where the run is longer by the largest of
// shares. From behind that, the lines of points lead to it.
func (s *search) ends(ctx context.Context, to float64) error {
	if err := s.add(ctx, 1, 0); err != nil {
		return err
	}
	first := s.points[0]
	last := max(1, int64(min(float64(first.time)/s.most, mostChange>>4)/s.step))
	if to > 0 {
		last = max(1, int64(math.Round(to/s.step)))
		return s.split(ctx, last)
	}
	target := math.Ceil(float64(first.time) * (1 + shares[len(shares)-1]))
	if first.slope > 0 {
		last = min(last, int64(math.Ceil((target+s.rounded(&first)-float64(first.time))/first.slope)))
	}
	for last > 0 {
		if err := s.add(ctx, 1, last); err != nil {
			return err
		}
		i := slices.IndexFunc(s.points, func(p sample) bool { return p.x == last })
		p := s.points[i]
		if float64(p.time) < target {
			break
		}
		s.points = s.points[:i+1]
		if p.slope <= 0 {
			break
		}
		before := p.x - int64((float64(p.time)-target-s.rounded(&p))/p.slope)
		if before >= last || before <= 0 {
			break
		}
		last = before
	}
	return s.split(ctx, s.points[len(s.points)-1].x)
}

// split ends the curve at a point. It adds those between which the run time is convex: a collective of which no message shows
// how it changes with the network stops growing where it takes what it was recorded with.
func (s *search) split(ctx context.Context, last int64) error {
	plan, err := s.model.plan(s.changes)
	if err != nil {
		return err
	}
	xs := []int64{last}
	s.whole = !s.bytes
	if w := plan.wires; w != nil && w.base != nil {
		s.whole = false
		for i := range s.model.network.flights {
			f := &s.model.network.flights[i]
			if f.kind != collective || s.model.network.wire(f.bytes) > 0 {
				continue
			}
			left, by := float64(f.wire)-w.base(f.bytes)-w.latency-w.perByte*float64(f.bytes), s.step
			if s.bytes {
				by *= float64(f.bytes)
			}
			if x := math.Floor(left / by); x >= 0 && x+1 < float64(last) {
				xs = append(xs, int64(x), int64(x)+1)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.DeleteFunc(slices.Compact(xs), func(x int64) bool {
		return slices.ContainsFunc(s.points, func(p sample) bool { return p.x == x })
	})
	return s.add(ctx, 1, xs...)
}

// line returns the time in ticks on the line of a point.
func (p *sample) line(x float64) float64 { return float64(p.time) + p.slope*(x-float64(p.x)) }

// rounded returns how many times are rounded on the path of a point.
func (s *search) rounded(p *sample) float64 {
	if s.bytes {
		return float64(p.route.rounded[1])
	}
	return float64(p.route.rounded[0])
}

// open says where between two points the line of the first one crosses that of the second, and by how many ticks the run time
// may be larger there; 0 if it cannot be.
func (s *search) open(a, b *sample) (x, gap float64) {
	slack := (s.rounded(a) + s.rounded(b)) / 2
	over, under := float64(b.time)-a.line(float64(b.x)), float64(a.time)-b.line(float64(a.x))
	const least = 1e-3 // ticks, for sums of slopes that are no whole numbers
	switch {
	case math.Abs(over) <= slack+least && math.Abs(over) <= math.Abs(under): // the first line leads to the second point
		return float64(b.x), 0
	case math.Abs(under) <= slack+least:
		return float64(a.x), 0
	case b.slope <= a.slope || over < 0 || under < 0: // not convex
		x, gap = float64(a.x+b.x)/2, math.Abs(over)
	default:
		x = float64(a.x) + under/(b.slope-a.slope)
		share := (x - float64(a.x)) / float64(b.x-a.x)
		gap = float64(a.time)*(1-share) + float64(b.time)*share - a.line(x)
	}
	if b.x-a.x <= 1 || gap < 1+slack || s.whole && b.slope-a.slope <= 1 {
		return x, 0
	}
	return x, gap
}

// refine replays the run where lines cross until these are the curve, and returns by how many ticks it may be larger elsewhere.
func (s *search) refine(ctx context.Context, jobs int) (float64, error) {
	for {
		type crossing struct {
			x   int64
			gap float64
		}
		var open []crossing
		for i := 1; i < len(s.points); i++ {
			a, b := &s.points[i-1], &s.points[i]
			if x, gap := s.open(a, b); gap > 0 {
				open = append(open, crossing{min(max(int64(x), a.x+1), b.x-1), gap})
			}
		}
		if open == nil {
			return 0, nil
		}
		slices.SortStableFunc(open, func(a, b crossing) int { return cmp.Compare(b.gap, a.gap) })
		if s.replays >= mostReplays {
			return open[0].gap, nil
		}
		var xs []int64
		for _, c := range open[:min(wave, len(open))] {
			xs = append(xs, c.x)
		}
		if err := s.add(ctx, jobs, xs...); err != nil {
			return 0, err
		}
	}
}

// result makes the curve of the lines.
func (s *search) result(gap float64) *Curve {
	ns := 1e9 / float64(s.model.t.Defs.Clock.Resolution)
	x := func(steps float64) float64 { return steps * s.step * ns }
	first, last := &s.points[0], &s.points[len(s.points)-1]
	c := &Curve{Unit: s.unit, RunTime: s.model.ns(first.time), To: x(float64(last.x)), Gap: gap * ns, Replays: s.replays,
		Collectives: uint64(s.model.t.Collectives.Len())}
	piece := func(p *sample, from, to float64) {
		c.Rounding = max(c.Rounding, 2*s.rounded(p)*ns) // in the replay, and in that of the line
		if n := len(c.Pieces); from >= to {
			return
		} else if n > 0 && c.Pieces[n-1].Slope == p.slope/s.step {
			c.Pieces[n-1].To = x(to)
			return
		}
		c.Pieces = append(c.Pieces, Piece{From: x(from), To: x(to), Base: p.line(0) * ns, Slope: p.slope / s.step,
			Messages: p.route.messages, Collectives: p.route.collectives})
	}
	for i := 1; i < len(s.points); i++ {
		a, b := &s.points[i-1], &s.points[i]
		at, _ := s.open(a, b)
		at = min(max(at, float64(a.x)), float64(b.x))
		piece(a, float64(a.x), at)
		piece(b, at, float64(b.x))
	}
	c.Tolerate(float64(first.time) * ns)
	return c
}

// Tolerate finds at which x a run is longer than at 0, which is a time in ns.
func (c *Curve) Tolerate(runTime float64) {
	for _, share := range shares {
		c.Tolerance = append(c.Tolerance, Tolerance{share, c.reaches(runTime * (1 + share))})
	}
}

// reaches returns the first x at which a run takes so long, in ns; nil if there is none.
func (c *Curve) reaches(runTime float64) *float64 {
	for i := range c.Pieces {
		p := &c.Pieces[i]
		if p.Base+p.Slope*p.To >= runTime && p.Slope > 0 {
			x := max(p.From, (runTime-p.Base)/p.Slope)
			return &x
		}
	}
	return nil
}

// release gives the memory of the waits back.
func (r *replay) release() {
	if r == nil {
		return
	}
	for _, w := range r.waits {
		w.Release()
	}
}
