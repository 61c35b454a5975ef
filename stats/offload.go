package stats

import "tracekit/trace"

// Offload says how much of the time outside MPI master threads only wait for accelerators
// (DEFINITIONS 2.6): Efficiency is the share of that time in which they do not, and
// ParallelEfficiency that of the processes with it, Σ (useful − waiting) / (ranks · run time).
type Offload struct {
	Efficiency         *float64 `json:"efficiency"`
	ParallelEfficiency *float64 `json:"parallel_efficiency"`
	WaitNs             []int64  `json:"wait_ns"` // per rank
}

// offload makes the block of the whole run; nil if nobody waits for accelerators.
func (t *runTimes) offload(p *profiler) *Offload {
	r, out := rate{p.t.Defs.Clock.Resolution}, &Offload{}
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
