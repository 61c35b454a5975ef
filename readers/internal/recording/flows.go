package recording

import (
	"context"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// flows are the ends of arrows between events. Which of the ends of a flow is its source is known
// once all are: the first in time, and at one time one that does not end it,
// which need not be the first in the file. Until then an end has an
// attribute of its own, attributes + its number.
//
//	source[n/64] has bit n%64 if end n is a source
//	last is the same of the ends that end their flow
type flows struct {
	spool  *spool.Spool
	stream *spool.Stream
	ends   uint64
	source []uint64
	last   []uint64
}

// flowLimit bounds the ends of flows; further ones are left out.
const flowLimit = 1 << 30

// Flow adds an end of a flow to the event that is added to a track next; last tells that the flow
// ends there. Flows have the same identifier wherever in the file they are.
func (f *File) Flow(l *Track, id uint64, time int64, last bool) {
	if attribute, ok := f.FlowEnd(id, time, last); ok {
		l.Stream.AddAttr(attribute, trace.TypeUint64, id)
	}
}

// FlowEnd is Flow for an event that is added later: it returns the attribute that the event has then, with the identifier as its
// value; ok is false if there are too many.
func (f *File) FlowEnd(id uint64, time int64, last bool) (attribute trace.AttributeID, ok bool) {
	w := &f.flows
	if w.spool == nil {
		w.spool = spool.New(f.Set.Spool.Store())
		w.stream = w.spool.Stream(0)
	}
	if w.ends == flowLimit {
		f.lost[lostFlows]++
		return 0, false
	}
	n := w.ends
	w.ends++
	if n%64 == 0 {
		w.source, w.last = append(w.source, 0), append(w.last, 0)
	}
	if last {
		w.last[n/64] |= 1 << (n % 64)
	}
	w.stream.Tie = time << 1
	if last {
		w.stream.Tie |= 1
	}
	w.stream.AddOther(int64(id), flowRecord, n, uint64(time))
	return attributes + trace.AttributeID(n), true
}

const flowRecord trace.Kind = 240

// settle finds the sources of flows, and counts the flows that have no other end.
func (w *flows) settle(ctx context.Context, f *File) error {
	if w.spool == nil {
		return nil
	}
	defer w.spool.Close()
	if err := w.spool.Finish(ctx, 1); err != nil {
		return err
	}
	ends, id, dangling := 0, int64(0), uint64(0)
	for b, err := range w.spool.Events(ctx, 0) {
		if err != nil {
			return err
		}
		for i, flow := range b.Other.Time {
			if ends == 0 || flow != id {
				if ends == 1 {
					dangling++
				}
				n := b.Other.Args[b.Other.Offset[i]]
				w.source[n/64] |= 1 << (n % 64)
				ends, id = 0, flow
			}
			ends++
		}
	}
	if ends == 1 {
		dangling++
	}
	f.Ledger.AddN(trace.CodeDanglingFlow, dangling, f.Place(-1), "")
	f.Set.Attribute = w.attribute
	return nil
}

// attribute returns the attribute that an end of a flow has, or another one as it is.
func (w *flows) attribute(id trace.AttributeID) trace.AttributeID {
	n := uint64(id - attributes)
	switch {
	case id < attributes:
		return id
	case w.source[n/64]>>(n%64)&1 == 1:
		return AttrFlowOut
	case w.last[n/64]>>(n%64)&1 == 1:
		return AttrFlowIn
	}
	return AttrFlowStep
}
