package tracetest

import (
	"fmt"

	"tracekit/trace"
)

// A checked trace is one whose promises are looked at.
type checked struct{ *trace.Trace }

// CheckTrace reports the first breach of what a reconciled trace promises: rows refer to rows
// that exist, calls and messages are in order, matched messages name each other, members
// of collectives are in order of rank. It reads all tables and writes none.
func CheckTrace(of *trace.Trace) error {
	t := checked{of}
	if err := t.Defs.Check(); err != nil {
		return err
	}
	n := len(t.Defs.Locations)
	for name, l := range map[string]int{"Rank": len(t.Rank), "Span": len(t.Span), "Calls": len(t.Calls),
		"Sends": len(t.Sends), "Recvs": len(t.Recvs)} {
		if l != n {
			return fmt.Errorf("%s has %d entries for %d locations", name, l, n)
		}
	}
	if err := t.checkWorld(); err != nil {
		return err
	}
	for l := range n {
		for _, check := range []func(trace.LocationID) error{t.checkCalls, t.checkSends, t.checkRecvs} {
			if err := check(trace.LocationID(l)); err != nil {
				return fmt.Errorf("location %d: %w", l, err)
			}
		}
	}
	return t.checkCollectives()
}

func (t checked) checkWorld() error {
	for r, l := range t.World {
		if l != trace.None && int(l) >= len(t.Defs.Locations) {
			return fmt.Errorf("rank %d: location %d does not exist", r, l)
		}
	}
	for l, r := range t.Rank {
		if r != trace.None && int(r) >= len(t.World) {
			return fmt.Errorf("location %d: rank %d does not exist", l, r)
		}
	}
	for p, n := range t.Tree.Nodes {
		if n.Parent != trace.None && int(n.Parent) >= p {
			return fmt.Errorf("call path %d comes before its parent %d", p, n.Parent)
		}
	}
	return nil
}

// checkCalls: FirstSend and FirstRecv may be the number of rows, when no later call has any.
func (t checked) checkCalls(l trace.LocationID) error {
	calls, sends, recvs := t.Calls[l], t.Sends[l], t.Recvs[l]
	var last trace.Call
	for i := range calls.Len() {
		c := calls.At(i)
		switch {
		case c.Enter > c.Leave:
			return fmt.Errorf("call %d ends before it begins", i)
		case i > 0 && (c.Seq() <= last.Seq() || c.Enter < last.Enter):
			return fmt.Errorf("call %d is not after the one before", i)
		case int(c.Path) >= len(t.Tree.Nodes):
			return fmt.Errorf("call %d: path %d does not exist", i, c.Path)
		case c.FirstSend < last.FirstSend || int(c.FirstSend) > sends.Len():
			return fmt.Errorf("call %d: first send %d of %d is out of order or of range", i, c.FirstSend, sends.Len())
		case c.FirstRecv < last.FirstRecv || int(c.FirstRecv) > recvs.Len():
			return fmt.Errorf("call %d: first receive %d of %d is out of order or of range", i, c.FirstRecv, recvs.Len())
		case c.Coll != trace.None && int(c.Coll) >= t.Collectives.Len():
			return fmt.Errorf("call %d: collective %d does not exist", i, c.Coll)
		}
		last = c
	}
	return nil
}

// noCall reports whether a call is named that does not exist.
func (t checked) noCall(l trace.LocationID, call uint32) bool {
	return call != trace.None && int(call) >= t.Calls[l].Len()
}

func (t checked) checkSends(l trace.LocationID) error {
	sends := t.Sends[l]
	var seq uint64
	for i := range sends.Len() {
		s := sends.At(i)
		switch {
		case i > 0 && s.Seq() <= seq:
			return fmt.Errorf("send %d is not after the one before", i)
		case s.State != trace.Matched && s.To(t.Rank) != trace.None && int(s.To(t.Rank)) >= len(t.World):
			return fmt.Errorf("send %d: rank %d does not exist", i, s.To(t.Rank))
		case t.noCall(l, s.Call) || t.noCall(l, s.Done):
			return fmt.Errorf("send %d: call %d or %d does not exist", i, s.Call, s.Done)
		case s.Call != trace.None && !trace.Holds(t.Calls[l], s.Call, i, sends.Len(), func(c trace.Call) uint32 { return c.FirstSend }):
			return fmt.Errorf("send %d is not among those of its call %d", i, s.Call)
		}
		seq = s.Seq()
		if err := t.checkSendPartner(l, uint32(i), s); err != nil {
			return err
		}
	}
	return nil
}

