package replay

import (
	"iter"
	"math"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// CallsMPI reports whether some location of a trace calls an MPI function. Without MPI no time
// is useful by the definition: other libraries that pass messages run concurrently with the
// program, not in its place.
func CallsMPI(t *trace.Trace) bool {
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

// Efficiency returns the efficiencies of a run, from its useful times and the replay; the replay is
// nil if it was stuck. Calls that are incomplete may hide waits. With teams the trace records when masters wait for their threads.
func Efficiency(p *profile.Profiler, part *profile.Part, started []profile.Startup, replayed *Replay,
	incomplete waits.Incomplete, teams bool) *document.Efficiency {
	run := runTimes{useful: make([]int64, 0, len(p.T.World)), runtime: p.Scope.To - p.Scope.From, ideal: -1}
	for r, l := range p.T.World {
		switch {
		case p.Scope.Counts(uint32(r)):
			run.ranks = append(run.ranks, uint32(r))
			run.useful = append(run.useful, at(p.Useful, l))
		case p.Scope.HasRank(uint32(r)):
			run.early = append(run.early, earlyRank{uint32(r), p.T.Span[l].Last - p.Scope.From, at(p.Useful, l)})
		}
	}
	if replayed != nil {
		run.ideal = replayed.length(p.Useful)
	}
	r := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	e := &document.Efficiency{
		Ratios:              run.ratios(r),
		WithoutInitFinalize: withoutStartup(p, started, replayed),
		Offload:             run.offload(p),
		WorkerThreads:       workers(p, part),
	}
	unknown, outside := numbers.Plus(inIncomplete(p, incomplete, masters(p)), inWindows(p)), forUnselected(p)
	for _, r := range []*document.Ratios{&e.Ratios, e.WithoutInitFinalize} {
		if r != nil && tooMuch(unknown, r) {
			e.IncompleteCallsNs = unknown
			withoutReplay(r)
		}
		if r != nil && tooMuch(outside, r) {
			e.UnselectedWaitNs = outside
			withoutReplay(r)
		}
	}
	if e.WorkerThreads == nil {
		return e
	}
	of := e.WorkerThreads
	of.WaitNs, of.IncompleteCallsNs = workerWaits(p), inIncomplete(p, incomplete, workersOf(p))
	if !teams && tooMuch(numbers.Plus(of.WaitNs, of.IncompleteCallsNs), &e.Ratios) {
		hide(&e.Ratios)
		hide(e.WithoutInitFinalize)
	}
	return e
}

// mostHidden is the share of the ranks' time that may be waiting of which nothing is known.
const mostHidden = 0.01

func tooMuch(ns int64, r *document.Ratios) bool {
	return float64(ns) > mostHidden*float64(r.RuntimeNs)*float64(len(r.UsefulNs))
}

// masters are those of the ranks that count. A rank may have none.
func masters(p *profile.Profiler) iter.Seq[trace.LocationID] {
	return func(yield func(trace.LocationID) bool) {
		for r, l := range p.T.World {
			if p.Scope.Counts(uint32(r)) && int(l) < len(p.T.Calls) && !yield(l) {
				return
			}
		}
	}
}

// workersOf are the threads that have a master.
func workersOf(p *profile.Profiler) iter.Seq[trace.LocationID] {
	return func(yield func(trace.LocationID) bool) {
		for l, master := range profile.MasterOf(p.T) {
			if master != trace.None && !yield(trace.LocationID(l)) {
				return
			}
		}
	}
}

// inIncomplete returns how long some threads are in calls of which a record is missing, known waits left out, in ns.
func inIncomplete(p *profile.Profiler, incomplete waits.Incomplete, threads iter.Seq[trace.LocationID]) (ns int64) {
	for l := range threads {
		if int(l) >= len(incomplete) || incomplete[l] == nil {
			continue
		}
		for first, rows := range incomplete[l].Rows {
			for i, lacks := range rows {
				if lacks > waits.LacksNothing {
					c := p.T.Calls[l].Ptr(first + i)
					time := p.Scope.Clip(c.Enter, c.Leave) - p.CallWaits[l].At(first+i).Time
					ns = numbers.Plus(ns, p.T.Defs.Clock.Nanoseconds(max(0, time)))
				}
			}
		}
	}
	return ns
}

// inWindows returns how long masters of ranks that count are in functions that synchronize windows of one-sided communication and have no
// record of a collective, in ns.
func inWindows(p *profile.Profiler) (ns int64) {
	t := p.T
	entered := make(map[trace.RegionID]bool)
	for _, n := range t.Tree.Nodes {
		entered[n.Region] = true
	}
	windows := make(map[trace.RegionID]bool)
	for region := range entered {
		name := strings.ToLower(t.Defs.RegionName(region))
		if strings.HasPrefix(strings.TrimPrefix(name, "p"), "mpi_win_") {
			windows[region] = true
		}
	}
	for _, of := range t.Calls {
		if len(windows) == 0 {
			return 0
		}
		for _, calls := range of.Rows {
			for i := range calls {
				delete(windows, t.Tree.Region(calls[i].Path))
			}
		}
	}
	for l := range masters(p) {
		for s := range p.Segments[l].Sums {
			if int(s.Path) < len(t.Tree.Nodes) && windows[t.Tree.Nodes[s.Path].Region] {
				ns = numbers.Plus(ns, t.Defs.Clock.Nanoseconds(s.Time))
			}
		}
	}
	return ns
}

// forUnselected returns how long masters of ranks that count wait for ranks that are not selected, in ns.
func forUnselected(p *profile.Profiler) (ns int64) {
	for l := range masters(p) {
		if p.CallWaits[l].Rows == nil || p.Scope.All() {
			continue
		}
		for _, rows := range p.CallWaits[l].Rows.Rows {
			for i := range rows {
				if w := &rows[i]; int(w.Location) < len(p.T.Rank) && !p.Scope.HasRank(p.T.Rank[w.Location]) {
					ns = numbers.Plus(ns, p.T.Defs.Clock.Nanoseconds(p.Scope.Clip(w.From, w.From+w.Time)))
				}
			}
		}
	}
	return ns
}

// withoutReplay takes away what the replay says: it does not know for whom calls wait, if records are missing or ranks
// are not selected.
func withoutReplay(r *document.Ratios) {
	r.SerializationEfficiency, r.TransferEfficiency, r.ZeroCostRuntimeNs = nil, nil, nil
}

// workerWaits returns what worker threads wait in calls, in ns.
func workerWaits(p *profile.Profiler) (ns int64) {
	for l := range workersOf(p) {
		for _, rows := range p.CallWaits[l].Rows.Rows {
			for i := range rows {
				ns = numbers.Plus(ns, p.T.Defs.Clock.Nanoseconds(rows[i].Time))
			}
		}
	}
	return ns
}

// hide takes away the ratios, but not the times.
func hide(r *document.Ratios) {
	if r != nil {
		r.ParallelEfficiency, r.LoadBalance, r.CommunicationEfficiency, r.SerializationEfficiency, r.TransferEfficiency = nil, nil, nil, nil, nil
	}
}

// at returns the time of a location, 0 for a rank whose location is not known.
func at(times []int64, l trace.LocationID) int64 {
	if int(l) < len(times) {
		return times[l]
	}
	return 0
}

// runTimes are the times of which ratios are computed, in ticks.
type runTimes struct {
	ranks   []uint32
	useful  []int64 // of ranks
	early   []earlyRank
	runtime int64
	ideal   int64 // run time with zero-cost MPI; -1: not known
}

// An earlyRank is a document.EarlyRank in ticks.
type earlyRank struct {
	rank             uint32
	recorded, useful int64
}

// ratios computes the efficiencies of DEFINITIONS 2.6.
func (t *runTimes) ratios(r numbers.Rate) document.Ratios {
	out := document.Ratios{RuntimeNs: r.Ns(t.runtime), UsefulNs: make([]int64, len(t.useful)),
		UsefulMin: field.Extreme{Rank: trace.None}, UsefulMax: field.Extreme{Rank: trace.None}}
	if t.ideal >= 0 {
		ideal := r.Ns(t.ideal)
		out.ZeroCostRuntimeNs, out.ReplayedNs = &ideal, &ideal
	}
	for _, e := range t.early {
		out.EndEarly = append(out.EndEarly, document.EarlyRank{Rank: field.Rank(e.rank), RecordedNs: r.Ns(e.recorded), UsefulNs: r.Ns(e.useful)})
	}
	if len(t.useful) == 0 {
		return out
	}
	var sum int64
	low, high := 0, 0
	for i, u := range t.useful {
		sum = numbers.Plus(sum, u)
		out.UsefulNs[i] = r.Ns(u)
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
	out.UsefulMeanNs = r.Mean(sum, uint64(ranks))
	out.ParallelEfficiency = numbers.Ratio(sum, ranks*t.runtime)
	out.LoadBalance = numbers.Ratio(sum, ranks*longest)
	if longest > math.MaxInt64/ranks || t.runtime > math.MaxInt64/ranks { // but not of those that are none
		mean := 0.0
		for _, u := range t.useful {
			mean += float64(u) / float64(ranks)
		}
		out.UsefulMeanNs = r.Ns(int64(mean))
		out.ParallelEfficiency, out.LoadBalance = numbers.Known(mean/float64(t.runtime)), numbers.Known(mean/float64(longest))
	}
	out.CommunicationEfficiency = numbers.Ratio(longest, t.runtime)
	if t.ideal >= 0 {
		out.SerializationEfficiency = numbers.Ratio(longest, t.ideal)
		out.TransferEfficiency = numbers.Ratio(t.ideal, t.runtime)
	}
	return out
}

// length returns the ideal run time: until the last rank, or other location that
// communicates, ends.
func (r *Replay) length(useful []int64) int64 {
	var longest int64
	masters := make(map[trace.LocationID]bool)
	for _, l := range r.t.World {
		masters[l] = true
	}
	for l := range r.state {
		id := trace.LocationID(l)
		if r.scope.Has(id) && (masters[id] || r.t.Calls[l].Len() > 0) {
			longest = max(longest, useful[l]+r.schedule.Shift(id))
		}
	}
	return longest
}

// workers sums the threads that are not the master of a rank; nil if there are none.
func workers(p *profile.Profiler, part *profile.Part) *document.WorkerThreads {
	w := &document.WorkerThreads{}
	r := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}
	byRank := make(map[uint32]int64)
	for _, l := range part.Locations {
		rank := p.T.Rank[l.Location]
		kind := p.T.Defs.Locations[l.Location].Kind
		if kind == trace.LocationMetric || kind == trace.LocationUnknown || int(rank) >= len(p.T.World) || p.T.World[rank] == l.Location {
			continue
		}
		w.Threads++
		w.UsefulNs = numbers.Plus(w.UsefulNs, l.Useful)
		w.SpanNs = numbers.Plus(w.SpanNs, l.Span)
		byRank[rank] = numbers.Plus(byRank[rank], l.Useful)
	}
	if w.Threads == 0 {
		return nil
	}
	w.UsefulNs, w.SpanNs = r.Ns(w.UsefulNs), r.Ns(w.SpanNs)
	first := true
	for rank := range uint32(len(p.T.World)) {
		u, ok := byRank[rank]
		if !ok {
			continue
		}
		e := field.Extreme{Rank: field.Rank(rank), TimeNs: r.Ns(u)}
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
func (t *runTimes) offload(p *profile.Profiler) *document.Offload {
	r, out := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}, &document.Offload{}
	var useful, waited int64
	for i, rank := range t.ranks {
		w := at(p.Waited, p.T.World[rank])
		out.WaitNs = append(out.WaitNs, r.Ns(w))
		useful, waited = numbers.Plus(useful, t.useful[i]), numbers.Plus(waited, w)
	}
	if waited == 0 {
		return nil
	}
	out.Efficiency = numbers.Ratio(useful-waited, useful)
	out.ParallelEfficiency = numbers.Ratio(useful-waited, int64(len(t.ranks))*t.runtime)
	return out
}
