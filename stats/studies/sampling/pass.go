package sampling

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// run is what the pass over all messages reads, and its streams.
type run struct {
	t       *trace.Trace
	part    scope.Scope
	opts    Options
	configs []Config
	site    []uint32 // by call path; the last: outside any call
	sites   []field.Site
	decades [decades - 1]int64
	freq    []bool                // by configuration; the last: the population
	written []*spill.Table[uint8] // by location and send: which of the configurations that write have sampled it
	bit     []uint8               // by configuration: of written
	most    int                   // categories of a stream
	streams []*stream
}

// Most categories of all streams together, and of one at least: what is beyond is pooled.
const (
	mostCategories  = 1 << 20
	leastCategories = 16
)

// maxWriting is the number of configurations that may write.
const maxWriting = 8

func newRun(t *trace.Trace, configs []Config, opts Options) (*run, error) {
	part, err := scope.New(t, scope.Selection{Ranks: opts.Ranks, From: opts.From, To: opts.To})
	if err != nil {
		return nil, err
	}
	r := &run{t: t, part: part, opts: opts, configs: configs, decades: decadeBounds(t.Defs.Clock.Resolution)}
	r.numberSites()
	r.makeStreams()
	r.freq, r.bit = make([]bool, len(configs)+1), make([]uint8, len(configs))
	bit := uint8(1)
	for k, c := range configs {
		if c.Analysis == Freq {
			r.freq[k], r.freq[len(configs)] = true, true
		}
		if c.Analysis == Write || opts.Marks {
			r.bit[k] = bit
			bit <<= 1
		}
	}
	for l := range t.Sends {
		if r.marks() {
			r.written = append(r.written, spill.NewZeros[uint8](t.Store, t.Sends[l].Len()))
		}
	}
	return r, nil
}

// marks reports whether it is kept which messages some configuration samples.
func (r *run) marks() bool {
	return slices.ContainsFunc(r.bit, func(bit uint8) bool { return bit != 0 })
}

// numberSites gives the sites of call paths numbers, in order of the first path.
func (r *run) numberSites() {
	index := make(map[field.Site]uint32)
	for _, s := range profile.Sites(r.t) {
		n, ok := index[s]
		if !ok {
			n = uint32(len(r.sites))
			index[s] = n
			r.sites = append(r.sites, s)
		}
		r.site = append(r.site, n)
	}
	r.site = append(r.site, uint32(len(r.sites)))
	r.sites = append(r.sites, field.Site{SourceLine: field.SourceLine{Region: "(outside any call)"}})
}

func (r *run) siteOf(path trace.PathID) uint32 { return r.site[min(int(path), len(r.site)-1)] }

// makeStreams gathers the locations of each rank, in order of ranks.
func (r *run) makeStreams() {
	var order []trace.LocationID
	for l := range r.t.Sends {
		if r.t.Sends[l].Len() > 0 {
			order = append(order, trace.LocationID(l))
		}
	}
	slices.SortStableFunc(order, func(a, b trace.LocationID) int { return cmp.Compare(r.t.Rank[a], r.t.Rank[b]) })
	for _, l := range order {
		rank := r.t.Rank[l]
		if n := len(r.streams); n == 0 || rank == trace.None || r.streams[n-1].rank != rank {
			r.streams = append(r.streams, &stream{rank: rank, index: make(map[key]uint32), sums: make([]Sums, len(r.configs)+1)})
		}
		s := r.streams[len(r.streams)-1]
		s.locations, s.next = append(s.locations, l), append(s.next, 0)
		s.sends += r.t.Sends[l].Len()
	}
	r.most = max(leastCategories, mostCategories/max(1, len(r.streams)))
	for i, s := range r.streams {
		r.begin(s, i)
	}
}

// begin prepares a stream. What it draws depends on its rank, or on its place behind the ranks.
func (r *run) begin(s *stream, place int) {
	number, first, last, begin := uint64(s.rank), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64)
	if s.rank == trace.None {
		number = 1<<32 + uint64(place)
	}
	for _, l := range s.locations {
		sends := r.t.Sends[l]
		first, last = min(first, sends.Ptr(0).Time), max(last, sends.Ptr(sends.Len()-1).Time)
		begin = min(begin, r.t.Span[l].First)
	}
	s.passed = begin
	if s.sends > 1 {
		s.pause = (last - first) / int64(s.sends-1)
	}
	ticks := func(ns int64) int64 { return ticksAbove(uint64(ns), r.t.Defs.Clock.Resolution) }
	for k := range r.configs {
		s.samplers = append(s.samplers, newSampler(&r.configs[k], number, begin, ticks))
	}
	if r.opts.Analysis != nil {
		s.extras = []amounts{}
	}
}

// windowSends is about how many sends of a stream lie in a window.
const windowSends = 2048

// visitAll lets each configuration decide on each send.
func (r *run) visitAll(ctx context.Context) error {
	sends := 0
	for _, s := range r.streams {
		sends += s.sends
	}
	first, last := scope.Run(r.t)
	windows := 1 + sends/max(1, len(r.streams)*windowSends)
	_, err := engine.Windows(ctx, r.opts.Jobs, engine.Windowed[struct{}]{Windows: windows, Items: len(r.streams),
		Partial: func() struct{} { return struct{}{} }, Combine: func(a, _ struct{}) struct{} { return a },
		Visit: func(_ struct{}, window, i int) error {
			end := first + (last-first)/int64(windows)*int64(window+1)
			if window == windows-1 {
				end = math.MaxInt64
			}
			return r.visit(ctx, r.streams[i], end)
		}})
	if err == nil {
		err = r.t.Store.Err()
	}
	return err
}

