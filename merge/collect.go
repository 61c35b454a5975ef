package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// A collector joins the parts that locations took in collectives to instances.
type collector struct {
	trace    *trace.Trace
	resolver *resolver
	parts    []*spill.Table[part] // by location
	ledger   *trace.Ledger
	clocks   *clockwork // counts what runs backwards
}

// A queue holds the parts of one rank on one communicator that are not yet joined, in
// order of their begin. Parts of several threads are in refs, those of one are linked.
type queue struct {
	rank   uint32 // in the communicator
	world  uint32
	head   ref // the next part; noRef: none left
	part   part
	refs   []ref
	pauses uint32 // of the part before
}

// gap reports whether recording was off between the head and the part before it, so that
// parts may be missing there.
func (q *queue) gap() bool { return q.part.pauses != q.pauses }

// A chainKey names the parts of one location on one communicator.
type chainKey struct {
	comm trace.CommID
	loc  trace.LocationID
}

// collect makes the collectives of a trace, ordered by communicator and ordinal.
func (c *collector) collect(ctx context.Context) error {
	keys, heads := c.chains()
	for len(keys) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 1
		for n < len(keys) && keys[n].comm == keys[0].comm {
			n++
		}
		c.communicator(keys[:n], heads)
		keys = keys[n:]
	}
	return nil
}

// chains links the parts of each location by communicator. Keys are ordered by
// communicator, then location; heads are the first parts.
func (c *collector) chains() ([]chainKey, map[chainKey]uint32) {
	heads, tails := make(map[chainKey]uint32), make(map[chainKey]uint32)
	var keys []chainKey
	for l, parts := range c.parts {
		for i := range parts.Len() {
			k := chainKey{parts.At(i).comm, trace.LocationID(l)}
			if k.comm == trace.None {
				continue
			}
			if tail, ok := tails[k]; ok {
				parts.Ptr(int(tail)).next = uint32(i)
			} else {
				heads[k] = uint32(i)
				keys = append(keys, k)
			}
			tails[k] = uint32(i)
		}
	}
	slices.SortFunc(keys, func(a, b chainKey) int {
		return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.loc, b.loc))
	})
	return keys, heads
}

// communicator joins the parts on one communicator.
func (c *collector) communicator(keys []chainKey, heads map[chainKey]uint32) {
	comm := keys[0].comm
	queues := c.queues(keys, heads)
	if c.resolver.comms[comm].kind == commSelf {
		for i := range queues {
			c.join(comm, queues[i:i+1])
		}
		return
	}
	c.join(comm, queues)
}

// queues returns the ranks' queues in order of rank.
func (c *collector) queues(keys []chainKey, heads map[chainKey]uint32) []queue {
	chains := make(map[uint32][]ref) // by world rank
	var worlds []uint32
	for _, k := range keys {
		world := c.trace.Rank[k.loc]
		if chains[world] == nil {
			worlds = append(worlds, world)
		}
		chains[world] = append(chains[world], ref{k.loc, heads[k]})
	}
	var queues []queue
	for _, world := range worlds {
		head := chains[world][0]
		rank, ok := c.resolver.rank(keys[0].comm, world)
		if !ok {
			p := c.part(head)
			c.ledger.Add(trace.CodeRankOutOfRange, trace.Place{Location: head.loc, Seq: p.begin, Offset: -1},
				fmt.Sprintf("rank %d takes part in a collective on communicator %d, of which it is no member", world, p.comm))
			continue
		}
		q := queue{rank: rank, world: world}
		if len(chains[world]) > 1 {
			q.refs = c.interleave(chains[world])
			q.head, q.refs = q.refs[0], q.refs[1:]
		} else {
			q.head = head
		}
		q.part = c.part(q.head)
		queues = append(queues, q)
	}
	slices.SortFunc(queues, func(a, b queue) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.world, b.world))
	})
	return queues
}

func (c *collector) part(r ref) part { return c.parts[r.loc].At(int(r.row)) }

// interleave orders the parts of several threads of a rank by time.
func (c *collector) interleave(heads []ref) []ref {
	var rows []placed
	for _, r := range heads {
		for r.row != trace.None {
			p := c.part(r)
			enter, _ := c.times(r.loc, p)
			rows = append(rows, placed{time: enter, seq: p.begin, ref: r})
			r.row = p.next
		}
	}
	slices.SortFunc(rows, comparePlaced)
	out := make([]ref, len(rows))
	for i, p := range rows {
		out[i] = p.ref
	}
	return out
}

