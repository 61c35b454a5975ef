package merge

import (
	"context"
	"errors"
	"fmt"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Scans are the partial results of the first step, for some or all locations of a trace: all
// that the other steps need of the events. They depend on the recorded data alone, on no option
// of merging.
type Scans struct{ model.Results[located] }

// Scan decodes some locations of a source, in ascending order, none of which it has read
// before. The tables lie in the store. An error means that the source could not be read or that
// ctx was cancelled.
func Scan(ctx context.Context, src trace.Source, locations []trace.LocationID, store *spill.Store, opts Options) (*Scans, error) {
	before := src.Findings()
	scanned, err := scan(ctx, src, newFacts(src.Defs()), store, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress, Only: locations})
	if err != nil {
		return nil, fmt.Errorf("scanning events: %w", err)
	}
	return &Scans{model.Results[located]{Of: scanned, Findings: trace.Since(before, src.Findings())}}, nil
}

// Add adds the scans of other locations of the same trace; an error says which location both
// have.
func (s *Scans) Add(other *Scans) error { return s.Results.Add(&other.Results) }

// Code writes the scans, or reads those of a trace with these definitions into tables of the
// store. What is read refers to nothing that is not there; that it is what the trace holds,
// nobody can know without reading the trace.
func (s *Scans) Code(c *codec.Coder, d *trace.Defs, store *spill.Store) {
	s.Results.Code(c, d, func(l trace.LocationID, x *located) {
		x.code(c, d, store)
		if !c.Reading() || c.Err() != nil {
			return
		}
		if err := x.check(d); err != nil {
			c.Refuse("location %d: %v", l, err)
		}
	})
}

// code codes the scan of a location.
func (l *located) code(c *codec.Coder, d *trace.Defs, store *spill.Store) {
	model.Tree(c, d, &l.tree)
	codec.Number(c, &l.span.First)
	codec.Number(c, &l.span.Last)
	codec.Number(c, &l.span.Events)
	codec.Flag(c, &l.span.Open)
	codec.Number(c, &l.skipped)
	codec.Flag(c, &l.disorder)
	codec.Number(c, &l.posted)
	codec.Number(c, &l.pauses)
	codec.Flag(c, &l.stray)
	codec.Number(c, &l.bytes.sum)
	codec.Flag(c, &l.bytes.overflow)
	model.Ledger(c, &l.ledger)
	codec.Table(c, store, &l.calls, l.callColumns()...)
	codec.Table(c, store, &l.sends, l.sendColumns()...)
	codec.Table(c, store, &l.recvs, l.recvColumns()...)
	codec.Table(c, store, &l.parts, l.partColumns(len(d.Comms))...)
}

// time bounds the times of rows.
func (l *located) time() *codec.Bound { return codec.Within("time", l.span.First, l.span.Last) }

// ascending bounds what may be anything and no less than the one before, or greater.
func ascending[N codec.Integer](what string, step uint64) *codec.Bound {
	return codec.Within(what, 0, ^N(0)).Ascending(step)
}

// events is the column of the events that rows are of, in ascending order.
func events[T any](field func(*T) *trace.Event) codec.Column[T] {
	return codec.Packed(func(r *T) uint64 { return field(r).Seq() }, func(r *T, seq uint64) { *field(r) = trace.EventAt(seq) },
		codec.Within[uint64]("event", 0, 1<<48-1).Ascending(1))
}

// existing bounds the calls that a row refers to.
func (l *located) existing() *codec.Bound {
	return codec.Below("call", l.calls.Len()).Or(trace.None)
}

// unknown bounds what only the next steps find.
func unknown() *codec.Bound { return codec.Below("partner or collective", 0).Or(trace.None) }

func (l *located) callColumns() []codec.Column[trace.Call] {
	type row = trace.Call
	return []codec.Column[row]{
		events(func(r *row) *trace.Event { return &r.Event }),
		codec.Numbers(func(r *row) *int64 { return &r.Enter }, l.time().Ascending(0)),
		codec.Numbers(func(r *row) *int64 { return &r.Leave }, l.time()),
		codec.Numbers(func(r *row) *trace.PathID { return &r.Path }, codec.Below("call path", len(l.tree.Nodes))),
		codec.Numbers(func(r *row) *uint32 { return &r.FirstSend }, ascending[uint32]("send", 0)),
		codec.Numbers(func(r *row) *uint32 { return &r.FirstRecv }, ascending[uint32]("receive", 0)),
		codec.Numbers(func(r *row) *uint32 { return &r.Coll }, unknown()),
		codec.Numbers(func(r *row) *trace.CallClass { return &r.Class }, codec.Within("class", 0, trace.ClassOther)),
		codec.Flags(func(r *row) *bool { return &r.Open }),
	}
}

