package merge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A collector joins the parts that locations took in collectives to instances: the n-th
// part of every member of a communicator is one instance. Where each rank has one thread
// that takes part, and recording was never switched off, it is known beforehand which rows
// an instance gets, and instances are made on all cores; the others are made one by one.
type collector struct {
	trace    *trace.Trace
	resolver *resolver
	scanned  []*located
	clocks   *clockwork
	ledger   *trace.Ledger
	jobs     int
	absent   []uint32 // by communicator: members that are of no recorded rank
	ready    []join   // regular ones that are not made yet
}

// A chain is the parts of one location on one communicator, in order of their begin.
type chain struct {
	comm trace.CommID
	loc  trace.LocationID
	rows *spill.Table[uint32] // nil: all parts of the location
	from int                  // in rows
	n    int
}

// row returns the row of the i-th part.
func (c *chain) row(i int) uint32 {
	if c.rows == nil {
		return uint32(i)
	}
	return c.rows.At(c.from + i)
}

// A queue holds the parts of one rank on one communicator. Those of several threads are in
// refs, in order of time.
type queue struct {
	rank  uint32 // in the communicator
	world uint32
	chain
	refs   *spill.Table[ref]
	next   int    // the head: the next part to be joined
	pauses uint32 // of the part before
}

// ref returns the i-th part.
func (q *queue) ref(i int) ref {
	if q.refs != nil {
		return q.refs.At(i)
	}
	return ref{q.loc, q.row(i)}
}

// A join is what ranks that meet on a communicator have to join.
//
//	its rows in Collectives begin at id, those of its members at member
type join struct {
	comm       trace.CommID
	queues     []queue
	instances  int
	id, member uint32
}

