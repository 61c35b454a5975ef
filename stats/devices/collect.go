package devices

import (
	"strings"

	"tracekit/document/counter"
	"tracekit/spill"
	"tracekit/trace"
)

// A kernel is what a stream executes: a kernel in the narrow sense, a copy, the setting of memory.
type kernel struct {
	start, end int64  // corrected; end < start: it never ended
	id         uint64 // that its launch has too; 0: none
	region     trace.RegionID
	queue      uint32 // its location
	launch     row    // after linking
}

// A row names a launch: the number of the thread among those of the host, from 1, and the row in
// its table. The zero value is none.
type row struct{ thread, row uint32 }

// A launch is a call that starts something on an accelerator.
type launch struct {
	id           uint64
	enter, leave int64
	call         trace.RegionID
	operator     trace.RegionID // that makes the call; None: not known
	same         row            // another launch of the same id that was found before
	recompute    bool           // inside the recomputation of activations
	repeats      bool           // other launches have its id: which of them a kernel belongs to is not sure
}

// A step is a step of training that the program marks.
type step struct {
	region   trace.RegionID
	from, to int64
	cut      bool // never left
}

// An act says which region is the innermost on a thread from a time on; None: there is none.
type act struct {
	at     int64
	region trace.RegionID
	loader trace.RegionID // that it is in; None: it is in nothing that loads data
}

// A part is what one location yields.
type part struct {
	location trace.LocationID
	acts     *spill.Table[act]    // of a thread, ascending
	kernels  *spill.Table[kernel] // ascending in start
	launches *spill.Table[launch] // ascending in enter
	steps    []step
	waits    map[trace.RegionID]*hostWait
	counters []counter.Series
	ledger   trace.Ledger
}

// A hostWait sums the visits of a call that only waits for an accelerator.
type hostWait struct {
	count uint64
	time  int64
}

func (p *part) release() {
	if p.kernels != nil {
		p.kernels.Release()
	}
	if p.launches != nil {
		p.launches.Release()
		p.acts.Release()
	}
}

// A collector reads locations.
type collector struct {
	t     *trace.Trace
	opts  Options
	kinds []kind
	ranks map[uint32]bool // selected; nil: all

	works       []trace.DeviceWork // by region
	waits       []bool
	sleeps      []bool
	loads       []bool
	steps       []bool
	recomputes  []bool
	runtime     []bool // calls of an accelerator's runtime
	marked      []bool // regions of which more is noted than when they are entered and left
	correlation trace.AttributeID
	flows       bool // flows link, since there are no correlations
	out, in     [3]trace.AttributeID
	slack       int64 // ticks by which a flow may begin before the call that it is of
}

func newCollector(t *trace.Trace, kinds []kind, opts Options) *collector {
	d := t.Defs
	c := &collector{t: t, opts: opts, kinds: kinds, works: d.DeviceWorks(), waits: d.DeviceWaits(), sleeps: d.Sleeps(), loads: d.LoadsData(),
		steps: make([]bool, len(d.Regions)), recomputes: make([]bool, len(d.Regions)), runtime: make([]bool, len(d.Regions)),
		marked:      make([]bool, len(d.Regions)),
		correlation: d.AttributeByName(trace.AttributeCorrelation)}
	for i := range d.Regions {
		name := d.RegionName(trace.RegionID(i))
		c.steps[i] = strings.HasPrefix(name, "ProfilerStep#")
		c.recomputes[i] = strings.HasSuffix(name, ": recompute_fn")
		c.runtime[i] = d.IsDeviceCall(trace.RegionID(i))
		c.marked[i] = c.waits[i] || c.loads[i] || c.steps[i] || c.recomputes[i]
	}
	c.flows = c.correlation == trace.None
	c.out = [3]trace.AttributeID{d.AttributeByName(trace.AttributeFlowOut), trace.None, trace.None}
	c.in = [3]trace.AttributeID{d.AttributeByName(trace.AttributeFlowIn), d.AttributeByName(trace.AttributeFlowStep), trace.None}
	c.slack = int64(d.Clock.Resolution / 1_000_000)
	if len(opts.Ranks) > 0 {
		c.ranks = make(map[uint32]bool)
		for _, r := range opts.Ranks {
			c.ranks[r] = true
		}
	}
	return c
}

