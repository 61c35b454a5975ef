package devices

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/document/field"
	"tracekit/spill"
	"tracekit/trace"
)

// A path walks backward from the end of the run over hosts and devices (DEFINITIONS 2.9):
//
//   - A kernel is there because of the kernel of the same device that ended last before it, if
//     that was after its launch; else because of its launch, from where the path goes on in the
//     thread that launches.
//   - In a collective the path is with the member that comes last, from when that comes.
//   - A call that only waits for devices is there because of the kernel of the host that ended
//     last in it. So is a thread in no recorded function, if its host has no records of launches and waits.
//   - Where nothing is entered in a thread, or it sleeps, the path goes on in the first thread of its host
//     that does something. Threads that neither launch nor wait for devices nor communicate are helpers,
//     and do nothing that the run waits for, unless a host has no others.
//
// Times only decrease, and no kernel is visited twice, so that the walk ends.
type path struct {
	c      *collector
	last   *arrivals
	hosts  []*pathHost
	queues map[trace.LocationID]*queue
	sums   [unknown + 1][]*pathSum // by kind and region, the last for none
	from   int64
	loads  map[trace.RegionID]int64 // time by loader
	others map[trace.RegionID]int64 // of hosts in gaps before kernels whose launch is not recorded

	launching int64                        // on the host since the launch that the walk has come from
	waits     map[trace.RegionID]*hostWait // by call that waits: what passes on hosts from there to the next launch
	pieces    map[*device]*spill.Table[piece]
}

// A piece is a time in which the path is in communication or a copy of a device.
type piece struct {
	from, to int64
	memory   bool
}

// A pathHost is a host with the places that the walk has come to.
type pathHost struct {
	*host
	threads []*threadCursor
	all     []int
	driving []int // those that the path leads through while they have records
	begins  int64 // of the first work of any device; the largest time without any
	ends    int64 // of the last, likewise
	heaps   map[*device]*queueHeap
	silent  bool // no record says what it launches or waits for
}

// A threadCursor is a thread of which all acts from next on are behind the walk.
type threadCursor struct {
	acts *spill.Table[act]
	next int
}

// A queue is a location of a stream of which the kernels from next on are behind the walk.
type queue struct {
	host    *pathHost
	device  *device
	part    *part
	next    int
	members int // parts in collectives from there on are behind the walk
	row     int // of the kernel that ended last, if it is before next
	end     int64
}

// pathKey is what the path is summed by.
type pathKey struct {
	kind   pathKind
	region trace.RegionID
}

type pathKind uint8

const (
	onKernel pathKind = iota
	onHost
	inLoading // on a host, which loads data
	inStartup // on a host, before any of its devices has worked
	inEnding  // on a host, when all its devices have
	inHelpers // when no others have records
	inLaunch
	inGap
	unknown
)

// A pathSum sums the pieces of a key, in ticks.
type pathSum struct {
	pathKey
	count uint64
	time  int64
	only  int64 // on the only host
	ranks map[uint32]int64
}

// newPath returns the walk over hosts whose kernels are linked.
func newPath(c *collector, hosts []*host, last *arrivals) *path {
	p := &path{c: c, last: last, queues: make(map[trace.LocationID]*queue), from: c.opts.From, loads: make(map[trace.RegionID]int64),
		others: make(map[trace.RegionID]int64),
		waits:  make(map[trace.RegionID]*hostWait), pieces: make(map[*device]*spill.Table[piece])}
	for k := range p.sums {
		p.sums[k] = make([]*pathSum, len(c.works)+1)
	}
	for _, h := range hosts {
		x := &pathHost{host: h, heaps: make(map[*device]*queueHeap), begins: math.MaxInt64, ends: math.MaxInt64}
		helpers := slices.ContainsFunc(h.threads, c.drives)
		x.silent = len(h.launchers) == 0 && !helpers
		for i, t := range h.threads {
			x.all = append(x.all, i)
			if x.threads = append(x.threads, &threadCursor{t.acts, t.acts.Len()}); !helpers || c.drives(t) {
				x.driving = append(x.driving, i)
			}
		}
		for _, d := range h.devices {
			heap := &queueHeap{}
			for _, s := range d.streams {
				l := &queue{host: x, device: d, part: s, next: s.kernels.Len(), members: c.t.Parts[s.location].Len(), end: math.MaxInt64}
				if s.kernels.Len() > 0 {
					x.begins = min(x.begins, s.kernels.At(0).start)
				}
				heap.queues = append(heap.queues, l)
				p.queues[s.location] = l
			}
			x.heaps[d] = heap
		}
		if l, k := x.latest(math.MaxInt64-1, c.opts.From); l != nil {
			x.ends = l.part.kernels.Ptr(k).end
		}
		p.hosts = append(p.hosts, x)
	}
	return p
}

