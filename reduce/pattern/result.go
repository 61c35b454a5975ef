package pattern

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/reduce"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Result is what repeats in a trace, and what can be cut of it.
type Result struct {
	Site      Site      // where intervals begin, if that was found from the trace
	Intervals int       // of each rank
	Refused   int       // that repeat others but stay, since cutting them would part messages
	Patterns  []Pattern // those of the most time first
	Events    uint64    // that are cut
	Cuts      *reduce.Cuts
	Repeats   *Repeats // what is needed to give it back; nil: nothing is cut
	Exact     int      // bytes that Repeats takes, or would take, with all times as they are
	Described int      // bytes that it takes
	Bound     int      // bytes that it takes at most with laws, however often what repeats does; 0: times are exact
}

// A Site is a call site for people; what is not known is zero.
type Site struct {
	Operation string // what is called
	Region    string // that calls it
	File      string
	Line      uint32
}

// A Pattern is intervals that are alike.
type Pattern struct {
	First       int   // interval
	FirstNs     int64 // when the first instance begins on the first rank that does, after the start of the run
	PeriodNs    int64 // mean length of an instance
	Instances   int
	Kept        int
	Regenerated int // that are cut
}

// describe fills in the result of a plan.
func (p *plan) describe(ctx context.Context, f *finder, r *Result) (err error) {
	d := p.division
	if d.marker.Kind == OnSite {
		r.Site = f.siteOf(d.marker.site)
	}
	r.Intervals, r.Refused, r.Events = d.n, p.refused, p.events
	r.Patterns = p.patterns(f.t)
	if len(p.runs) == 0 {
		return nil
	}
	for l, s := range d.starts {
		for _, x := range p.runs {
			if s != nil {
				r.Cuts.Add(trace.LocationID(l), s.Ptr(x.first).first, s.Ptr(x.end).first)
			}
		}
	}
	exact, untimed, err := p.repeats(ctx, f)
	defer func() {
		for _, x := range untimed {
			if x.own != nil {
				x.own.Release()
			}
		}
	}()
	if err != nil {
		return err
	}
	r.Repeats, r.Exact = exact, len(exact.Encode())
	r.Described = r.Exact
	if f.opts.Times == ExactTimes || p.saved+uint64(len(exact.Which)*f.count) > mostStored {
		return nil
	}
	modelled, err := p.model(ctx, f, exact, untimed)
	if err != nil {
		return err
	}
	n := len(modelled.Encode())
	if 2*n <= r.Exact || n < r.Exact && f.opts.Times == LawTimes {
		r.Repeats, r.Described, r.Bound = modelled, n, modelled.bound()
	}
	return nil
}

// isCut returns, interval by interval in order, whether it is cut.
func (p *plan) isCut() func(k int) bool {
	runs := p.runs
	return func(k int) bool {
		for len(runs) > 0 && runs[0].end <= k {
			runs = runs[1:]
		}
		return len(runs) > 0 && runs[0].first <= k
	}
}

// patterns lists the patterns.
func (p *plan) patterns(t *trace.Trace) []Pattern {
	d := p.division
	var masters []trace.LocationID
	for l, s := range d.starts {
		if s != nil && d.master[l] == trace.LocationID(l) {
			masters = append(masters, trace.LocationID(l))
		}
	}
	index, ticks := make(map[uint64]int), []float64{}
	var out []Pattern
	cut := p.isCut()
	for k := range d.n {
		i, known := index[p.alike[k]]
		if !known {
			i = len(out)
			index[p.alike[k]] = i
			out, ticks = append(out, Pattern{First: k, FirstNs: beginning(t, d, masters, k)}), append(ticks, 0)
		}
		out[i].Instances++
		if cut(k) {
			out[i].Regenerated++
		} else {
			out[i].Kept++
		}
		for _, l := range masters {
			ticks[i] += float64(d.starts[l].Ptr(k+1).time - d.starts[l].Ptr(k).time)
		}
	}
	for i := range out {
		out[i].PeriodNs = t.Defs.Clock.Nanoseconds(int64(ticks[i] / float64(out[i].Instances*len(masters))))
	}
	slices.SortStableFunc(out, func(a, b Pattern) int {
		return cmp.Compare(float64(b.Instances)*float64(b.PeriodNs), float64(a.Instances)*float64(a.PeriodNs))
	})
	return out
}

// beginning returns when interval k begins on the first rank that does, in ns after the
// start of the run.
func beginning(t *trace.Trace, d *division, masters []trace.LocationID, k int) int64 {
	run, _ := scope.Run(t)
	first := int64(math.MaxInt64)
	for _, l := range masters {
		first = min(first, t.Clock.Maps[l].At(d.starts[l].Ptr(k).time))
	}
	return t.Defs.Clock.Nanoseconds(first - run)
}
