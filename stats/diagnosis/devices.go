package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/doubt"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// OfDevices returns why a run on accelerators is not shorter, the cause with the most gain first;
// none if nothing is worth fixing. Gains are bounds: mending a
// cause cannot save more than it has of the critical path through hosts and devices (DEFINITIONS 2.12).
func OfDevices(a *analysis.Result) []cause.Cause {
	f := newDeviceFinder(a)
	if f.run == 0 { // less than a nanosecond
		return []cause.Cause{}
	}
	turns, uneven := f.turns(), f.uneven()
	if len(turns) > 0 { // then less work for one device is more for another, and gains nothing
		uneven = nil
	}
	hosts, late := f.hosts(), f.lateRanks()
	if len(hosts) > 0 && len(late) > 0 && lateByHost(&hosts[0], &late[0]) {
		late = nil
	}
	return Join(slices.Concat(f.late(), f.before(), f.startup(), f.unknown(), turns, uneven, f.loading(), hosts, f.ending(),
		f.gaps(), late, f.exposed("communication", "Communication that computing does not hide", "communicate", "communicates",
			f.communication-f.causes.CollectiveWaitNs, a.DevicePath.ExposedCommunicationNs),
		f.exposed("memory", "Copies that computing does not hide", "copy", "copies", f.memory, a.DevicePath.ExposedMemoryNs)), nil)
}

// lateByHost reports whether a rank comes late to collectives since its host launches late, which then is evidence of that: its device has
// nothing to do meanwhile, and computes no longer than others.
func lateByHost(hosts, late *cause.Cause) bool {
	_, computes := late.Evidence["compute_excess"]
	return !computes && len(hosts.Ranks) > 0 && slices.Equal(hosts.Ranks, late.Ranks) && effect(hosts, late)
}

// A deviceFinder has what all devices do, in ns.
type deviceFinder struct {
	a       *analysis.Result
	run     int64
	start   int64 // of the run, or of the part that is analyzed
	whole   int64 // run time of all devices
	causes  accelerator.IdleCauses
	kernels uint64
	work    int64 // of single kernels

	communication, memory int64 // exposed

	spare int64            // what remains of the run beside what the busiest device does and does not wait for others
	known int64            // of that, without the time of which it is unknown why the device idles
	path  map[string]int64 // critical path by kind
}

func newDeviceFinder(a *analysis.Result) *deviceFinder {
	f := &deviceFinder{a: a, run: runOf(a), start: a.Trace.StartNs, path: make(map[string]int64)}
	if s := a.Selection; s != nil {
		f.start = s.FromNs
	}
	f.whole, f.spare, f.known = f.run*int64(len(a.Devices)), f.run, f.run
	for i := range a.Devices {
		d := &a.Devices[i]
		f.communication += d.ExposedCommunicationNs
		f.memory += d.ExposedMemoryNs
		f.causes.HostBoundNs += d.IdleCauses.HostBoundNs
		f.causes.UnknownNs += d.IdleCauses.UnknownNs
		f.causes.KernelGapsNs += d.IdleCauses.KernelGapsNs
		f.causes.CollectiveWaitNs += d.IdleCauses.CollectiveWaitNs
		spare := f.run - d.BusyNs + d.IdleCauses.CollectiveWaitNs
		f.spare, f.known = min(f.spare, spare), min(f.known, spare-d.IdleCauses.UnknownNs)
		for _, k := range d.Kernels {
			f.kernels, f.work = f.kernels+k.Count, f.work+k.TimeNs
		}
	}
	for _, r := range a.DevicePath.Rows {
		f.path[r.Kind] += r.TimeNs
	}
	f.spare, f.known = f.spare-f.path["helpers"], f.known-f.path["helpers"] // nothing that is mended ends that
	return f
}

// who names the devices, with the verb that fits, where a sentence begins.
func (f *deviceFinder) who(plural, singular string) string {
	if n := len(f.a.Devices); n > 1 {
		return fmt.Sprintf("%d devices %s", n, plural)
	}
	return words.Capital(f.a.Devices[0].Device) + " " + singular
}

// of puts a time into relation to that of all devices.
func (f *deviceFinder) of(ns int64) string {
	if len(f.a.Devices) > 1 {
		return fmt.Sprintf("%s together (%.1f %% of their time)", words.Time(ns), 100*float64(ns)/float64(f.whole))
	}
	return fmt.Sprintf("%s of %s", words.Time(ns), words.Time(f.run))
}