// wants reports whether a location is of interest.
func (c *collector) wants(l trace.LocationID) bool {
	return int(l) < len(c.kinds) && c.kinds[l] != aside && (c.ranks == nil || c.ranks[c.t.Rank[l]])
}

// A visit is a region that is entered and not left.
type visit struct {
	enter  int64
	row    int // of its kernel or launch, from 1; 0: it is none
	step   int // number of its step, from 1
	around     // of what is entered in it
}

// An around is what a region is entered in.
type around struct {
	operator trace.RegionID // the innermost region that is no call of an accelerator's runtime
	loader   trace.RegionID // the outermost that loads data; None: none does
	again    bool           // it is a recomputation
}

// outermost is that of a region in no other one.
var outermost = around{operator: trace.None, loader: trace.None}

// A reading follows the call stack of one location.
type reading struct {
	c       *collector
	p       *part
	kind    kind
	clock   *trace.ClockMap
	stack   trace.CallStack[visit]
	latest  *act // of the part's acts; nil: there is none
	times   []int64
	last    int64
	pending uint64 // identifier of a flow whose call is entered next
	since   int64
	series  *series
}

func newReading(c *collector, p *part) *reading {
	r := &reading{c: c, p: p, kind: c.kinds[p.location], clock: new(trace.ClockMap), last: c.t.Span[p.location].First}
	if int(p.location) < len(c.t.Clock.Maps) {
		r.clock = &c.t.Clock.Maps[p.location]
	}
	switch r.kind {
	case stream:
		p.kernels = spill.NewTable[kernel](c.t.Store)
	case thread:
		p.launches = spill.NewTable[launch](c.t.Store)
		p.acts = spill.NewTable[act](c.t.Store)
		p.waits = make(map[trace.RegionID]*hostWait)
	}
	r.series = newSeries(c, p.location, r.clock)
	return r
}

// batch takes the events of a batch.
func (r *reading) batch(b *trace.Batch) {
	if r.kind != sampler {
		r.flow(b)
	}
	r.series.batch(b)
}

// flow takes what is entered and left in a batch.
func (r *reading) flow(b *trace.Batch) {
	r.times = append(r.times[:0], b.Flow.Time...)
	r.last = r.clock.Correct(r.times, r.last)
	f, attrs, other := &b.Flow, 0, 0
	n := len(r.times)
	seqs, kinds, regions := f.Seq[:n], f.Kind[:n], f.Region[:n]
	for i := 0; i < n; i++ {
		for ; r.c.flows && other < len(b.Other.Seq) && b.Other.Seq[other] < seqs[i]; other++ {
			r.instant(b, other)
		}
		region := regions[i]
		if !kinds[i].Enters() {
			r.leave(region, r.times[i])
			continue
		}
		id := uint64(0)
		for attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] < seqs[i] {
			attrs++
		}
		for ; attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] == seqs[i]; attrs++ {
			if r.links(b.Attrs.Attribute[attrs]) {
				id = b.Attrs.Value[attrs]
			}
		}
		if r.pending != 0 {
			if id == 0 && r.times[i]-r.since <= r.c.slack {
				id = r.pending
			}
			r.pending = 0
		}
		if k := i + 1; k < n && regions[k] == region && !kinds[k].Enters() && r.plain(region) &&
			!(r.c.flows && other < len(b.Other.Seq) && b.Other.Seq[other] < seqs[k]) {
			r.visit(region, r.times[i], r.times[k], id)
			i = k
			continue
		}
		r.enter(region, r.times[i], id)
	}
	for ; r.c.flows && other < len(b.Other.Seq); other++ {
		r.instant(b, other)
	}
}

