package sampling

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats"
	"tracekit/trace"
)

// run is what the pass over all messages reads, and its streams.
type run struct {
	t       *trace.Trace
	part    *stats.Part
	opts    Options
	configs []Config
	site    []uint32 // by call path; the last: outside any call
	sites   []stats.Site
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
	leastCategories = 64
)

// maxWriting is the number of configurations that may write.
const maxWriting = 8

func newRun(t *trace.Trace, configs []Config, opts Options) (*run, error) {
	part, err := stats.NewPart(t, stats.Options{Ranks: opts.Ranks, From: opts.From, To: opts.To})
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
		if c.Analysis == Write {
			r.bit[k] = bit
			bit <<= 1
		}
	}
	for l := range t.Sends {
		if bit > 1 {
			r.written = append(r.written, spill.NewZeros[uint8](t.Store, t.Sends[l].Len()))
		}
	}
	return r, nil
}

// numberSites gives the sites of call paths numbers, in order of the first path.
func (r *run) numberSites() {
	index := make(map[stats.Site]uint32)
	for _, s := range stats.Sites(r.t) {
		n, ok := index[s]
		if !ok {
			n = uint32(len(r.sites))
			index[s] = n
			r.sites = append(r.sites, s)
		}
		r.site = append(r.site, n)
	}
	r.site = append(r.site, uint32(len(r.sites)))
	r.sites = append(r.sites, stats.Site{SourceLine: stats.SourceLine{Region: "(outside any call)"}})
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
	first, last := stats.Run(r.t)
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

// visit lets a stream advance to a time.
func (r *run) visit(ctx context.Context, s *stream, end int64) error {
	for n := 1; ; n++ {
		at, row := s.nextSend(r.t.Sends, end)
		if row == nil {
			return nil
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, index := s.locations[at], s.next[at]
		s.next[at]++
		r.send(s, l, index, row)
	}
}

// send takes one send.
func (r *run) send(s *stream, l trace.LocationID, index int, row *trace.Send) {
	posted, path := [2]int64{row.Time, row.Time}, trace.PathID(trace.None)
	var call *trace.Call
	if row.Call != trace.None {
		call = r.t.Calls[l].Ptr(int(row.Call))
		posted, path = [2]int64{call.Enter, call.Leave}, call.Path
	}
	if !r.part.Overlaps(l, posted[0], posted[1]) || row.Bytes < r.opts.MinBytes || row.Bytes > r.opts.MaxBytes ||
		r.opts.Site != nil && !r.opts.Site(path) {
		s.skipped++
		return
	}
	var m message
	matched := row.State == trace.Matched
	if matched && !r.receipt(&m, l, row, call, posted) {
		s.skipped++
		return
	}
	m.pause = posted[0]-s.passed > s.pause
	m.large = row.Bytes > r.opts.Cost.LimitBytes
	s.passed = posted[0]
	if !matched {
		for k := range s.samplers {
			if s.samplers[k].decide(posted[0]) {
				s.sums[k].Unmatched++
			}
		}
		s.sums[len(s.samplers)].Unmatched++
		return
	}
	m.send, m.bytes = r.siteOf(path), row.Bytes
	first := 0
	if !r.opts.totals {
		first = s.category(m.key, r.most) * len(s.sums)
	}
	for k := range s.samplers {
		if s.samplers[k].decide(posted[0]) {
			if r.bit[k] != 0 {
				*r.written[l].Ptr(index) |= r.bit[k]
			}
			r.count(s, k, first+k, &m)
		}
	}
	r.count(s, len(s.samplers), first+len(s.samplers), &m)
}

// receipt looks at the other end of a message; it reports false if that is not selected.
func (r *run) receipt(m *message, l trace.LocationID, row *trace.Send, call *trace.Call, posted [2]int64) bool {
	to := row.RecvLoc
	recv := r.t.Recvs[to].Ptr(int(row.Recv))
	taken, path := [2]int64{recv.Time, recv.Time}, trace.PathID(trace.None)
	var taker *trace.Call
	if recv.Call != trace.None {
		taker = r.t.Calls[to].Ptr(int(recv.Call))
		taken, path = [2]int64{taker.Enter, taker.Leave}, taker.Path
	}
	if !r.part.Overlaps(to, taken[0], taken[1]) {
		return false
	}
	m.to, m.receive, m.latency = r.t.Rank[to], r.siteOf(path), taken[1]-posted[0]
	if r.opts.Analysis != nil {
		m.extra = r.amounts(l, row, call, to, recv, taker)
	}
	return true
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
