package sampling

import (
	"context"
	"iter"

	"tracekit/spill"
	"tracekit/trace"
)

// Source returns the trace of the messages that a configuration with WRITE has sampled: their
// records, the calls that post, receive and complete them, and the regions around those, with
// the recorded times. It is valid as long as the trace that was sampled.
func (x *Result) Source() trace.Source {
	t := x.run.t
	cut, whole := 0.0, 0.0
	for l := range t.Calls {
		f := &filter{keep: x.kept(trace.LocationID(l))}
		time, all := t.CutTime(trace.LocationID(l), func(seq uint64) bool { return !f.keeps(seq) })
		f.keep.Release()
		if t.Calls[l].Len() > 0 {
			cut, whole = cut+float64(time), whole+float64(all)
		}
	}
	about := t.Source.Info()
	about.Properties = about.Reduced([]string{"sample " + x.Configuration}, cut/max(1, whole))
	about.Properties[trace.PropertySample] = trace.Sample{Strategy: x.Settings.Strategy, Sampled: x.Sampled.Messages,
		Of: x.Population.Messages}.String()
	return &source{t.Source, x, about}
}

// A source holds sampled messages only.
type source struct {
	trace.Source
	of    *Result
	about trace.Info
}

// Info implements trace.Source: the trace says how it was reduced.
func (s *source) Info() trace.Info { return s.about }

// Events implements trace.Source.
func (s *source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		f := &filter{keep: s.of.kept(l), requests: make(map[uint64]bool), mpi: s.of.run.t.Defs.MPIFunctions()}
		defer f.keep.Release()
		first := uint64(0)
		for b, err := range s.Source.Events(ctx, l) {
			if err == nil {
				f.out.Reset(l, first)
				f.batch(b)
				if f.out.Len() == 0 {
					continue
				}
				first += uint64(f.out.Len())
				b = &f.out
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// kept returns the events of a location that belong to sampled messages: the records of sends and
// receives and the Enters of their calls, a bit for each sequence number.
func (x *Result) kept(l trace.LocationID) *spill.Table[uint64] {
	t := x.run.t
	events := t.Span[l].Events
	keep := spill.NewZeros[uint64](t.Store, int(events/64+1))
	set := func(seq uint64) {
		if seq < events {
			*keep.Ptr(int(seq / 64)) |= 1 << (seq % 64)
		}
	}
	calls := func(rows ...uint32) {
		for _, c := range rows {
			if c != trace.None {
				set(t.Calls[l].Ptr(int(c)).Seq)
			}
		}
	}
	for i := range t.Sends[l].Len() {
		if x.wrote(l, i) {
			s := t.Sends[l].Ptr(i)
			set(s.Seq)
			calls(s.Call, s.Done)
		}
	}
	for i := range t.Recvs[l].Len() {
		if r := t.Recvs[l].Ptr(i); r.State == trace.Matched && x.wrote(r.SendLoc, int(r.Send)) {
			set(r.Seq)
			set(r.PostSeq)
			calls(r.Call, r.Post)
		}
	}
	return keep
}

// A filter passes kept events on, with the regions that they lie in: the Enter of a region waits
// until something inside it is kept. An MPI function stands only if it is kept itself.
type filter struct {
	keep     *spill.Table[uint64]
	mpi      []trace.MPIFunction // by region
	stack    trace.CallStack[entered]
	written  int             // of the stack: those further out, which are dropped for good or have been passed on
	requests map[uint64]bool // of sends whose completion is kept
	out      trace.Batch
}

// entered is a region on the stack.
type entered struct {
	time     int64
	kind     trace.Kind
	region   trace.RegionID
	context  trace.CallingContextID
	unwind   uint32
	dropped  bool // an MPI function that is not kept
	passedOn bool
}

func (f *filter) keeps(seq uint64) bool {
	return int(seq/64) < f.keep.Len() && *f.keep.Ptr(int(seq / 64))>>(seq%64)&1 != 0
}

func (f *filter) batch(b *trace.Batch) {
	for seq, r := range b.Events {
		switch r.Table {
		case trace.TableFlow:
			f.flow(&b.Flow, r.First, seq)
		case trace.TableP2P:
			f.p2p(&b.P2P, r.First, seq)
		}
	}
}

func (f *filter) flow(flow *trace.Flow, i int, seq uint64) {
	x := entered{time: flow.Time[i], kind: flow.Kind[i], region: flow.Region[i], context: trace.None}
	if len(flow.Context) > 0 {
		x.context, x.unwind = flow.Context[i], flow.Unwind[i]
	}
	if x.kind.Enters() {
		kept := f.keeps(seq)
		x.dropped = !kept && int(x.region) < len(f.mpi) && f.mpi[x.region].Class != trace.ClassNone
		if f.stack.Full() {
			f.end(entered{time: x.time, kind: trace.KindLeave, context: trace.None})
		}
		f.stack.Enter(x.region, x)
		if kept {
			f.passOn()
		}
		return
	}
	for range f.stack.Leave(x.region) {
		f.end(x)
	}
}

// end takes the innermost region off the stack. If its Enter was passed on, so is a Leave like x.
func (f *filter) end(x entered) {
	if inner := f.stack.Pop(); inner.passedOn {
		x.region = inner.region
		f.add(&x)
	}
	f.written = min(f.written, f.stack.Len())
}

// passOn writes the Enters of the regions on the stack that were not yet.
func (f *filter) passOn() {
	for ; f.written < f.stack.Len(); f.written++ {
		if x := f.stack.At(f.written); !x.dropped {
			x.passedOn = true
			f.add(x)
		}
	}
}

func (f *filter) add(x *entered) {
	if x.context != trace.None {
		f.out.AddContext(x.time, x.kind, x.region, x.context, x.unwind)
	} else {
		f.out.AddFlow(x.time, x.kind, x.region)
	}
}

func (f *filter) p2p(p *trace.P2P, i int, seq uint64) {
	kind, request := p.Kind[i], p.Request[i]
	kept := f.keeps(seq)
	switch kind {
	case trace.KindMpiIsend:
		delete(f.requests, request)
		if kept {
			f.requests[request] = true
		}
	case trace.KindMpiIsendComplete:
		kept = f.requests[request]
		delete(f.requests, request)
	}
	if kept {
		f.passOn()
		f.out.AddP2P(trace.P2PRow{Time: p.Time[i], Kind: kind, Peer: p.Peer[i], Comm: p.Comm[i], Tag: p.Tag[i], Bytes: p.Bytes[i],
			Request: request})
	}
}
