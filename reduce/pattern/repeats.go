package pattern

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// Repeats says what was cut of a trace, and how it is made again of what is left: it travels
// with the reduced trace, see Property.
//
// Cut intervals lie in runs. Each is given back as the mean of its models: kept intervals
// with the same records in the same order, which come before it.
//
//	sum of Runs == len(Which) == number of cut intervals
//	Times of a master location: for each run when every Stride-th of its intervals begins,
//	and when the last one ends; those between lie evenly
type Repeats struct {
	Clock     trace.ClockProperties // of which Resolution and GlobalOffset are kept: those of all times
	Intervals int                   // of each rank, before the cut
	Events    uint64                // that were cut
	Runs      []int                 // number of intervals in each
	Which     []int                 // variant of each cut interval, run after run
	Variants  int                   //
	Stride    int                   // 1, but for very many intervals
	Locations []Location
}

// A Location is where a location's intervals are kept, and where runs were cut.
type Location struct {
	Kept   []Kept   // models, in order; none: nothing of the location is cut
	Models [][]int  // of each variant: positions in Kept
	At     []uint64 // by run: the record of the reduced trace that comes behind it
	Times  []int64  // run after run; nil: those of Master
	// Master is the location in whose intervals this one is cut: itself, or its rank's first.
	Master trace.LocationID
}

// A Kept is an interval of the reduced trace: the records First <= seq < First+Events, from
// the time Begin to End.
type Kept struct {
	First, Events uint64
	Begin, End    int64
}

// mostTimes is how many times are described, over all ranks, or twice as many.
const mostTimes = 1 << 22

// repeats describes what a plan cuts.
func (p *plan) repeats(ctx context.Context, f *finder) (*Repeats, error) {
	d := p.division
	out := &Repeats{Intervals: d.n, Events: p.events, Locations: make([]Location, len(d.starts))}
	out.Clock.Resolution, out.Clock.GlobalOffset = f.t.Defs.Clock.Resolution, f.t.Defs.Clock.GlobalOffset
	models := f.opts.Keep
	if f.opts.Alike == ByDistance {
		models = 1 // others may have other records
	}
	first := p.variants(out)
	for out.Stride = 1; len(out.Which)/out.Stride*f.count > mostTimes; {
		out.Stride *= 2
	}
	_, err := engine.Map(ctx, f.opts.Jobs, len(d.starts), func(_ context.Context, l int) (struct{}, error) {
		if d.starts[l] != nil {
			p.location(trace.LocationID(l), &out.Locations[l], out.Stride, models, first)
		}
		return struct{}{}, nil
	})
	return out, err
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

// location describes what is cut of a location.
func (p *plan) location(l trace.LocationID, x *Location, stride, models int, first []int) {
	d := p.division
	s := d.starts[l]
	x.Master = d.master[l]
	wanted := make(map[uint64][]int) // by order: models, nil before there is one
	for _, k := range first {
		wanted[s.Ptr(k).order] = nil
	}
	used := make(map[uint64]bool)
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
		a, b := s.At(k), s.At(k+1)
		if len(runs) > 0 && k >= runs[0].first {
			used[a.order] = true
			continue
		}
		list, is := wanted[a.order]
		if is && len(list) < models && !used[a.order] {
			wanted[a.order] = append(list, len(x.Kept))
			x.Kept = append(x.Kept, Kept{First: a.first - gone, Events: b.first - a.first, Begin: a.time, End: b.time})
		}
	}
	for _, k := range first {
		x.Models = append(x.Models, wanted[s.Ptr(k).order])
	}
	if x.Master != l {
		return
	}
	for _, r := range p.runs {
		for k := r.first; k < r.end; k += stride {
			x.Times = append(x.Times, s.Ptr(k).time)
		}
		x.Times = append(x.Times, s.Ptr(r.end).time)
	}
}

// runTimes is when the intervals of a run begin on a location.
type runTimes struct {
	n, stride int
	at        []int64
}

// times returns the times of a location's cut intervals by run, nil if nothing of it is cut.
func (r *Repeats) times(l trace.LocationID) (out []runTimes) {
	x := &r.Locations[l]
	if len(x.Kept) == 0 {
		return nil
	}
	all := r.Locations[x.Master].Times
	for _, n := range r.Runs {
		k := r.timesOf(n)
		out = append(out, runTimes{n, r.Stride, all[:k]})
		all = all[k:]
	}
	return out
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
		n += x.Kept[x.Models[v][0]].Events
	}
	return n
}