// drives reports whether a thread launches, waits for devices or communicates.
func (c *collector) drives(p *part) bool {
	t, l := c.t, int(p.location)
	return p.launches.Len() > 0 || len(p.waits) > 0 || l < len(t.Parts) && t.Parts[l].Len() > 0 ||
		l < len(t.Sends) && t.Sends[l].Len() > 0 || l < len(t.Recvs) && t.Recvs[l].Len() > 0
}

// A stand is where the walk is: on a thread, or on a kernel of a queue.
type stand struct {
	host   *pathHost
	thread int
	queue  *queue // nil: on the thread
	kernel int    // its row
}

// walk goes over the run and returns the path.
func (p *path) walk(ctx context.Context) *accelerator.Path {
	t := p.c.opts.To
	at, ok := p.end(&t)
	for n := 0; ok && t > p.from; n++ {
		if n&0xFFFF == 0 && ctx.Err() != nil {
			break
		}
		if at.queue != nil {
			at, ok = p.onKernel(at, &t)
		} else {
			at, ok = p.onThread(at, &t)
		}
	}
	if t > p.from {
		p.charge(at.host, pathKey{unknown, trace.None}, &t, p.from)
	}
	return p.result()
}

// end finds where the run ends: on the thread or the stream whose last record is the latest, helpers aside.
func (p *path) end(t *int64) (best stand, ok bool) {
	latest := int64(0)
	for _, h := range p.hosts {
		for _, i := range h.driving {
			x := h.threads[i]
			if n := x.acts.Len(); n > 0 && (!ok || x.acts.Ptr(n-1).at > latest) {
				best, latest, ok = stand{host: h, thread: i}, x.acts.Ptr(n-1).at, true
			}
		}
	}
	for _, h := range p.hosts {
		if l, k := h.latest(*t, p.from); l != nil && l.part.kernels.Ptr(k).end > latest {
			best, latest, ok = stand{host: h, queue: l, kernel: k}, l.part.kernels.Ptr(k).end, true
		}
	}
	if ok && latest < *t {
		p.helpers(t, max(latest, p.from))
	}
	return best, ok
}

// helpers goes back to the last record of others. The host goes on in what helpers enter later, unless it sleeps; what they have been in
// since before, as reporters of usage are, says nothing.
func (p *path) helpers(t *int64, to int64) {
	var only *pathHost
	if len(p.hosts) == 1 {
		only = p.hosts[0]
	}
	for *t > to {
		at, next, active := act{region: trace.None}, to, (*pathHost)(nil)
		for _, h := range p.hosts {
			for _, x := range h.threads {
				a, ok := x.before(*t)
				if !ok || a.at < to {
					continue
				}
				if next = max(next, a.at); active == nil && a.region != trace.None && !p.c.is(p.c.sleeps, a.region) {
					at, active = a, h
				}
			}
		}
		if active == nil {
			p.add(only, pathKey{inHelpers, trace.None}, t, next)
		} else {
			p.chargeHost(active, at, t, at.at)
		}
	}
}

// charge moves back to a time, and adds what passes to a key. What passes on a host is divided at the first and the last work of its
// devices.
func (p *path) charge(h *pathHost, k pathKey, t *int64, to int64) {
	to = max(to, p.from)
	if k.kind == onHost {
		p.add(h, pathKey{inEnding, k.region}, t, max(to, h.ends))
		from := *t
		p.add(h, k, t, max(to, h.begins))
		p.launching += from - *t
		k.kind = inStartup
	}
	p.add(h, k, t, to)
}