// cause completes a cause by what mending it gains at most; none if that is too little.
func (f *deviceFinder) cause(c cause.Cause, gain int64, mended string) []cause.Cause {
	if gain <= 0 || float64(gain) < leastGain*float64(f.run) {
		return nil
	}
	share := float64(gain) / float64(f.run)
	if c.Ranks == nil {
		c.Ranks = []uint32{}
	}
	c.GainNs, c.GainShare = &gain, &share
	c.Change = fmt.Sprintf("%s, the run would be at most %s (%.1f %%) shorter.", mended, words.Time(gain), 100*share)
	return []cause.Cause{c}
}

// DoubtRecords adds to the doubts of an analysis if records of a rank begin late and others wait for it, for much of the run: devices, or
// worker threads, of which the critical path knows nothing.
func DoubtRecords(t *trace.Trace, a *analysis.Result) {
	sign := doubt.Sign{Kind: doubt.LateRecords}
	switch {
	case a.DevicePath != nil && len(a.Devices) > 0:
		row, share := newDeviceFinder(a).lateRecords()
		if row == nil || share < doubtful {
			return
		}
		sign.LateNs, sign.Share = row.TimeNs, &share
		if rank := uint32(row.MaxRank); rank != trace.None {
			sign.Rank = &rank
		}
	case a.Efficiency != nil && a.Efficiency.WorkerThreads != nil && a.Selection == nil:
		i := slices.IndexFunc(a.Delays, func(row waitstate.Delay) bool { return row.Region == field.NotRecorded })
		_, last, apart := begins(t)
		if i < 0 || int(a.Delays[i].MostRank) != last {
			return
		}
		share, least, rank := float64(apart)/float64(runOf(a)), doubtful*float64(runOf(a)), uint32(last)
		if float64(apart) < least || float64(a.Delays[i].MostRankNs) < least*float64(len(t.World)-1) {
			return
		}
		sign.LateNs, sign.Share, sign.Rank = apart, &share, &rank
	default:
		return
	}
	a.Doubts = append(a.Doubts, sign)
}

// lateRecords returns the part of the path, and its share of the run, that begins with the first record of a host, later than the first of
// all; nil if there is none.
func (f *deviceFinder) lateRecords() (row *accelerator.PathRow, share float64) {
	if row = f.onPath("unknown"); row == nil || f.a.Trace.Processes < 2 || f.run == 0 {
		return nil, 0
	}
	return row, float64(row.TimeNs) / float64(f.run)
}

// late judges that records begin late. If that is much of the run, it is a doubt instead of a cause.
func (f *deviceFinder) late() []cause.Cause {
	row, share := f.lateRecords()
	if row == nil || share >= doubtful {
		return nil
	}
	c := cause.Cause{Kind: cause.Startup, SourceLine: field.SourceLine{Region: field.NotRecorded},
		Evidence: map[string]float64{"critical_path_ns": float64(row.TimeNs)}}
	c.Headline = "The records of the files start at different times"
	if row.MaxRank != trace.None {
		c.Ranks = []uint32{uint32(row.MaxRank)}
		c.Headline = fmt.Sprintf("The records of %s start late", words.Ranks(c.Ranks))
	}
	c.Text = fmt.Sprintf("They start %s after the first, and others wait for them. The time until then is not recorded.",
		words.Time(row.TimeNs))
	return f.cause(c, row.TimeNs, "If all had started together")
}

// before judges that the first work of a device does not begin when it is launched: what it does
// until then is not recorded.
func (f *deviceFinder) before() []cause.Cause {
	first := min(f.path["launch"]+f.path["gap"]-f.causes.KernelGapsNs-f.causes.UnknownNs, f.a.Devices[0].StartNs-f.start)
	if len(f.a.Devices) > 1 || float64(first) < leastGain*float64(f.run) {
		return nil
	}
	return []cause.Cause{{Kind: cause.Measurement, Ranks: []uint32{}, Evidence: map[string]float64{"critical_path_ns": float64(first)},
		Headline: f.who("start", "starts") + " its first work long after the launch",
		Text:     fmt.Sprintf("%s pass until then. The device may still execute what was launched before the recording.", words.Time(first))}}
}

// startup judges what passes on hosts before the first work of their devices, as MPI_Init is judged.
func (f *deviceFinder) startup() []cause.Cause {
	row := f.onPath("startup")
	if row == nil {
		return nil
	}
	c := cause.Cause{Kind: cause.Startup, SourceLine: field.SourceLine{Region: field.Name(row.Name)},
		Evidence: map[string]float64{"critical_path_ns": float64(f.path["startup"])}}
	c.Headline = "Device startup, mostly " + words.Brief(row.Name)
	c.Text = fmt.Sprintf("%s of the critical path pass before the first work of %s; %s of it %s.", words.Time(f.path["startup"]),
		f.verb("the devices", "the device"), words.Time(row.TimeNs), within(row.Name))
	return f.cause(c, min(f.path["startup"], f.spare), "If it took no time")
}

