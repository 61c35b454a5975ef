package paraver

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"tracekit/trace"
)

// maxRequests bounds the sends and collectives that are open at a time; the oldest counts
// as completed when another is begun.
const maxRequests = 1 << 16

// request keeps an operation until a call completes it.
func (a *assembler) request(r request) {
	if len(a.requests)-a.head >= maxRequests {
		a.ledger.Add(trace.CodeLimitExceeded, a.place(), fmt.Sprintf("more than %d open requests; the oldest counts as completed", maxRequests))
		a.completeRequest(a.last)
	}
	if a.head > 1024 && a.head > len(a.requests)/2 {
		a.requests = a.requests[:copy(a.requests, a.requests[a.head:])]
		a.head = 0
	}
	a.requests = append(a.requests, r)
}

// completeRequests completes what a call may have completed; the format does not tell. A
// call for one request that received nothing has completed the oldest of those that are
// no receives; a call for several, all of them; so has MPI_Finalize.
func (a *assembler) completeRequests(f *visit, t int64, received bool) {
	n := len(a.requests) - a.head
	if n == 0 {
		return
	}
	name := strings.ToLower(a.source.defs.String(a.source.defs.Regions[f.region].Canonical))
	switch {
	case f.class == trace.ClassFinalize || strings.HasSuffix(name, "all") || strings.HasSuffix(name, "some"):
	case strings.HasSuffix(name, "probe"):
		n = 0
	case received:
		n = 0
	default:
		n = 1
	}
	for range n {
		a.completeRequest(t)
	}
}

// completeRequest completes the oldest operation.
func (a *assembler) completeRequest(t int64) {
	r := &a.requests[a.head]
	a.head++
	if r.coll.Kind == 0 {
		a.out.AddRequest(a.moment(t), trace.KindMpiIsendComplete, r.id)
		return
	}
	r.coll.Time = a.moment(t)
	a.out.AddColl(r.coll)
}

// finish adds what is left at the end of the location: receives that no call completed.
// Requests of sends stay open, and so do regions.
func (a *assembler) finish() {
	a.leaveInner()
	if len(a.sends)+len(a.posts) > 0 {
		a.strand()
	}
	a.receiveLoose(maxTime)
	for len(a.nonblocking) > 0 {
		a.receive(heap.Pop(&a.nonblocking).(receive), trace.KindMpiIrecv, maxTime)
	}
	for i := len(a.visits) - 1; i >= 0; i-- { // states that end with the trace
		if a.visits[i].slot == trace.None {
			a.leave(max(a.visits[i].end, a.last))
		}
	}
}

// ownMessage passes an event of our own types on.
func (a *assembler) ownMessage(p *trace.P2P, i int) {
	a.last = p.Time[i]
	a.out.AddP2P(trace.P2PRow{Time: p.Time[i], Kind: p.Kind[i], Peer: p.Peer[i], Comm: p.Comm[i], Tag: p.Tag[i],
		Bytes: p.Bytes[i], Request: p.Request[i]})
}

// collective takes what is known of a collective that was entered before.
func (a *assembler) collective(c *trace.Coll, i int) {
	if a.source.dialect {
		a.last = c.Time[i]
		a.out.AddColl(trace.CollRow{Time: c.Time[i], Kind: c.Kind[i], Op: c.Op[i], Comm: c.Comm[i], Root: c.Root[i],
			Sent: c.Sent[i], Received: c.Received[i], Request: c.Request[i]})
		return
	}
	if len(a.visits) == 0 {
		return
	}
	f := &a.visits[len(a.visits)-1]
	row := trace.CollRow{Time: c.Time[i], Op: c.Op[i], Comm: c.Comm[i], Root: trace.RootNone,
		Sent: c.Sent[i], Received: c.Received[i]}
	if row.Op.Pattern().Rooted() && row.Comm != trace.None {
		row.Root = a.root(row.Comm, c.Root[i] == 1)
	}
	begin := trace.CollRow{Time: row.Time, Kind: trace.KindCollectiveBegin, Comm: trace.None, Root: trace.None}
	if f.class == trace.ClassIcoll {
		begin.Kind, begin.Request = trace.KindNonBlockingCollectiveRequest, a.newRequest()
		row.Kind, row.Request = trace.KindNonBlockingCollectiveComplete, begin.Request
		a.out.AddColl(begin)
		a.request(request{coll: row})
		return
	}
	a.out.AddColl(begin)
	row.Kind = trace.KindCollectiveEnd
	f.coll = row
}

// root returns the root of the next collective with one, as OTF2 states it: a rank in the
// communicator; in an intercommunicator, the root calls itself so, and its group knows
// that the root is among them.
func (a *assembler) root(c trace.CommID, flag bool) uint32 {
	ordinal := a.rooted[c]
	a.rooted[c]++
	task := a.source.roots.find(c, ordinal)
	d := a.source.defs
	comm := &d.Comms[c]
	if task == trace.None || comm.Group == trace.None {
		return trace.RootNone
	}
	if !comm.Inter {
		return a.rankIn(comm.Group, task)
	}
	home, away := comm.Group, comm.Remote
	if a.rankIn(home, a.task) == trace.RootNone {
		home, away = away, home
	}
	switch {
	case flag:
		return trace.RootSelf
	case a.rankIn(home, task) != trace.RootNone:
		return trace.RootThisGroup
	}
	return a.rankIn(away, task)
}

// A rankKey is a group and a task.
type rankKey struct {
	group trace.GroupID
	task  uint32
}

// rankIn returns the rank of a task in a group, RootNone if it is not a member.
func (a *assembler) rankIn(g trace.GroupID, task uint32) uint32 {
	k := rankKey{g, task}
	rank, ok := a.ranks[k]
	if !ok {
		rank = trace.RootNone
		if i := slices.Index(a.source.defs.Groups[g].Members, task); i >= 0 {
			rank = uint32(i)
		}
		a.ranks[k] = rank
	}
	return rank
}