// times returns when the calls that hold a part were entered and left, with measured
// offsets.
func (c *collector) times(l trace.LocationID, p part) (enter, leave int64) {
	offsets := c.trace.Defs.Locations[l].ClockOffsets
	if p.call != trace.None {
		enter = trace.CorrectOffset(offsets, c.trace.Calls[l].At(int(p.call)).Enter)
	}
	if p.done != trace.None {
		leave = trace.CorrectOffset(offsets, c.trace.Calls[l].At(int(p.done)).Leave)
	}
	return enter, leave
}

// join makes instances of the heads of the queues until all are empty.
func (c *collector) join(comm trace.CommID, queues []queue) {
	live := make([]*queue, len(queues))
	for i := range queues {
		live[i] = &queues[i]
	}
	members := make([]*queue, 0, len(live))
	for len(live) > 0 {
		members = c.together(members[:0], live)
		c.instance(comm, members)
		for _, q := range members {
			c.advance(q)
		}
		live = slices.DeleteFunc(live, func(q *queue) bool { return q.head == noRef })
	}
}

func (c *collector) advance(q *queue) {
	q.pauses = q.part.pauses
	switch {
	case q.refs == nil:
		q.head.row = q.part.next
	case len(q.refs) > 0:
		q.head, q.refs = q.refs[0], q.refs[1:]
	default:
		q.head = noRef
	}
	if q.head.row == trace.None {
		q.head = noRef
		return
	}
	q.part = c.part(q.head)
}

// together chooses the queues whose heads are one instance: all of them, but for those
// whose recording was off before their head. Such a head may be an instance later than
// the others'. It is not with them if it began after all others had ended.
func (c *collector) together(members, live []*queue) []*queue {
	if !slices.ContainsFunc(live, (*queue).gap) {
		return append(members, live...)
	}
	first, latest := c.earliest(live)
	in := make([]bool, len(live))
	for i, q := range live {
		if in[i] = !q.gap() || q == first; in[i] {
			_, leave := c.times(q.head.loc, q.part)
			latest = max(latest, leave)
		}
	}
	for changed := true; changed; {
		changed = false
		for i, q := range live {
			enter, leave := c.times(q.head.loc, q.part)
			if !in[i] && enter <= latest {
				in[i], latest, changed = true, max(latest, leave), true
			}
		}
	}
	for i, q := range live {
		if in[i] {
			members = append(members, q)
		}
	}
	return members
}

// earliest returns the queue whose head ends first, and when that is.
func (c *collector) earliest(live []*queue) (first *queue, end int64) {
	for _, q := range live {
		if _, leave := c.times(q.head.loc, q.part); first == nil || leave < end {
			first, end = q, leave
		}
	}
	return first, end
}

// instance adds the collective that the heads of the queues are. A part without a call
// counts for the ordinal only.
func (c *collector) instance(comm trace.CommID, queues []*queue) {
	t := c.trace
	row := trace.Collective{
		First: uint32(t.Members.Len()), Comm: comm, Root: trace.RootNone, Size: c.resolver.commSize(comm),
	}
	id, known := uint32(t.Collectives.Len()), false
	var first *queue
	for _, q := range queues {
		p := q.part
		if p.call == trace.None {
			continue
		}
		if first == nil {
			first, row.Op = q, p.op
		}
		row.Count++
		c.member(q, id)
		root, ok := c.resolver.root(comm, q.rank, p.root)
		if ok && !known {
			row.Root, known = root, true
		}
		row.Mismatch = row.Mismatch || p.op != row.Op || ok && root != row.Root
	}
	if first != nil {
		t.Collectives.Append(row)
		c.clocks.weighTogether(row)
		c.judge(row, trace.Place{Location: first.head.loc, Seq: first.part.begin, Offset: -1})
	}
}

// member adds the head of a queue to the collective that is being made.
func (c *collector) member(q *queue, collective uint32) {
	p := q.part
	row := c.trace.Members.Append(trace.Member{
		Sent: p.sent, Received: p.received, Location: q.head.loc, Rank: q.rank, Call: p.call, Done: p.done,
	})
	joined := c.parts[q.head.loc].Ptr(int(q.head.row))
	joined.collective, joined.member = collective, uint32(row)
}

// judge reports what is wrong with an instance, at the place of its first member.
func (c *collector) judge(row trace.Collective, place trace.Place) {
	if row.Mismatch {
		c.ledger.Add(trace.CodeCollectiveMismatch, place, describe(row))
	}
	if row.Count < row.Size {
		c.ledger.Add(trace.CodePartialCollective, place,
			fmt.Sprintf("%s has %d of %d ranks", describe(row), row.Count, row.Size))
	}
}

func describe(row trace.Collective) string {
	return fmt.Sprintf("%s on communicator %d", row.Op, row.Comm)
}
