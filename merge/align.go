package merge

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/trace"
)

// Clocks of hosts that nobody has measured are found by what must happen together (DEFINITIONS 2.7): the members of an operation in
// which all need data of all leave it at once, up to jitter; a message is received after it is sent.

// A pair is two clocks, the one of the lower number first.
type pair struct{ a, b int32 }

// A sight says that clock a showed a time when clock b showed another one. Both count from the first event of the trace.
type sight struct{ a, b float64 }

// sightings are what is known of a pair of clocks. Of more than sights not all are kept: every stride-th is.
//
//	forth and back are the least times of messages from a to b and from b to a, by the two clocks
type sightings struct {
	seen          []sight
	stride, count int
	forth, back   float64
}

const mostSights = 4096

func newSightings() *sightings { return &sightings{stride: 1, forth: math.Inf(1), back: math.Inf(1)} }

func (s *sightings) add(v sight) {
	if s.count%s.stride == 0 {
		if len(s.seen) == mostSights {
			kept := s.seen[:0]
			for i := 0; i < mostSights; i += 2 {
				kept = append(kept, s.seen[i])
			}
			s.seen = kept
			s.stride *= 2 // which divides count, as mostSights is even
		}
		s.seen = append(s.seen, v)
	}
	s.count++
}

// A line makes times of one clock those of another: offset + slope·time.
type line struct{ offset, slope float64 }

func (l line) at(t float64) float64 { return l.offset + l.slope*t }

// then returns what first does l and then m.
func (l line) then(m line) line { return line{m.at(l.offset), l.slope * m.slope} }

// plausible reports whether a clock may be so fast or slow. One that stands still gives a line whose inverse is not finite.
func (l line) plausible() bool { return l.slope > 0.5 && l.slope < 2 }

func (l line) inverse() line { return line{-l.offset / l.slope, 1 / l.slope} }

// A link makes times of clock b those of clock a, but for a bound, where they are linked by operations in which all leave together, or
// by messages both ways.
type link struct {
	pair
	line
	bound    float64
	messages bool
}

// aligner finds the clocks of a trace.
type aligner struct {
	trace  *trace.Trace
	clock  []int32 // by location
	clocks int
	base   int64
	pairs  map[pair]*sightings
}

// align returns maps that make the times of all clocks those of the first one, as far as they are linked to it, and what was found. It
// returns nil if there are no links.
func align(ctx context.Context, t *trace.Trace, operations steps) ([]trace.ClockMap, *trace.Alignment, error) {
	a := &aligner{trace: t, pairs: make(map[pair]*sightings), base: math.MaxInt64}
	number := make(map[uint64]int32)
	for l, host := range hostClocks(t.Defs) {
		if t.Span[l].Events > 0 {
			a.base = min(a.base, t.Span[l].First)
		}
		n, known := number[host]
		if !known {
			n = int32(len(number))
			number[host] = n
		}
		a.clock = append(a.clock, n)
	}
	a.clocks = len(number)
	a.collectives()
	operations.each(func(parts steps) {
		var ends []clockEnd
		for _, p := range parts {
			ends = append(ends, clockEnd{a.clock[p.location], p.end})
		}
		a.left(ends)
	})
	if err := a.messages(ctx); err != nil {
		return nil, nil, err
	}
	return a.solve()
}

func (a *aligner) sightings(p pair) *sightings {
	s := a.pairs[p]
	if s == nil {
		s = newSightings()
		a.pairs[p] = s
	}
	return s
}

func (a *aligner) since(t int64) float64 { return float64(t - a.base) }

// A clockEnd is when a member leaves, by its clock.
type clockEnd struct {
	clock int32
	end   int64
}

// collectives takes the ends of operations of which all members need data of all: those of each clock's first member.
func (a *aligner) collectives() {
	t := a.trace
	var ends []clockEnd
	for i := range t.Collectives.Len() {
		row := t.Collectives.Ptr(i)
		p := row.Op.Pattern()
		if !binding(row) || p != trace.PatternBarrier && p != trace.PatternAllToAll {
			continue
		}
		ends = ends[:0]
		for k := range int(row.Count) {
			m := t.Members.Ptr(int(row.First) + k)
			if !takes(row, m) || !gives(row, m) {
				continue
			}
			ends = append(ends, clockEnd{a.clock[m.Location], m.End})
		}
		a.left(ends)
	}
}

// left takes when the members of an operation left it, which they did together.
func (a *aligner) left(ends []clockEnd) {
	slices.SortStableFunc(ends, func(x, y clockEnd) int { return cmp.Compare(x.clock, y.clock) })
	for k := 1; k < len(ends); k++ {
		if ends[k].clock != ends[k-1].clock {
			a.sightings(pair{ends[0].clock, ends[k].clock}).add(sight{a.since(ends[0].end), a.since(ends[k].end)})
		}
	}
}

