package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/stats/numbers"
)

// devices prints first what the owner of accelerators must know: how much of their time they
// work, and what they do otherwise.
func (r *Sections) devices() {
	d := r.Analysis.Devices
	if len(d) == 0 {
		return
	}
	fmt.Fprintln(r.W)
	r.Line("%s", deviceVerdict(d, r.Analysis.Trace.DurationNs))
	r.table(devices, rowsOf(d))
}

// deviceVerdict says in a sentence or two what the devices do with their time, and what there is most
// to gain from.
func deviceVerdict(d []accelerator.Device, run int64) string {
	var span, compute, communication, memory, idle, host, gaps, waiting int64
	for _, x := range d {
		for _, s := range []struct {
			sum *int64
			ns  int64
		}{{&span, x.SpanNs}, {&compute, x.ComputeNs}, {&communication, x.ExposedCommunicationNs}, {&memory, x.ExposedMemoryNs}, {&idle, x.IdleNs},
			{&host, x.IdleCauses.HostBoundNs}, {&gaps, x.IdleCauses.KernelGapsNs}, {&waiting, x.IdleCauses.CollectiveWaitNs}} {
			*s.sum = numbers.Plus(*s.sum, s.ns)
		}
	}
	if span == 0 {
		return fmt.Sprintf("%s: nothing that takes time is recorded of what they do.", words.Plural(len(d), "device", "devices"))
	}
	who, mean, its := d[0].Device, "", "its"
	if len(d) > 1 {
		who, mean, its = words.Plural(len(d), "device", "devices"), "in the mean ", "their"
	}
	said := fmt.Sprintf("%s: %scomputing %s, idle %s", who, mean, words.PartOf(compute, span), words.PartOf(idle, span))
	if communication > 0 {
		said += fmt.Sprintf(", communicating and nothing else %s", words.PartOf(communication, span))
	}
	if memory > 0 {
		said += fmt.Sprintf(", copying and nothing else %s", words.PartOf(memory, span))
	}
	said += " of the time"
	whole := run * int64(len(d))
	if span < whole/10*9 {
		said += fmt.Sprintf(" between the first and the last of %s work, which is %s of the run", its, words.PartOf(span, whole))
	}
	said += "."
	type loss struct {
		ns   int64
		text string
	}
	losses := []loss{
		{whole - span, "before the first and after the last of " + its + " work"},
		{host, "to hosts that do not keep up, so that nothing is launched that has not begun"},
		{gaps, "between the launch of kernels and their begin: to other streams, copies or devices, or because they are many and short"},
		{waiting, "in collectives to ranks that come late"},
		{communication - waiting, "in communication that no computing overlaps"},
		{memory, "in copies that no computing overlaps"},
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.ns, a.ns) })
	var worst []string
	for _, l := range losses[:3] {
		if l.ns*20 < whole || l.ns*2 < losses[0].ns {
			break
		}
		worst = append(worst, fmt.Sprintf("%s (%s)", l.text, words.PartOf(l.ns, whole)))
	}
	if len(worst) > 0 {
		said += " Most of the run is lost " + strings.Join(worst, ", then ") + "."
	}
	if name, ns := mostComputed(d); 2*compute >= span && ns > 0 {
		said += fmt.Sprintf(" Computing takes longest in %s (%s of what is executed).", text.ShortenRegion(name, 60), words.PartOf(ns, executed(d)))
	}
	return said
}

