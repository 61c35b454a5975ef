package stats

import (
	"math"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/trace"
)

// callsMPI reports whether some location of a trace calls an MPI function. Without any there
// is no time outside MPI to be called useful: other libraries that pass messages run beside
// the program, not in its place.
func callsMPI(t *trace.Trace) bool {
	for region, visited := range t.Tree.Visited(len(t.Defs.Regions)) {
		r := &t.Defs.Regions[region]
		if !visited || r.Role == trace.RoleKernel { // which runs on an accelerator
			continue
		}
		for _, name := range []trace.StringID{r.Name, r.Canonical} {
			if trace.MPIFunctionOf(t.Defs.String(name)).Class != trace.ClassNone {
				return true
			}
		}
	}
	return false
}

// efficiency makes the block of the document of the useful times and the replay, which is
// nil if it was stuck.
func efficiency(p *profiler, part *profilePart, started []startup, replayed *replay) *document.Efficiency {
	run := runTimes{useful: make([]int64, 0, len(p.t.World)), runtime: p.scope.to - p.scope.from, ideal: -1}
	for r, l := range p.t.World {
		if p.scope.hasRank(uint32(r)) {
			run.ranks = append(run.ranks, uint32(r))
			run.useful = append(run.useful, at(p.useful, l))
		}
	}
	if replayed != nil {
		run.ideal = replayed.length(p.useful)
	}
	r := rate{p.t.Defs.Clock.Resolution}
	return &document.Efficiency{
		Ratios:              run.ratios(r),
		WithoutInitFinalize: withoutStartup(p, started, replayed),
		Offload:             run.offload(p),
		WorkerThreads:       workers(p, part),
	}
}

// at returns the time of a location, 0 for a rank whose location is not known.
func at(times []int64, l trace.LocationID) int64 {
	if int(l) < len(times) {
		return times[l]
	}
	return 0
}

// runTimes is what the ratios are made of, in ticks.
type runTimes struct {
	ranks   []uint32
	useful  []int64 // of ranks
	runtime int64
	ideal   int64 // run time on the ideal network; -1: not known
}

// ratios computes the tree of DEFINITIONS 2.6.
func (t *runTimes) ratios(r rate) document.Ratios {
	out := document.Ratios{RuntimeNs: r.ns(t.runtime), UsefulNs: make([]int64, len(t.useful)),
		UsefulMin: field.Extreme{Rank: trace.None}, UsefulMax: field.Extreme{Rank: trace.None}}
	if t.ideal >= 0 {
		ideal := r.ns(t.ideal)
		out.IdealRuntimeNs = &ideal
	}
	if len(t.useful) == 0 {
		return out
	}
	var sum int64
	low, high := 0, 0
	for i, u := range t.useful {
		sum = Plus(sum, u)
		out.UsefulNs[i] = r.ns(u)
		if u < t.useful[low] {
			low = i
		}
		if u > t.useful[high] {
			high = i
		}
	}
	// Sums of ranks are divided as such, so that ratios are those of exact integers.
	ranks, longest := int64(len(t.useful)), t.useful[high]
	out.UsefulMin = field.Extreme{Rank: field.Rank(t.ranks[low]), TimeNs: out.UsefulNs[low]}
	out.UsefulMax = field.Extreme{Rank: field.Rank(t.ranks[high]), TimeNs: out.UsefulNs[high]}
	out.UsefulMeanNs = r.mean(sum, uint64(ranks))
	out.ParallelEfficiency = ratio(sum, ranks*t.runtime)
	out.LoadBalance = ratio(sum, ranks*longest)
	if longest > math.MaxInt64/ranks || t.runtime > math.MaxInt64/ranks { // but not of those that are none
		mean := 0.0
		for _, u := range t.useful {
			mean += float64(u) / float64(ranks)
		}
		out.UsefulMeanNs = r.ns(int64(mean))
		out.ParallelEfficiency, out.LoadBalance = Known(mean/float64(t.runtime)), Known(mean/float64(longest))
	}
	out.CommunicationEfficiency = ratio(longest, t.runtime)
	if t.ideal >= 0 {
		out.SerializationEfficiency = ratio(longest, t.ideal)
		out.TransferEfficiency = ratio(t.ideal, t.runtime)
	}
	return out
}

// length returns the ideal run time: until the last rank, or other location that
// communicates, ends.
func (r *replay) length(useful []int64) int64 {
	var longest int64
	masters := make(map[trace.LocationID]bool)
	for _, l := range r.t.World {
		masters[l] = true
	}
	for l := range r.state {
		id := trace.LocationID(l)
		if r.scope.has(id) && (masters[id] || r.t.Calls[l].Len() > 0) {
			longest = max(longest, useful[l]+r.state[l].shift)
		}
	}
	return longest
}

// workers sums the threads that are not the master of a rank; nil if there are none.
func workers(p *profiler, part *profilePart) *document.WorkerThreads {
	w := &document.WorkerThreads{}
	r := rate{p.t.Defs.Clock.Resolution}
	byRank := make(map[uint32]int64)
	for _, l := range part.locations {
		rank := p.t.Rank[l.location]
		kind := p.t.Defs.Locations[l.location].Kind
		if kind == trace.LocationMetric || kind == trace.LocationUnknown || int(rank) >= len(p.t.World) || p.t.World[rank] == l.location {
			continue
		}
		w.Threads++
		w.UsefulNs = Plus(w.UsefulNs, l.useful)
		w.SpanNs = Plus(w.SpanNs, l.span)
		byRank[rank] = Plus(byRank[rank], l.useful)
	}
	if w.Threads == 0 {
		return nil
	}
	w.UsefulNs, w.SpanNs = r.ns(w.UsefulNs), r.ns(w.SpanNs)
	first := true
	for rank := range uint32(len(p.t.World)) {
		u, ok := byRank[rank]
		if !ok {
			continue
		}
		e := field.Extreme{Rank: field.Rank(rank), TimeNs: r.ns(u)}
		if first || e.TimeNs < w.Min.TimeNs {
			w.Min = e
		}
		if first || e.TimeNs > w.Max.TimeNs {
			w.Max = e
		}
		first = false
	}
	return w
}

// offload makes the block of the whole run; nil if nobody waits for accelerators.
func (t *runTimes) offload(p *profiler) *document.Offload {
	r, out := rate{p.t.Defs.Clock.Resolution}, &document.Offload{}
	var useful, waited int64
	for i, rank := range t.ranks {
		w := at(p.waited, p.t.World[rank])
		out.WaitNs = append(out.WaitNs, r.ns(w))
		useful, waited = Plus(useful, t.useful[i]), Plus(waited, w)
	}
	if waited == 0 {
		return nil
	}
	out.Efficiency = ratio(useful-waited, useful)
	out.ParallelEfficiency = ratio(useful-waited, int64(len(t.ranks))*t.runtime)
	return out
}

// waitsForDevice reports whether a region is a call that only waits for an accelerator.
func (p *profiler) waitsForDevice(region trace.RegionID) bool {
	return int(region) < len(p.waits) && p.waits[region]
}

// deviceWaits sums the useful time that passes in calls that only wait for accelerators. Such a
// call may enclose another one.
type deviceWaits struct {
	time  int64
	depth int
	since int64 // useful time when the outermost was entered
}

func (d *deviceWaits) enter(useful int64) {
	if d.depth == 0 {
		d.since = useful
	}
	d.depth++
}

func (d *deviceWaits) leave(useful int64) {
	if d.depth--; d.depth == 0 {
		d.time += useful - d.since
	}
}
