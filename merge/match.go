package merge

import (
	"context"
	"fmt"
	"maps"

	"tracekit/engine"
	"tracekit/trace"
)

// A matcher pairs sends and receives. All endpoints of a channel take their places in
// order; whichever side is ahead waits in the channel. The rows themselves form the
// queues: from then until a row is matched, its fields for the partner name the next one in line.
// So memory beside the rows depends on the number of channels in use alone; what has to be sorted first
// (see arrange) lies in the store.
//
// A channel is matched by the block of ranks that its receiver belongs to; senders hand
// their sends over to the blocks.
type matcher struct {
	trace   *trace.Trace
	scanned []*located
	missing []bool // ranks
	clocks  *clockwork
	sends   []endpoints // by rank
	recvs   []endpoints // by rank
	windows int
	blocks  []block
}

// A block matches what a range of ranks receives.
type block struct {
	*matcher
	first, end int // ranks
	channels   channelTable
	sends      cursor[trace.Send] // of those that take their places
	recvs      cursor[trace.Recv]
	ledger     trace.Ledger
	found      tally
	doubtful   map[channelKey]bool
}

// messagesPerWindow is about how many endpoints are matched while all ranks advance by
// the same share of their endpoints: few enough that the rows are still in the cache, and
// their pages in memory, when the partner comes.
const messagesPerWindow = 1 << 15

// mostBlocks bounds the number of blocks: enough for many cores.
const mostBlocks = 64

// match pairs all messages of a trace and counts those that run backwards.
func match(ctx context.Context, t *trace.Trace, scanned []*located, missing []bool, clocks *clockwork, ledger *trace.Ledger,
	jobs int) error {
	m := &matcher{trace: t, scanned: scanned, missing: missing, clocks: clocks}
	if err := m.arrange(ctx, jobs); err != nil {
		return err
	}
	ranks := len(m.sends)
	for k := range min(ranks, mostBlocks) {
		n := min(ranks, mostBlocks)
		m.blocks = append(m.blocks, block{matcher: m, first: ranks * k / n, end: ranks * (k + 1) / n, doubtful: make(map[channelKey]bool),
			sends: cursor[trace.Send]{tables: t.Sends}, recvs: cursor[trace.Recv]{tables: t.Recvs}})
	}
	change(t, true)
	err := engine.Swap(ctx, jobs, engine.Exchange[ref]{
		Windows: m.windows, Sources: ranks, Keys: len(m.blocks), Emit: m.emit,
		Take: func(window, key int, sends []ref) { m.blocks[key].take(window, sends) },
	})
	for k := range m.blocks {
		b := &m.blocks[k]
		b.channels.each(b.leftover)
		ledger.Merge(b.ledger.Findings())
		clocks.found.merge(&b.found)
		maps.Copy(clocks.doubtful, b.doubtful)
	}
	change(t, false)
	for r := range ranks {
		m.sends[r].refs.Release()
		m.recvs[r].refs.Release()
	}
	return err
}

// change says whether sends and receives are going to be matched.
func change(t *trace.Trace, on bool) {
	for l := range t.Sends {
		t.Sends[l].Change(on)
		t.Recvs[l].Change(on)
	}
}

// arrange finds the order of each rank's sends and receives.
func (m *matcher) arrange(ctx context.Context, jobs int) (err error) {
	t := m.trace
	ranks := byRank(t.Rank, len(t.World))
	m.sends, m.recvs = make([]endpoints, len(ranks)), make([]endpoints, len(ranks))
	sizes, err := engine.Map(ctx, jobs, len(ranks), func(_ context.Context, r int) (int, error) {
		m.sends[r] = arrange(t.Store, ranks[r], func(l trace.LocationID) int { return t.Sends[l].Len() },
			func(trace.LocationID) bool { return true }, m.sendPlace)
		m.recvs[r] = arrange(t.Store, ranks[r], func(l trace.LocationID) int { return t.Recvs[l].Len() },
			func(l trace.LocationID) bool { return !m.scanned[l].disorder }, m.recvPlace)
		return m.sends[r].n + m.recvs[r].n, nil
	})
	total := 0
	for _, n := range sizes {
		total += n
	}
	m.windows = 1 + total/max(messagesPerWindow, 64*len(ranks))
	return err
}

func (m *matcher) sendPlace(r ref) (int64, uint64) {
	s := m.trace.Sends[r.loc].Ptr(int(r.row))
	return m.common(r.loc, s.Time), s.Seq()
}

// recvPlace places a receive where it was posted; between threads, when the call that
// posted it was entered.
func (m *matcher) recvPlace(r ref) (int64, uint64) {
	v := m.trace.Recvs[r.loc].Ptr(int(r.row))
	if v.Post == trace.None {
		return m.common(r.loc, v.Time), v.PostSeq
	}
	return m.common(r.loc, m.trace.Calls[r.loc].Ptr(int(v.Post)).Enter), v.PostSeq
}

