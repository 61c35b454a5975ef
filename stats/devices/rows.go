package devices

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A kernelKey is what kernels are summed by.
type kernelKey struct{ region, call, operator trace.RegionID }

// A kernelSum sums kernels, in ticks.
type kernelSum struct {
	count    uint64
	time     int64
	min, max int64
}

// keyLimit bounds the keys of a device; beyond, nothing is told of who launches further kernels.
const keyLimit = 1 << 20

// charge adds a kernel to those of its name and launch.
func (a *activity) charge(k *kernel, l *launch, time int64) {
	key := kernelKey{k.region, trace.None, trace.None}
	if l != nil {
		key.call, key.operator = l.call, l.operator
	}
	s := a.kernels[key]
	if s == nil && len(a.kernels) >= keyLimit {
		key.call, key.operator = trace.None, trace.None
		s = a.kernels[key]
	}
	if s == nil {
		s = &kernelSum{min: time, max: time}
		a.kernels[key] = s
	}
	s.count++
	s.time = numbers.Plus(s.time, time)
	s.min, s.max = min(s.min, time), max(s.max, time)
}

// kernelRows returns the kernels by name and kind, those with the most time first.
func (a *activity) kernelRows() []accelerator.Kernel {
	type nameKey struct{ name, kind string }
	type site struct {
		nameKey
		operator, call string
	}
	d := a.c.t.Defs
	byName, bySite := make(map[nameKey]*kernelSum), make(map[site]*kernelSum)
	labels := make(map[trace.RegionID]string)
	label := func(r trace.RegionID) string {
		if _, ok := labels[r]; !ok {
			labels[r] = d.RegionLabel(r)
		}
		return labels[r]
	}
	for key, s := range a.kernels {
		n := nameKey{label(key.region), a.c.works[key.region].String()}
		join(byName, n, s)
		if key.call != trace.None {
			join(bySite, site{n, label(key.operator), label(key.call)}, s)
		}
	}
	sites := make(map[nameKey][]accelerator.LaunchSite)
	for k, s := range bySite {
		sites[k.nameKey] = append(sites[k.nameKey], accelerator.LaunchSite{Operator: field.Name(k.operator), Call: field.Name(k.call),
			Count: s.count, TimeNs: a.c.ns(s.time)})
	}
	var out []accelerator.Kernel
	for n, s := range byName {
		from := sites[n]
		slices.SortFunc(from, func(x, y accelerator.LaunchSite) int {
			return cmp.Or(cmp.Compare(y.TimeNs, x.TimeNs), cmp.Compare(x.Operator, y.Operator), cmp.Compare(x.Call, y.Call))
		})
		out = append(out, accelerator.Kernel{Name: n.name, Kind: n.kind, Count: s.count, TimeNs: a.c.ns(s.time),
			MinNs: a.c.ns(s.min), MeanNs: a.c.ns(s.time / int64(s.count)), MaxNs: a.c.ns(s.max), LaunchedFrom: from})
	}
	slices.SortFunc(out, func(x, y accelerator.Kernel) int {
		return cmp.Or(cmp.Compare(y.TimeNs, x.TimeNs), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Kind, y.Kind))
	})
	return out
}

// join adds a sum to that of a key.
func join[K comparable](sums map[K]*kernelSum, key K, s *kernelSum) {
	to := sums[key]
	if to == nil {
		c := *s
		sums[key] = &c
		return
	}
	to.count += s.count
	to.time = numbers.Plus(to.time, s.time)
	to.min, to.max = min(to.min, s.min), max(to.max, s.max)
}

// device names a location group.
func (c *collector) device(g trace.LocationGroupID) string {
	if int(g) < len(c.t.Defs.LocationGroups) {
		return c.t.Defs.String(c.t.Defs.LocationGroups[g].Name)
	}
	return ""
}

// row makes the row of the document.
func (a *activity) row(ledger *trace.Ledger) accelerator.Device {
	t := a.c.t
	span := a.whole.last - a.whole.first
	rank := a.h.rank
	if rank == trace.None {
		rank = t.Rank[a.d.streams[0].location]
	}
	out := accelerator.Device{Rank: field.Rank(rank), Device: a.c.device(a.d.group),
		StartNs: a.c.ns(a.whole.first - t.Defs.Clock.GlobalOffset),
		Times:   a.whole.finish(t), Kernels: a.kernelRows()}
	if a.delays.Count() == 0 {
		a.causes = idleCauses{unknown: span - a.whole.sums.busy()}
	}
	out.IdleCauses = accelerator.IdleCauses{KernelGapsNs: a.c.ns(a.causes.gaps), UnknownNs: a.c.ns(a.causes.unknown),
		CollectiveWaitNs: a.c.ns(a.whole.sums.exposedWait)}
	out.IdleCauses.HostBoundNs = out.IdleNs - out.IdleCauses.KernelGapsNs - out.IdleCauses.UnknownNs
	out.Gaps, out.IdleBefore = a.gapRows(), a.idleRows()
	for i := range a.parts {
		if n := a.counts[i]; n > 0 && n < a.count && (i == launchedPart || n < a.counts[launchedPart]) {
			out.Parts = append(out.Parts, accelerator.Part{Part: partNames[i], Count: n, Times: a.parts[i].finish(t)})
		}
	}
	for _, s := range a.streams {
		if s.count > 0 {
			out.Streams = append(out.Streams, accelerator.Stream{Stream: s.name, Count: s.count, Times: s.finish(t)})
		}
	}
	slices.SortStableFunc(out.Streams, func(x, y accelerator.Stream) int { return cmp.Compare(y.BusyNs, x.BusyNs) })
	out.Launches = a.launches(span, out.Device, ledger)
	out.Steps = a.stepRows()
	out.Collectives, out.Straggler = a.colls.rows()
	return out
}

