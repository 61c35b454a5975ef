package pattern

import (
	"tracekit/formulae/partners"
	"tracekit/trace"
)

// mix adds a value to a hash.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// An event is what a record says, as far as intervals are compared: not when it was, and
// not what was measured (values of counters and parameters, attributes).
type event struct {
	order  uint64         // hash of all that it says
	calls  uint64         // of a call: hash of its call site; of its messages and collectives: of partner and size too; 0: neither
	path   uint64         // of an Enter: hash of the call path
	region trace.RegionID // of an Enter
}

// A walker goes through the events of a location.
type walker struct {
	shared   *shared
	stack    trace.CallStack[uint64]
	requests requests
	calls    bool     // alone are asked for, not the order
	self     []uint32 // own rank by communicator; None: not a member
}

// shared is what the walkers of all locations know.
type shared struct {
	defs  *trace.Defs
	mpi   []trace.MPIFunction
	ranks *partners.Ranks
}

func newShared(d *trace.Defs) *shared {
	return &shared{defs: d, mpi: d.MPIFunctions(), ranks: partners.RanksOf(d)}
}

// site returns where a context was called. Ranks may have contexts of their own.
func (s *shared) site(c trace.CallingContextID) trace.SourceLocationID {
	return s.defs.SiteOf(c)
}

func (s *shared) walker(l trace.LocationID) *walker {
	w := &walker{shared: s, self: make([]uint32, len(s.defs.Comms))}
	for c := range w.self {
		w.self[c] = trace.None
		if rank, _, ok := s.ranks.Rank(l, uint32(c)); ok {
			w.self[c] = rank
		}
	}
	return w
}

// path returns the hash of the regions that are entered and not left.
func (w *walker) path() uint64 {
	if p := w.stack.Top(); p != nil {
		return *p
	}
	return 1
}

// event reads the event in a row of a batch and follows the call stack.
func (w *walker) event(b *trace.Batch, seq uint64, r trace.Row) event {
	k := r.First
	switch r.Table {
	case trace.TableFlow:
		return w.flow(&b.Flow, k)
	case trace.TableP2P:
		return w.message(&b.P2P, k)
	case trace.TableColl:
		return w.collective(&b.Coll, k)
	case trace.TableMetric:
		h := uint64(trace.KindMetric)
		for i := r.First; i < r.End; i++ {
			h = mix(h, uint64(b.Metric.Metric[i])<<8|uint64(b.Metric.Member[i]))
		}
		return event{order: h}
	}
	return event{order: other(&b.Other, k, seq)}
}

// kindOf returns the kind of the event in a row of a batch.
func kindOf(b *trace.Batch, r trace.Row) trace.Kind {
	switch r.Table {
	case trace.TableFlow:
		return b.Flow.Kind[r.First]
	case trace.TableP2P:
		return b.P2P.Kind[r.First]
	case trace.TableColl:
		return b.Coll.Kind[r.First]
	case trace.TableMetric:
		return trace.KindMetric
	}
	return b.Other.Kind[r.First]
}

func (w *walker) flow(f *trace.Flow, k int) event {
	kind, region, context, site := f.Kind[k], f.Region[k], uint64(0), uint64(0)
	if len(f.Context) > 0 {
		context = uint64(f.Context[k]) + 1
		site = uint64(w.shared.site(f.Context[k])) + 1
	}
	e := event{order: mix(mix(uint64(kind), uint64(region)), context), region: trace.None}
	if !kind.Enters() {
		for range w.stack.Leave(region) {
			w.stack.Pop()
		}
		return e
	}
	if w.stack.Full() {
		w.stack.Pop()
	}
	e.path, e.region = mix(mix(w.path(), uint64(region)), site), region
	w.stack.Enter(region, e.path)
	if int(region) < len(w.shared.mpi) && w.shared.mpi[region].Class != trace.ClassNone {
		e.calls = mix(e.path, 1)
	}
	return e
}

func (w *walker) message(p *trace.P2P, k int) event {
	kind := p.Kind[k]
	var e event
	if !w.calls {
		e.order = mix(uint64(kind), uint64(p.Comm[k])<<32|uint64(p.Peer[k]))
		e.order = mix(mix(e.order, p.Bytes[k]), uint64(p.Tag[k]))
		if age, uses := w.requests.event(kind, p.Request[k]); uses {
			e.order = mix(e.order, age)
		}
	}
	switch kind {
	case trace.KindMpiSend, trace.KindMpiIsend, trace.KindMpiRecv, trace.KindMpiIrecv:
		peer := uint64(p.Peer[k])
		if c := p.Comm[k]; int(c) < len(w.self) && w.self[c] != trace.None {
			peer -= uint64(w.self[c])
		}
		e.calls = mix(mix(mix(w.path(), uint64(kind)), peer), p.Bytes[k])
	}
	return e
}

func (w *walker) collective(c *trace.Coll, k int) event {
	kind := c.Kind[k]
	h := mix(uint64(kind)<<8|uint64(c.Op[k]), uint64(c.Comm[k])<<32|uint64(c.Root[k]))
	h = mix(mix(h, c.Sent[k]), c.Received[k])
	if age, uses := w.requests.event(kind, c.Request[k]); uses {
		h = mix(h, age)
	}
	e := event{order: h}
	if kind == trace.KindCollectiveEnd || kind == trace.KindNonBlockingCollectiveComplete {
		e.calls = mix(mix(mix(w.path(), uint64(c.Op[k])), c.Sent[k]), c.Received[k])
	}
	return e
}

// other returns what an event of another kind says. Values of parameters are measurements; a
// record that says that something is not in the trace is like no other.
func other(o *trace.Other, k int, seq uint64) uint64 {
	kind, args := o.Kind[k], o.Args[o.Offset[k]:o.Offset[k+1]]
	switch kind {
	case trace.KindParameterInt, trace.KindParameterUint, trace.KindParameterString:
		args = args[:min(1, len(args))]
	case trace.KindMeasurementOnOff, trace.KindBufferFlush:
		return mix(uint64(kind), seq)
	}
	h := uint64(kind)
	for _, a := range args {
		h = mix(h, a)
	}
	return h
}

// requests names the requests of a location by their age, which is alike in intervals that
// are alike: how many requests were started since, with its own. Numbers of requests in
// traces are not.
type requests struct {
	started uint64
	open    map[uint64]uint64 // number of the request: when it was started
}

// event follows an event. It returns the age of the request that it is about, 0 if it is not
// known when that was started, unless it starts one or is about none.
func (r *requests) event(k trace.Kind, number uint64) (age uint64, used bool) {
	switch {
	case k.StartsRequest():
		if r.open == nil {
			r.open = make(map[uint64]uint64)
		}
		r.started++
		r.open[number] = r.started
		return 0, false
	case k.UsesRequest():
		at, known := r.open[number]
		if !known {
			return 0, true
		}
		if k != trace.KindMpiRequestTest {
			delete(r.open, number)
		}
		return r.started - at + 1, true
	}
	return 0, false
}