// checkSendPartner: partners must name each other, and agree on communicator and tag. They
// may disagree on the number of bytes, which is a finding.
func (t checked) checkSendPartner(l trace.LocationID, i uint32, s trace.Send) error {
	if s.State != trace.Matched {
		if s.Recv != trace.None {
			return fmt.Errorf("send %d has a partner and is not matched", i)
		}
		return nil
	}
	if int(s.RecvLoc) >= len(t.Recvs) || int(s.Recv) >= t.Recvs[s.RecvLoc].Len() {
		return fmt.Errorf("send %d: receive %d of location %d does not exist", i, s.Recv, s.RecvLoc)
	}
	r := t.Recvs[s.RecvLoc].At(int(s.Recv))
	if r.State != trace.Matched || r.SendLoc != l || r.Send != i {
		return fmt.Errorf("send %d: its receive %d of location %d has another partner", i, s.Recv, s.RecvLoc)
	}
	if r.Comm != s.Comm || r.Tag != s.Tag {
		return fmt.Errorf("send %d: its receive %d of location %d has another communicator or tag", i, s.Recv, s.RecvLoc)
	}
	return nil
}

func (t checked) checkRecvs(l trace.LocationID) error {
	recvs := t.Recvs[l]
	var seq uint64
	for i := range recvs.Len() {
		r := recvs.At(i)
		switch {
		case i > 0 && r.Seq() <= seq:
			return fmt.Errorf("receive %d is not after the one before", i)
		case r.PostSeq > r.Seq():
			return fmt.Errorf("receive %d is posted after it is completed", i)
		case r.State != trace.Matched && r.From(t.Rank) != trace.None && int(r.From(t.Rank)) >= len(t.World):
			return fmt.Errorf("receive %d: rank %d does not exist", i, r.From(t.Rank))
		case t.noCall(l, r.Call) || t.noCall(l, r.Post):
			return fmt.Errorf("receive %d: call %d or %d does not exist", i, r.Call, r.Post)
		case r.Call != trace.None && !trace.Holds(t.Calls[l], r.Call, i, recvs.Len(), func(c trace.Call) uint32 { return c.FirstRecv }):
			return fmt.Errorf("receive %d is not among those of its call %d", i, r.Call)
		case r.State != trace.Matched && r.Send != trace.None:
			return fmt.Errorf("receive %d has a partner and is not matched", i)
		}
		seq = r.Seq()
		if r.State != trace.Matched {
			continue
		}
		if int(r.SendLoc) >= len(t.Sends) || int(r.Send) >= t.Sends[r.SendLoc].Len() {
			return fmt.Errorf("receive %d: send %d of location %d does not exist", i, r.Send, r.SendLoc)
		}
		if s := t.Sends[r.SendLoc].At(int(r.Send)); s.State != trace.Matched || s.RecvLoc != l || s.Recv != uint32(i) {
			return fmt.Errorf("receive %d: its send %d of location %d has another partner", i, r.Send, r.SendLoc)
		}
	}
	return nil
}

// checkCollectives: the members of all instances follow each other without gaps.
func (t checked) checkCollectives() error {
	next := 0
	for i := range t.Collectives.Len() {
		c := t.Collectives.At(i)
		switch {
		case int(c.First) != next || next+int(c.Count) > t.Members.Len():
			return fmt.Errorf("collective %d: members %d+%d where %d is next of %d", i, c.First, c.Count, next, t.Members.Len())
		case c.Count == 0 || c.Count > c.Size:
			return fmt.Errorf("collective %d has %d of %d members", i, c.Count, c.Size)
		case int(c.Comm) >= len(t.Defs.Comms):
			return fmt.Errorf("collective %d: communicator %d does not exist", i, c.Comm)
		}
		next += int(c.Count)
		if err := t.checkMembers(i, c); err != nil {
			return err
		}
	}
	if next != t.Members.Len() {
		return fmt.Errorf("%d members belong to no collective", t.Members.Len()-next)
	}
	return nil
}

// checkMembers: on an intercommunicator, ranks of the two groups have the same numbers, so
// their order says nothing.
func (t checked) checkMembers(i int, c trace.Collective) error {
	for j := range int(c.Count) {
		m := t.Members.At(int(c.First) + j)
		switch {
		case int(m.Location) >= len(t.Calls) || t.noCall(m.Location, m.Call) || t.noCall(m.Location, m.Done):
			return fmt.Errorf("collective %d, member %d: call %d or %d of location %d does not exist", i, j, m.Call, m.Done, m.Location)
		case m.Begin > m.End:
			return fmt.Errorf("collective %d, member %d ends at %d and begins at %d", i, j, m.End, m.Begin)
		case m.Call == trace.None:
			return fmt.Errorf("collective %d, member %d has no call", i, j)
		case m.Rank >= c.Size && !t.Defs.Comms[c.Comm].Inter:
			return fmt.Errorf("collective %d, member %d: rank %d of %d", i, j, m.Rank, c.Size)
		case j > 0 && m.Rank <= t.Members.At(int(c.First)+j-1).Rank && !t.Defs.Comms[c.Comm].Inter:
			return fmt.Errorf("collective %d, member %d: ranks do not ascend", i, j)
		}
	}
	return nil
}