// collect makes the collectives of a trace, ordered by communicator and ordinal.
func (c *collector) collect(ctx context.Context) error {
	chains, err := engine.Map(ctx, c.jobs, len(c.scanned), func(_ context.Context, l int) ([]chain, error) {
		return c.chains(trace.LocationID(l)), nil
	})
	if err != nil {
		return err
	}
	all := slices.Concat(chains...)
	slices.SortStableFunc(all, func(a, b chain) int { return cmp.Compare(a.comm, b.comm) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].comm == all[0].comm {
			n++
		}
		if err := c.communicator(ctx, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	err = c.flush(ctx)
	for _, own := range chains {
		if len(own) > 0 && own[0].rows != nil {
			own[0].rows.Release() // all chains of a location share it
		}
	}
	return err
}

// chains sorts the parts of a location by communicator.
func (c *collector) chains(l trace.LocationID) []chain {
	parts := c.scanned[l].parts
	sizes := make(map[trace.CommID]int)
	for _, rows := range parts.Rows {
		for i := range rows {
			sizes[rows[i].comm]++
		}
	}
	if len(sizes) == 1 && sizes[trace.None] == 0 {
		for comm := range sizes {
			return []chain{{comm: comm, loc: l, n: parts.Len()}}
		}
	}
	delete(sizes, trace.None)
	var out []chain
	index, total := make(map[trace.CommID]int), 0
	order := spill.NewTable[uint32](c.trace.Store)
	for _, comm := range slices.Sorted(maps.Keys(sizes)) {
		index[comm] = len(out)
		out = append(out, chain{comm: comm, loc: l, rows: order, from: total})
		total += sizes[comm]
	}
	order.Extend(total)
	for i := range parts.Len() {
		if k, ok := index[parts.Ptr(i).comm]; ok {
			order.Set(out[k].from+out[k].n, uint32(i))
			out[k].n++
		}
	}
	order = order.Sealed()
	for k := range out {
		out[k].rows = order
	}
	return out
}

// communicator joins the parts on one communicator.
func (c *collector) communicator(ctx context.Context, chains []chain) error {
	comm := chains[0].comm
	c.resolver.prepare(comm)
	queues := c.queues(chains)
	if c.resolver.comms[comm].kind != commSelf {
		return c.join(ctx, comm, queues)
	}
	for i := range queues {
		if err := c.join(ctx, comm, queues[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// queues returns the ranks' queues in order of rank.
func (c *collector) queues(chains []chain) []queue {
	byWorld := make(map[uint32][]chain)
	for _, x := range chains {
		world := c.trace.Rank[x.loc]
		byWorld[world] = append(byWorld[world], x)
	}
	var queues []queue
	for _, world := range slices.Sorted(maps.Keys(byWorld)) {
		own := byWorld[world]
		rank, ok := c.resolver.rank(own[0].comm, world)
		if !ok {
			first := c.part(ref{own[0].loc, own[0].row(0)})
			c.ledger.Add(trace.CodeRankOutOfRange, trace.Place{Location: own[0].loc, Seq: first.begin, Offset: -1},
				fmt.Sprintf("rank %d takes part in a collective on communicator %d, of which it is no member", world, first.comm))
			continue
		}
		q := queue{rank: rank, world: world, chain: own[0]}
		if len(own) > 1 {
			q.refs = c.interleave(own)
			q.n = q.refs.Len()
		}
		queues = append(queues, q)
	}
	slices.SortStableFunc(queues, func(a, b queue) int { return cmp.Compare(a.rank, b.rank) })
	return queues
}

func (c *collector) part(r ref) *part { return c.scanned[r.loc].parts.Ptr(int(r.row)) }

// interleave orders the parts of several threads of a rank by time.
func (c *collector) interleave(chains []chain) *spill.Table[ref] {
	rows := spill.NewTable[placed](c.trace.Store)
	for _, x := range chains {
		for i := range x.n {
			r := ref{x.loc, x.row(i)}
			p := c.part(r)
			begin, _ := c.times(x.loc, p)
			rows.Append(placed{time: begin, seq: p.begin, ref: r})
		}
	}
	return inPlace(c.trace.Store, rows)
}

// times returns when a part begins and ends, with measured offsets.
func (c *collector) times(l trace.LocationID, p *part) (begin, end int64) {
	return c.clocks.offsets(l, p.from), c.clocks.offsets(l, p.to)
}

// join makes instances of the parts in queues. Regular ones are put off, to be made together.
func (c *collector) join(ctx context.Context, comm trace.CommID, queues []queue) error {
	t := c.trace
	j := join{comm: comm, queues: queues, id: uint32(t.Collectives.Len()), member: uint32(t.Members.Len())}
	regular, members := true, 0
	for i := range queues {
		q := &queues[i]
		s := c.scanned[q.loc]
		regular = regular && q.refs == nil && s.pauses == 0 && !s.stray
		j.instances, members = max(j.instances, q.n), members+q.n
	}
	if regular {
		t.Collectives.Extend(j.instances)
		t.Members.Extend(members)
		c.ready = append(c.ready, j)
		return nil
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	return c.oneByOne(ctx, &j)
}

// A maker makes instances; several do so at a time.
type maker struct {
	*collector
	found   tally
	ledger  trace.Ledger
	members []*queue
}

func (c *collector) maker() *maker { return &maker{collector: c} }

// conclude adds what a maker has found.
func (c *collector) conclude(m *maker) {
	c.clocks.found.merge(&m.found)
	c.ledger.Merge(m.ledger.Findings())
}

// flush makes the instances of the regular joins.
func (c *collector) flush(ctx context.Context) error {
	type item struct{ join, from, to int }
	var items []item
	for k := range c.ready {
		for from := 0; from < c.ready[k].instances; from += chunk {
			items = append(items, item{k, from, min(from+chunk, c.ready[k].instances)})
		}
	}
	m, err := engine.Fold(ctx, c.jobs, len(items), c.maker, func(m *maker, i int) error {
		j := &c.ready[items[i].join]
		for k := items[i].from; k < items[i].to; k++ {
			m.regular(j, k)
		}
		return nil
	}, func(a, b *maker) *maker {
		a.found.merge(&b.found)
		a.ledger.Merge(b.ledger.Findings())
		return a
	})
	c.conclude(m)
	c.ready = c.ready[:0]
	return err
}

// regular makes instance k of a join, whose members are all that have so many parts.
func (m *maker) regular(j *join, k int) {
	x := instance{id: j.id + uint32(k), row: trace.Collective{Comm: j.comm, First: j.member}}
	for i := range j.queues {
		x.row.First += uint32(min(j.queues[i].n, k))
	}
	for i := range j.queues {
		if q := &j.queues[i]; q.n > k {
			m.member(&x, q, q.ref(k))
		}
	}
	m.finish(&x)
}

// oneByOne makes instances of the heads of the queues until all are empty.
func (c *collector) oneByOne(ctx context.Context, j *join) error {
	m := c.maker()
	live := make([]*queue, len(j.queues))
	for i := range j.queues {
		live[i] = &j.queues[i]
	}
	for n := 0; len(live) > 0; n++ {
		if n%chunk == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m.members = m.together(m.members[:0], live)
		m.instance(j.comm, m.members)
		for _, q := range m.members {
			q.pauses = c.part(q.ref(q.next)).pauses
			q.next++
		}
		live = slices.DeleteFunc(live, func(q *queue) bool { return q.next == q.n })
	}
	for i := range j.queues {
		j.queues[i].refs.Release()
	}
	c.conclude(m)
	return nil
}

// instance adds the collective that the heads of the queues are. A part without a call
// counts for the ordinal only.
func (m *maker) instance(comm trace.CommID, queues []*queue) {
	t := m.trace
	x := instance{id: uint32(t.Collectives.Len()), row: trace.Collective{Comm: comm, First: uint32(t.Members.Len())}}
	for _, q := range queues {
		if r := q.ref(q.next); m.part(r).call != trace.None {
			t.Members.Extend(1)
			m.member(&x, q, r)
		}
	}
	if x.row.Count > 0 {
		t.Collectives.Extend(1)
		m.finish(&x)
	}
}

// An instance is a collective that is being made.
type instance struct {
	id    uint32
	row   trace.Collective
	root  bool        // some member has told it
	place trace.Place // where the first member begins
}

// member makes a part the next member of a collective.
func (m *maker) member(x *instance, q *queue, r ref) {
	p, row := m.part(r), &x.row
	if row.Count == 0 {
		row.Op, row.Root = p.op, trace.RootNone
		x.place = trace.Place{Location: r.loc, Seq: p.begin, Offset: -1}
	}
	p.collective, p.member = x.id, row.First+row.Count
	row.Count++
	m.trace.Members.Set(int(p.member), trace.Member{
		Begin: p.from, End: p.to, Sent: p.sent, Received: p.received, Location: r.loc, Rank: q.rank, Call: p.call, Done: p.done,
	})
	root, ok := m.resolver.root(row.Comm, q.rank, p.root)
	if !ok && root == trace.RootNone {
		m.ledger.Add(trace.CodeRankOutOfRange, trace.Place{Location: r.loc, Seq: p.begin, Offset: -1},
			fmt.Sprintf("the root of %s is %d", describe(row), p.root))
	}
	if ok && !x.root {
		row.Root, x.root = root, true
	}
	row.Mismatch = row.Mismatch || p.op != row.Op || ok && root != row.Root
}

// finish stores a collective, and reports what is wrong with it.
func (m *maker) finish(x *instance) {
	row := &x.row
	row.Size = m.resolver.commSize(row.Comm)
	m.trace.Collectives.Set(int(x.id), *row)
	m.clocks.weighTogether(&m.found, x.id, row)
	if row.Mismatch {
		m.ledger.Add(trace.CodeCollectiveMismatch, x.place, describe(row))
	}
	if row.Count < row.Size && row.Count+m.absent[row.Comm] < row.Size {
		m.ledger.Add(trace.CodePartialCollective, x.place,
			fmt.Sprintf("%s has %d of %d ranks", describe(row), row.Count, row.Size))
	}
}

// together chooses the queues whose heads are one instance: all of them, but for those
// whose recording was off before their head. Such a head may be an instance later than
// the others'. It is not with them if it began after all others had ended.
func (c *collector) together(members, live []*queue) []*queue {
	if !slices.ContainsFunc(live, c.gap) {
		return append(members, live...)
	}
	first, latest := c.earliest(live)
	in := make([]bool, len(live))
	for i, q := range live {
		if in[i] = !c.gap(q) || q == first; in[i] {
			_, end := c.headTimes(q)
			latest = max(latest, end)
		}
	}
	for changed := true; changed; {
		changed = false
		for i, q := range live {
			begin, end := c.headTimes(q)
			if !in[i] && begin <= latest {
				in[i], latest, changed = true, max(latest, end), true
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

// gap reports whether recording was off between the head and the part before it, so that
// parts may be missing there.
func (c *collector) gap(q *queue) bool { return c.part(q.ref(q.next)).pauses != q.pauses }

func (c *collector) headTimes(q *queue) (begin, end int64) {
	r := q.ref(q.next)
	return c.times(r.loc, c.part(r))
}

// earliest returns the queue whose head ends first, and when that is.
func (c *collector) earliest(live []*queue) (first *queue, end int64) {
	for _, q := range live {
		if _, e := c.headTimes(q); first == nil || e < end {
			first, end = q, e
		}
	}
	return first, end
}

func describe(row *trace.Collective) string {
	return fmt.Sprintf("%s on communicator %d", row.Op, row.Comm)
}
