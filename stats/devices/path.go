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
//     last in it.
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
	p := &path{c: c, last: last, queues: make(map[trace.LocationID]*queue), from: c.opts.From, loads: make(map[trace.RegionID]int64)}
	for k := range p.sums {
		p.sums[k] = make([]*pathSum, len(c.works)+1)
	}
	for _, h := range hosts {
		x := &pathHost{host: h, heaps: make(map[*device]*queueHeap), begins: math.MaxInt64, ends: math.MaxInt64}
		helpers := slices.ContainsFunc(h.threads, c.drives)
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
	if ok && latest < *t { // helpers may end later
		p.charge(best.host, pathKey{onHost, trace.None}, t, max(latest, p.from))
	}
	return best, ok
}

// charge moves back to a time, and adds what passes to a key. What passes on a host is divided at the first and the last work of its
// devices.
func (p *path) charge(h *pathHost, k pathKey, t *int64, to int64) {
	to = max(to, p.from)
	if k.kind == onHost {
		p.add(h, pathKey{inEnding, k.region}, t, max(to, h.ends))
		p.add(h, k, t, max(to, h.begins))
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
	switch {
	case !ok || a.region == trace.None || p.c.is(p.c.sleeps, a.region):
		return p.otherThread(at, t)
	case p.c.is(p.c.waits, a.region):
		if l, k := at.host.latest(*t, a.at); l != nil {
			p.chargeHost(at.host, a, t, l.part.kernels.Ptr(k).end)
			return stand{host: at.host, queue: l, kernel: k}, true
		}
	}
	p.chargeHost(at.host, a, t, a.at)
	return at, true
}

// chargeHost is charge for what a thread does.
func (p *path) chargeHost(h *pathHost, a act, t *int64, to int64) {
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
	if x, who := p.arrival(at.queue, &k); x != nil && x.last > k.start && x.last <= *t {
		p.charge(at.host, key, t, x.last)
		if l := p.queues[who.Location]; l != nil && l != at.queue {
			if i := l.holding(x.last); i >= 0 {
				return stand{host: l.host, queue: l, kernel: i}, true
			}
		}
	}
	p.charge(at.host, key, t, k.start)
	start := *t // which is no later
	l, before := at.host.heaps[at.queue.device].latest(start, p.from)
	launch := at.host.launched(&k)
	if launch != nil && launch.enter > start {
		launch = nil // clocks disagree
	}
	switch {
	case l != nil && (launch == nil || l.part.kernels.Ptr(before).end >= launch.enter):
		p.charge(at.host, pathKey{inGap, k.region}, t, l.part.kernels.Ptr(before).end)
		return stand{host: at.host, queue: l, kernel: before}, true
	case launch != nil:
		p.charge(at.host, pathKey{inLaunch, k.region}, t, launch.enter)
		return stand{host: at.host, thread: int(k.launch.thread - 1)}, true
	}
	return stand{host: at.host}, len(at.host.threads) > 0
}

// arrival returns when the members of the collective come that a kernel is, and the one that comes
// last; nil if it is none, or not all are recorded.
func (p *path) arrival(l *queue, k *kernel) (*arrival, *trace.Member) {
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
		if c := t.Collectives.Ptr(int(part.Collective)); m.Begin < k.start || c.Count < c.Size {
			return nil, nil
		}
		x := p.last.table.Ptr(int(part.Collective))
		return x, t.Members.Ptr(int(x.who))
	}
	return nil, nil
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

var pathNames = [...]string{onHost: "host", inLoading: "loading", inStartup: "startup", inEnding: "ending", inLaunch: "launch",
	inGap: "gap", unknown: "unknown"}

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
		case s.kind == unknown:
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