// add is charge for what is of one kind.
func (p *path) add(h *pathHost, k pathKey, t *int64, to int64) {
	if to >= *t {
		return
	}
	at := &p.sums[k.kind][min(int(k.region), len(p.c.works))]
	if *at == nil {
		*at = &pathSum{pathKey: k, ranks: make(map[uint32]int64)}
	}
	s := *at
	s.count++
	s.time += *t - to
	switch {
	case h == nil:
	case len(p.hosts) == 1:
		s.only += *t - to
	default:
		s.ranks[h.rank] += *t - to
	}
	*t = to
}

// onThread goes back on a thread by one act.
func (p *path) onThread(at stand, t *int64) (stand, bool) {
	a, ok := at.host.threads[at.thread].before(*t)
	idles := !ok || a.region == trace.None || p.c.is(p.c.sleeps, a.region)
	if at.host.silent && (idles || p.c.is(p.c.steps, a.region)) {
		after := p.from
		if ok {
			after = max(after, a.at)
		}
		if l, k := at.host.latest(*t, after); l != nil {
			p.chargeHost(at.host, act{region: trace.None, loader: trace.None}, t, l.part.kernels.Ptr(k).end)
			return stand{host: at.host, queue: l, kernel: k}, true
		}
	}
	switch {
	case idles:
		return p.otherThread(at, t)
	case p.c.is(p.c.waits, a.region):
		if l, k := at.host.latest(*t, a.at); l != nil {
			p.chargeHost(at.host, a, t, l.part.kernels.Ptr(k).end)
			p.waited(a.region)
			return stand{host: at.host, queue: l, kernel: k}, true
		}
	}
	p.chargeHost(at.host, a, t, a.at)
	if at.host.launchers[a.region] {
		p.launching = 0 // what follows a launch does not follow the wait before it
	}
	return at, true
}

// waited notes what has passed on the host since it waited for a device: the device could work meanwhile, had it been launched before.
func (p *path) waited(call trace.RegionID) {
	if p.launching == 0 {
		return
	}
	w := p.waits[call]
	if w == nil {
		w = new(hostWait)
		p.waits[call] = w
	}
	w.count++
	w.time += p.launching
	p.launching = 0
}

// chargeHost is charge for what a thread does. Of a step of training no function is recorded there.
func (p *path) chargeHost(h *pathHost, a act, t *int64, to int64) {
	if p.c.is(p.c.steps, a.region) {
		a.region = trace.None
	}
	if a.loader == trace.None {
		p.charge(h, pathKey{onHost, a.region}, t, to)
		return
	}
	from := *t
	p.charge(h, pathKey{inLoading, a.region}, t, to)
	p.loads[a.loader] += from - *t
}

// before returns what a thread does just before a time; ok is false if that is before its first event.
func (x *threadCursor) before(t int64) (a act, ok bool) {
	for x.next > 0 && x.acts.Ptr(x.next-1).at >= t {
		x.next--
	}
	if x.next == 0 {
		return a, false
	}
	return x.acts.At(x.next - 1), true
}

// otherThread goes from a thread that does nothing, or sleeps, to the first one of its host that does something. While there is none,
// the time is that of who sleeps, first on the thread itself, or of nobody. Before all their records it goes to helpers.
func (p *path) otherThread(at stand, t *int64) (stand, bool) {
	next, ok := p.among(at.host.driving, at, t)
	if !ok {
		next, ok = p.among(at.host.all, at, t)
	}
	return next, ok
}

// among is otherThread among some threads.
func (p *path) among(threads []int, at stand, t *int64) (stand, bool) {
	latest := int64(0)
	asleep, some := act{region: trace.None, loader: trace.None}, false
	next := at
	for _, i := range threads {
		a, ok := at.host.threads[i].before(*t)
		if !ok {
			continue
		}
		switch sleeps := p.c.is(p.c.sleeps, a.region); {
		case a.region != trace.None && !sleeps:
			return stand{host: at.host, thread: i}, true
		case sleeps && (asleep.region == trace.None || i == at.thread):
			asleep = a
		}
		if !some || a.at > latest {
			next, latest, some = stand{host: at.host, thread: i}, a.at, true
		}
	}
	if some {
		p.chargeHost(at.host, asleep, t, latest)
	}
	return next, some
}

