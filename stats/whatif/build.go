package whatif

import (
	"math"

	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

type (
	callTable  = *spill.Table[trace.Call]
	clockTable = *spill.Table[int64]
)

// startup returns the row of the location's first call of MPI_Init, or last of MPI_Finalize,
// -1 if there is none.
func startup(calls callTable, class trace.CallClass) int { return trace.FindStartup(calls, class) }

// A builder makes the rows of one location.
type builder struct {
	*Model
	l      trace.LocationID
	waits  *waits.Table
	out    location
	begins [2]int     // the calls of startups
	behind trace.Call // the last one
	next   int        // call
	due    uint32     // no call before this one is a startup or begins a part
	waited int64      // by the calls before it
	parts  *spill.Table[trace.Part]
	done   spill.Cursor[trace.Call] // what completes sends
	taken  int                      // parts that are behind
	later  pending[need]            // of calls to come
	joins  pending[part]
	needs  []need // of the present call
	met    int64  // when all of these are met, not before it is entered
	does   []part
	keep   bool // what is needed after the end of the call
	doubts doubts
	*lookups
}

// lookups are what a goroutine has looked up last: flights, and senders of one location.
type lookups struct {
	recent recent[uint32]
	senders
}

// senders knows who has sent the messages of some receives, several at once: where one lies in
// memory does not depend on the others, so that they are fetched together. Senders that the waits of
// calls name are not looked up.
type senders struct {
	first int // the receive that the first is of
	list  []sender
}

// A sender is the call that sends a message.
type sender struct {
	call  uint32 // None: none is known
	enter int64
	waits bool // for the receiver
	known bool // without looking it up
}

// sendersAtOnce is how many are looked up at once.
const sendersAtOnce = 64

// sender returns who has sent the message of receive k.
func (b *builder) sender(k int) *sender {
	s := &b.lookups.senders
	if i := k - s.first; i >= 0 && i < len(s.list) {
		return &s.list[i]
	}
	s.first, s.list = k, s.list[:0]
	recvs := b.t.Recvs[b.l].From(k)
	recvs = recvs[:min(len(recvs), sendersAtOnce)]
	for i := range recvs {
		x, r := sender{call: trace.None}, &recvs[i]
		if x.call, x.enter = b.lateSender(r, k+i); x.call != trace.None {
			x.known = r.Bytes < b.network.synchronous && b.network.always == nil
		}
		s.list = append(s.list, x)
	}
	for i := range recvs {
		if x, r := &s.list[i], &recvs[i]; x.call == trace.None && r.State == trace.Matched {
			x.call = b.t.Sends[r.SendLoc].Ptr(int(r.Send)).Call
		}
	}
	for i := range recvs {
		if x := &s.list[i]; x.call != trace.None && !x.known {
			c := b.t.Calls[recvs[i].SendLoc].Ptr(int(x.call))
			x.enter, x.waits = c.Enter, b.network.waits(c, recvs[i].Bytes)
		}
	}
	return &s.list[0]
}

// lateSender returns the call that sends the message of receive k and when it is entered, if the
// wait of the call that completes the receive names it; None otherwise.
func (b *builder) lateSender(r *trace.Recv, k int) (call uint32, enter int64) {
	if r.Call != trace.None && r.State == trace.Matched {
		if w := b.waits.Of(int(r.Call)); w != nil && endsWithSend(w, k, b.t.Calls[b.l].Ptr(int(r.Call))) {
			return w.Call, w.From + w.Time
		}
	}
	return trace.None, 0
}

// endsWithSend reports whether the wait of a call ends when the message of its location's receive k is
// sent, and not because the call is left.
func endsWithSend(w *waits.Wait, k int, c *trace.Call) bool {
	return w.Awaits(uint32(k)) && w.Call != trace.None && w.From+w.Time < c.Leave
}

// flight returns the row of the flights of messages of a size, 0 if nothing is known of them.
func (b *builder) flight(kind flightKind, bytes uint64) uint32 {
	return b.recent.find(flightKey{kind: kind, size: classOf(bytes)}, b.network.row)
}

// ofColl returns the row of the flights of a collective.
func (b *builder) ofColl(kind flightKind, op trace.CollectiveOp, m *trace.Member) uint32 {
	key := flightKey{kind: kind, op: op}
	if kind == collective {
		key.size = classOf(max(m.Sent, m.Received))
	}
	return b.recent.find(key, b.network.row)
}

// doubts count what cannot be so: calls with an own time below zero, and needs that are met
// only after the end of the call.
type doubts struct {
	negative, late uint64
	backward       bool // some own time is below zero, maybe only until another call is entered
}

func (m *Model) newBuilder(l trace.LocationID, waits *waits.Table, keep bool) *builder {
	b := &builder{Model: m, l: l, waits: waits, keep: keep, parts: m.t.Parts[l], done: m.t.Calls[l].Cursor(), later: newPending[need](),
		joins: newPending[part]()}
	store := m.t.Store
	b.out = location{rows: spill.NewTable[row](store), needs: spill.NewTable[need](store), parts: spill.NewTable[part](store),
		clocks: spill.NewTable[int64](store)}
	b.behind = trace.Call{Enter: math.MaxInt64, FirstSend: uint32(m.t.Sends[l].Len()), FirstRecv: uint32(m.t.Recvs[l].Len())}
	for k, class := range startups {
		b.begins[k] = startup(m.t.Calls[l], class)
	}
	return b
}

// until makes the rows of the calls that are entered before end.
func (b *builder) until(end int64) {
	for calls := b.t.Calls[b.l]; b.next < calls.Len(); {
		rows := calls.From(b.next)
		for k := range rows {
			c := &rows[k]
			if c.Enter >= end {
				return
			}
			next := &b.behind
			switch {
			case k+1 < len(rows):
				next = &rows[k+1]
			case b.next+1 < calls.Len():
				next = calls.Ptr(b.next + 1)
			}
			b.out.clocks.Append(c.Enter - b.waited)
			if !b.alone(uint32(b.next), c, next) {
				b.waited += b.call(uint32(b.next), c, next)
			}
			b.next++
		}
	}
}

// finish returns what the location does.
func (b *builder) finish() location {
	b.out.clocks = b.out.clocks.Sealed()
	b.out.end = b.t.Span[b.l].Last - b.waited
	return b.out
}

// alone reports whether call i can have nothing to do with others.
func (b *builder) alone(i uint32, c, next *trace.Call) bool {
	return i < b.due && c.FirstRecv == next.FirstRecv && (c.FirstSend == next.FirstSend || !b.network.anyWaits()) &&
		!b.network.lateProgress && c.Class != trace.ClassProbe && len(b.later.rows) == 0 && len(b.joins.rows) == 0
}

// call adds a row for call i if it waits or makes others wait, and returns its wait.
func (b *builder) call(i uint32, c, next *trace.Call) int64 {
	b.needs, b.met = b.needs[:0], c.Enter
	for _, n := range b.later.take(i) {
		b.need(n, b.enter(n))
	}
	b.receives(i, c, int(next.FirstRecv))
	b.sends(i, c, int(next.FirstSend))
	if c.Class == trace.ClassProbe || b.network.lateProgress {
		if w := b.waits.Of(int(i)); w != nil && w.Call != trace.None {
			switch n := (need{w.Location, w.Call, 0}); {
			case w.Kind == waitstate.LateProgress:
				b.need(n, b.enter(n))
			case c.Class == trace.ClassProbe:
				n.flight = b.flight(sendToProbe, 0)
				b.believe(n, b.enter(n), c)
			}
		}
	}
	b.due = b.partsUntil(i)
	b.does = append(b.does[:0], b.joins.take(i)...)
	for k := range startups {
		if b.begins[k] > int(i) {
			b.due = min(b.due, uint32(b.begins[k]))
		} else if b.begins[k] == int(i) {
			b.does = append(b.does, part{instance: uint32(b.t.Collectives.Len() + k), member: trace.None, does: arrives | awaits})
		}
	}
	if len(b.needs) == 0 && len(b.does) == 0 {
		return 0
	}
	r := row{call: i, needs: uint32(b.out.needs.Len()), parts: uint32(b.out.parts.Len()), wait: b.wait(c)}
	if c.Leave-c.Enter < r.wait {
		b.doubts.negative++
	}
	head := int64(0)
	for _, p := range b.does {
		head = max(head, p.head)
	}
	b.doubts.backward = b.doubts.backward || min(c.Leave, next.Enter)-c.Enter < r.wait+head
	b.out.rows.Append(r)
	b.out.needs.AppendRows(b.needs)
	b.out.parts.AppendRows(b.does)
	return r.wait
}

// receives adds what call i needs for the receives that it completes.
func (b *builder) receives(i uint32, c *trace.Call, end int) {
	recvs := b.t.Recvs[b.l]
	for k := int(c.FirstRecv); k < end; k++ {
		r := recvs.Ptr(k)
		if r.Call != i || r.State != trace.Matched {
			continue
		}
		send := b.sender(k)
		if send.call == trace.None {
			continue
		}
		if send.enter >= c.Leave {
			if b.doubts.late++; !b.keep {
				continue
			}
		}
		kind := arrivalOf(r)
		if kind == sendToRecv && send.waits {
			kind = sendToRecvBoth
		}
		b.believe(need{r.SendLoc, send.call, b.flight(kind, r.Bytes)}, send.enter, c)
		if r.Post < i && send.waits {
			if n := (need{b.l, r.Post, b.flight(postToWait, r.Bytes)}); b.inTime(n, b.enter(n), c) {
				b.need(n, b.enter(n))
			}
		}
	}
}

// sends adds what the sends that call i posts need: at once, or when they are completed.
func (b *builder) sends(i uint32, c *trace.Call, end int) {
	if !b.network.anyWaits() {
		return
	}
	sends := b.t.Sends[b.l]
	for k := int(c.FirstSend); k < end; k++ {
		s := sends.Ptr(k)
		if s.Call == i && s.State == trace.Matched && b.network.exchanges(c, s.Bytes) {
			if post := b.poster(s); post != nil && post.Enter < c.Leave {
				b.need(need{s.RecvLoc, b.t.Recvs[s.RecvLoc].Ptr(int(s.Recv)).Post, 0}, post.Enter)
			}
			continue
		}
		kind, done := b.network.acknowledgement(s, &b.done)
		if done == nil || s.Call != i || !b.network.waits(c, s.Bytes) {
			continue
		}
		post := b.poster(s)
		if post == nil || post.Enter >= done.Leave {
			continue // it did not wait, whatever its size
		}
		n := need{s.RecvLoc, b.t.Recvs[s.RecvLoc].Ptr(int(s.Recv)).Post, b.flight(kind, s.Bytes)}
		if kind != postToSendWait {
			b.need(n, post.Enter)
			continue
		}
		for _, n := range []need{n, {b.l, i, b.flight(sendToSendWait, s.Bytes)}} {
			if b.inTime(n, b.enter(n), done) {
				b.later.add(s.Done, n)
			}
		}
	}
}

// need adds what the present call needs: a call that is entered at some time.
func (b *builder) need(n need, enter int64) {
	b.needs = append(b.needs, n)
	b.met = max(b.met, enter+b.network.flights[n.flight].lag)
}

// believe adds a need of call c, without its lag if the message was faster than any that shows how
// long they take.
func (b *builder) believe(n need, enter int64, c *trace.Call) {
	if !b.inTime(n, enter, c) {
		n.flight = 0
	}
	b.need(n, enter)
}

// inTime reports whether a need is met before the call ends that has it.
func (b *builder) inTime(n need, enter int64, c *trace.Call) bool {
	return enter+b.network.flights[n.flight].lag <= c.Leave
}

// enter returns when what is needed is entered.
func (b *builder) enter(n need) int64 { return b.t.Calls[n.location].Ptr(int(n.call)).Enter }

// partsUntil hands the parts that calls until call i begin to the calls that they belong to. It returns the call that begins the next one.
func (b *builder) partsUntil(i uint32) uint32 {
	for ; b.taken < b.parts.Len(); b.taken++ {
		p := b.parts.At(b.taken)
		m := b.t.Members.Ptr(int(p.Member))
		if m.Call == trace.None {
			continue
		}
		if m.Call > i {
			return m.Call
		}
		does, op := b.members.At(int(p.Member)), b.t.Collectives.Ptr(int(p.Collective)).Op
		x := part{instance: p.Collective, member: p.Member, head: m.Begin - b.t.Calls[b.l].Ptr(int(m.Call)).Enter, does: does,
			flight: b.ofColl(collective, op, m)}
		if m.Done != m.Call {
			x.does &= arrives
			if does&awaits != 0 && m.Done != trace.None && m.Done > m.Call {
				b.joins.add(m.Done, part{instance: p.Collective, member: p.Member, does: awaits,
					flight: b.ofColl(beginToWait, op, m)})
			}
		}
		if x.does != 0 {
			b.joins.add(m.Call, x)
		}
	}
	return trace.None
}

// wait returns how long a call waited for what it needs.
func (b *builder) wait(c *trace.Call) int64 {
	wait := b.met - c.Enter
	for _, p := range b.does {
		begin := c.Enter + p.head
		switch {
		case p.does&awaits != 0:
			wait = max(wait, b.instances.Ptr(int(p.instance)).Last+b.network.flights[p.flight].lag-begin)
		case p.does&follows != 0:
			wait = max(wait, b.before.At(int(p.member))-begin)
		}
	}
	return wait
}

// pending holds what is known of calls to come.
type pending[T any] struct {
	rows  map[uint32][]T
	spare [][]T // memory for more
}

func newPending[T any]() pending[T] { return pending[T]{rows: make(map[uint32][]T)} }

func (p *pending[T]) add(call uint32, x T) {
	rows, ok := p.rows[call]
	if n := len(p.spare); !ok && n > 0 {
		rows, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	p.rows[call] = append(rows, x)
}

// take returns what belongs to a call and forgets it. It is valid until the next add.
func (p *pending[T]) take(call uint32) []T {
	if len(p.rows) == 0 {
		return nil
	}
	rows, ok := p.rows[call]
	if ok {
		delete(p.rows, call)
		p.spare = append(p.spare, rows[:0])
	}
	return rows
}
