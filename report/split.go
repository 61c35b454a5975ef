package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/numbers"
)

// A Split says how a time is spent, the largest part first.
type Split struct {
	Title string    `json:"title"`
	About string    `json:"about"` // what the shares are of
	Parts []Portion `json:"parts"`
	Notes []string  `json:"notes,omitempty"`
}

// A Portion is a part of a Split.
type Portion struct {
	Label string  `json:"label"`
	Kind  string  `json:"kind"` // work, wait, call, startup or idle: how the page colors it
	Share float64 `json:"share"`
}

// leastShare is what a portion must have to be shown.
const leastShare = 0.001

// split makes a Split of times in ns; nil of nothing.
func split(title, about string, whole float64, parts []Portion) *Split {
	if !(whole > 0) {
		return nil
	}
	for i := range parts {
		parts[i].Share /= whole
	}
	slices.SortStableFunc(parts, func(x, y Portion) int { return cmp.Compare(y.Share, x.Share) })
	return &Split{Title: title, About: about, Parts: parts}
}

// ratios returns the efficiencies without startup, if they are wanted and known, and whether they are these.
func (r *Sections) ratios(without bool) (*document.Ratios, bool) {
	e := r.Analysis.Efficiency
	if e.WithoutInitFinalize != nil && without {
		return e.WithoutInitFinalize, true
	}
	return &e.Ratios, false
}

// splitTime says where the time of ranks goes or, where several threads work in them, that of threads; nil where neither is known.
func (r *Sections) splitTime(without bool) *Split {
	const title = "Where the time goes"
	a := r.Analysis
	if t := a.Threads; t != nil {
		var useful, mpi, barrier, waiting, scheduling, measurement, idle float64
		for _, row := range t.Rows {
			for _, x := range []struct {
				sum *float64
				ns  int64
			}{{&useful, row.UsefulNs}, {&mpi, row.CommunicationNs}, {&barrier, row.BarrierNs}, {&waiting, row.WaitingNs},
				{&scheduling, row.SchedulingNs}, {&measurement, row.MeasurementNs}, {&idle, row.IdleNs}} {
				*x.sum += float64(x.ns)
			}
		}
		return split(title, "% of thread time", float64(r.runtime())*float64(len(t.Rows)), []Portion{{"computing", "work", useful},
			{"in MPI calls", "call", mpi}, {"at barriers of threads", "wait", barrier}, {"waiting for locks and tasks", "wait", waiting},
			{"fork, join, scheduling", "call", scheduling}, {"measurement", "startup", measurement}, {"no work", "idle", idle}})
	}
	if a.Efficiency == nil || a.Efficiency.Hidden() || len(a.Devices) > 0 {
		return nil
	}
	ratios, without := r.ratios(without)
	var useful, calls, startup, waiting float64
	for _, ns := range ratios.UsefulNs {
		useful += float64(ns)
	}
	for _, c := range a.CallSites {
		if document.StartsUp(c.Operation) {
			startup += float64(c.TimeNs)
		} else {
			calls += float64(c.TimeNs)
		}
	}
	for k, s := range a.WaitStates.All {
		if info := k.Info(); info.Caused && !info.Startup {
			waiting += float64(s.TimeNs)
		}
	}
	whole, rest := float64(ratios.RuntimeNs)*float64(len(ratios.UsefulNs)), "not recorded"
	for _, e := range ratios.EndEarly { // until then
		useful, whole = useful+float64(e.UsefulNs), whole+float64(e.RecordedNs)
	}
	if without { // between the first rank's end of MPI_Init and the last rank's begin of MPI_Finalize
		startup, rest = 0, "startup or end of some ranks"
	}
	// Worker threads that communicate do so beside the time of their ranks.
	calls = min(calls, max(0, whole-useful-startup))
	waiting = min(waiting, calls)
	mark, library := Mark(a.Trace.Rebuilt), library(a)
	return split(title, "% of rank time", whole, []Portion{{"computing", "work", useful}, {mark + "waiting in " + library, "wait", waiting},
		{mark + "in " + library + " calls, not waiting", "call", calls - waiting}, {"MPI_Init, MPI_Finalize", "startup", startup},
		{rest, "idle", whole - useful - calls - startup}})
}

