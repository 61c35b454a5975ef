package pattern

import (
	"context"
	"math"

	"tracekit/engine"
	"tracekit/formulae/partners"
	"tracekit/spill"
	"tracekit/trace"
)

// Repeats says what was cut of a trace, and how it is made again of what is left: it travels
// with the reduced trace, in its property trace.PropertyRepeats.
//
// Cut intervals lie in runs. Each is given back as its model: the first kept interval with the
// same records in the same order, at the mean times of all such intervals of the run.
//
//	sum of Runs == len(Which) == number of cut intervals
//	Times of a master location: for each run when every Stride-th of its intervals begins,
//	and when the last one ends; those between lie evenly
type Repeats struct {
	Clock     trace.ClockProperties // of which Resolution and GlobalOffset are kept: those of all times
	Intervals int                   // of each rank, before the cut
	Events    uint64                // that were cut
	Alike     Alike                 // by which they are instances of a pattern
	Runs      []int                 // number of intervals in each
	Which     []int                 // variant of each cut interval, run after run
	Variants  int                   //
	Stride    int                   // 1, but for very many intervals or with laws
	Laws      *Laws                 // in place of times; nil: those that were recorded
	Locations []Location
}

// A Location is where a location's intervals are kept, and where runs were cut.
type Location struct {
	Kept   []Kept   // models, in order; none: nothing of the location is cut
	Models []int    // of each variant: the position in Kept
	At     []uint64 // by run: the record of the reduced trace that comes behind it
	Times  []int64  // run after run; nil: those of Master
	Own    []Law    // of a master, by variant: how long an interval lasts without waits; nil without laws
	Ends   []int64  // of a master with laws: when each run begins and ends
	// Master is the location in whose intervals this one is cut: itself, or its rank's first.
	Master trace.LocationID
}

// A Kept is an interval of the reduced trace: the records First <= seq < First+Events, from the time Begin to End. Gaps are the mean times
// between its beginning, its records and its end, in 1/gapUnit ticks. Means are over all intervals of the full trace with these records.
// With laws those of a master leave out what calls wait for partners.
//
//	len(Gaps) == Events+1
type Kept struct {
	First, Events uint64
	Begin, End    int64
	Gaps          []uint64
}

const gapUnit = 16

// mostTimes is how many times are described, over all ranks, or twice as many.
const mostTimes = 1 << 22

// repeats describes what a plan cuts, with all times. For laws it measures what does not wait; untimed is nil for exact times.
func (p *plan) repeats(ctx context.Context, f *finder) (out *Repeats, untimed []unwaited, err error) {
	d := p.division
	out = &Repeats{Intervals: d.n, Events: p.events, Alike: f.opts.Alike, Locations: make([]Location, len(d.starts))}
	out.Clock.Resolution, out.Clock.GlobalOffset = f.t.Defs.Clock.Resolution, f.t.Defs.Clock.GlobalOffset
	first := p.variants(out)
	for out.Stride = 1; len(out.Which)/out.Stride*f.count > mostTimes; {
		out.Stride *= 2
	}
	var releases *partners.Releases
	if f.opts.Times != ExactTimes {
		if releases, err = partners.Find(ctx, f.t, f.shared.ranks, 0, f.opts.Jobs); err != nil {
			return nil, nil, err
		}
		defer releases.Release()
		untimed = make([]unwaited, len(d.starts))
	}
	_, err = engine.Each(ctx, f.t.Source, f.run(), func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
		if d.starts[l] == nil {
			return struct{}{}, nil
		}
		x := &out.Locations[l]
		m := &measure{starts: d.starts[l], n: d.n, kept: p.location(l, x, out.Stride, first), one: f.opts.Alike == ByDistance}
		if releases != nil && x.Master == l {
			m.releases, m.clock, m.own = releases.Cursor(l), &f.t.Clock.Maps[l], spill.NewTable[int64](f.t.Store)
			untimed[l].own = m.own
		}
		if err := m.run(batches); err != nil {
			return struct{}{}, err
		}
		for i := range x.Kept {
			n := int(x.Kept[i].Events) + 1
			x.Kept[i].Gaps = m.sums[i].mean(n, func(g gap) uint64 { return g.ticks })
			if m.own != nil {
				untimed[l].gaps = append(untimed[l].gaps, m.sums[i].mean(n, func(g gap) uint64 { return g.own }))
			}
		}
		return struct{}{}, nil
	})
	return out, untimed, err
}