func (a *activity) gapRows() []accelerator.Gap {
	out, d := []accelerator.Gap{}, a.c.t.Defs
	for _, g := range a.longest {
		row := accelerator.Gap{StartNs: a.c.ns(g.from - d.Clock.GlobalOffset), TimeNs: a.c.ns(g.to - g.from),
			HostBoundNs: a.c.ns(g.host), KernelGapsNs: a.c.ns(g.wait), Before: d.RegionLabel(g.next.region)}
		if l := a.h.launched(&g.next); l != nil {
			row.LaunchedFrom = field.Name(cmp.Or(d.RegionLabel(l.operator), d.RegionLabel(l.call)))
		}
		out = append(out, row)
	}
	return out
}

// idleRows returns before what the device idles most, at most so many as gaps are listed.
func (a *activity) idleRows() []accelerator.IdleBefore {
	out, d := []accelerator.IdleBefore{}, a.c.t.Defs
	for site, s := range a.before {
		out = append(out, accelerator.IdleBefore{Operator: field.Name(d.RegionLabel(site.operator)), Call: field.Name(d.RegionLabel(site.call)),
			Count: s.count, TimeNs: a.c.ns(s.time), HostBoundNs: a.c.ns(s.host), KernelGapsNs: a.c.ns(s.gaps)})
	}
	slices.SortFunc(out, func(x, y accelerator.IdleBefore) int {
		return cmp.Or(cmp.Compare(y.TimeNs, x.TimeNs), cmp.Compare(x.Operator, y.Operator), cmp.Compare(x.Call, y.Call),
			cmp.Compare(y.HostBoundNs, x.HostBoundNs), cmp.Compare(y.Count, x.Count))
	})
	return out[:min(listed, len(out))]
}

func (a *activity) launches(span int64, name string, ledger *trace.Ledger) *accelerator.Launches {
	d := &a.delays
	count, early := d.Count(), d.BelowZero()
	if count+d.unsure == 0 {
		return nil
	}
	place := trace.Place{Location: a.d.streams[0].location, Offset: -1}
	ledger.AddN(trace.CodeNoLaunch, d.without, place, "on "+name)
	if early > 0 {
		ledger.AddN(trace.CodeClockViolation, early, place, fmt.Sprintf("kernels on %s begin before they are launched", name))
	}
	out := &accelerator.Launches{Count: count, Without: d.without, Unsure: d.unsure, BelowZero: early}
	if count == 0 {
		return out
	}
	sum, queued := d.Sum()
	out.Delay = &accelerator.LaunchDelay{MinNs: a.c.ns(d.Min()), MeanNs: a.c.ns(sum / int64(count)), MaxNs: a.c.ns(d.Max()),
		P50Ns: a.c.ns(d.Quantile(0.5)), P90Ns: a.c.ns(d.Quantile(0.9)), P99Ns: a.c.ns(d.Quantile(0.99))}
	if span > 0 {
		queue := float64(queued) / float64(span)
		out.Queue = &queue
	}
	return out
}

// stepRows returns the steps, nil if there are none.
func (a *activity) stepRows() *accelerator.Steps {
	if len(a.steps) == 0 {
		return nil
	}
	t := a.c.t
	out := &accelerator.Steps{}
	var sum int64
	for i, s := range a.steps {
		row := accelerator.Step{Step: t.Defs.RegionLabel(s.region), Cut: s.cut,
			StartNs: a.c.ns(s.from - t.Defs.Clock.GlobalOffset), Times: deviceTimes(t, s.to-s.from, a.inSteps[i])}
		out.Rows = append(out.Rows, row)
		if s.cut {
			out.Cut++
			continue
		}
		if out.Count == 0 || row.SpanNs < out.MinNs {
			out.MinNs = row.SpanNs
		}
		out.MaxNs = max(out.MaxNs, row.SpanNs)
		out.Count++
		sum += row.SpanNs
	}
	if out.Count > 0 {
		out.MeanNs = sum / int64(out.Count)
	}
	return out
}
