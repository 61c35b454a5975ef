package devices

import (
	"cmp"
	"math"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A hostResult is what is found about one host.
type hostResult struct {
	devices  []accelerator.Device
	findings []trace.Finding
}

// analyze says what the devices of a host do.
func (h *host) analyze(c *collector, last *arrivals) hostResult {
	var ledger trace.Ledger
	h.link(c, &ledger)
	var steps []step
	for _, p := range h.threads {
		steps = append(steps, p.steps...)
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.region, b.region)) })
	waits := h.waits(c)
	var out hostResult
	for _, d := range h.devices {
		a := newActivity(c, h, d, last, steps)
		a.forward()
		if !a.whole.begun {
			a.release()
			continue
		}
		a.backward()
		row := a.row(&ledger)
		row.HostWaits = waits
		out.devices = append(out.devices, row)
		a.release()
	}
	out.findings = ledger.Findings()
	return out
}

// waits sums the calls of all threads that only wait for a device.
func (h *host) waits(c *collector) []accelerator.HostWait {
	sums := make(map[trace.RegionID]*hostWait)
	for _, p := range h.threads {
		for region, w := range p.waits {
			if sums[region] == nil {
				sums[region] = new(hostWait)
			}
			sums[region].count += w.count
			sums[region].time = numbers.Plus(sums[region].time, w.time)
		}
	}
	var out []accelerator.HostWait
	for region, w := range sums {
		out = append(out, accelerator.HostWait{Call: c.t.Defs.RegionLabel(region), Count: w.count, TimeNs: c.ns(w.time)})
	}
	slices.SortFunc(out, func(a, b accelerator.HostWait) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Call, b.Call))
	})
	return out
}

func (c *collector) ns(ticks int64) int64 { return c.t.Defs.Clock.Nanoseconds(ticks) }

// The parts of what a device executes that are measured on their own.
const (
	launchedPart = iota
	recomputePart
	firstPassPart
	parts
)

var partNames = [parts]string{"launched", "recompute", "first_pass"}

// An activity measures one device.
type activity struct {
	c     *collector
	h     *host
	d     *device
	steps []step

	whole   sweep
	count   uint64
	parts   [parts]sweep
	counts  [parts]uint64
	streams []*streamSweep
	queues  map[uint32]*streamSweep // by location
	gaps    *spill.Table[gap]
	causes  idleCauses
	longest []longGap // the longest first
	before  map[launchSite]*idleSum
	kernels map[kernelKey]*kernelSum
	delays  delays
	marks   []mark
	inSteps []coverage // of what is done in each step
	colls   collectiveSums
}

// A gap is a time within the span in which nothing is done.
type gap struct{ from, to int64 }

type idleCauses struct{ gaps, unknown int64 }

// A streamSweep measures one stream.
type streamSweep struct {
	sweep
	name  string
	count uint64
}

// A mark is the begin or the end of a step.
type mark struct {
	at   int64
	step int
	end  bool
}

// delays are the times from launch to begin.
type delays struct {
	numbers.Distribution
	without uint64
	unsure  uint64 // of several launches with one identifier
}

// A launchSite is what launches: the operator, None if it is not known, and the call.
type launchSite struct{ operator, call trace.RegionID }

// An idleSum sums the gaps that end with what one site launches, in ticks.
type idleSum struct {
	count            uint64
	time, host, gaps int64
}

func newActivity(c *collector, h *host, d *device, last *arrivals, steps []step) *activity {
	a := &activity{c: c, h: h, d: d, steps: steps, queues: make(map[uint32]*streamSweep), before: make(map[launchSite]*idleSum),
		gaps: spill.NewTable[gap](c.t.Store), kernels: make(map[kernelKey]*kernelSum), inSteps: make([]coverage, len(steps))}
	a.whole.gap = func(from, to int64) { a.gaps.Append(gap{from, to}) }
	byName := make(map[string]*streamSweep)
	for _, p := range d.streams {
		name := trace.StreamName(c.t.Defs.String(c.t.Defs.Locations[p.location].Name))
		if byName[name] == nil {
			byName[name] = &streamSweep{name: name}
			a.streams = append(a.streams, byName[name])
		}
		a.queues[uint32(p.location)] = byName[name]
	}
	for i, s := range steps {
		a.marks = append(a.marks, mark{s.from, i, false}, mark{s.to, i, true})
	}
	slices.SortStableFunc(a.marks, func(x, y mark) int { return cmp.Compare(x.at, y.at) })
	a.colls = newCollectiveSums(c, d, last)
	return a
}

