package merge

import (
	"tracekit/spill"
	"tracekit/trace"
)

// settle makes one trace of the scanned locations: the call trees become one, in order of
// locations. The calls' paths are changed later, together with their times.
func settle(src trace.Source, f *facts, store *spill.Store, scanned []*located) *trace.Trace {
	d := src.Defs()
	t := &trace.Trace{
		Source: src, Defs: d, Tree: trace.NewCallTree(), Store: store,
		World: d.World(), Rank: f.resolver.ranks,
		Collectives: spill.NewTable[trace.Collective](store),
		Members:     spill.NewTable[trace.Member](store),
	}
	for _, l := range scanned {
		l.paths = t.Tree.Merge(l.tree)
		l.tree = nil
		t.Span = append(t.Span, l.span)
		t.Calls = append(t.Calls, l.calls)
		t.Sends = append(t.Sends, l.sends)
		t.Recvs = append(t.Recvs, l.recvs)
		t.Coverage.EventsRead += l.span.Events
		t.Coverage.EventsSkipped += l.skipped
	}
	return t
}