// messages takes the least time of messages between clocks, each way.
func (a *aligner) messages(ctx context.Context) error {
	t := a.trace
	for l := range t.Recvs {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := a.clock[l]
		for _, rows := range t.Recvs[l].Rows {
			for i := range rows {
				r := &rows[i]
				if r.State != trace.Matched || a.clock[r.SendLoc] == to {
					continue
				}
				took := float64(r.Time - t.Sends[r.SendLoc].Ptr(int(r.Send)).Time)
				if from := a.clock[r.SendLoc]; from < to {
					s := a.sightings(pair{from, to})
					s.forth = min(s.forth, took)
				} else {
					s := a.sightings(pair{to, from})
					s.back = min(s.back, took)
				}
			}
		}
	}
	return nil
}

// solve links the clocks to the first one, the best links first, and makes maps.
func (a *aligner) solve() ([]trace.ClockMap, *trace.Alignment, error) {
	var links []link
	for p, s := range a.pairs {
		if l, ok := s.link(p); ok {
			links = append(links, l)
		}
	}
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(boolCompare(x.messages, y.messages), cmp.Compare(x.bound, y.bound), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	tree := make([]int32, a.clocks)
	for i := range tree {
		tree[i] = int32(i)
	}
	root := func(i int32) int32 {
		for tree[i] != i {
			tree[i] = tree[tree[i]]
			i = tree[i]
		}
		return i
	}
	linked := make(map[int32][]link) // by clock, both ways
	for _, l := range links {
		if x, y := root(l.a), root(l.b); x != y {
			tree[y] = x
			linked[l.a] = append(linked[l.a], l)
			linked[l.b] = append(linked[l.b], l)
		}
	}
	if len(linked) == 0 {
		return nil, nil, nil
	}
	lines, bounds := make([]line, a.clocks), make([]float64, a.clocks)
	done, ranked := make([]bool, a.clocks), make([]bool, a.clocks)
	for l, c := range a.clock {
		ranked[c] = ranked[c] || a.trace.Rank[l] != trace.None
	}
	found := &trace.Alignment{Bounds: make([]int64, len(a.clock))}
	for c := range lines {
		if done[c] {
			continue
		}
		lines[c], done[c] = line{0, 1}, true
		if ranked[c] {
			found.Clocks++
		}
		if c > 0 && ranked[c] {
			found.Unlinked++
		}
		for next := []int32{int32(c)}; len(next) > 0; next = next[1:] {
			at := next[0]
			for _, l := range linked[at] {
				other, to := l.b, l.line // makes times of b those of a
				if other == at {
					other, to = l.a, l.line.inverse()
				}
				if done[other] {
					continue
				}
				if ranked[other] {
					found.Clocks++
				}
				lines[other], bounds[other], done[other] = to.then(lines[at]), bounds[at]+l.bound, true
				next = append(next, other)
			}
		}
	}
	return a.maps(lines, bounds, found), found, nil
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// maps makes maps of lines: two offsets each, at the first and the last event of a clock.
func (a *aligner) maps(lines []line, bounds []float64, found *trace.Alignment) []trace.ClockMap {
	t := a.trace
	first, last := slices.Repeat([]int64{math.MaxInt64}, a.clocks), slices.Repeat([]int64{math.MinInt64}, a.clocks)
	for l, c := range a.clock {
		if t.Span[l].Events > 0 {
			first[c], last[c] = min(first[c], t.Span[l].First), max(last[c], t.Span[l].Last)
		}
	}
	maps := make([]trace.ClockMap, len(a.clock))
	for l, c := range a.clock {
		found.Bounds[l] = int64(math.Ceil(bounds[c]))
		found.MaxBound = max(found.MaxBound, found.Bounds[l])
		if first[c] >= last[c] || lines[c] == (line{0, 1}) || !lines[c].plausible() {
			continue
		}
		offset := func(at int64) int64 { return int64(math.Round(lines[c].at(a.since(at)) - a.since(at))) }
		maps[l].Offsets = []trace.ClockOffset{{Time: first[c], Offset: offset(first[c])}, {Time: last[c], Offset: offset(last[c])}}
		if firstReversal(maps[l].Offsets) > 0 {
			maps[l].Offsets = nil
			continue
		}
		found.MaxOffset = max(found.MaxOffset, abs(maps[l].Offsets[0].Offset), abs(maps[l].Offsets[1].Offset))
		found.MaxDrift = max(found.MaxDrift, math.Abs(lines[c].slope-1)*1e6)
	}
	return maps
}

func abs(v int64) int64 { return max(v, -v) }

// link finds how two clocks differ: by a line through what was seen of both, whose slope is that of pairs half of them apart, the median
// of all; where nothing is seen together, by the middle of what messages both ways allow.
func (s *sightings) link(p pair) (link, bool) {
	if len(s.seen) == 0 {
		if math.IsInf(s.forth, 1) || math.IsInf(s.back, 1) {
			return link{}, false
		}
		// received b + offset ≥ sent a, so offset ≥ -forth; and offset ≤ back
		return link{p, line{(s.back - s.forth) / 2, 1}, math.Abs(s.forth+s.back) / 2, true}, true
	}
	slices.SortFunc(s.seen, func(x, y sight) int { return cmp.Or(cmp.Compare(x.b, y.b), cmp.Compare(x.a, y.a)) })
	n, found := len(s.seen), s.through(0)
	sure := mostWrong * middleError / math.Sqrt(float64(n))
	if half := n / 2; half >= 4 {
		var slopes []float64
		for i := range half {
			x, y := s.seen[i], s.seen[n-half+i]
			if y.b > x.b {
				slopes = append(slopes, (y.a-x.a)/(y.b-x.b)-1)
			}
		}
		if len(slopes) > 0 {
			bent := s.through(middle(slopes))
			rise, wrong := math.Abs(bent.slope-1)*(s.seen[n-1].b-s.seen[0].b), mostWrong*riseError*s.spread(bent, 0.5)/math.Sqrt(float64(half))
			if rise > wrong { // less may be by chance
				found, sure = bent, sure+mostWrong*riseError/2/math.Sqrt(float64(half))
			}
		}
	}
	const most = 0.95
	return link{p, found, max(1, s.spread(found, most)+sure*s.spread(found, 0.5)), false}, true
}

// Standard errors, in units of the median distance from the line ÷ √n: of a median of n, and of what a line through two halves of n each
// rises from the first to the last; and by how many standard errors they may be wrong.
const (
	middleError = 1.2533 * 1.4826
	riseError   = 1.2533 * 1.4826 * 2 * math.Sqrt2
	mostWrong   = 4
)

// through returns the line of a drift through the middle of what was seen.
func (s *sightings) through(drift float64) line {
	rest := make([]float64, len(s.seen))
	for i, v := range s.seen {
		rest[i] = v.a - (1+drift)*v.b
	}
	return line{middle(rest), 1 + drift}
}

// spread returns how far from a line this share of what was seen lies at most.
func (s *sightings) spread(l line, share float64) float64 {
	away := make([]float64, len(s.seen))
	for i, v := range s.seen {
		away[i] = math.Abs(v.a - l.at(v.b))
	}
	slices.Sort(away)
	return away[min(len(away)-1, int(share*float64(len(away))))]
}

// middle returns the median of values, which it sorts.
func middle(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// aligned finds the clocks by what happens together where that is asked for, or where clocks that nobody has measured contradict each
// other, and uses them if less runs backwards then.
func (c *clockwork) aligned(ctx context.Context, base census) (census, error) {
	t := c.trace
	about := t.Source.Info()
	apart := t.Defs.IsTraining() || about.Properties[trace.PropertyFileClocks] == "true" // the clocks, as far as is known
	hosts := !c.changes && !about.Reconstructed() && about.Properties[trace.PropertyCorrected] != "true"
	if !c.opts.Together && !(c.opts.Clock.auto() && (apart || hosts)) {
		return base, nil
	}
	operations, err := stepsOf(ctx, t, c.opts.Jobs)
	if err != nil {
		return base, err
	}
	before := base.total() + operations.backwards(asRecorded)
	if !c.opts.Together && before == 0 {
		return base, nil
	}
	maps, found, err := align(ctx, t, operations)
	if err != nil || found == nil {
		return base, err
	}
	at := func(l trace.LocationID, at int64) int64 { return trace.CorrectOffset(maps[l].Offsets, at) }
	left, err := violations(ctx, t, at, c.opts.MinLatency, c.opts.Jobs, nil)
	found.Before, found.Left = before, left.total()+operations.backwards(at)
	if err != nil || !c.opts.Together && (found.Left >= before || !apart && (before < leastBackwards || found.MaxOffset <= found.MaxBound)) {
		return base, err
	}
	t.Clock.Method, t.Clock.Maps, t.Clock.Alignment = trace.ClockTogether, maps, found
	startAxis(t, at)
	return left, nil
}

// leastBackwards is how much must run backwards at least, so that clocks count as different that nobody says are: less tells no clock from
// a single late record.
const leastBackwards = 8

// startAxis lets time zero be the first event by aligned clocks if it was the first recorded one: the clock of that may be wrong by hours.
func startAxis(t *trace.Trace, at timing) {
	recorded, aligned := int64(math.MaxInt64), int64(math.MaxInt64)
	for l, s := range t.Span {
		if s.Events > 0 {
			recorded, aligned = min(recorded, s.First), min(aligned, at(trace.LocationID(l), s.First))
		}
	}
	if recorded != t.Defs.Clock.GlobalOffset || aligned == recorded {
		return
	}
	d := *t.Defs
	c := &d.Clock
	if ns := c.Nanoseconds(aligned - recorded); c.Realtime != math.MaxUint64 {
		c.Realtime += uint64(ns) // modulo 2^64: so an earlier time is one, too
	}
	end := recorded + int64(min(c.Length, math.MaxInt64))
	c.GlobalOffset, c.Length = aligned, uint64(max(end, aligned)-aligned)
	t.Defs = &d
}
