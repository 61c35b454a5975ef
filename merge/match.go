package merge

import (
	"context"
	"fmt"

	"tracekit/trace"
)

// A matcher pairs sends and receives. All endpoints of a channel take their places in
// order; whichever side is ahead waits in the channel. The rows themselves form the
// queues: until a row is matched, its fields for the partner name the next one in line.
// So memory beside the rows depends on the number of channels in use alone.
type matcher struct {
	trace    *trace.Trace
	scanned  []*located
	channels channelTable
	ledger   *trace.Ledger
	clocks   *clockwork // counts what runs backwards
}

// messagesPerWindow is about how many endpoints are matched while all ranks advance by
// the same share of their endpoints: few enough that the rows are still in the cache, and
// their pages in memory, when the partner comes.
const messagesPerWindow = 1 << 15

// match pairs all messages of a trace.
func (m *matcher) match(ctx context.Context) error {
	sends, recvs, total := m.arrange()
	windows := 1 + total/max(messagesPerWindow, 64*len(sends))
	for w := 1; w <= windows; w++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for r := range sends {
			s, v := &sends[r], &recvs[r]
			for i := s.n * (w - 1) / windows; i < s.n*w/windows; i++ {
				m.send(s.at(i))
			}
			for i := v.n * (w - 1) / windows; i < v.n*w/windows; i++ {
				m.recv(v.at(i))
			}
		}
	}
	m.channels.each(m.leftover)
	return nil
}

// arrange returns the order of each rank's sends and receives, and their number.
func (m *matcher) arrange() (sends, recvs []endpoints, total int) {
	t := m.trace
	for _, locs := range byRank(t.Rank, len(t.World)) {
		s := arrange(locs, func(l trace.LocationID) int { return t.Sends[l].Len() },
			func(trace.LocationID) bool { return true }, m.sendPlace)
		r := arrange(locs, func(l trace.LocationID) int { return t.Recvs[l].Len() },
			func(l trace.LocationID) bool { return !m.scanned[l].disorder }, m.recvPlace)
		sends, recvs, total = append(sends, s), append(recvs, r), total+s.n+r.n
	}
	return sends, recvs, total
}

func (m *matcher) sendPlace(r ref) (int64, uint64) {
	s := m.trace.Sends[r.loc].At(int(r.row))
	return m.common(r.loc, s.Time), s.Seq
}

// recvPlace places a receive where it was posted; between threads, when the call that
// posted it was entered.
func (m *matcher) recvPlace(r ref) (int64, uint64) {
	v := m.trace.Recvs[r.loc].At(int(r.row))
	if v.Post == trace.None {
		return m.common(r.loc, v.Time), v.PostSeq
	}
	return m.common(r.loc, m.trace.Calls[r.loc].At(int(v.Post)).Enter), v.PostSeq
}

// common returns a raw time on the clock that the threads of a process share.
func (m *matcher) common(l trace.LocationID, t int64) int64 {
	return trace.CorrectOffset(m.trace.Defs.Locations[l].ClockOffsets, t)
}

// send lets a send take its place in its channel.
func (m *matcher) send(s ref) {
	row := m.trace.Sends[s.loc].Ptr(int(s.row))
	if row.State != trace.Unmatched {
		return
	}
	c := m.channels.find(channelKey{row.Comm, m.trace.Rank[s.loc], row.To, row.Tag})
	switch c.waiting {
	case recvsWait:
		v := c.head
		c.pop(m.recvNext(v))
		m.pair(s, v)
	case sendsWait:
		m.setSendNext(c.tail, s)
		c.tail = s
	default:
		*c = channel{key: c.key, waiting: sendsWait, head: s, tail: s}
	}
}

// recv lets a receive take its place in its channel.
func (m *matcher) recv(v ref) {
	row := m.trace.Recvs[v.loc].Ptr(int(v.row))
	if row.State != trace.Unmatched {
		return
	}
	c := m.channels.find(channelKey{row.Comm, row.From, m.trace.Rank[v.loc], row.Tag})
	switch c.waiting {
	case sendsWait:
		s := c.head
		c.pop(m.sendNext(s))
		m.pair(s, v)
	case recvsWait:
		m.setRecvNext(c.tail, v)
		c.tail = v
	default:
		*c = channel{key: c.key, waiting: recvsWait, head: v, tail: v}
	}
}

func (m *matcher) sendNext(s ref) ref {
	row := m.trace.Sends[s.loc].Ptr(int(s.row))
	return ref{row.RecvLoc, row.Recv}
}

func (m *matcher) setSendNext(s, next ref) {
	row := m.trace.Sends[s.loc].Ptr(int(s.row))
	row.RecvLoc, row.Recv = next.loc, next.row
}

func (m *matcher) recvNext(v ref) ref {
	row := m.trace.Recvs[v.loc].Ptr(int(v.row))
	return ref{row.SendLoc, row.Send}
}

func (m *matcher) setRecvNext(v, next ref) {
	row := m.trace.Recvs[v.loc].Ptr(int(v.row))
	row.SendLoc, row.Send = next.loc, next.row
}

func (m *matcher) pair(s, v ref) {
	send := m.trace.Sends[s.loc].Ptr(int(s.row))
	send.RecvLoc, send.Recv, send.State = v.loc, v.row, trace.Matched
	time, bytes := send.Time, send.Bytes
	recv := m.trace.Recvs[v.loc].Ptr(int(v.row))
	recv.SendLoc, recv.Send, recv.State = s.loc, s.row, trace.Matched
	if recv.Bytes != bytes {
		m.ledger.Add(trace.CodeSizeMismatch, trace.Place{Location: v.loc, Seq: recv.Seq, Offset: -1},
			fmt.Sprintf("%d bytes sent, %d received", bytes, recv.Bytes))
	}
	m.clocks.weigh(s.loc, v.loc, time, recv)
}

// leftover takes apart the queue of a channel in which nothing more will happen.
func (m *matcher) leftover(c *channel) {
	for at := c.head; at != noRef; {
		var next ref
		place, text := trace.Place{Location: at.loc, Offset: -1}, ""
		if c.waiting == sendsWait {
			next = m.sendNext(at)
			m.setSendNext(at, noRef)
			place.Seq = m.trace.Sends[at.loc].At(int(at.row)).Seq
			m.ledger.Add(trace.CodeUnmatchedSend, place, text)
		} else {
			next = m.recvNext(at)
			m.setRecvNext(at, noRef)
			place.Seq = m.trace.Recvs[at.loc].At(int(at.row)).Seq
			m.ledger.Add(trace.CodeUnmatchedReceive, place, text)
		}
		at = next
	}
}