// loading judges that devices wait until hosts have loaded their input.
func (f *deviceFinder) loading() []cause.Cause {
	row := f.onPath("loading")
	if row == nil {
		return nil
	}
	path, loader := f.path["loading"], f.a.DevicePath.Loader
	c := cause.Cause{Kind: cause.DataLoading, SourceLine: field.SourceLine{Region: loader},
		Evidence: map[string]float64{"critical_path_ns": float64(path)}}
	c.Headline = "Devices wait for input: data loading"
	c.Text = fmt.Sprintf("%s of the critical path pass in %s", words.Time(path), words.Brief(string(loader)))
	if row.Name == string(loader) {
		c.Text += fmt.Sprintf(", %s of it in the loader itself.", words.Time(row.TimeNs))
	} else {
		c.Text += fmt.Sprintf(", mostly %s (%s).", words.Brief(row.Name), words.Time(row.TimeNs))
	}
	return f.cause(c, min(path, f.spare), inputReady)
}

// unknown says that launches are not recorded, so that it is unknown why devices idle.
func (f *deviceFinder) unknown() []cause.Cause {
	if float64(f.causes.UnknownNs) < leastGain*float64(f.whole) {
		return nil
	}
	without := uint64(0)
	for _, d := range f.a.Devices {
		if d.Launches == nil {
			without += count(d.Kernels)
		} else {
			without += d.Launches.Without
		}
	}
	c := cause.Cause{Kind: cause.Measurement, Ranks: []uint32{},
		Evidence: map[string]float64{"unknown_ns": float64(f.causes.UnknownNs), "kernels": float64(f.kernels)},
		Headline: "Launches are not recorded"}
	what := fmt.Sprintf("%s of %s kernels and copies have no launch record.", words.Count(without), words.Count(f.kernels))
	if without > 0 {
		c.Evidence["without_launch"] = float64(without)
		onHost := func(d accelerator.Device) bool {
			_, name, named := strings.Cut(d.Device, ": ") // behind its rank
			return strings.HasPrefix(d.Device, "CPU ") || named && strings.HasPrefix(name, "CPU ")
		}
		if n := len(f.a.Devices); slices.IndexFunc(f.a.Devices, func(d accelerator.Device) bool { return !onHost(d) }) < 0 {
			c.Evidence["host_devices"] = float64(n)
		}
	} else {
		c.Headline, what = "Launches share identifiers", "Several launches have the same correlation number."
	}
	c.Text = fmt.Sprintf("%s Why %s idle for %s is unknown.", what, f.verb("devices are", f.a.Devices[0].Device+" is"),
		f.of(f.causes.UnknownNs))
	if p := f.a.DevicePath; 10*p.MeanwhileNs >= f.run {
		c.Text += fmt.Sprintf(" Meanwhile the host is in %s for %s.", words.Brief(string(p.Meanwhile)), words.Time(p.MeanwhileNs))
		c.Evidence["meanwhile_ns"] = float64(p.MeanwhileNs)
	}
	return []cause.Cause{c}
}

func count(kernels []accelerator.Kernel) (n uint64) {
	for _, k := range kernels {
		n += k.Count
	}
	return n
}

// inTurn is the share from which on devices that work alone take turns: of the time in which some device works, and of what all but the
// busiest do.
const inTurn = 0.5

// turns judges that one device works while the others idle.
func (f *deviceFinder) turns() []cause.Cause {
	some, one, busiest, all := f.a.DevicePath.SomeWorkNs, f.a.DevicePath.OneWorksNs, int64(0), int64(0)
	kernels := int64(0) // of the path
	for _, d := range f.a.Devices {
		busiest, all = max(busiest, d.BusyNs), all+d.BusyNs
	}
	for _, kind := range []string{"compute", "communication", "memory"} {
		kernels += f.path[kind]
	}
	if len(f.a.Devices) < 2 || float64(one) < inTurn*float64(some) || float64(some-busiest) < inTurn*float64(all-busiest) {
		return nil
	}
	c := cause.Cause{Kind: cause.Serialization,
		Evidence: map[string]float64{"one_device_ns": float64(one), "some_device_ns": float64(some), "busiest_ns": float64(busiest)}}
	if row := f.onPath("compute"); row != nil {
		c.Operation = field.Name(row.Name)
	}
	c.Headline = "Devices take turns instead of working together"
	c.Text = fmt.Sprintf("At least one of %d devices works for %s; for %s of that, only one works.", len(f.a.Devices), words.Time(some),
		words.Time(one))
	return f.cause(c, min(some-busiest, kernels), "If they worked at the same time")
}

