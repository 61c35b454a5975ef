package waits

import (
	"context"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A member is one rank's part in an instance of a collective.
type member struct {
	location     trace.LocationID
	order        uint32 // of the location: trace.Trace.Order
	call, done   uint32
	rank         uint32 // in the communicator
	enter, leave int64  // begin and end of the part; of a non-blocking operation, of the call that starts it
	sent, recvd  uint64
	unsized      bool   // no size is recorded of any collective
	second       bool   // in the second group of an intercommunicator
	row          uint32 // in trace.Trace.Members
}

func (m *member) sends() bool     { return m.sent > 0 || m.unsized }
func (m *member) receives() bool  { return m.recvd > 0 || m.unsized }
func (m *member) transfers() bool { return m.sends() || m.receives() }

// latest returns the index of the member that enters last among those that count, of
// several that of the first rank of the world; -1 if none counts.
func latest(in []member, counts func(*member) bool) int {
	last := -1
	for i := range in {
		m := &in[i]
		if !counts(m) {
			continue
		}
		if last < 0 || m.enter > in[last].enter || m.enter == in[last].enter && m.order < in[last].order {
			last = i
		}
	}
	return last
}

func everyone(*member) bool { return true }

// A collWait is what the wait rules of a collective say about one member.
type collWait struct {
	wait       int64
	cause      int // index of the member it waits for
	completion int64
}

// A memberPart is what an instance says about the part of one member: rows are those of
// trace.Trace.Members.
type memberPart struct {
	wait   int64  // ticks
	bytes  uint64 // of its call
	size   CallSize
	call   uint32 // that waits: the one that begins the part or that completes it
	begins uint32 // the call that begins it; None: not recorded
	cause  CallKey
	kind   waitstate.Kind
}

// callWait returns the wait of a part as that of call c. It begins with the part or, if the
// call completes what another one has begun, with the call.
func (p *memberPart) callWait(m *trace.Member, c *trace.Call) *Wait {
	from := m.Begin
	if p.call != p.begins {
		from = c.Enter
	}
	return &Wait{Time: p.wait, From: from, Location: p.cause.Location, Call: p.cause.Call, Kind: p.kind, message: trace.None}
}

// collectives finds the waits of all instances, and sums the instances by operation. What they
// say about its own calls each location takes on its walk over them.
func (w *Finder) collectives(ctx context.Context) (*WaitSums, error) {
	w.parts = spill.NewZeros[memberPart](w.T.Store, w.T.Members.Len())
	n := w.T.Collectives.Len()
	x, err := engine.Fold(ctx, w.Jobs, (n+InstanceChunk-1)/InstanceChunk, w.newInstances,
		func(x *instances, k int) error {
			for i := k * InstanceChunk; i < min((k+1)*InstanceChunk, n); i++ {
				x.instance(w.T.Collectives.At(i))
			}
			return nil
		}, func(a, b *instances) *instances { a.sums.Combine(b.sums); return a })
	if err != nil {
		return nil, err
	}
	return x.sums, nil
}

// InstanceChunk is the number of instances that are an item of work.
const InstanceChunk = 512

// nextPart finds the location's next part in a collective.
func (p *p2pWalk) nextPart() {
	p.begins = trace.None
	for parts := p.T.Parts[p.L]; p.taken < parts.Len() && p.begins == trace.None; p.taken++ {
		part := parts.Ptr(p.taken)
		p.member, p.joined = part.Member, part.Collective
		p.part = p.parts.Ptr(int(p.member))
		p.begins = p.part.begins
	}
}

// takeParts notes the waits and bytes of the parts that begin with calls until call i, and the
// sizes of those calls and of the ones that complete parts which do not block; and for the ideal replay
// which those are.
func (p *p2pWalk) takeParts(i uint32, c *trace.Call) {
	for ; p.begins <= i && p.begins != trace.None; p.nextPart() {
		begins, part := c, p.part
		if p.begins < i {
			begins = p.rows.Ptr(int(p.begins))
		}
		p.addBytes(p.sums, p.L, begins, part.bytes)
		p.addSize(p.begins, part.size.Bytes(), part.size.Role())
		if done := p.T.Members.Ptr(int(p.member)).Done; done != trace.None && done != p.begins {
			if begins.Class == trace.ClassIcoll {
				p.addSize(done, part.size.Bytes(), part.size.Role())
			}
			if p.Sync != nil && begins.Coll == p.joined && p.Scope.Overlaps(p.L, begins.Enter, begins.Enter) {
				p.joins.add(done, p.joined)
			}
		}
		if part.wait > 0 {
			call := p.rows.Ptr(int(part.call))
			p.waits.Note(part.call, call, part.callWait(p.T.Members.Ptr(int(p.member)), call))
		}
	}
}

// instances finds the waits of instances one after the other.
type instances struct {
	*Finder
	sums    *WaitSums
	members spill.Cursor[trace.Member]
	parts   spill.Cursor[memberPart]
	in      []member   // of the instance
	out     []collWait // what the rules say of them
}

func (w *Finder) newInstances() *instances {
	return &instances{Finder: w, sums: w.NewSums(), members: w.T.Members.Cursor(), parts: w.parts.Cursor()}
}

func (x *instances) instance(c trace.Collective) {
	x.in = x.membersOf(&c, x.in[:0])
	x.sizeParts(&c, x.in)
	x.out = append(x.out[:0], make([]collWait, len(x.in))...)
	x.sums.Colls.add(x.Finder, &c, x.in)
	blocking := splitBlocking(x.in)
	if !c.Mismatch && c.Size > 1 {
		x.waitRules(&c, x.in[:blocking], x.out)
		x.chargeBlocking(&c, x.in[:blocking], x.out)
	}
	x.nonblocking(c.Op.Pattern(), x.in, blocking)
}

// membersOf reads the members of an instance and notes their bytes.
func (x *instances) membersOf(c *trace.Collective, in []member) []member {
	first, toOne := x.firstGroup(c.Comm), c.Op.Pattern() == trace.PatternAllToOne
	for k := c.First; k < c.First+c.Count; k++ {
		m, part := x.members.Ptr(int(k)), x.parts.Ptr(int(k))
		if part.begins = m.Call; m.Call == trace.None {
			continue
		}
		leave := m.End
		if m.Done != m.Call {
			leave = x.T.Calls[m.Location].Ptr(int(m.Call)).Leave
		}
		part.bytes = m.Sent
		if toOne && m.Rank == c.Root {
			part.bytes = m.Received
		}
		in = append(in, member{location: m.Location, order: x.order[m.Location], call: m.Call, done: m.Done, rank: m.Rank,
			enter: m.Begin, leave: leave, sent: m.Sent, recvd: m.Received, unsized: x.unsized, second: m.Rank >= first, row: k})
	}
	return in
}

// firstGroup returns the size of the first group of an intercommunicator; all members of
// other communicators are in their first group.
func (w *Finder) firstGroup(comm trace.CommID) uint32 {
	d := w.T.Defs
	if int(comm) < len(d.Comms) && d.Comms[comm].Inter && int(d.Comms[comm].Group) < len(d.Groups) {
		return uint32(len(d.Groups[d.Comms[comm].Group].Members))
	}
	return trace.None
}

// splitBlocking moves the members of blocking calls to the front, keeps the order among
// them, and returns their number. Instances are nearly always all of one sort.
func splitBlocking(in []member) int {
	n := 0
	for i := range in {
		if in[i].done != in[i].call {
			continue
		}
		if m := in[i]; i > n {
			copy(in[n+1:i+1], in[n:i])
			in[n] = m
		}
		n++
	}
	return n
}

// waitRules applies the rules of 2.2 to the members of one blocking instance, which are in
// order of rank.
func (w *Finder) waitRules(c *trace.Collective, in []member, out []collWait) {
	apart := func(a, b *member) bool { return a.second != b.second }
	if w.firstGroup(c.Comm) == trace.None {
		apart = func(a, b *member) bool { return a.rank != b.rank }
	}
	switch p, root := c.Op.Pattern(), rootOf(c.Root, in); p {
	case trace.PatternBarrier:
		waitForLast(in, out, everyone, latest(in, everyone))
	case trace.PatternAllToAll, trace.PatternSparse:
		exchangeRules(in, out)
	case trace.PatternOneToAll, trace.PatternAllToOne:
		if c.Root == trace.RootNone {
			ifTogether(in, out)
		} else if p == trace.PatternOneToAll {
			lateBroadcast(root, in, out, apart)
		} else {
			earlyReduce(root, in, out, apart)
		}
	case trace.PatternScan:
		earlyScan(in, out)
	case trace.PatternFence:
		ifTogether(in, out)
	}
}

// waitForLast makes the members that count wait for member last, and splits what follows:
// completion begins when the first of them has left.
func waitForLast(in []member, out []collWait, counts func(*member) bool, last int) {
	if last < 0 {
		return
	}
	left := false
	var firstLeave int64
	for i := range in {
		if m := &in[i]; counts(m) && (!left || m.leave < firstLeave) {
			left, firstLeave = true, m.leave
		}
	}
	for i := range in {
		m := &in[i]
		if !counts(m) {
			continue
		}
		arrived := min(in[last].enter, m.leave)
		out[i].wait, out[i].cause = max(0, arrived-m.enter), last
		out[i].completion = max(0, m.leave-max(firstLeave, arrived, m.enter))
	}
}

// exchangeRules is waitForLast among those that transfer something. If one of them leaves no
// later than the last arrives, it did not wait for everyone (or clocks disagree), and only
// the latest sender and the receivers that arrive before it take part, as in Scalasca.
func exchangeRules(in []member, out []collWait) {
	counts := (*member).transfers
	last := latest(in, counts)
	if last < 0 {
		return
	}
	if slices.ContainsFunc(in, func(m member) bool { return m.transfers() && m.leave <= in[last].enter }) {
		last = latest(in, (*member).sends)
		if last < 0 {
			return
		}
		sender := &in[last]
		counts = func(m *member) bool {
			return m.location == sender.location || m.receives() && m.enter < sender.enter
		}
	}
	waitForLast(in, out, counts, last)
}

// ifTogether makes all members wait for the last, if none of them leaves before that comes: whoever the root is, and whatever a program
// asserts of a fence, they were all there until then.
func ifTogether(in []member, out []collWait) {
	last := latest(in, everyone)
	if !slices.ContainsFunc(in, func(m member) bool { return m.leave < in[last].enter }) {
		waitForLast(in, out, everyone, last)
	}
}

// rootOf returns the index of the member that is the root, -1 if there is none.
func rootOf(root uint32, in []member) int {
	for i, m := range in {
		if m.rank == root {
			return i
		}
	}
	return -1
}

// lateBroadcast makes the members apart from the root (on an intercommunicator, those of
// the other group) wait for it.
func lateBroadcast(r int, in []member, out []collWait, apart func(a, b *member) bool) {
	if r < 0 {
		return
	}
	for i := range in {
		if m := &in[i]; apart(&in[r], m) && m.transfers() {
			out[i].wait, out[i].cause = max(0, min(in[r].enter, m.leave)-m.enter), r
		}
	}
}

// earlyReduce makes the root wait for the latest sender apart from it, as Scalasca 2.6
// does; 1.x took the earliest.
func earlyReduce(r int, in []member, out []collWait, apart func(a, b *member) bool) {
	if r < 0 || !in[r].transfers() {
		return
	}
	last := latest(in, func(m *member) bool { return apart(&in[r], m) && m.sends() })
	if last >= 0 {
		out[r].wait, out[r].cause = max(0, min(in[last].enter, in[r].leave)-in[r].enter), last
	}
}

func earlyScan(in []member, out []collWait) {
	last := -1
	for i := range in {
		m := &in[i]
		if !m.transfers() {
			continue
		}
		if last < 0 || m.enter > in[last].enter || m.enter == in[last].enter && m.order < in[last].order {
			last = i
		}
		out[i].wait, out[i].cause = max(0, min(in[last].enter, m.leave)-m.enter), last
	}
}

// chargeBlocking notes the waits of an instance and charges its completion.
func (x *instances) chargeBlocking(c *trace.Collective, in []member, out []collWait) {
	p := c.Op.Pattern()
	for i := range in {
		m, o := &in[i], &out[i]
		if o.wait > 0 {
			x.waits(m, m.call, waitAt(p), o.wait, &in[o.cause])
		}
		if o.completion <= 0 {
			continue
		}
		call := x.T.Calls[m.location].Ptr(int(m.call))
		switch p {
		case trace.PatternAllToAll:
			x.sums.Charge(x.Scope, waitstate.NxNCompletion, m.location, call.Seq(), call.Path, m.leave-o.completion, o.completion)
		case trace.PatternBarrier, trace.PatternFence:
			x.sums.Charge(x.Scope, waitstate.BarrierCompletion, m.location, call.Seq(), call.Path, m.leave-o.completion, o.completion)
		}
	}
}

// waits says that a call of a member waits for another member.
func (x *instances) waits(m *member, call uint32, kind waitstate.Kind, time int64, cause *member) {
	p := x.parts.Ptr(int(m.row))
	p.call, p.kind, p.wait, p.cause = call, kind, time, CallKey{cause.location, cause.call}
}

// nonblocking notes the waits, in the calls that complete it, for the last rank to post a
// non-blocking collective (our extension, 2.2 item 6): everyone is taken to need everyone,
// so they count as waits at N×N or at a barrier.
func (x *instances) nonblocking(p trace.Pattern, in []member, blocking int) {
	if blocking == len(in) || len(in) == 1 {
		return
	}
	kind := waitstate.AtNxN
	if p == trace.PatternBarrier || p == trace.PatternSparse {
		kind = waitAt(p)
	}
	last := latest(in, everyone)
	for i := range in[blocking:] {
		m := &in[blocking+i]
		if m.done == trace.None {
			continue
		}
		done := x.T.Calls[m.location].Ptr(int(m.done))
		if done.Class != trace.ClassWait {
			continue
		}
		if wait := min(in[last].enter, done.Leave) - done.Enter; wait > 0 {
			x.waits(m, m.done, kind, wait, &in[last])
		}
	}
}

// waitAt returns the wait state of a pattern of collectives.
func waitAt(p trace.Pattern) waitstate.Kind {
	return [...]waitstate.Kind{trace.PatternBarrier: waitstate.AtBarrier, trace.PatternFence: waitstate.AtBarrier,
		trace.PatternAllToAll: waitstate.AtNxN, trace.PatternSparse: waitstate.AtNxNUnclassified,
		trace.PatternOneToAll: waitstate.LateBroadcast, trace.PatternAllToOne: waitstate.EarlyReduce, trace.PatternScan: waitstate.EarlyScan}[p]
}