// onKernel goes back to the begin of a kernel, and to what it is there because of.
func (p *path) onKernel(at stand, t *int64) (stand, bool) {
	k := at.queue.part.kernels.At(at.kernel)
	at.queue.next = at.kernel
	key := pathKey{onKernel, k.region}
	if x, l := p.arrival(at.queue, &k, *t); x != nil && x.last >= k.start && x.last <= *t {
		if l != nil && l != at.queue {
			if i := l.holding(x.last); i >= 0 {
				p.piece(l.device, &k, x.last, *t)
				p.charge(at.host, key, t, x.last)
				return stand{host: l.host, queue: l, kernel: i}, true
			}
		}
	}
	if l, i := p.companion(at, &k, *t); l != nil {
		last := l.part.kernels.Ptr(i).start
		p.piece(l.device, &k, last, *t)
		p.charge(at.host, key, t, last)
		return stand{host: l.host, queue: l, kernel: i}, true
	}
	p.piece(at.queue.device, &k, max(k.start, p.from), *t)
	p.charge(at.host, key, t, k.start)
	p.launching = 0
	start := *t // which is no later
	l, before := at.host.heaps[at.queue.device].latest(start, p.from)
	launch := at.host.launched(&k)
	if launch != nil && launch.enter > start {
		launch = nil // clocks disagree
	}
	switch {
	case l != nil && (launch == nil || l.part.kernels.Ptr(before).end >= launch.enter):
		if launch == nil {
			p.meanwhile(at.host, start, l.part.kernels.Ptr(before).end)
		}
		p.charge(at.host, pathKey{inGap, k.region}, t, l.part.kernels.Ptr(before).end)
		return stand{host: at.host, queue: l, kernel: before}, true
	case launch != nil:
		p.charge(at.host, pathKey{inLaunch, k.region}, t, launch.enter)
		return stand{host: at.host, thread: int(k.launch.thread - 1)}, true
	}
	return stand{host: at.host}, len(at.host.threads) > 0
}

// meanwhile notes what a host does in a gap of which nobody knows who ends it: in its first thread that does something, or else sleeps.
func (p *path) meanwhile(h *pathHost, t, to int64) {
	for to = max(to, p.from); t > to; {
		region, from := trace.RegionID(trace.None), to
		for _, i := range h.driving {
			a, ok := h.threads[i].before(t)
			if ok {
				from = max(from, a.at)
			}
			if ok && a.region != trace.None && (region == trace.None || p.c.is(p.c.sleeps, region) && !p.c.is(p.c.sleeps, a.region)) {
				region = a.region
			}
		}
		if region != trace.None && !p.c.is(p.c.steps, region) {
			p.others[region] += t - from
		}
		t = from
	}
}

// companion returns, for a kernel of NCCL of which no members are recorded, the last that begins of those of the same name which the
// devices of its host execute when it ends; nil if that is itself, or if one of these devices executes none then.
func (p *path) companion(at stand, k *kernel, t int64) (last *queue, row int) {
	if len(at.host.devices) < 2 || p.c.works[k.region] != trace.DeviceCommunication {
		return nil, 0
	}
	begin := k.start
	for _, d := range at.host.devices {
		if d == at.queue.device {
			continue
		}
		found := false
		for _, s := range d.streams {
			l := p.queues[s.location]
			i := l.holding(min(k.end, t) - 1)
			if i < 0 || l.part.kernels.Ptr(i).region != k.region {
				continue
			}
			if found = true; l.part.kernels.Ptr(i).start > begin {
				last, row, begin = l, i, l.part.kernels.Ptr(i).start
			}
		}
		if !found {
			return nil, 0
		}
	}
	if begin >= t {
		return nil, 0
	}
	return last, row
}

// piece notes that the path is in a kernel that computes nothing. In a collective the device counts on which the path goes on.
func (p *path) piece(d *device, k *kernel, from, to int64) {
	work := p.c.works[k.region]
	if work == trace.DeviceCompute || from >= to {
		return
	}
	list := p.pieces[d]
	if list == nil {
		list = spill.NewTable[piece](p.c.t.Store)
		p.pieces[d] = list
	}
	list.Append(piece{from, to, work == trace.DeviceMemory})
}