// A sending is a send with what is known of its other end.
type sending struct {
	location     trace.LocationID
	index        int
	row          *trace.Send
	call         *trace.Call // that posts it; nil: recorded outside any
	recv         *trace.Recv // nil: not matched
	taker        *trace.Call // that completes the receive; nil: recorded outside any
	enter, leave int64       // of taker
}

// lookupBatch is the number of sends whose other ends are looked up together: these lie anywhere in
// memory, and looking up several at a time takes hardly longer than one.
const lookupBatch = 8

// visit lets a stream advance to a time.
func (r *run) visit(ctx context.Context, s *stream, end int64) error {
	var batch [lookupBatch]sending
	for n := 0; ctx.Err() == nil; {
		for n = 0; n < len(batch); n++ {
			at, row := s.nextSend(r.t.Sends, end)
			if row == nil {
				break
			}
			batch[n] = sending{location: s.locations[at], index: s.next[at], row: row}
			s.next[at]++
		}
		if n == 0 {
			return nil
		}
		r.lookUp(batch[:n])
		for i := range batch[:n] {
			r.send(s, &batch[i])
		}
	}
	return ctx.Err()
}

// lookUp finds the calls and the other ends of sends.
func (r *run) lookUp(batch []sending) {
	for i := range batch {
		x := &batch[i]
		if x.row.Call != trace.None {
			x.call = r.t.Calls[x.location].Ptr(int(x.row.Call))
		}
		if x.row.State == trace.Matched {
			x.recv = r.t.Recvs[x.row.RecvLoc].Ptr(int(x.row.Recv))
		}
	}
	for i := range batch {
		if x := &batch[i]; x.recv != nil && x.recv.Call != trace.None {
			x.taker = r.t.Calls[x.row.RecvLoc].Ptr(int(x.recv.Call))
		}
	}
	for i := range batch {
		switch x := &batch[i]; {
		case x.taker != nil:
			x.enter, x.leave = x.taker.Enter, x.taker.Leave
		case x.recv != nil:
			x.enter, x.leave = x.recv.Time, x.recv.Time
		}
	}
}

// unexpected reports whether a message is sent before its receive is posted: it will often be there first.
func (r *run) unexpected(x *sending) bool {
	if x.recv == nil {
		return false
	}
	sent, posted := x.row.Time, x.recv.Time
	if x.call != nil {
		sent = x.call.Enter
	}
	switch {
	case x.recv.Post != trace.None:
		posted = r.t.Calls[x.row.RecvLoc].Ptr(int(x.recv.Post)).Enter
	case x.taker != nil:
		posted = x.taker.Enter
	}
	return sent < posted
}

// send takes one send.
func (r *run) send(s *stream, x *sending) {
	row := x.row
	posted, left, path := row.Time, row.Time, trace.PathID(trace.None)
	if x.call != nil {
		posted, left, path = x.call.Enter, x.call.Leave, x.call.Path
	}
	if !r.part.Overlaps(x.location, posted, left) || x.recv != nil && !r.part.Overlaps(row.RecvLoc, x.enter, x.leave) ||
		row.Bytes < r.opts.MinBytes || row.Bytes > r.opts.MaxBytes || r.opts.Site != nil && !r.opts.Site(path) {
		s.skipped++
		return
	}
	m := message{latency: x.leave - posted, pause: posted-s.passed > s.pause, large: !r.opts.Cost.Visible(row.Bytes),
		unexpected: r.unexpected(x)}
	s.passed = posted
	if x.recv == nil {
		for k := range s.samplers {
			if s.samplers[k].decide(posted) {
				s.sums[k].Unmatched++
			}
		}
		s.sums[len(s.samplers)].Unmatched++
		return
	}
	m.key = key{to: r.t.Rank[row.RecvLoc], send: r.siteOf(path), receive: r.siteOf(trace.None), bytes: row.Bytes}
	if x.taker != nil {
		m.receive = r.siteOf(x.taker.Path)
	}
	if r.opts.Analysis != nil {
		m.extra = r.amounts(x)
	}
	first := 0
	if !r.opts.totals {
		first = s.category(m.key, r.most) * len(s.sums)
	}
	for k := range s.samplers {
		if s.samplers[k].decide(posted) {
			if r.bit[k] != 0 {
				*r.written[x.location].Ptr(x.index) |= r.bit[k]
			}
			r.count(s, k, first+k, &m)
		}
	}
	r.count(s, len(s.samplers), first+len(s.samplers), &m)
}

// count adds a message to sums and to the cell of its category.
func (r *run) count(s *stream, k, at int, m *message) {
	sums := &s.sums[k]
	sums.Messages++
	if m.pause {
		sums.AfterPause++
	}
	if m.large {
		sums.Large++
	}
	if m.unexpected {
		sums.Unexpected++
	}
	sums.Bytes.add(int64(min(m.bytes, math.MaxInt64)))
	sums.Latency.add(m.latency)
	if r.opts.totals {
		return
	}
	c := &s.cells[at]
	c.add(m.latency)
	if r.freq[k] {
		if c.decades == nil {
			c.decades = new([decades]uint64)
		}
		c.decades[decadeOf(&r.decades, m.latency)]++
	}
	if s.extras != nil {
		sums.LateSender.add(m.extra.lateSender)
		sums.LateReceiver.add(m.extra.lateReceiver)
		x := &s.extras[at]
		x.lateSender, x.lateReceiver = x.lateSender+m.extra.lateSender, x.lateReceiver+m.extra.lateReceiver
		x.sendOverhead, x.receiveOverhead = x.sendOverhead+m.extra.sendOverhead, x.receiveOverhead+m.extra.receiveOverhead
	}
}