// uneven judges that some devices of a process compute longer than its others. Of several processes it is the one in which that gains
// most.
func (f *deviceFinder) uneven() (out []cause.Cause) {
	byRank := make(map[field.Rank][]*accelerator.Device)
	for i := range f.a.Devices {
		d := &f.a.Devices[i]
		if !d.Alone(f.a.Trace.Processes) {
			byRank[d.Rank] = append(byRank[d.Rank], d)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(byRank)) {
		devices := slices.Clone(byRank[rank])
		slices.SortStableFunc(devices, func(a, b *accelerator.Device) int { return cmp.Compare(b.ComputeNs, a.ComputeNs) })
		n, gap := 0, int64(0) // most of the difference lies between the n-th and the next
		for i := 1; 2*i <= len(devices); i++ {
			if d := devices[i-1].ComputeNs - devices[i].ComputeNs; d > gap {
				n, gap = i, d
			}
		}
		if n == 0 {
			continue
		}
		times := comparison{meanCompute(devices[:n]), meanCompute(devices[n:])}
		if times.there == 0 || times.here <= unlike*times.there {
			continue
		}
		kernel, executions, name := mostExcess(devices[:n], devices[n:])
		longer, mended, mendedBy := "computes longer than", times.there, "If all computed as long as the others"
		if executions.here > unlike*executions.there { // there is more to do: others could do a part of it
			longer, mended, mendedBy = "has more work than", meanCompute(devices), "If all did an equal share"
		}
		c := cause.Cause{Kind: cause.Imbalance, Operation: field.Name(name),
			Evidence: map[string]float64{"devices": float64(n), "compute_ns": times.here, "compute_of_others_ns": times.there,
				"kernel_ns": kernel.here, "kernel_of_others_ns": kernel.there}}
		who, others := devices[0].Device+" "+longer, "the other"
		if n > 1 {
			who = fmt.Sprintf("%d devices %s", n, strings.NewReplacer("computes", "compute", "has", "have").Replace(longer))
		}
		if len(devices)-n > 1 {
			others = "the others"
		}
		if len(byRank) > 1 {
			c.Ranks = []uint32{uint32(rank)}
		}
		c.Headline = fmt.Sprintf("%s %s", who, others)
		c.Text = fmt.Sprintf("%s, %s %s on average. Most of the difference is in %s: %s, %s.", words.Time(int64(times.here)), others,
			words.Time(int64(times.there)), words.KernelName(name), words.Time(int64(kernel.here)), words.Time(int64(kernel.there)))
		found := f.cause(c, min(devices[0].ComputeNs-int64(mended), f.path["compute"]), mendedBy)
		if len(found) > 0 && (len(out) == 0 || *found[0].GainNs > *out[0].GainNs) {
			out = found
		}
	}
	return out
}

func meanCompute(devices []*accelerator.Device) (mean float64) {
	for _, d := range devices {
		mean += float64(d.ComputeNs)
	}
	return mean / float64(len(devices))
}

// mostExcess returns the kernel that some devices execute longest beyond what others do, and how often: means over devices.
func mostExcess(these, others []*accelerator.Device) (most, executions comparison, name string) {
	byName, counts := make(map[string]comparison), make(map[string]comparison)
	for i, list := range [][]*accelerator.Device{these, others} {
		for _, d := range list {
			for _, k := range d.Kernels {
				if k.Kind != trace.DeviceCompute.String() {
					continue
				}
				c, count, each := byName[k.Name], counts[k.Name], float64(len(list))
				if i == 0 {
					c.here, count.here = c.here+float64(k.TimeNs)/each, count.here+float64(k.Count)/each
				} else {
					c.there, count.there = c.there+float64(k.TimeNs)/each, count.there+float64(k.Count)/each
				}
				byName[k.Name], counts[k.Name] = c, count
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(byName)) {
		if c := byName[n]; name == "" || c.excess() > most.excess() {
			most, executions, name = c, counts[n], n
		}
	}
	return most, executions, name
}

// hosts judges that devices have nothing to do since hosts launch late.
func (f *deviceFinder) hosts() []cause.Cause {
	path, nothing := f.path["host"], f.causes.HostBoundNs
	c := cause.Cause{Kind: cause.DeviceIdle,
		Evidence: map[string]float64{"host_bound_ns": float64(nothing), "critical_path_ns": float64(path), "kernels": float64(f.kernels),
			"mean_kernel_ns": float64(f.work) / float64(max(1, f.kernels))}}
	c.Headline = f.verb("Hosts launch too slowly: devices idle", "The host launches too slowly: the device idles")
	if nothing > 0 {
		who := f.who("have", "has")
		if few := f.starved(nothing); few != nil {
			if who = "Above all " + few[0].Device + " has"; len(few) > 1 {
				who = fmt.Sprintf("Above all %d devices have", len(few))
			}
			if c.Ranks = f.ranks(few); c.Ranks != nil {
				c.Headline = fmt.Sprintf(one(c.Ranks, "The host of %s launches too slowly", "The hosts of %s launch too slowly"), fewRanks(c.Ranks))
			}
		}
		more := "" // of what is gained: a launch that comes earlier takes its time while the device works
		if queued := f.causes.KernelGapsNs; len(f.a.Devices) == 1 && queued > nothing/10 && path > nothing+nothing/10 {
			more = fmt.Sprintf(" (+ %s with work queued)", words.Time(queued))
		}
		c.Text = fmt.Sprintf("%s an empty launch queue for %s%s; a kernel lasts %s on average.", who, f.of(nothing), more,
			words.Time(f.work/int64(max(1, f.kernels))))
	} else {
		c.Text = fmt.Sprintf("%s of the critical path pass on hosts, until they launch the next work.", words.Time(path))
	}
	row := f.onPath("host")
	loads := row != nil && loadsCode().MatchString(row.Name) && 2*row.TimeNs > path
	if loads {
		c.Text = fmt.Sprintf("%s of the critical path pass %s. ", words.Time(row.TimeNs), within(row.Name)) + c.Text
	} else if row != nil {
		c.Text += fmt.Sprintf(" On the critical path hosts are mostly %s (%s).", within(row.Name), words.Time(row.TimeNs))
	}
	if loads {
		c.Evidence["code_loading_ns"] = float64(row.TimeNs)
		if c.Ranks == nil {
			c.Headline = f.verb("Hosts load code of kernels: devices idle", "The host loads code of kernels: the device idles")
		}
	} else if pause, on := f.pause(); pause != nil {
		c.Evidence["longest_gap_ns"] = float64(pause.HostBoundNs)
		c.Text += fmt.Sprintf(" %s of it are one gap on %s, %s after the begin.", words.Time(pause.HostBoundNs), on,
			words.Time(pause.StartNs-f.start))
		if c.Ranks == nil {
			c.Headline = f.verb("Hosts pause once: devices idle", "The host pauses once: the device idles")
		}
	} else if waits := f.a.DevicePath.AfterWaits; nothing > 0 && len(waits) > 0 {
		if after := afterWaits(waits); 2*after >= path {
			if c.Ranks == nil { // else other hosts wait as well, and are not slow
				c.Headline = f.verb("Hosts wait for devices before they launch", "The host waits for the device before it launches")
			}
			c.Evidence["after_waits_ns"] = float64(after)
			c.Text += fmt.Sprintf(" %s of it follow waits for a device, mostly %s (%s).", words.Time(after), words.Brief(waits[0].Call),
				words.Plural(int(waits[0].Count), "time", "times"))
		}
	}
	rest := f.known - f.path["loading"] // which is a cause of its own
	if f.sameHost() {                   // so that all work lies between startup and ending
		rest -= f.path["startup"] + f.path["ending"]
	}
	if f.path["loading"] > f.known/2 {
		c.Text += " Most of that is data loading."
	} else if nothing > 0 {
		idle := func(x *accelerator.IdleBefore) int64 { return x.HostBoundNs }
		if loads { // in the launching call
			idle = func(x *accelerator.IdleBefore) int64 { return x.HostBoundNs + x.KernelGapsNs }
		}
		site, n := f.idleBefore(idle)
		c.Region, c.Operation = site.Operator, site.Call
		c.Text += fmt.Sprintf(" Most idle time precedes work launched by %s: %s, %s each.", launcher(site), words.Time(idle(&site)),
			words.Time(idle(&site)/n))
	}
	return f.cause(c, min(path, rest), "If hosts took no time")
}

// loadsCode finds what drivers do when a kernel is used first: the runtime's own records and calls (CUDA_MODULE_LOADING=LAZY).
var loadsCode = trace.Expression(`(?i)\bmodule\s+loading\b|\blazy\s+function\s+loading\b|^(?:cu|cuda|hip)(?:module|library)load`)

// pause returns the gap in which a device has nothing launched for so long that it is no rule: half of the time of that device, and far
// longer than its other gaps. Of several devices it is the one of which that is longest; nil: there is none.
func (f *deviceFinder) pause() (longest *accelerator.Gap, device string) {
	const far, fewGaps = 5, 10 // times the mean of others; gaps
	for i := range f.a.Devices {
		d := &f.a.Devices[i]
		gaps := uint64(0)
		for _, x := range d.IdleBefore {
			gaps += x.Count
		}
		for k := range d.Gaps {
			g, all := &d.Gaps[k], d.IdleCauses.HostBoundNs
			if gaps >= fewGaps && 2*g.HostBoundNs >= all && g.HostBoundNs > far*(all-g.HostBoundNs)/int64(gaps-1) &&
				(longest == nil || g.HostBoundNs > longest.HostBoundNs) {
				longest, device = g, d.Device
			}
		}
	}
	return longest, device
}

// within says in which function something passes.
func within(name string) string {
	if name == field.OutsideRegions {
		return "in no recorded function"
	}
	return "in " + words.Brief(name)
}

// afterWaits sums what passes on hosts between waits for devices and the next launches.
func afterWaits(waits []accelerator.HostWait) (ns int64) {
	for _, w := range waits {
		ns += w.TimeNs
	}
	return ns
}

// starved returns the fewest devices that together have most of the time with an empty launch queue, at most half of all; nil: there are
// none.
func (f *deviceFinder) starved(nothing int64) (devices []*accelerator.Device) {
	for i := range f.a.Devices {
		devices = append(devices, &f.a.Devices[i])
	}
	slices.SortStableFunc(devices, func(a, b *accelerator.Device) int {
		return cmp.Compare(b.IdleCauses.HostBoundNs, a.IdleCauses.HostBoundNs)
	})
	have := int64(0)
	for i, d := range devices[:len(devices)/2] {
		if have += d.IdleCauses.HostBoundNs; float64(have) >= culprit*float64(nothing) {
			return devices[:i+1]
		}
	}
	return nil
}

// ranks returns the ranks of devices, ascending; nil if there are no others.
func (f *deviceFinder) ranks(devices []*accelerator.Device) (out []uint32) {
	if f.sameHost() {
		return nil
	}
	for _, d := range devices {
		if d.Rank == trace.None {
			return nil
		}
		out = append(out, uint32(d.Rank))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sameHost reports whether all devices belong to one host.
func (f *deviceFinder) sameHost() bool {
	return !slices.ContainsFunc(f.a.Devices, func(d accelerator.Device) bool { return d.Rank != f.a.Devices[0].Rank })
}

// ofRecorder finds the functions by which programs end the recording, of JAX and PyTorch: they are none of the program.
var ofRecorder = trace.Expression(`\bstop_trace\b|(?:^|/)torch/(?:autograd|profiler)/profiler\.py`)

// ending judges that hosts go on when their devices have done all work, the end of the recording aside.
func (f *deviceFinder) ending() []cause.Cause {
	var row *accelerator.PathRow
	path := f.path["ending"]
	for i := range f.a.DevicePath.Rows {
		switch r := &f.a.DevicePath.Rows[i]; {
		case r.Kind != "ending":
		case ofRecorder().MatchString(r.Name):
			path -= r.TimeNs
		case row == nil:
			row = r
		}
	}
	if row == nil {
		return nil
	}
	c := cause.Cause{Kind: cause.DeviceIdle, SourceLine: field.SourceLine{Region: field.Name(row.Name)},
		Evidence: map[string]float64{"after_last_work_ns": float64(path)}}
	c.Headline = f.verb("Hosts go on after their devices' last work", "The host goes on after the device's last work")
	c.Text = fmt.Sprintf("%s of the critical path pass after it; %s of it %s.", words.Time(path), words.Time(row.TimeNs), within(row.Name))
	return f.cause(c, min(path, f.spare), "If the run ended with that work")
}

// gaps judges that what is launched does not begin though the device does nothing.
func (f *deviceFinder) gaps() []cause.Cause {
	path, queued := f.path["launch"]+f.path["gap"], f.causes.KernelGapsNs
	if queued == 0 {
		return nil
	}
	site, n := f.idleBefore(func(x *accelerator.IdleBefore) int64 { return x.KernelGapsNs })
	c := cause.Cause{Kind: cause.DeviceIdle, SourceLine: field.SourceLine{Region: site.Operator}, Operation: site.Call,
		Evidence: map[string]float64{"kernel_gaps_ns": float64(queued), "critical_path_ns": float64(path),
			"mean_gap_ns": float64(site.KernelGapsNs / n)}}
	c.Headline = "Launched work starts late"
	c.Text = fmt.Sprintf("%s while work is queued, for %s.", f.who("idle", "idles"), f.of(queued))
	longest, on := f.longestGap()
	if t := longest.KernelGapsNs; 2*t >= queued {
		c.Evidence["longest_gap_ns"] = float64(t)
		c.Text += fmt.Sprintf(" %s of it is one gap on %s before %s", words.Time(t), on, words.KernelName(longest.Before))
		if longest.LaunchedFrom != "" {
			c.Text += ", launched by " + words.Brief(string(longest.LaunchedFrom))
		}
		c.Text += "."
	} else {
		c.Text += fmt.Sprintf(" Most of it precedes work launched by %s: %s, %s each.", launcher(site), words.Time(site.KernelGapsNs),
			words.Time(site.KernelGapsNs/n))
	}
	return f.cause(c, min(path, f.spare, queued), "If each kernel started at once")
}

// lateRanks judges that devices wait in collectives for those that come last.
func (f *deviceFinder) lateRanks() []cause.Cause {
	var late []*accelerator.Device
	caused := int64(0)
	for i := range f.a.Devices {
		if d := &f.a.Devices[i]; d.Straggler != nil && d.Straggler.CausedNs > 0 {
			late, caused = append(late, d), caused+d.Straggler.CausedNs
		}
	}
	slices.SortStableFunc(late, func(a, b *accelerator.Device) int { return cmp.Compare(b.Straggler.CausedNs, a.Straggler.CausedNs) })
	c := cause.Cause{Kind: cause.Imbalance}
	last := uint64(0)
	for _, d := range late {
		if float64(c.WaitsCausedNs) >= culprit*float64(caused) {
			break
		}
		c.WaitsCausedNs, last = c.WaitsCausedNs+d.Straggler.CausedNs, last+d.Straggler.ComesLast
		c.Ranks = append(c.Ranks, uint32(d.Rank))
	}
	if len(c.Ranks) == 0 {
		return nil
	}
	slices.Sort(c.Ranks)
	c.Ranks = slices.Compact(c.Ranks)
	wait := f.causes.CollectiveWaitNs
	c.Evidence = map[string]float64{"collective_wait_ns": float64(wait), "caused_ns": float64(caused), "comes_last": float64(last)}
	if ranks := f.processes(); 2*len(c.Ranks) > ranks && ranks > 2 {
		c.Headline = "A different rank comes late to collectives each time"
		c.Text = fmt.Sprintf("%s there for %s; %d of %d ranks cause %.0f %% of it.", f.who("wait", "waits"), f.of(wait), len(c.Ranks), ranks,
			100*float64(c.WaitsCausedNs)/float64(caused))
		c.Ranks = nil
	} else {
		computing, excess := f.computing(c.Ranks)
		if excess > unlike-1 {
			c.Evidence["compute_excess"] = excess
		}
		c.Headline = fmt.Sprintf("%s %s late to collectives", words.Capital(fewRanks(c.Ranks)), one(c.Ranks, "comes", "come"))
		c.Text = fmt.Sprintf("%s there for %s; %s %s %.0f %% of it and %s last %d times. %s", f.who("wait", "waits"), f.of(wait),
			words.Ranks(c.Ranks), one(c.Ranks, "causes", "cause"), 100*float64(c.WaitsCausedNs)/float64(caused), one(c.Ranks, "comes", "come"),
			last, computing)
	}
	return f.cause(c, wait/int64(len(f.a.Devices)), "If all ranks arrived at their mean time")
}

// processes returns of how many ranks there are devices.
func (f *deviceFinder) processes() int {
	ranks := make(map[field.Rank]bool)
	for i := range f.a.Devices {
		ranks[f.a.Devices[i].Rank] = true
	}
	return len(ranks)
}

// computing says whether ranks come late because they compute longer than others, and by which share they do.
func (f *deviceFinder) computing(ranks []uint32) (text string, excess float64) {
	var times [2][]int64
	for i := range f.a.Devices {
		d := &f.a.Devices[i]
		of := 0
		if _, among := slices.BinarySearch(ranks, uint32(d.Rank)); among {
			of = 1
		}
		times[of] = append(times[of], d.ComputeNs)
	}
	others, theirs := sum(times[0])/float64(max(1, len(times[0]))), sum(times[1])/float64(max(1, len(times[1])))
	against := fmt.Sprintf("(%s, others %s)", words.Time(int64(theirs)), words.Time(int64(others)))
	excess = theirs/max(1, others) - 1
	if excess > unlike-1 {
		return fmt.Sprintf("%s longer than the others %s.", one(ranks, "It computes", "They compute"), against), excess
	}
	text = fmt.Sprintf("%s compute time is not the reason %s.", one(ranks, "Its", "Their"), against)
	if f.a.Trace.ProcessesMissing > 0 {
		text += fmt.Sprintf(" %s may wait for ranks that are not recorded.", one(ranks, "It", "They"))
	}
	return text, excess
}

// incomplete returns how many collectives of a device lack members, the most of any; 0 if most of them are complete.
func (f *deviceFinder) incomplete() (most uint64) {
	for i := range f.a.Devices {
		all, lacking := uint64(0), uint64(0)
		for _, c := range f.a.Devices[i].Collectives {
			if all += c.Count; c.WithWaiting && c.Members > 1 {
				lacking += c.Count
			}
		}
		if 2*lacking > all {
			most = max(most, lacking)
		}
	}
	return most
}

// alone reports whether a single device communicates. No library starts kernels for that where there are no others.
func (f *deviceFinder) alone() bool {
	n := 0
	for i := range f.a.Devices {
		if f.a.Devices[i].CommunicationNs > 0 {
			n++
		}
	}
	return n == 1
}

// exposed judges what devices do beside computing while they compute nothing: of that, onPath on the critical path.
func (f *deviceFinder) exposed(kind, headline, plural, singular string, ns, onPath int64) []cause.Cause {
	row := f.onPath(kind)
	if row == nil {
		return nil
	}
	c := cause.Cause{Kind: cause.Transfer, Operation: field.Name(row.Name),
		Evidence: map[string]float64{"exposed_ns": float64(ns), "critical_path_ns": float64(onPath)}}
	c.Headline = headline
	c.Text = fmt.Sprintf("%s and %s nothing for %s. The critical path has most of it in %s: %s in %s.", f.who(plural, singular),
		f.verb("compute", "computes"), f.of(ns), words.KernelName(row.Name), words.Time(row.TimeNs),
		words.Plural(int(row.Count), "execution", "executions"))
	if kind == "communication" {
		incomplete := f.incomplete()
		switch {
		case incomplete > 0:
			c.Text += fmt.Sprintf(" A member of %s is not recorded: what of this is waiting for it is unknown.",
				words.Plural(int(incomplete), "collective", "collectives"))
		case f.alone():
			incomplete = row.Count
			c.Text += " No other device that communicates is recorded: what of this is waiting for others is unknown."
		}
		if incomplete > 0 {
			c.Headline = "Communication, or waits for ranks that are not recorded"
			c.Evidence["incomplete_collectives"] = float64(incomplete)
		}
	}
	return f.cause(c, min(onPath, ns), "If computing hid all of it")
}

func (f *deviceFinder) verb(plural, singular string) string {
	if len(f.a.Devices) > 1 {
		return plural
	}
	return singular
}

// idleBefore returns, joined over devices, the site before whose kernels devices idle longest by
// some measure, and in how many gaps, at least one.
func (f *deviceFinder) idleBefore(measure func(*accelerator.IdleBefore) int64) (longest accelerator.IdleBefore, gaps int64) {
	sums := make(map[[2]field.Name]*accelerator.IdleBefore)
	var order []*accelerator.IdleBefore
	for _, d := range f.a.Devices {
		for _, x := range d.IdleBefore {
			key := [2]field.Name{x.Operator, x.Call}
			s := sums[key]
			if s == nil {
				s = &accelerator.IdleBefore{Operator: x.Operator, Call: x.Call}
				sums[key], order = s, append(order, s)
			}
			s.Count, s.HostBoundNs, s.KernelGapsNs = s.Count+x.Count, s.HostBoundNs+x.HostBoundNs, s.KernelGapsNs+x.KernelGapsNs
		}
	}
	for _, s := range order {
		if measure(s) > measure(&longest) {
			longest = *s
		}
	}
	return longest, int64(max(1, longest.Count))
}

// longestGap returns the gap in which a device has something launched for the longest time.
func (f *deviceFinder) longestGap() (longest accelerator.Gap, device string) {
	for _, d := range f.a.Devices {
		for _, g := range d.Gaps {
			if g.KernelGapsNs > longest.KernelGapsNs {
				longest, device = g, d.Device
			}
		}
	}
	return longest, device
}

// onPath returns the row of a kind that has most of the critical path, nil if there is none.
func (f *deviceFinder) onPath(kind string) *accelerator.PathRow {
	i := slices.IndexFunc(f.a.DevicePath.Rows, func(r accelerator.PathRow) bool { return r.Kind == kind })
	if i < 0 {
		return nil
	}
	return &f.a.DevicePath.Rows[i]
}

// launcher names what launches: the operator or else the call.
func launcher(x accelerator.IdleBefore) string {
	switch {
	case x.Operator != "":
		return words.Brief(string(x.Operator))
	case x.Call != "":
		return words.Brief(string(x.Call))
	}
	return "an unknown call"
}