// exposed returns how much of the path is in communication while its device computes nothing, and in copies while it does not
// communicate either, in ticks. Pieces of a device do not overlap, and come backwards.
func (p *path) exposed() (communication, memory int64) {
	for d, list := range p.pieces {
		var s sweep
		m := merge(d.streams, false)
		k := m.next()
		until := func(t int64) coverage {
			for ; k != nil && k.start < t; k = m.next() {
				s.add(k.start, k.end, p.c.works[k.region])
			}
			s.advance(t)
			return s.sums
		}
		for i := list.Len() - 1; i >= 0; i-- {
			x := list.At(i)
			before := until(x.from)
			if done := until(x.to).minus(before); x.memory {
				memory += done.exposedMemory
			} else {
				communication += done.exposedCommunication
			}
		}
		list.Release()
	}
	return communication, memory
}

// arrival returns when the members of the collective come that a kernel is, and the queue of the one that comes last; nil if it is none, or
// not all are recorded. Of several it is one whose device computes when the collective ends: it would come last if that took no time.
func (p *path) arrival(l *queue, k *kernel, until int64) (*arrival, *queue) {
	if p.last.table == nil {
		return nil, nil
	}
	t := p.c.t
	parts := t.Parts[l.part.location]
	for ; l.members > 0; l.members-- {
		part := parts.At(l.members - 1)
		m := t.Members.Ptr(int(part.Member))
		if m.Begin > k.end {
			continue
		}
		c := t.Collectives.Ptr(int(part.Collective))
		if m.Begin < k.start || c.Count < c.Size {
			return nil, nil
		}
		x := p.last.table.Ptr(int(part.Collective))
		last := p.queues[t.Members.Ptr(int(x.who)).Location]
		if x.last == k.start {
			last = l
		}
		for i := uint32(0); i < c.Count && (last == nil || !p.computes(last, until-1)); i++ {
			m := t.Members.Ptr(int(c.First + i))
			if other := p.queues[m.Location]; m.Begin == x.last && other != nil && p.computes(other, until-1) {
				last = other
			}
		}
		return x, last
	}
	return nil, nil
}

// computes reports whether the device of a queue computes at a time.
func (p *path) computes(l *queue, t int64) bool {
	return slices.ContainsFunc(l.device.streams, func(s *part) bool {
		other := p.queues[s.location]
		i := other.holding(t)
		return i >= 0 && p.c.works[other.part.kernels.Ptr(i).region] == trace.DeviceCompute
	})
}

// overlapping is how many kernels of a queue are looked at for one that has ended: in a queue they
// follow each other, or one encloses few others.
const overlapping = 8

// A queueHeap finds the kernel of a device that ended last. Since the walk goes back in time, the
// kernel of a queue is looked for again only once it is behind the walk.
//
//	queues[0] has the latest end
type queueHeap struct{ queues []*queue }

// latest returns the kernel that ended last in (after, until], nil if there is none.
func (h *queueHeap) latest(until, after int64) (*queue, int) {
	for len(h.queues) > 0 {
		l := h.queues[0]
		if l.row < l.next && l.end <= until {
			if l.end <= after {
				return nil, 0
			}
			return l, l.row
		}
		if !l.find(until) {
			n := len(h.queues) - 1
			h.queues[0] = h.queues[n]
			h.queues = h.queues[:n]
		}
		h.down()
	}
	return nil, 0
}

// down puts the first queue in its place.
func (h *queueHeap) down() {
	for i := 0; ; {
		k := 2*i + 1
		if k+1 < len(h.queues) && h.queues[k+1].before(h.queues[k]) {
			k++
		}
		if k >= len(h.queues) || !h.queues[k].before(h.queues[i]) {
			return
		}
		h.queues[i], h.queues[k] = h.queues[k], h.queues[i]
		i = k
	}
}

// before orders queues: the latest end first, then the first location.
func (l *queue) before(o *queue) bool {
	return l.end > o.end || l.end == o.end && l.part.location < o.part.location
}