// common returns a raw time on the clock that the threads of a process share.
func (m *matcher) common(l trace.LocationID, t int64) int64 { return m.clocks.offsets(l, t) }

// emit hands the sends of a rank in a window over to the blocks of their receivers.
func (m *matcher) emit(window, rank int, blocks [][]ref) {
	rows := cursor[trace.Send]{tables: m.trace.Sends}
	e, n, ranks := &m.sends[rank], len(m.blocks), len(m.sends)
	for i, end := e.share(window, m.windows); i < end; i++ {
		s := e.at(i)
		if row := rows.at(s); row.State == trace.Unmatched {
			k := (n*(int(row.RecvLoc)+1) - 1) / ranks
			blocks[k] = append(blocks[k], s)
		}
	}
}

// take lets sends take their places in their channels; without any, the receives of the
// window do.
func (b *block) take(window int, sends []ref) {
	for _, s := range sends {
		b.send(s)
	}
	if len(sends) > 0 {
		return
	}
	for r := b.first; r < b.end; r++ {
		e := &b.matcher.recvs[r]
		for i, end := e.share(window, b.windows); i < end; i++ {
			b.recv(e.at(i))
		}
	}
}

func (b *block) send(s ref) {
	send := b.sends.at(s)
	c := b.channels.find(channelKey{send.Comm, b.trace.Rank[s.loc], uint32(send.RecvLoc), send.Tag})
	switch c.waiting {
	case recvsWait:
		v := c.head
		recv := b.trace.Recvs[v.loc].Ptr(int(v.row))
		c.pop(ref{recv.SendLoc, recv.Send})
		b.pair(s, v, send, recv)
	case sendsWait:
		last := b.sends.at(c.tail)
		last.RecvLoc, last.Recv = s.loc, s.row
		send.RecvLoc, c.tail = noRef.loc, s
	default:
		send.RecvLoc = noRef.loc
		*c = channel{key: c.key, waiting: sendsWait, head: s, tail: s}
	}
}

// recv lets a receive take its place in its channel.
func (b *block) recv(v ref) {
	recv := b.recvs.at(v)
	if recv.State != trace.Unmatched {
		return
	}
	c := b.channels.find(channelKey{recv.Comm, uint32(recv.SendLoc), b.trace.Rank[v.loc], recv.Tag})
	switch c.waiting {
	case sendsWait:
		s := c.head
		send := b.trace.Sends[s.loc].Ptr(int(s.row))
		c.pop(ref{send.RecvLoc, send.Recv})
		b.pair(s, v, send, recv)
	case recvsWait:
		last := b.recvs.at(c.tail)
		last.SendLoc, last.Send = v.loc, v.row
		recv.SendLoc, c.tail = noRef.loc, v
	default:
		recv.SendLoc = noRef.loc
		*c = channel{key: c.key, waiting: recvsWait, head: v, tail: v}
	}
}

// pair makes a send and a receive, which lie in rows s and v, a message.
func (b *block) pair(s, v ref, send *trace.Send, recv *trace.Recv) {
	send.RecvLoc, send.Recv, send.State = v.loc, v.row, trace.Matched
	recv.SendLoc, recv.Send, recv.State = s.loc, s.row, trace.Matched
	if recv.Bytes != send.Bytes {
		b.doubtful[channelKey{send.Comm, b.trace.Rank[s.loc], send.To(b.trace.Rank), send.Tag}] = true
		b.ledger.Add(trace.CodeSizeMismatch, trace.Place{Location: v.loc, Seq: recv.Seq(), Offset: -1},
			fmt.Sprintf("%d bytes sent, %d received", send.Bytes, recv.Bytes))
	}
	b.clocks.weigh(&b.found, s.loc, v.loc, send.Time, recv)
}

// leftover takes apart the queue of a channel in which nothing more will happen.
func (b *block) leftover(c *channel) {
	if c.head != noRef {
		b.doubtful[c.key] = true
	}
	for at := c.head; at != noRef; {
		place := trace.Place{Location: at.loc, Offset: -1}
		if c.waiting == sendsWait {
			row := b.sends.at(at)
			place.Seq, at = row.Seq(), ref{row.RecvLoc, row.Recv}
			row.RecvLoc, row.Recv = trace.LocationID(c.key.to), noRef.row
			b.alone(trace.CodeUnmatchedSend, place, c.key.to)
		} else {
			row := b.recvs.at(at)
			place.Seq, at = row.Seq(), ref{row.SendLoc, row.Send}
			row.SendLoc, row.Send = trace.LocationID(c.key.from), noRef.row
			b.alone(trace.CodeUnmatchedReceive, place, c.key.from)
		}
	}
}

// alone reports a send or a receive without a partner, unless that would be of a rank that is missing.
func (b *block) alone(code trace.Code, place trace.Place, partner uint32) {
	if int(partner) >= len(b.missing) || !b.missing[partner] {
		b.ledger.Add(code, place, "")
	}
}
