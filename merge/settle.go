package merge

import (
	"tracekit/spill"
	"tracekit/trace"
)

// settle makes one trace of the scanned locations: late completions are filled in, and
// the call trees become one, in order of locations. The calls' paths are changed later,
// together with their times.
func settle(src trace.Source, f *facts, pool *spill.Store, scanned []*located) *trace.Trace {
	d := src.Defs()
	t := &trace.Trace{
		Source: src, Defs: d, Tree: trace.NewCallTree(), Store: pool,
		World: d.World(), Rank: f.resolver.ranks,
		Collectives: spill.NewTable[trace.Collective](pool),
		Members:     spill.NewTable[trace.Member](pool),
	}
	for _, l := range scanned {
		l.paths = t.Tree.Merge(l.tree)
		l.settle()
		t.Span = append(t.Span, l.span)
		t.Calls = append(t.Calls, l.calls)
		t.Sends = append(t.Sends, l.sends)
		t.Recvs = append(t.Recvs, l.recvs)
		t.Coverage.EventsRead += l.span.Events
		t.Coverage.EventsSkipped += l.skipped
	}
	return t
}

// settle completes the location's rows.
func (l *located) settle() {
	for i := range l.late.Len() {
		v := l.late.At(i)
		switch row := int(v.row); v.what {
		case callLeft, callOpen:
			c := l.calls.Ptr(row)
			c.Leave, c.Open = v.value, v.what == callOpen
		case sendDone:
			l.sends.Ptr(row).Done = uint32(v.value)
		case sendCancelled:
			l.sends.Ptr(row).State = trace.Cancelled
		}
	}
	for i := range l.lateParts.Len() {
		p := l.lateParts.At(i)
		l.parts.Set(int(p.row), p.part)
	}
	l.late.Release()
	l.lateParts.Release()
	l.tree, l.late, l.lateParts = nil, nil, nil
}