// mostComputed returns the kernel that computes for the longest time on all devices together.
func mostComputed(d []accelerator.Device) (most string, ns int64) {
	sums := make(map[string]int64)
	for _, x := range d {
		for _, k := range x.Kernels {
			if k.Kind == "compute" {
				sums[k.Name] = numbers.Plus(sums[k.Name], k.TimeNs)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if sums[name] > ns {
			most, ns = name, sums[name]
		}
	}
	return most, ns
}

// executed returns the sum of all single executions.
func executed(d []accelerator.Device) (ns int64) {
	for _, x := range d {
		for _, k := range x.Kernels {
			ns = numbers.Plus(ns, k.TimeNs)
		}
	}
	return ns
}

// deviceDetails prints what devices execute, when they idle, and how they wait for each other.
func (r *Sections) deviceDetails() {
	if len(r.Analysis.Devices) == 0 {
		return
	}
	r.devicePath()
	r.deviceGaps()
	r.idleBefore()
	r.deviceKernels()
	r.deviceLaunches()
	r.deviceSteps()
	r.deviceCollectives()
	r.stragglers()
	r.hostWaits()
	r.deviceStreams()
	r.deviceParts()
}

func (r *Sections) devicePath() {
	p := r.Analysis.DevicePath
	if p == nil {
		return
	}
	r.Show(r.begin(devicePath, ", "+words.Time(p.LengthNs), rowsOf(p.Rows), "Wall time: the chain of kernels, launches and functions of hosts that determines how long the "+r.whole()+" takes; hosts that wait for a device are not on it, and in collectives it is with who comes last. "+
		"Launch: from the call that launches a kernel to the kernel's begin, with nothing before it on the device; gap: from the end of one kernel to the begin of the next."))
}

// A Kernel is what all devices together execute under one name.
type Kernel struct {
	accelerator.Kernel
	From    string   `json:"from"` // what launches it for the longest time
	Share   *float64 `json:"share"`
	Devices int      `json:"devices"` // that execute it
	from    map[string]int64
}

// Kernels sums what devices execute by name, that with the most time first.
func Kernels(devices []accelerator.Device) []Kernel {
	byName := make(map[string]*Kernel)
	var all []*Kernel
	var total int64
	for _, d := range devices {
		for _, k := range d.Kernels {
			x := byName[k.Kind+" "+k.Name]
			if x == nil {
				x = &Kernel{Kernel: k, from: make(map[string]int64)}
				x.Count, x.TimeNs, x.LaunchedFrom = 0, 0, nil
				byName[k.Kind+" "+k.Name] = x
				all = append(all, x)
			}
			x.Count, x.TimeNs, total = x.Count+k.Count, numbers.Plus(x.TimeNs, k.TimeNs), numbers.Plus(total, k.TimeNs)
			x.MinNs, x.MaxNs, x.Devices = min(x.MinNs, k.MinNs), max(x.MaxNs, k.MaxNs), x.Devices+1
			for _, s := range k.LaunchedFrom {
				from := cmp.Or(string(s.Operator), string(s.Call))
				x.from[from] = numbers.Plus(x.from[from], s.TimeNs)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Kernel) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), strings.Compare(a.Name, b.Name))
	})
	var out []Kernel
	for _, x := range all {
		most := int64(-1)
		for _, name := range slices.Sorted(maps.Keys(x.from)) {
			if x.from[name] > most {
				x.From, most = name, x.from[name]
			}
		}
		x.MeanNs, x.Share = x.TimeNs/int64(max(x.Count, 1)), partOf(x.TimeNs, float64(total)).Share
		out = append(out, *x)
	}
	return out
}

func (r *Sections) deviceKernels() { r.table(kernels, rowsOf(Kernels(r.Analysis.Devices))) }

// An onDevice is a row of a device.
type onDevice[T any] struct {
	row    T
	device string
}

// An onIt names the device that a row lies in.
type onIt struct {
	Device string `json:"device"`
}

// onDevices joins the rows of all devices, those with the most time first.
func onDevices[T any](devices []accelerator.Device, of func(*accelerator.Device) []T, ns func(*T) int64) (out []onDevice[T]) {
	for i := range devices {
		for _, row := range of(&devices[i]) {
			out = append(out, onDevice[T]{row, devices[i].Device})
		}
	}
	slices.SortStableFunc(out, func(a, b onDevice[T]) int { return cmp.Compare(ns(&b.row), ns(&a.row)) })
	return out
}

func (r *Sections) deviceGaps() {
	rows := onDevices(r.Analysis.Devices, func(d *accelerator.Device) []accelerator.Gap { return d.Gaps }, func(g *accelerator.Gap) int64 { return g.TimeNs })
	g := r.Grid("The longest times in which a device idles", "<device", "begins after", "lasts", "host-bound", "<then begins", "<launched from")
	for _, x := range rows[:min(r.Top, len(rows))] {
		g.Add(x.device, words.Time(x.row.StartNs-r.Analysis.Trace.StartNs), words.Time(x.row.TimeNs), words.PartOf(x.row.HostBoundNs, x.row.TimeNs), x.row.Before, string(x.row.LaunchedFrom))
	}
	r.Show(g)
}

