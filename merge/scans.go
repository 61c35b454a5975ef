package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/partial"
	"tracekit/partial/model"
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
func (s *Scans) Code(c *partial.Coder, d *trace.Defs, store *spill.Store) {
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
func (l *located) code(c *partial.Coder, d *trace.Defs, store *spill.Store) {
	model.Tree(c, d, &l.tree)
	partial.Number(c, &l.span.First)
	partial.Number(c, &l.span.Last)
	partial.Number(c, &l.span.Events)
	partial.Number(c, &l.skipped)
	partial.Flag(c, &l.disorder)
	partial.Number(c, &l.posted)
	partial.Number(c, &l.pauses)
	partial.Flag(c, &l.stray)
	partial.Number(c, &l.bytes.sum)
	partial.Flag(c, &l.bytes.overflow)
	model.Ledger(c, &l.ledger)
	partial.Table(c, store, &l.calls, callColumns()...)
	partial.Table(c, store, &l.sends, sendColumns()...)
	partial.Table(c, store, &l.recvs, recvColumns()...)
	partial.Table(c, store, &l.parts, partColumns()...)
}

func callColumns() []partial.Column[trace.Call] {
	type row = trace.Call
	return []partial.Column[row]{
		partial.Numbers(func(r *row) *uint64 { return &r.Seq }),
		partial.Numbers(func(r *row) *int64 { return &r.Enter }),
		partial.Numbers(func(r *row) *int64 { return &r.Leave }),
		partial.Numbers(func(r *row) *trace.PathID { return &r.Path }),
		partial.Numbers(func(r *row) *trace.RegionID { return &r.Region }),
		partial.Numbers(func(r *row) *uint32 { return &r.FirstSend }),
		partial.Numbers(func(r *row) *uint32 { return &r.FirstRecv }),
		partial.Numbers(func(r *row) *uint32 { return &r.Coll }),
		partial.Numbers(func(r *row) *trace.CallClass { return &r.Class }),
		partial.Flags(func(r *row) *bool { return &r.Open }),
	}
}

func sendColumns() []partial.Column[trace.Send] {
	type row = trace.Send
	return []partial.Column[row]{
		partial.Numbers(func(r *row) *uint64 { return &r.Seq }),
		partial.Numbers(func(r *row) *int64 { return &r.Time }),
		partial.Numbers(func(r *row) *uint64 { return &r.Bytes }),
		partial.Numbers(func(r *row) *trace.CommID { return &r.Comm }),
		partial.Numbers(func(r *row) *uint32 { return &r.Tag }),
		partial.Numbers(func(r *row) *uint32 { return &r.To }),
		partial.Numbers(func(r *row) *uint32 { return &r.Call }),
		partial.Numbers(func(r *row) *uint32 { return &r.Done }),
		partial.Numbers(func(r *row) *trace.LocationID { return &r.RecvLoc }),
		partial.Numbers(func(r *row) *uint32 { return &r.Recv }),
		partial.Numbers(func(r *row) *trace.MessageState { return &r.State }),
	}
}

func recvColumns() []partial.Column[trace.Recv] {
	type row = trace.Recv
	return []partial.Column[row]{
		partial.Numbers(func(r *row) *uint64 { return &r.Seq }),
		partial.Numbers(func(r *row) *uint64 { return &r.PostSeq }),
		partial.Numbers(func(r *row) *int64 { return &r.Time }),
		partial.Numbers(func(r *row) *uint64 { return &r.Bytes }),
		partial.Numbers(func(r *row) *trace.CommID { return &r.Comm }),
		partial.Numbers(func(r *row) *uint32 { return &r.Tag }),
		partial.Numbers(func(r *row) *uint32 { return &r.From }),
		partial.Numbers(func(r *row) *uint32 { return &r.Call }),
		partial.Numbers(func(r *row) *uint32 { return &r.Post }),
		partial.Numbers(func(r *row) *trace.LocationID { return &r.SendLoc }),
		partial.Numbers(func(r *row) *uint32 { return &r.Send }),
		partial.Numbers(func(r *row) *trace.MessageState { return &r.State }),
	}
}

func partColumns() []partial.Column[part] {
	type row = part
	return []partial.Column[row]{
		partial.Numbers(func(r *row) *int64 { return &r.from }),
		partial.Numbers(func(r *row) *int64 { return &r.to }),
		partial.Numbers(func(r *row) *uint64 { return &r.begin }),
		partial.Numbers(func(r *row) *uint64 { return &r.sent }),
		partial.Numbers(func(r *row) *uint64 { return &r.received }),
		partial.Numbers(func(r *row) *trace.CommID { return &r.comm }),
		partial.Numbers(func(r *row) *uint32 { return &r.root }),
		partial.Numbers(func(r *row) *uint32 { return &r.call }),
		partial.Numbers(func(r *row) *uint32 { return &r.done }),
		partial.Numbers(func(r *row) *uint32 { return &r.pauses }),
		partial.Numbers(func(r *row) *uint32 { return &r.collective }),
		partial.Numbers(func(r *row) *trace.CollectiveOp { return &r.op }),
	}
}

// check reports the first breach of what a scan promises, as far as the other steps rely on it.
func (l *located) check(d *trace.Defs) error {
	world, comms := uint32(len(d.World())), uint32(len(d.Comms))
	from, to := l.span.First, l.span.Last
	if l.span.Events == 0 && l.calls.Len()+l.sends.Len()+l.recvs.Len()+l.parts.Len() > 0 {
		return errors.New("there are rows and no events")
	}
	calls := uint32(l.calls.Len())
	exist := func(some ...uint32) bool {
		return !slices.ContainsFunc(some, func(call uint32) bool { return call != trace.None && call >= calls })
	}
	last := trace.Call{Enter: from}
	for i := range l.calls.Len() {
		c := l.calls.At(i)
		switch {
		case c.Enter < last.Enter || c.Leave < c.Enter || c.Leave > to || i > 0 && c.Seq <= last.Seq:
			return fmt.Errorf("call %d is out of order", i)
		case c.FirstSend < last.FirstSend || int(c.FirstSend) > l.sends.Len() || c.FirstRecv < last.FirstRecv || int(c.FirstRecv) > l.recvs.Len():
			return fmt.Errorf("call %d: its messages are out of order or of range", i)
		case int(c.Path) >= len(l.tree.Nodes) || l.tree.Nodes[c.Path].Region != c.Region || c.Coll != trace.None || c.Class > trace.ClassOther:
			return fmt.Errorf("call %d: path %d, region %d, collective %d or class %d cannot be", i, c.Path, c.Region, c.Coll, c.Class)
		}
		last = c
	}
	sent := trace.Send{Time: from}
	for i := range l.sends.Len() {
		s := l.sends.At(i)
		switch {
		case s.Time < sent.Time || s.Time > to || i > 0 && s.Seq <= sent.Seq:
			return fmt.Errorf("send %d is out of order", i)
		case !exist(s.Call, s.Done) || s.RecvLoc != trace.None || s.Recv != trace.None || !unpaired(s.State, s.To, s.Comm, world, comms):
			return fmt.Errorf("send %d: its calls, receiver or state cannot be", i)
		case s.Call != trace.None && !trace.Holds(l.calls, s.Call, i, l.sends.Len(), func(c trace.Call) uint32 { return c.FirstSend }):
			return fmt.Errorf("send %d is not among those of its call %d", i, s.Call)
		}
		sent = s
	}
	received := trace.Recv{Time: from}
	for i := range l.recvs.Len() {
		r := l.recvs.At(i)
		switch {
		case r.Time < received.Time || r.Time > to || i > 0 && r.Seq <= received.Seq || r.PostSeq > r.Seq:
			return fmt.Errorf("receive %d is out of order", i)
		case !exist(r.Call, r.Post) || r.SendLoc != trace.None || r.Send != trace.None || !unpaired(r.State, r.From, r.Comm, world, comms):
			return fmt.Errorf("receive %d: its calls, sender or state cannot be", i)
		case r.Call != trace.None && !trace.Holds(l.calls, r.Call, i, l.recvs.Len(), func(c trace.Call) uint32 { return c.FirstRecv }):
			return fmt.Errorf("receive %d is not among those of its call %d", i, r.Call)
		}
		received = r
	}
	begun := from
	for i := range l.parts.Len() {
		p := l.parts.At(i)
		if p.from < begun || p.to < p.from || p.to > to || !exist(p.call, p.done) || uint32(p.comm) >= comms || p.collective != trace.None {
			return fmt.Errorf("part %d in a collective is out of order, or its calls or communicator cannot be", i)
		}
		begun = p.from
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
