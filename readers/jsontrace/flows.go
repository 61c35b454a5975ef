package jsontrace

import (
	"context"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// flows matches the ends of the flows that are no messages, to count those that dangle.
// The ends wait in a spool of their own, sorted by a hash of their key, then by time, so
// that memory does not grow with their number.
type flows struct {
	f      *file
	spool  *spool.Spool
	stream *spool.Stream
}

func newFlows(f *file) *flows { return &flows{f: f} }

// flow takes an s, t or f.
func (f *file) flow(l *track, ev *event, at int64) {
	switch {
	case string(ev.cat) == messageCategory && f.message(l, ev, at):
		return
	case string(ev.cat) == "Message" && string(ev.name) == "MPI":
		f.tau.message(f, l, ev, at)
		return
	}
	id := hash(ev.cat, ev.name, canonicalID(ev))
	f.flows.add(id, ev.time, ev.phase)
	l.trivial = false
	l.Moment()
	l.Stream.AddAttr(flowAttribute(ev.phase), trace.TypeUint64, id)
	l.Stream.AddOther(ev.time, trace.KindInstant, uint64(f.names.raw(ev.name)))
}

func flowAttribute(phase byte) trace.AttributeID {
	switch phase {
	case 's':
		return attrFlowOut
	case 'f':
		return attrFlowIn
	}
	return attrFlowStep
}

// boundFlow gives the slice that is put next the flow that its own members name (the
// second version of flows: bind_id with flow_in and flow_out).
func (f *file) boundFlow(l *track, ev *event) {
	if ev.bindID == nil || !ev.flowIn && !ev.flowOut {
		return
	}
	phase := byte('t')
	switch {
	case !ev.flowIn:
		phase = 's'
	case !ev.flowOut:
		phase = 'f'
	}
	id := hash([]byte("bind"), normalID(ev.bindID))
	f.flows.add(id, ev.time, phase)
	l.Stream.AddAttr(flowAttribute(phase), trace.TypeUint64, id)
}

// add notes an end of a flow.
func (w *flows) add(id uint64, time int64, phase byte) {
	if w.spool == nil {
		w.spool = spool.New(w.f.set.Spool.Store())
		w.stream = w.spool.Stream(0)
	}
	w.stream.Tie = time
	w.stream.AddOther(int64(id), trace.Kind(phase), uint64(time))
}

// count counts the ends that have no other end. What one flow has at one time counts in no
// order: of a kernel that begins with its launch, PyTorch writes the end first.
func (w *flows) count(ctx context.Context) error {
	if w.spool == nil {
		return nil
	}
	defer w.spool.Close()
	if err := w.spool.Finish(ctx, 1); err != nil {
		return err
	}
	var id, time int64
	var dangling, open, ends uint64 // open: starts without an end; ends: those of this time
	begun := false
	settle := func() {
		if !begun {
			dangling += ends
		}
		open -= min(open, ends)
		if open > 1 {
			dangling += open - 1
			open = 1
		}
		ends = 0
	}
	for b, err := range w.spool.Events(ctx, 0) {
		if err != nil {
			return err
		}
		for i, k := range b.Other.Kind {
			last, at := id, int64(b.Other.Args[i])
			if id = b.Other.Time[i]; id != last || at != time {
				settle()
			}
			if time = at; id != last {
				dangling += open
				open, begun = 0, false
			}
			if k == 's' {
				open++
				begun = true
			} else {
				ends++
			}
		}
	}
	settle()
	dangling += open
	w.f.ledger.AddN(trace.CodeDanglingFlow, dangling, trace.Place{Location: trace.None, File: w.f.path, Offset: -1},
		"")
	return nil
}

// hash is the 64-bit FNV-1a hash of parts.
func hash(parts ...[]byte) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for _, c := range p {
			h = (h ^ uint64(c)) * 1099511628211
		}
		h = (h ^ 0xFF) * 1099511628211
	}
	return h
}

// canonicalID returns the identifier of a flow or asynchronous event with what it is
// valid in: the scope, and for id2.local the process.
func canonicalID(ev *event) []byte {
	id := ev.id
	var local []byte
	if ev.id2 != nil {
		if id = member(ev.id2, "global"); id == nil {
			id, local = member(ev.id2, "local"), append([]byte(" of "), text(ev.pid)...)
		}
	}
	out := append([]byte(nil), normalID(id)...)
	out = append(append(out, ' '), ev.scope...)
	return append(out, local...)
}

// normalID makes 31, "31" and "0x1f" the same.
func normalID(raw []byte) []byte {
	s := text(raw)
	if u, neg, ok := unsigned(s); ok && !neg {
		return appendUint(nil, u)
	}
	return s
}