// links reports whether the value of an attribute tells which launch belongs to what is entered.
func (r *reading) links(a trace.AttributeID) bool {
	switch {
	case a == trace.None:
		return false
	case !r.c.flows:
		return a == r.c.correlation
	case r.kind == thread:
		return a == r.c.out[0]
	}
	return a == r.c.in[0] || a == r.c.in[1]
}

// instant takes the end of a flow: of what is entered or, as times are rounded, of what is entered next.
func (r *reading) instant(b *trace.Batch, i int) {
	seq := b.Other.Seq[i]
	if b.Other.Kind[i] == trace.KindParameterUint { // Score-P's callsite, on the host and on the stream
		if args := b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]; len(args) == 2 && r.stack.Len() > 0 {
			r.bind(r.stack.Top(), r.stack.Region(r.stack.Len()-1), args[1]+1)
		}
		return
	}
	for k := lowerBound(b.Attrs.Seq, seq); k < len(b.Attrs.Seq) && b.Attrs.Seq[k] == seq; k++ {
		if !r.links(b.Attrs.Attribute[k]) {
			continue
		}
		id := b.Attrs.Value[k]
		if v := r.stack.Top(); v != nil && r.bind(v, r.stack.Region(r.stack.Len()-1), id) {
			continue
		}
		r.pending, r.since = id, r.clock.At(b.Other.Time[i])
	}
}

