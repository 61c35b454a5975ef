package tracetest_test

import (
	"strings"
	"testing"

	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// soundTrace is a send from location 0 to 1 and a barrier, reconciled by hand.
func soundTrace(t *testing.T) *trace.Trace {
	src := tracetest.MustParse(t, "region MPI_Send\nregion MPI_Recv\nregion MPI_Barrier\nlocation 0 rank=0\nlocation 1 rank=1\n")
	pool := spill.NewStore(1<<20, t.TempDir())
	tr := &trace.Trace{Source: src, Defs: src.Definitions, Tree: trace.NewCallTree(), Store: pool, World: []trace.LocationID{0, 1},
		Rank: []uint32{0, 1}, Span: make([]trace.Span, 2), Collectives: spill.NewTable[trace.Collective](pool),
		Members: spill.NewTable[trace.Member](pool)}
	for range 2 {
		tr.Calls = append(tr.Calls, spill.NewTable[trace.Call](pool))
		tr.Sends = append(tr.Sends, spill.NewTable[trace.Send](pool))
		tr.Recvs = append(tr.Recvs, spill.NewTable[trace.Recv](pool))
	}
	for r := range trace.RegionID(3) {
		tr.Tree.Add(trace.PathNode{Parent: trace.None, Region: r, Site: trace.None})
	}
	tr.Calls[0].Append(trace.Call{Event: trace.EventAt(0), Enter: 1, Leave: 2, Path: 0, Coll: trace.None, Class: trace.ClassSend})
	tr.Calls[0].Append(trace.Call{Event: trace.EventAt(3), Enter: 5, Leave: 9, Path: 2, FirstSend: 1, Coll: 0, Class: trace.ClassColl})
	tr.Calls[1].Append(trace.Call{Event: trace.EventAt(0), Enter: 1, Leave: 3, Path: 1, Coll: trace.None, Class: trace.ClassRecv})
	tr.Calls[1].Append(trace.Call{Event: trace.EventAt(3), Enter: 4, Leave: 9, Path: 2, FirstRecv: 1, Coll: 0, Class: trace.ClassColl})
	tr.Sends[0].Append(trace.Send{Event: trace.EventAt(1), Time: 1, RecvLoc: 1, State: trace.Matched})
	tr.Recvs[1].Append(trace.Recv{Event: trace.EventAt(1), PostSeq: 1, Time: 3, SendLoc: 0, State: trace.Matched})
	tr.Collectives.Append(trace.Collective{Count: 2, Size: 2, Root: trace.RootNone})
	tr.Members.Append(trace.Member{Location: 0, Rank: 0, Call: 1, Done: 1})
	tr.Members.Append(trace.Member{Location: 1, Rank: 1, Call: 1, Done: 1})
	return tr
}

func TestCheckTrace(t *testing.T) {
	if err := tracetest.CheckTrace(soundTrace(t)); err != nil {
		t.Fatal(err)
	}
	call := func(l, i int, f func(*trace.Call)) func(*trace.Trace) {
		return func(t *trace.Trace) { f(t.Calls[l].Ptr(i)) }
	}
	send := func(f func(*trace.Send)) func(*trace.Trace) { return func(t *trace.Trace) { f(t.Sends[0].Ptr(0)) } }
	recv := func(f func(*trace.Recv)) func(*trace.Trace) { return func(t *trace.Trace) { f(t.Recvs[1].Ptr(0)) } }
	coll := func(f func(*trace.Collective)) func(*trace.Trace) {
		return func(t *trace.Trace) { f(t.Collectives.Ptr(0)) }
	}
	member := func(i int, f func(*trace.Member)) func(*trace.Trace) {
		return func(t *trace.Trace) { f(t.Members.Ptr(i)) }
	}
	for _, m := range []struct {
		name   string
		breach func(*trace.Trace)
		want   string // of the error
	}{
		{"defs", func(t *trace.Trace) { t.Defs.Clock.Resolution = 0 }, "resolution"},
		{"lengths", func(t *trace.Trace) { t.Span = nil }, "Span has 0 entries for 2 locations"},
		{"world", func(t *trace.Trace) { t.World[1] = 2 }, "rank 1: location 2"},
		{"rank", func(t *trace.Trace) { t.Rank[1] = 2 }, "location 1: rank 2"},
		{"tree", func(t *trace.Trace) { t.Tree.Nodes[1].Parent = 1 }, "call path 1 comes before its parent"},
		{"leave", call(0, 0, func(c *trace.Call) { c.Leave = 0 }), "call 0 ends before"},
		{"enter order", call(0, 1, func(c *trace.Call) { c.Enter = 0 }), "call 1 is not after"},
		{"seq order", call(0, 1, func(c *trace.Call) { c.Event = trace.EventAt(0) }), "call 1 is not after"},
		{"path", call(0, 1, func(c *trace.Call) { c.Path = 3 }), "call 1: path 3"},
		{"first send", call(0, 0, func(c *trace.Call) { c.FirstSend = 2 }), "first send 2 of 1"},
		{"first send order", call(0, 0, func(c *trace.Call) { c.FirstSend = 1 }), "send 0 is not among those of its call 0"},
		{"first receive", call(1, 1, func(c *trace.Call) { c.FirstRecv = 2 }), "first receive 2 of 1"},
		{"first receive order", call(1, 1, func(c *trace.Call) { c.FirstRecv = 0 }), "receive 0 is not among those"},
		{"coll", call(0, 1, func(c *trace.Call) { c.Coll = 1 }), "collective 1 does not exist"},
		{"to", send(func(s *trace.Send) { s.State, s.RecvLoc = trace.Unmatched, 2 }), "send 0: rank 2"},
		{"send call", send(func(s *trace.Send) { s.Call = 2 }), "send 0: call 2"},
		{"send done", send(func(s *trace.Send) { s.Done = 2 }), "send 0: call 0 or 2"},
		{"send state", send(func(s *trace.Send) { s.State = trace.Unmatched }), "has a partner and is not matched"},
		{"send partner", send(func(s *trace.Send) { s.Recv = 1 }), "send 0: receive 1 of location 1 does not exist"},
		{"tag", send(func(s *trace.Send) { s.Tag = 1 }), "another communicator or tag"},
		{"from", func(t *trace.Trace) {
			s, r := t.Sends[0].Ptr(0), t.Recvs[1].Ptr(0)
			s.State, s.Recv, r.State, r.SendLoc = trace.Unmatched, trace.None, trace.Unmatched, 2
		}, "receive 0: rank 2"},
		{"post", recv(func(r *trace.Recv) { r.PostSeq = 2 }), "posted after it is completed"},
		{"post call", recv(func(r *trace.Recv) { r.Post = 2 }), "receive 0: call 0 or 2"},
		{"receive state", recv(func(r *trace.Recv) { r.State = trace.Cancelled }), "has another partner"},
		{"receive partner", recv(func(r *trace.Recv) { r.Send = 1 }), "has another partner"},
		{"lone receive", func(t *trace.Trace) {
			s := t.Sends[0].Ptr(0)
			s.State, s.Recv = trace.Unmatched, trace.None
		}, "receive 0: its send 0 of location 0 has another partner"},
		{"members", coll(func(c *trace.Collective) { c.First = 1 }), "members 1+2 where 0 is next"},
		{"member count", coll(func(c *trace.Collective) { c.Count = 1 }), "1 members belong to no collective"},
		{"size", coll(func(c *trace.Collective) { c.Size = 1 }), "2 of 1 members"},
		{"comm", coll(func(c *trace.Collective) { c.Comm = 1 }), "communicator 1 does not exist"},
		{"member location", member(1, func(m *trace.Member) { m.Location = 2 }), "of location 2 does not exist"},
		{"member call", member(1, func(m *trace.Member) { m.Call = 2 }), "call 2 or 1 of location 1"},
		{"no member call", member(1, func(m *trace.Member) { m.Call = trace.None }), "member 1 has no call"},
		{"member rank", member(1, func(m *trace.Member) { m.Rank = 2 }), "rank 2 of 2"},
		{"member order", member(1, func(m *trace.Member) { m.Rank = 0 }), "ranks do not ascend"},
	} {
		tr := soundTrace(t)
		m.breach(tr)
		if err := tracetest.CheckTrace(tr); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: got %v, want an error with %q", m.name, err, m.want)
		}
	}
}