// find looks for the kernel of a queue that ended last until a time; it returns false if there is none.
func (l *queue) find(until int64) bool {
	for l.next > 0 {
		found := false
		for ; l.next > 0 && l.part.kernels.Ptr(l.next-1).start > until; l.next-- {
		}
		for i := l.next - 1; i >= max(0, l.next-overlapping); i-- {
			if k := l.part.kernels.Ptr(i); k.end >= k.start && k.end <= until && (!found || k.end > l.end) {
				l.row, l.end, found = i, k.end, true
			}
		}
		if found {
			return true
		}
		l.next = max(0, l.next-overlapping) // all these have not ended
	}
	return false
}

// latest returns the kernel of a host that ended last in (after, until], nil if there is none.
func (h *pathHost) latest(until, after int64) (best *queue, row int) {
	for _, d := range h.devices {
		if l, i := h.heaps[d].latest(until, after); l != nil && (best == nil || l.end > best.end) {
			best, row = l, i
		}
	}
	return best, row
}

// holding returns the kernel of a queue in which a time lies, -1 if there is none.
func (l *queue) holding(t int64) int {
	for l.next > 0 && l.part.kernels.Ptr(l.next-1).start > t {
		l.next--
	}
	for i := l.next - 1; i >= max(0, l.next-overlapping); i-- {
		if k := l.part.kernels.Ptr(i); k.start <= t && k.end >= t {
			return i
		}
	}
	return -1
}

var pathNames = [...]string{onHost: "host", inLoading: "loading", inStartup: "startup", inEnding: "ending", inHelpers: "helpers",
	inLaunch: "launch", inGap: "gap", unknown: "unknown"}

// result makes the block of the document.
func (p *path) result() *accelerator.Path {
	c := p.c
	out := &accelerator.Path{Rows: []accelerator.PathRow{}}
	for _, s := range slices.Concat(p.sums[:]...) {
		if s == nil {
			continue
		}
		row := accelerator.PathRow{Kind: pathNames[s.kind], Name: c.t.Defs.RegionLabel(s.region), Count: s.count, TimeNs: c.ns(s.time),
			MaxRank: trace.None}
		switch {
		case s.kind == onKernel:
			row.Kind = c.works[s.region].String()
		case (s.kind == onHost || s.kind == inStartup || s.kind == inEnding) && s.region == trace.None:
			row.Name = field.OutsideRegions
		case s.kind == unknown, s.kind == inHelpers:
			row.Name = field.NotRecorded
		}
		if s.only > 0 {
			s.ranks[p.hosts[0].rank] = s.only
		}
		for r, ns := range s.ranks {
			if ns > row.MaxNs || ns == row.MaxNs && r < uint32(row.MaxRank) {
				row.MaxNs, row.MaxRank = ns, field.Rank(r)
			}
		}
		row.MaxNs = c.ns(row.MaxNs)
		out.LengthNs += row.TimeNs
		out.Rows = append(out.Rows, row)
	}
	communication, memory := p.exposed()
	out.ExposedCommunicationNs, out.ExposedMemoryNs = c.ns(communication), c.ns(memory)
	for region, w := range p.waits {
		row := accelerator.HostWait{Call: c.t.Defs.RegionLabel(region), Count: w.count, TimeNs: c.ns(w.time)}
		out.AfterWaits = append(out.AfterWaits, row)
	}
	slices.SortFunc(out.AfterWaits, func(a, b accelerator.HostWait) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Call, b.Call))
	})
	for r, time := range p.others {
		if name, ns := field.Name(c.t.Defs.RegionLabel(r)), c.ns(time); ns > out.MeanwhileNs || ns == out.MeanwhileNs && name < out.Meanwhile {
			out.Meanwhile, out.MeanwhileNs = name, ns
		}
	}
	most := int64(0)
	for r, time := range p.loads {
		if name := field.Name(c.t.Defs.RegionLabel(r)); time > most || time == most && name < out.Loader {
			most, out.Loader = time, name
		}
	}
	for i := range out.Rows {
		if out.LengthNs > 0 {
			share := float64(out.Rows[i].TimeNs) / float64(out.LengthNs)
			out.Rows[i].Share = &share
		}
	}
	slices.SortFunc(out.Rows, func(a, b accelerator.PathRow) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(b.Count, a.Count))
	})
	return out
}