func (r *Sections) idleBefore() {
	rows := onDevices(r.Analysis.Devices, func(d *accelerator.Device) []accelerator.IdleBefore { return d.IdleBefore }, func(x *accelerator.IdleBefore) int64 { return x.TimeNs })
	var shown []row
	for i := range rows[:min(r.Top, len(rows))] {
		shown = append(shown, row{&rows[i].row, onIt{rows[i].device}})
	}
	r.table(idleBefore, shown)
}

// A withoutLaunch counts kernels of which it is not known what launched them.
type withoutLaunch struct {
	Count uint64 `json:"no_launch"`
}

func (r *Sections) deviceLaunches() {
	var rows []row
	for i := range r.Analysis.Devices[:min(r.Top, len(r.Analysis.Devices))] {
		d := &r.Analysis.Devices[i]
		if l := d.Launches; l != nil && l.Delay != nil {
			rows = append(rows, row{l, withoutLaunch{l.Without + l.Unsure}, onIt{d.Device}})
		}
	}
	r.Show(r.begin(launches, r.Of(len(r.Analysis.Devices), "devices"), rows))
}

func (r *Sections) deviceSteps() {
	g := r.Grid("", "<device", "<step", "time", "computing", "communicating", "copying", "idle", "<")
	rows := 0
	for _, d := range r.Analysis.Devices {
		if d.Steps == nil {
			continue
		}
		for _, s := range d.Steps.Rows {
			if rows++; rows > r.Top {
				continue
			}
			of := func(ns int64) string { return words.PartOf(ns, s.SpanNs) }
			cut := ""
			if s.Cut {
				cut = "cut off"
			}
			g.Add(d.Device, s.Step, words.Time(s.SpanNs), of(s.ComputeNs), of(s.ExposedCommunicationNs), of(s.ExposedMemoryNs), of(s.IdleNs), cut)
		}
	}
	g.Heading = "Training steps" + r.Of(rows, "rows")
	g.Note("Time is that of the step on the host; shares of what the device does meanwhile, of it.")
	r.Show(g)
}

func (r *Sections) deviceCollectives() {
	rows := onDevices(r.Analysis.Devices, func(d *accelerator.Device) []accelerator.Collective { return d.Collectives }, func(c *accelerator.Collective) int64 { return c.TimeNs })
	g := r.Grid("Bandwidth of collectives"+r.Of(len(rows), "rows"), "<device", "<operation", "members", "size", "count", "time", "bus bandwidth", "<")
	g.Note("Time is a sum, from when the last rank has come or, where not all ranks are recorded, of the whole kernels. The bus bandwidth is that of NCCL's tests, to be held against the links'.")
	for _, x := range rows[:min(r.Top, len(rows))] {
		c, waiting := x.row, ""
		if c.WithWaiting {
			waiting = "waiting included"
		}
		g.Add(x.device, c.Operation, words.Count(int(c.Members)), words.Bytes(c.Bytes), words.Count(c.Count), words.Time(c.TimeNs), perSecond(c.BusBandwidth), waiting)
	}
	r.Show(g)
}

func (r *Sections) stragglers() {
	var rows []accelerator.Device
	for _, d := range r.Analysis.Devices {
		if d.Straggler != nil {
			rows = append(rows, d)
		}
	}
	slices.SortStableFunc(rows, func(a, b accelerator.Device) int { return cmp.Compare(b.Straggler.CausedNs, a.Straggler.CausedNs) })
	g := r.Grid("Who comes late to collectives"+r.Of(len(rows), "devices"), "<device", "collectives", "comes last", "waits caused", "waits itself", "after the first, mean", "computing")
	g.Note("Sums over collectives; waits caused are those of all others for the one that comes last.")
	for _, d := range rows[:min(r.Top, len(rows))] {
		s := d.Straggler
		g.Add(d.Device, words.Count(s.Count), words.Count(s.ComesLast), words.Time(s.CausedNs), words.Time(s.WaitNs), words.Time(s.LateMeanNs), words.Time(d.ComputeNs))
	}
	r.Show(g)
}

