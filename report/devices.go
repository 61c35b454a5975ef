package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tracekit/document/accelerator"
	"tracekit/document/counter"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/numbers"
)

// devices prints how much of their time accelerators work, and what they do otherwise.
func (r *Sections) devices() { r.Table(devices, r.rows(devices)) }

// deviceDetails prints what devices execute, when they idle, and how they wait for each other.
func (r *Sections) deviceDetails() {
	if len(r.Analysis.Devices) == 0 {
		return
	}
	r.deviceGaps()
	r.idleBefore()
	r.deviceKernels()
	r.deviceLaunches()
	r.Table(steps, r.rows(steps))
	r.deviceCollectives()
	r.stragglers()
	r.Table(hostWaits, RowsOf(HostWaits(r.Analysis.Devices)))
	r.deviceStreams()
	r.deviceParts()
}

func (r *Sections) devicePath() {
	p := r.Analysis.DevicePath
	if p == nil {
		return
	}
	r.Show(r.begin(devicePath, ", "+words.Time(p.LengthNs), r.rows(devicePath),
		"Wall time. The chain of kernels, launches and host functions that determines how long the "+r.whole()+" takes; "+
			"hosts that wait for a device are not on it, and in collectives it is with who comes last. "+
			"Launch: from the call that launches a kernel to the kernel's begin, with nothing before it on the device; "+
			"gap: from the end of one kernel to the begin of the next; loading: what loads input, and what it calls; "+
			"startup, ending: hosts before the first and after the last work of their devices."))
}

// A Kernel is what all devices together execute under one name.
type Kernel struct {
	accelerator.Kernel
	Short   string   `json:"short"` // readable, if no other one is called so: else its name
	Class   string   `json:"class"` // what it does: see words.KernelClass
	From    string   `json:"from"`  // what launches it for the longest time
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
	shorts := make(map[string]int)
	for _, x := range all {
		x.Short = words.KernelName(x.Name)
		shorts[x.Short]++
	}
	for _, x := range all {
		if shorts[x.Short] > 1 {
			x.Short = x.Name
		}
		x.Class = words.KernelClass(x.Kind, x.Name)
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

func (r *Sections) deviceKernels() { r.Table(kernels, RowsOf(Kernels(r.Analysis.Devices))) }

func (r *Sections) deviceGaps() { r.Table(gaps, top(r, longest(r.rows(gaps), "time_ns"))) }

func (r *Sections) idleBefore() { r.Table(idleBefore, top(r, longest(r.rows(idleBefore), "time_ns"))) }

// A withoutLaunch counts kernels of which it is not known what launched them.
type withoutLaunch struct {
	Count uint64 `json:"no_launch"`
}

func (r *Sections) deviceLaunches() {
	var rows []Row
	for _, d := range top(r, r.rows(devices)) {
		for _, x := range d.Below("launches") {
			if l := x[0].(*accelerator.Launches); l.Delay != nil {
				rows = append(rows, append(x, withoutLaunch{l.Without + l.Unsure}))
			}
		}
	}
	r.Show(r.begin(launches, r.Of(len(r.Analysis.Devices), "devices"), rows))
}

func (r *Sections) deviceCollectives() {
	r.Table(deviceCollectives, longest(r.rows(deviceCollectives), "time_ns"))
}

func (r *Sections) stragglers() { r.Table(stragglers, longest(r.rows(stragglers), "caused_ns")) }

// HostWaits sums the calls in which hosts only wait for devices, those with the most time first.
func HostWaits(devices []accelerator.Device) []accelerator.HostWait {
	sums, seen := make(map[string]accelerator.HostWait), make(map[field.Rank]bool)
	for _, d := range devices {
		if seen[d.Rank] { // the devices of a process have the same
			continue
		}
		seen[d.Rank] = true
		for _, w := range d.HostWaits {
			s := sums[w.Call]
			sums[w.Call] = accelerator.HostWait{Call: w.Call, Count: s.Count + w.Count, TimeNs: numbers.Plus(s.TimeNs, w.TimeNs)}
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b accelerator.HostWait) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), strings.Compare(a.Call, b.Call))
	})
}

// A deviceSpan is the span of the device that a stream is of.
type deviceSpan struct {
	SpanNs int64 `json:"device_ns"`
}

func (r *Sections) deviceStreams() {
	var rows []Row
	all := r.rows(streams)
	for _, x := range top(r, all) {
		if d := x[1].(*accelerator.Device); len(d.Streams) > 1 {
			rows = append(rows, append(x, deviceSpan{d.SpanNs}))
		}
	}
	r.Show(r.begin(streams, r.Of(len(all), "streams"), rows))
}

func (r *Sections) deviceParts() {
	var rows []Row
	for _, d := range top(r, r.rows(devices)) {
		rows = append(rows, d.Below("parts[]")...)
	}
	r.Table(parts, rows)
}

// counterSeries prints the counters that are sampled beside the program.
func (r *Sections) counterSeries() {
	c := slices.DeleteFunc(slices.Clone(r.Analysis.Sampled), func(c counter.Series) bool { // that never move say nothing
		return c.Min != nil && c.Max != nil && *c.Min == *c.Max && *c.Max == 0
	})
	never := len(r.Analysis.Sampled) - len(c)
	slices.SortStableFunc(c, func(a, b counter.Series) int { return strings.Compare(a.Name, b.Name) })
	var rows []Row
	for len(c) > 0 {
		n := 1
		for n < len(c) && c[n].Name == c[0].Name && c[n].Unit == c[0].Unit {
			n++
		}
		rows = append(rows, Row{together(c[:n]), placesOf{n}})
		c = c[n:]
	}
	r.Table(counterSeries, rows)
	if never > 0 {
		r.Line("%s always 0.", words.Plural(never, "further counter is", "further counters are"))
	}
}

// placesOf is how many places record a counter.
type placesOf struct {
	Places int `json:"places"`
}

// together makes one row of those of a counter at several places.
func together(rows []counter.Series) counter.Series {
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