func lowerBound(seq []uint64, want uint64) int {
	low, high := 0, len(seq)
	for low < high {
		if mid := int(uint(low+high) >> 1); seq[mid] < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// bind gives what is entered an identifier; it returns false if it has one or needs none.
func (r *reading) bind(v *visit, region trace.RegionID, id uint64) bool {
	if r.kind == stream {
		if v.row == 0 || r.p.kernels.Ptr(v.row-1).id != 0 {
			return false
		}
		r.p.kernels.Ptr(v.row - 1).id = id
		return true
	}
	if v.row != 0 {
		return false
	}
	in := r.within(1)
	in.again = v.again
	r.launch(v, region, id, in)
	return true
}

// launch notes a call that starts something. Calls enclose each other, and a flow may come late,
// so that a row may be older than the one before it.
func (r *reading) launch(v *visit, region trace.RegionID, id uint64, in around) {
	x := r.p.launches.Next()
	*x = launch{id: id, enter: v.enter, leave: v.enter, call: region, operator: in.operator, recompute: in.again}
	v.row = r.p.launches.Len()
}

func (c *collector) is(list []bool, region trace.RegionID) bool {
	return int(region) < len(list) && list[region]
}

// within returns what the region at a height on the stack, counted from its top, is entered in; 0: one that is entered next.
func (r *reading) within(height int) around {
	if i := r.stack.Len() - 1 - height; i >= 0 {
		return r.stack.At(i).around
	}
	return outermost
}

// plain reports whether visit may take a region that is left by the event after its Enter.
func (r *reading) plain(region trace.RegionID) bool {
	return int(region) < len(r.c.marked) && !r.c.marked[region] && !r.stack.Full()
}

// visit is enter and leave of a region in which nothing happens: most are of that kind.
func (r *reading) visit(region trace.RegionID, from, to int64, id uint64) {
	if r.kind == stream {
		if r.c.works[region] != trace.DeviceIdle {
			r.p.kernels.Append(kernel{start: from, end: to, id: id, region: region, queue: uint32(r.p.location)})
		}
		return
	}
	in := r.within(0)
	if id != 0 {
		r.p.launches.Append(launch{id: id, enter: from, leave: to, call: region, operator: in.operator, recompute: in.again})
	}
	r.put(act{at: from, region: region, loader: in.loader})
	r.act(to)
}

func (r *reading) enter(region trace.RegionID, t int64, id uint64) {
	if r.stack.Full() {
		r.close(t, true)
	}
	v := visit{enter: t, around: r.within(0)}
	if !r.c.is(r.c.runtime, region) && !r.c.is(r.c.steps, region) {
		v.operator = region
	}
	if v.loader == trace.None && r.c.is(r.c.loads, region) {
		v.loader = region
	}
	v.again = v.again || r.c.is(r.c.recomputes, region)
	r.stack.Enter(region, v)
	top := r.stack.Top()
	switch {
	case r.kind == stream:
		if int(region) < len(r.c.works) && r.c.works[region] != trace.DeviceIdle {
			r.p.kernels.Append(kernel{start: t, end: t - 1, id: id, region: region, queue: uint32(r.p.location)})
			top.row = r.p.kernels.Len()
		}
		return
	case id != 0:
		r.launch(top, region, id, r.within(1))
	}
	r.act(t)
	if r.c.is(r.c.steps, region) && r.p.space() {
		r.p.steps = append(r.p.steps, step{region: region, from: t, to: t, cut: true})
		top.step = len(r.p.steps)
	}
}

// stepLimit bounds the steps of a location; further ones are left out.
const stepLimit = 1 << 16

func (p *part) space() bool {
	if len(p.steps) < stepLimit {
		return true
	}
	p.ledger.Add(trace.CodeLimitExceeded, trace.Place{Location: p.location, Offset: -1}, "training steps")
	return false
}

func (r *reading) leave(region trace.RegionID, t int64) {
	for n := r.stack.Leave(region); n > 0; n-- {
		r.close(t, n > 1)
	}
	if r.kind == thread {
		r.act(t)
	}
}

// act notes which region is the innermost from now on.
func (r *reading) act(t int64) {
	x := act{at: t, region: trace.None, loader: trace.None}
	if n := r.stack.Len(); n > 0 {
		x.region, x.loader = r.stack.Region(n-1), r.stack.Top().loader
	}
	r.put(x)
}

// put puts an act behind the others; it replaces one at the same time.
func (r *reading) put(x act) {
	if r.latest == nil || r.latest.at != x.at {
		r.latest = r.p.acts.Next()
	}
	*r.latest = x
}

// close ends the innermost visit; open says that it was never left.
func (r *reading) close(t int64, open bool) {
	region := r.stack.Region(r.stack.Len() - 1)
	v := r.stack.Pop()
	switch {
	case r.kind == stream && v.row > 0 && open:
		r.p.ledger.Add(trace.CodeHalfKernel, trace.Place{Location: r.p.location, Offset: -1},
			r.c.t.Defs.RegionLabel(region)+" begins and does not end")
	case r.kind == stream && v.row > 0:
		r.p.kernels.Ptr(v.row - 1).end = t
	case v.row > 0:
		r.p.launches.Ptr(v.row - 1).leave = t
	}
	if v.step > 0 {
		s := &r.p.steps[v.step-1]
		if s.to, s.cut = t, open; open {
			r.p.ledger.Add(trace.CodeStepCut, trace.Place{Location: r.p.location, Offset: -1}, r.c.t.Defs.RegionLabel(region))
		}
	}
	if r.kind == thread && r.c.is(r.c.waits, region) {
		w := r.p.waits[region]
		if w == nil {
			w = new(hostWait)
			r.p.waits[region] = w
		}
		w.count++
		w.time += max(0, r.c.clip(t)-r.c.clip(v.enter))
	}
}

// end closes what is open at the end of the location and returns what it yields; nil stands for a
// location that was not heard of.
func (r *reading) end(l trace.LocationID) *part {
	if r == nil {
		return &part{location: l}
	}
	for r.stack.Len() > 0 {
		r.close(r.last, true)
	}
	r.p.counters = r.series.rows(r.c)
	r.series.note(&r.p.ledger)
	return r.p
}

// clip returns the instant of the selection that is nearest to t.
func (c *collector) clip(t int64) int64 { return min(max(t, c.opts.From), c.opts.To) }