func (r *Sections) hostWaits() {
	type sum struct {
		count uint64
		ns    int64
	}
	sums, seen := make(map[string]sum), make(map[field.Rank]bool)
	for _, d := range r.Analysis.Devices {
		if seen[d.Rank] { // the devices of a process have the same
			continue
		}
		seen[d.Rank] = true
		for _, w := range d.HostWaits {
			s := sums[w.Call]
			sums[w.Call] = sum{s.count + w.Count, numbers.Plus(s.ns, w.TimeNs)}
		}
	}
	names := slices.Sorted(maps.Keys(sums))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sums[b].ns, sums[a].ns) })
	g := r.Grid("Where hosts only wait for devices"+r.Of(len(names), "calls"), "<call", "count", "time")
	g.Note("Sums over all threads.")
	for _, n := range names[:min(r.Top, len(names))] {
		g.Add(n, words.Count(sums[n].count), words.Time(sums[n].ns))
	}
	r.Show(g)
}

// A deviceSpan is the span of the device that a stream is of.
type deviceSpan struct {
	SpanNs int64 `json:"device_ns"`
}

func (r *Sections) deviceStreams() {
	var rows []row
	all := 0
	for i := range r.Analysis.Devices {
		d := &r.Analysis.Devices[i]
		for k := range d.Streams {
			if all++; all <= r.Top && len(d.Streams) > 1 {
				rows = append(rows, row{&d.Streams[k], onIt{d.Device}, deviceSpan{d.SpanNs}})
			}
		}
	}
	r.Show(r.begin(streams, r.Of(all, "streams"), rows))
}

func (r *Sections) deviceParts() {
	g := r.Grid("Parts of what devices execute", "<device", "<part", "executes", "span", "computing", "communicating", "copying", "idle")
	g.Note("Launched is what has its launch in the trace; recompute, of that, what is launched to compute activations again, first_pass the rest. The times of each part are as if there were no other.")
	for _, d := range r.Analysis.Devices[:min(r.Top, len(r.Analysis.Devices))] {
		for _, p := range d.Parts {
			g.Add(d.Device, p.Part, words.Count(p.Count), words.Time(p.SpanNs), words.Time(p.ComputeNs), words.Time(p.ExposedCommunicationNs), words.Time(p.ExposedMemoryNs), words.Time(p.IdleNs))
		}
	}
	r.Show(g)
}

// counterSeries prints the counters that are sampled beside the program.
func (r *Sections) counterSeries() {
	c := slices.DeleteFunc(slices.Clone(r.Analysis.Sampled), func(c document.CounterSeries) bool { // that never move say nothing
		return c.Min != nil && c.Max != nil && *c.Min == *c.Max && *c.Max == 0
	})
	never := len(r.Analysis.Sampled) - len(c)
	slices.SortStableFunc(c, func(a, b document.CounterSeries) int { return strings.Compare(a.Name, b.Name) })
	g := r.Grid("Counters over time", "<counter", "<unit", "places", "samples", "least", "mean", "most", "growth")
	g.Note("Means are weighted by time. Of counters that accumulate, least, mean and most are of growth per second. Of several places that record a counter: the mean of their means, and the sum of their growth.")
	for len(c) > 0 {
		n := 1
		for n < len(c) && c[n].Name == c[0].Name && c[n].Unit == c[0].Unit {
			n++
		}
		x := together(c[:n])
		c = c[n:]
		g.Add(x.Name, x.Unit, words.Count(uint64(n)), words.Count(x.Samples), words.Number(x.Min), words.Number(x.Mean), words.Number(x.Max), words.Number(x.Growth))
	}
	r.Show(g)
	if never > 0 {
		r.Line("%s always 0.", words.Plural(never, "further counter is", "further counters are"))
	}
}

// together makes one row of those of a counter at several places.
func together(rows []document.CounterSeries) document.CounterSeries {
	join := func(a, b *float64, f func(a, b float64) float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		v := f(*a, *b)
		return &v
	}
	sum := func(a, b float64) float64 { return a + b }
	out := rows[0]
	for _, x := range rows[1:] {
		out.Samples += x.Samples
		out.Min = join(out.Min, x.Min, func(a, b float64) float64 { return min(a, b) })
		out.Max = join(out.Max, x.Max, func(a, b float64) float64 { return max(a, b) })
		out.Mean, out.Growth = join(out.Mean, x.Mean, sum), join(out.Growth, x.Growth, sum)
	}
	n := float64(len(rows))
	out.Mean = join(out.Mean, &n, func(a, b float64) float64 { return a / b })
	return out
}