// An unwaited is what the intervals of a master last without waits.
type unwaited struct {
	own  *spill.Table[int64] // each interval
	gaps [][]uint64          // means by position in Kept, as Kept.Gaps
}

// variants notes which of the orders of what is cut is that of each interval, and returns an
// interval of each.
func (p *plan) variants(out *Repeats) (first []int) {
	variant := make(map[uint64]int)
	for _, r := range p.runs {
		out.Runs = append(out.Runs, r.end-r.first)
		for k := r.first; k < r.end; k++ {
			v, known := variant[p.order[k]]
			if !known {
				v = len(first)
				variant[p.order[k]] = v
				first = append(first, k)
			}
			out.Which = append(out.Which, v)
		}
	}
	out.Variants = len(first)
	return first
}

// location describes what is cut of a location, and returns the models by order.
func (p *plan) location(l trace.LocationID, x *Location, stride int, first []int) map[uint64]int {
	d := p.division
	s := d.starts[l]
	x.Master = d.master[l]
	model := make(map[uint64]int) // by order; -1 before there is one
	for _, k := range first {
		model[s.Ptr(k).order] = -1
	}
	runs, gone := p.runs, uint64(0) // what is cut before an interval
	for k := range d.n {
		for len(runs) > 0 && runs[0].end <= k {
			runs = runs[1:]
		}
		if len(runs) > 0 && k == runs[0].first {
			a, b := s.Ptr(k).first, s.Ptr(runs[0].end).first
			x.At = append(x.At, a-gone)
			gone += b - a
		}
		if len(runs) > 0 && k >= runs[0].first {
			continue
		}
		a, b := s.At(k), s.At(k+1)
		if at, wanted := model[a.order]; wanted && at < 0 {
			model[a.order] = len(x.Kept)
			x.Kept = append(x.Kept, Kept{First: a.first - gone, Events: b.first - a.first, Begin: a.time, End: b.time})
		}
	}
	for _, k := range first {
		x.Models = append(x.Models, model[s.Ptr(k).order])
	}
	if x.Master != l {
		return model
	}
	for _, r := range p.runs {
		for k := r.first; k < r.end; k += stride {
			x.Times = append(x.Times, s.Ptr(k).time)
		}
		x.Times = append(x.Times, s.Ptr(r.end).time)
	}
	return model
}

// A measure adds up the times between the records of a location's intervals, for those whose
// order is that of a model.
type measure struct {
	starts *spill.Table[start]
	n      int
	kept   map[uint64]int // model by order
	one    bool           // intervals of a pattern may have other records: models stand for themselves
	sums   map[int]*gapSum

	releases *partners.Cursor // nil: waits are not asked for
	clock    *trace.ClockMap
	own      *spill.Table[int64] // of each interval that ended
	until    int64               // the call that goes on waits until then
	total    int64               // of the interval without waits

	interval int // that goes on, from 1
	sum      *gapSum
	last     int64
	i        int
}

// A gapSum sums the times before each record of an interval, and before its end.
type gapSum struct {
	gaps  []gap
	count uint64
}

// A gap is a time, and what of it is no wait.
type gap struct{ ticks, own uint64 }

func (m *measure) run(batches engine.Batches) error {
	m.sums = make(map[int]*gapSum)
	for b, err := range batches {
		if err != nil {
			return err
		}
		for seq, row := range b.Events {
			m.pass(seq)
			if m.sum == nil && m.own == nil {
				continue
			}
			kind := trace.KindUnknown
			if m.own != nil {
				kind = kindOf(b, row)
			}
			m.add(b.Time(row), partners.Completes(kind))
			if kind.Enters() {
				if until, ok := m.releases.Of(seq); ok && until > math.MinInt64 {
					m.until = until
				}
			}
		}
	}
	m.pass(math.MaxUint64)
	return nil
}