func (a *activity) release() {
	a.gaps.Release()
	a.colls.release()
}

// forward goes over the kernels in order of their begin.
func (a *activity) forward() {
	from, to := a.c.opts.From, a.c.opts.To
	marks := a.marks
	waits := a.colls.waits()
	wait := waits.next()
	until := func(t int64) { // waits, each after the kernel that it is part of
		for ; wait != nil && wait.start < t; wait = waits.next() {
			if a.whole.begun {
				a.whole.add(wait.start, wait.end, waiting)
			}
		}
	}
	m := merge(a.d.streams, false)
	for k := m.next(); k != nil; k = m.next() {
		if k.end < from || k.start > to || k.end == from && k.start < from || k.start == to && k.end > to {
			continue
		}
		start, end := max(k.start, from), min(k.end, to)
		for len(marks) > 0 && marks[0].at <= start {
			until(marks[0].at)
			a.mark(marks[0])
			marks = marks[1:]
		}
		until(start)
		a.kernel(k, start, end)
	}
	until(math.MaxInt64)
	for _, x := range marks {
		a.mark(x)
	}
}

// mark notes what was done so far where a step begins, and what in it where it ends.
func (a *activity) mark(x mark) {
	a.whole.advance(x.at)
	if x.end {
		a.inSteps[x.step] = a.whole.sums.minus(a.inSteps[x.step])
	} else {
		a.inSteps[x.step] = a.whole.sums
	}
}

func (a *activity) kernel(k *kernel, start, end int64) {
	work := a.c.works[k.region]
	a.whole.add(start, end, work)
	a.count++
	s := a.queues[k.queue]
	s.add(start, end, work)
	s.count++
	l := a.h.launched(k)
	a.charge(k, l, end-start)
	if l == nil {
		a.delays.without++
		return
	}
	a.h.launchers[l.call] = true
	if l.repeats {
		a.delays.unsure++
	} else {
		a.delays.Add(k.start - l.enter)
	}
	a.part(launchedPart, start, end, work)
	if l.recompute {
		a.part(recomputePart, start, end, work)
	} else {
		a.part(firstPassPart, start, end, work)
	}
}

func (a *activity) part(i int, start, end int64, work trace.DeviceWork) {
	a.parts[i].add(start, end, work)
	a.counts[i]++
}

// A longGap is a gap that the document lists.
type longGap struct {
	gap
	host int64  // of it without anything queued
	wait int64  // of it with something queued
	next kernel // that ends it
}

// listed is how many gaps are listed.
const listed = 10

// list keeps a gap if it is one of the longest.
func (a *activity) list(g longGap) {
	i := len(a.longest)
	for i > 0 && a.longest[i-1].to-a.longest[i-1].from <= g.to-g.from {
		i--
	}
	if i == listed {
		return
	}
	a.longest = slices.Insert(a.longest, i, g)
	a.longest = a.longest[:min(listed, len(a.longest))]
}

// backward goes over the gaps from the last to the first, and finds why nothing was done: a kernel
// that begins later and was launched before is queued in the gap from its launch on.
func (a *activity) backward() {
	earliest := int64(math.MaxInt64) // launch of what begins behind the gap
	m := merge(a.d.streams, true)
	k := m.next()
	for i := a.gaps.Len() - 1; i >= 0; i-- {
		g := a.gaps.At(i)
		known := true // what launched the kernels that end the gap
		var next kernel
		for ; k != nil && max(k.start, a.c.opts.From) >= g.to; k = m.next() {
			l := a.h.launched(k)
			if l != nil && l.repeats {
				l = nil
			}
			if l != nil {
				earliest = min(earliest, l.enter)
			}
			if next = *k; k.start == g.to {
				known = known && l != nil
			}
		}
		queued := min(max(earliest, g.from), g.to)
		host := queued - g.from
		a.causes.gaps += g.to - queued
		if !known {
			a.causes.unknown += host
			host = 0
		}
		a.endedBy(&next, idleSum{1, g.to - g.from, host, g.to - queued})
		a.list(longGap{g, host, g.to - queued, next})
	}
}

// endedBy adds gaps to those that end with what the same site launches.
func (a *activity) endedBy(next *kernel, gaps idleSum) {
	site := launchSite{trace.None, trace.None}
	if l := a.h.launched(next); l != nil {
		site = launchSite{l.operator, l.call}
	}
	s := a.before[site]
	if s == nil {
		s = new(idleSum)
		a.before[site] = s
	}
	s.count, s.time, s.host, s.gaps = s.count+gaps.count, s.time+gaps.time, s.host+gaps.host, s.gaps+gaps.gaps
}
