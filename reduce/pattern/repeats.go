package pattern

import "tracekit/trace"

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
	Models    [][]int               // by variant: positions in Kept
	Which     []int                 // variant of each cut interval, run after run
	Stride    int                   // 1, but for very many intervals
	Locations []Location
}

// A Location is where a location's intervals are kept, and where runs were cut.
type Location struct {
	Kept  []Kept   // in order; none: nothing of the location is cut
	At    []uint64 // by run: the record of the reduced trace that comes behind it
	Times []int64  // run after run; nil: those of Master
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
func (p *plan) repeats(f *finder) *Repeats {
	d := p.division
	out := &Repeats{Intervals: d.n, Events: p.events, Locations: make([]Location, len(d.starts))}
	out.Clock.Resolution, out.Clock.GlobalOffset = f.t.Defs.Clock.Resolution, f.t.Defs.Clock.GlobalOffset
	models := f.opts.Keep
	if f.opts.Alike == ByDistance {
		models = 1 // others may have other records
	}
	kept := p.models(models, out)
	for out.Stride = 1; len(out.Which)/out.Stride*f.count > mostTimes; {
		out.Stride *= 2
	}
	for l, s := range d.starts {
		if s == nil {
			continue
		}
		x := &out.Locations[l]
		x.Master = d.master[l]
		runs, gone := p.runs, uint64(0) // before an interval
		passed := func(k int) {
			for len(runs) > 0 && runs[0].end <= k {
				x.At = append(x.At, s.Ptr(runs[0].first).first-gone)
				gone += s.Ptr(runs[0].end).first - s.Ptr(runs[0].first).first
				runs = runs[1:]
			}
		}
		for _, k := range kept {
			passed(k)
			a, b := s.At(k), s.At(k+1)
			x.Kept = append(x.Kept, Kept{First: a.first - gone, Events: b.first - a.first, Begin: a.time, End: b.time})
		}
		passed(d.n)
		if x.Master == trace.LocationID(l) {
			for _, r := range p.runs {
				for k := r.first; k < r.end; k += out.Stride {
					x.Times = append(x.Times, s.Ptr(k).time)
				}
				x.Times = append(x.Times, s.Ptr(r.end).time)
			}
		}
	}
	return out
}

// models finds the kept intervals that others repeat, at most so many for each variant, and
// returns them in order.
func (p *plan) models(keep int, out *Repeats) []int {
	variant := make(map[uint64]int)
	for _, r := range p.runs {
		out.Runs = append(out.Runs, r.end-r.first)
		for _, o := range p.order[r.first:r.end] {
			v, known := variant[o]
			if !known {
				v = len(variant)
				variant[o] = v
			}
			out.Which = append(out.Which, v)
		}
	}
	out.Models = make([][]int, len(variant))
	used := make([]bool, len(variant)) // cut from here on
	var kept []int
	cut := p.isCut()
	for k, o := range p.order {
		v, known := variant[o]
		switch {
		case !known:
		case cut(k):
			used[v] = true
		case len(out.Models[v]) < keep && !used[v]:
			out.Models[v] = append(out.Models[v], len(kept))
			kept = append(kept, k)
		}
	}
	return kept
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
	each := make([]uint64, len(r.Models))
	for v, models := range r.Models {
		each[v] = x.Kept[models[0]].Events
	}
	for _, v := range r.Which {
		n += each[v]
	}
	return n
}
