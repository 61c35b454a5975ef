package page

import (
	"context"
	"iter"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// Joins are told of all that joins rows: of messages in order of their receive, those of several
// receivers at the same time.
type joins struct {
	message    func(Message)
	collective func(Collective)
}

// join adds messages and collectives, every so manieth of them if there are too many.
func (b *builder) join(ctx context.Context, jobs int, tl *Timeline, limits Limits, more *joins) error {
	receives := 0 // nearly all of them are of a message
	for l, recvs := range b.t.Recvs {
		if b.row[l] != trace.None {
			receives += recvs.Len()
		}
	}
	every := pick{every: uint64(ceil(int64(receives), int64(max(limits.Messages, 1))))}
	matched, err := engine.Map(ctx, jobs, len(b.t.Recvs), func(ctx context.Context, l int) (n uint64, _ error) {
		for range b.received(ctx, trace.LocationID(l)) {
			n++
		}
		return n, nil
	})
	if err != nil {
		return err
	}
	picks := make([]pick, len(matched)) // that of each location goes on where the one before ends
	for l, n := range matched {
		picks[l] = every
		every.n += n
	}
	tl.MessagesOf = int(every.n)
	chosen, err := engine.Map(ctx, jobs, len(picks), func(ctx context.Context, l int) ([]Message, error) {
		return b.messages(ctx, trace.LocationID(l), picks[l], more), nil
	})
	if err != nil {
		return err
	}
	tl.Messages = slices.Concat(chosen...)
	tl.CollectivesOf = b.t.Collectives.Len()
	every = pick{every: uint64(ceil(int64(tl.CollectivesOf), int64(max(limits.Collectives, 1))))}
	for i := range tl.CollectivesOf {
		if i%64 == 0 && ctx.Err() != nil { // each has as many members as there are ranks
			return ctx.Err()
		}
		chosen := every.next()
		if !chosen && more == nil {
			continue
		}
		c, ok := b.collective(b.t.Collectives.At(i))
		if ok && chosen {
			tl.Collectives = append(tl.Collectives, c)
		}
		if ok && more != nil {
			more.collective(c)
		}
	}
	return nil
}

// A pick chooses one of every so many, not always the same of a period.
type pick struct{ n, every uint64 }

func (p *pick) next() bool {
	p.n++
	x := p.n * 0x9E3779B97F4A7C15
	x ^= x >> 29
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 32
	return p.every <= 1 || x%p.every == 0
}

// received yields the receives of a row's messages, until the context ends.
func (b *builder) received(ctx context.Context, l trace.LocationID) iter.Seq[*trace.Recv] {
	return func(yield func(*trace.Recv) bool) {
		if b.row[l] == trace.None {
			return
		}
		for _, recvs := range b.t.Recvs[l].Rows {
			if ctx.Err() != nil {
				return
			}
			for i := range recvs {
				if r := &recvs[i]; r.State == trace.Matched && !yield(r) {
					return
				}
			}
		}
	}
}

// messages returns those that are chosen of the messages that a location receives.
func (b *builder) messages(ctx context.Context, l trace.LocationID, every pick, more *joins) (out []Message) {
	for r := range b.received(ctx, l) {
		chosen := every.next()
		if !chosen && more == nil || b.row[r.SendLoc] == trace.None {
			continue
		}
		m := b.message(l, r)
		if chosen {
			out = append(out, m)
		}
		if more != nil {
			more.message(m)
		}
	}
	return out
}

// message returns the message of a matched receive of a location.
func (b *builder) message(l trace.LocationID, r *trace.Recv) Message {
	s := b.t.Sends[r.SendLoc].Ptr(int(r.Send))
	return Message{From: b.row[r.SendLoc], To: b.row[l], SentNs: b.ns(s.Time), ReceivedNs: b.ns(r.Time), Bytes: r.Bytes, Comm: r.Comm,
		Tag: r.Tag}
}

// collective returns what is drawn of a collective; ok is false if fewer than two rows are.
func (b *builder) collective(c trace.Collective) (out Collective, ok bool) {
	found := false
	for k := range c.Count {
		m := b.t.Members.At(int(c.First + k))
		row := b.row[m.Location]
		if row == trace.None || m.Call == trace.None || m.Done == trace.None {
			continue
		}
		calls := b.t.Calls[m.Location]
		call := calls.Ptr(int(m.Call))
		begin, end := b.ns(call.Enter), b.ns(calls.Ptr(int(m.Done)).Leave)
		if !found {
			found = true
			out = Collective{First: row, Last: row, Latest: row, BeginNs: begin, LatestNs: begin, EndNs: end, Operation: b.operation(call),
				Comm: c.Comm, Root: trace.None}
		}
		out.Members, out.Sent, out.Received = out.Members+1, addBytes(out.Sent, m.Sent), addBytes(out.Received, m.Received)
		if m.Rank == c.Root {
			out.Root = row
		}
		out.First, out.Last = min(out.First, row), max(out.Last, row)
		out.BeginNs, out.EndNs = min(out.BeginNs, begin), max(out.EndNs, end)
		if begin > out.LatestNs {
			out.LatestNs, out.Latest, out.Operation = begin, row, b.operation(call)
		}
	}
	return out, found && out.First != out.Last
}

// addBytes adds what a trace claims.
func addBytes(a, b uint64) uint64 { return min(a, 1<<62) + min(b, 1<<62) }

func (b *builder) operation(c *trace.Call) trace.RegionID {
	if int(c.Path) < len(b.t.Tree.Nodes) {
		return b.t.Tree.Nodes[c.Path].Region
	}
	return trace.None
}