// pass begins the intervals that begin with a record or before.
func (m *measure) pass(seq uint64) {
	for m.interval <= m.n && m.starts.Ptr(m.interval).first <= seq {
		s := m.starts.Ptr(m.interval)
		m.add(s.time, false)
		if m.sum != nil {
			m.sum.count++
		}
		if m.own != nil && m.interval > 0 {
			m.own.Append(m.total)
		}
		m.sum, m.last, m.i, m.total, m.until = nil, s.time, 0, 0, math.MinInt64
		if at, wanted := m.kept[s.order]; wanted && m.interval < m.n && (!m.one || m.sums[at] == nil) {
			if m.sums[at] == nil {
				m.sums[at] = new(gapSum)
			}
			m.sum = m.sums[at]
		}
		m.interval++
	}
}

// add adds the time up to a record, which may complete what its call waits for.
func (m *measure) add(t int64, completes bool) {
	ticks := max(t-m.last, 0)
	own := ticks
	if completes && m.until > math.MinInt64 {
		begin := m.clock.At(m.last)
		own -= min(max(m.until-begin, 0), max(m.clock.At(t)-begin, 0), ticks)
		m.until = math.MinInt64
	}
	m.total += own
	m.last = max(m.last, t)
	if m.sum == nil {
		return
	}
	if m.i == len(m.sum.gaps) {
		m.sum.gaps = append(m.sum.gaps, gap{})
	}
	m.sum.gaps[m.i].ticks += uint64(ticks)
	m.sum.gaps[m.i].own += uint64(own)
	m.i++
}

// mean returns the mean of n times.
func (s *gapSum) mean(n int, of func(gap) uint64) []uint64 {
	out := make([]uint64, n)
	for i, g := range s.gaps[:min(n, len(s.gaps))] {
		out[i] = uint64(float64(of(g)) * gapUnit / float64(s.count))
	}
	return out
}

// runTimes is when the intervals of a run begin on a location.
type runTimes struct {
	n, stride int
	at        []int64
}

// times returns the times of a location's cut intervals by run, nil if nothing of it is cut. With laws they are those of bases.
func (r *Repeats) times(l trace.LocationID) (out []runTimes) {
	x := &r.Locations[l]
	if len(x.Kept) == 0 {
		return nil
	}
	all := r.Locations[x.Master].Times
	for _, n := range r.Runs {
		k := r.timesOf(n)
		out = append(out, runTimes{n: n, stride: r.Stride, at: all[:k]})
		all = all[k:]
	}
	return out
}

// ends returns when a run of a location begins and ends.
func (r *Repeats) ends(t runTimes, l trace.LocationID, run int) (begin, end int64) {
	if r.Laws != nil {
		ends := r.Locations[r.Locations[l].Master].Ends
		return ends[2*run], ends[2*run+1]
	}
	return t.begin(0), t.begin(t.n)
}

// timesOf returns the number of times of a run of n intervals.
func (r *Repeats) timesOf(n int) int { return (n+r.Stride-1)/r.Stride + 1 }

// begin returns when interval i begins; the n-th is the end of the run.
func (t runTimes) begin(i int) int64 {
	k := i / t.stride
	if i == t.n {
		return t.at[len(t.at)-1]
	}
	part, whole := i-k*t.stride, min(t.stride, t.n-k*t.stride)
	return t.at[k] + int64(float64(part)/float64(whole)*float64(t.at[k+1]-t.at[k]))
}

// cutOf returns how many events of a location were cut.
func (r *Repeats) cutOf(l trace.LocationID) (n uint64) {
	x := &r.Locations[l]
	if len(x.Kept) == 0 {
		return 0
	}
	for _, v := range r.Which {
		n += x.Kept[x.Models[v]].Events
	}
	return n
}