func (l *located) sendColumns() []codec.Column[trace.Send] {
	type row = trace.Send
	return []codec.Column[row]{
		events(func(r *row) *trace.Event { return &r.Event }),
		codec.Numbers(func(r *row) *int64 { return &r.Time }, l.time().Ascending(0)),
		codec.Numbers(func(r *row) *uint64 { return &r.Bytes }),
		codec.Numbers(func(r *row) *trace.CommID { return &r.Comm }),
		codec.Numbers(func(r *row) *uint32 { return &r.Tag }),
		codec.Numbers(func(r *row) *trace.LocationID { return &r.RecvLoc }),
		codec.Numbers(func(r *row) *uint32 { return &r.Call }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.Done }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.Recv }, unknown()),
		codec.Numbers(func(r *row) *trace.MessageState { return &r.State }),
	}
}

func (l *located) recvColumns() []codec.Column[trace.Recv] {
	type row = trace.Recv
	return []codec.Column[row]{
		events(func(r *row) *trace.Event { return &r.Event }),
		codec.Numbers(func(r *row) *uint64 { return &r.PostSeq }),
		codec.Numbers(func(r *row) *int64 { return &r.Time }, l.time().Ascending(0)),
		codec.Numbers(func(r *row) *uint64 { return &r.Bytes }),
		codec.Numbers(func(r *row) *trace.CommID { return &r.Comm }),
		codec.Numbers(func(r *row) *uint32 { return &r.Tag }),
		codec.Numbers(func(r *row) *trace.LocationID { return &r.SendLoc }),
		codec.Numbers(func(r *row) *uint32 { return &r.Call }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.Post }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.Send }, unknown()),
		codec.Numbers(func(r *row) *trace.MessageState { return &r.State }),
	}
}

func (l *located) partColumns(comms int) []codec.Column[part] {
	type row = part
	return []codec.Column[row]{
		codec.Numbers(func(r *row) *int64 { return &r.from }, l.time().Ascending(0)),
		codec.Numbers(func(r *row) *int64 { return &r.to }, l.time()),
		codec.Numbers(func(r *row) *uint64 { return &r.begin }),
		codec.Numbers(func(r *row) *uint64 { return &r.sent }),
		codec.Numbers(func(r *row) *uint64 { return &r.received }),
		codec.Numbers(func(r *row) *trace.CommID { return &r.comm }, codec.Below("communicator", comms)),
		codec.Numbers(func(r *row) *uint32 { return &r.root }),
		codec.Numbers(func(r *row) *uint32 { return &r.call }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.done }, l.existing()),
		codec.Numbers(func(r *row) *uint32 { return &r.pauses }),
		codec.Numbers(func(r *row) *uint32 { return &r.collective }, unknown()),
		codec.Numbers(func(r *row) *trace.CollectiveOp { return &r.op }),
	}
}

// check reports the first breach of what a scan promises of several numbers together, as far as the
// other steps rely on it.
func (l *located) check(d *trace.Defs) error {
	world, comms := uint32(len(d.World())), uint32(len(d.Comms))
	if l.span.Events == 0 && l.calls.Len()+l.sends.Len()+l.recvs.Len()+l.parts.Len() > 0 {
		return errors.New("it has rows but no events")
	}
	for i := range l.calls.Len() {
		c := l.calls.At(i)
		if c.Leave < c.Enter || int(c.FirstSend) > l.sends.Len() || int(c.FirstRecv) > l.recvs.Len() {
			return fmt.Errorf("call %d: its times or its messages cannot be", i)
		}
	}
	for i := range l.sends.Len() {
		s := l.sends.At(i)
		switch {
		case !unpaired(s.State, uint32(s.RecvLoc), s.Comm, world, comms):
			return fmt.Errorf("send %d: its receiver or state cannot be", i)
		case s.Call != trace.None && !trace.Holds(l.calls, s.Call, i, l.sends.Len(), func(c trace.Call) uint32 { return c.FirstSend }):
			return fmt.Errorf("send %d is not among those of its call %d", i, s.Call)
		}
	}
	for i := range l.recvs.Len() {
		r := l.recvs.At(i)
		switch {
		case r.PostSeq > r.Seq() || !unpaired(r.State, uint32(r.SendLoc), r.Comm, world, comms):
			return fmt.Errorf("receive %d: when it is posted, its sender or state cannot be", i)
		case r.Call != trace.None && !trace.Holds(l.calls, r.Call, i, l.recvs.Len(), func(c trace.Call) uint32 { return c.FirstRecv }):
			return fmt.Errorf("receive %d is not among those of its call %d", i, r.Call)
		}
	}
	for i := range l.parts.Len() {
		if p := l.parts.At(i); p.to < p.from {
			return fmt.Errorf("part %d in a collective ends before it begins", i)
		}
	}
	return nil
}

// unpaired reports whether a message may have a state before matching, with a peer and a
// communicator.
func unpaired(state trace.MessageState, peer uint32, comm trace.CommID, world, comms uint32) bool {
	switch state {
	case trace.Unmatched:
		return peer < world && uint32(comm) < comms
	case trace.Cancelled, trace.Unusable:
		return peer == trace.None || peer < world
	}
	return false
}