// library names what ranks communicate by.
func library(a *document.Analysis) string {
	if slices.ContainsFunc(a.CallSites, func(c document.CallSiteRow) bool { return strings.HasPrefix(c.Operation, "MPI_") }) {
		return "MPI"
	}
	return "communication"
}

// splitDevices says what devices do with their time; nil where there are none.
func (r *Sections) splitDevices() *Split {
	d := r.Analysis.Devices
	sum := func(of func(*accelerator.Device) int64) (total float64) {
		for i := range d {
			total += float64(of(&d[i]))
		}
		return total
	}
	spans, span := deviceSpans(r.Analysis), 0.0
	for _, ns := range spans {
		span += float64(ns)
	}
	late := sum(func(d *accelerator.Device) int64 { return d.IdleCauses.CollectiveWaitNs })
	about := fmt.Sprintf("%s, %% of the time from first to last work (%s)", words.Plural(len(d), "device", "devices"),
		words.Nanoseconds(span/max(1, float64(len(d)))))
	s := split("Devices", about, span, []Portion{
		{"computing", "work", sum(func(d *accelerator.Device) int64 { return d.ComputeNs })},
		{"communication, not hidden", "call", sum(func(d *accelerator.Device) int64 { return d.ExposedCommunicationNs }) - late},
		{"waiting for late ranks", "wait", late},
		{"copies, not hidden", "call", sum(func(d *accelerator.Device) int64 { return d.ExposedMemoryNs })},
		{"idle: empty launch queue", "idle", sum(func(d *accelerator.Device) int64 { return d.IdleCauses.HostBoundNs })},
		{"idle: work queued", "wait", sum(func(d *accelerator.Device) int64 { return d.IdleCauses.KernelGapsNs })},
		{"idle: launch not recorded", "idle", sum(func(d *accelerator.Device) int64 { return d.IdleCauses.UnknownNs })},
		{"idle: not yet or no longer in use", "idle", span - sum(func(d *accelerator.Device) int64 { return d.SpanNs })},
	})
	if s == nil {
		return nil
	}
	if whole := float64(r.runtime()) * float64(len(d)); span < 0.95*whole {
		s.Notes = append(s.Notes, fmt.Sprintf("%s of the run (%s) pass before the first or after the last work.",
			words.PartOfFloat(whole-span, whole), words.Time(r.runtime())))
	}
	busy := func(i int) float64 { return float64(d[i].BusyNs) / float64(max(1, spans[i])) }
	least, most := 0, 0
	for i := range d {
		if busy(i) < busy(least) {
			least = i
		}
		if busy(i) > busy(most) {
			most = i
		}
	}
	if busy(most)-busy(least) >= leastShare {
		s.Notes = append(s.Notes, fmt.Sprintf("busiest: %s (%s), least: %s (%s)", d[most].Device, words.Share(busy(most)), d[least].Device,
			words.Share(busy(least))))
	}
	return s
}

// deviceSpans returns for each device the time from the first to the last work of any device of its process, ns: one that works alone for
// a part of that time idles in the rest.
func deviceSpans(a *document.Analysis) []int64 {
	type process struct{ from, to int64 }
	of := make(map[field.Rank]*process)
	out := make([]int64, len(a.Devices))
	for i := range a.Devices {
		d := &a.Devices[i]
		end := numbers.Plus(d.StartNs, d.SpanNs)
		if p := of[d.Rank]; p == nil {
			of[d.Rank] = &process{d.StartNs, end}
		} else {
			p.from, p.to = min(p.from, d.StartNs), max(p.to, end)
		}
	}
	for i := range a.Devices {
		if d := &a.Devices[i]; d.Alone(a.Trace.Processes) {
			out[i] = d.SpanNs
		} else {
			out[i] = of[d.Rank].to - of[d.Rank].from
		}
	}
	return out
}
