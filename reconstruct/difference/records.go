package difference

import (
	"iter"

	"tracekit/trace"
)

// A record is an event as two traces are compared: what it says, and when.
type record struct {
	content
	seq  uint64
	time int64 // ns from the start of the trace
}

// A content is all that two records of a pair have in common. Values of counters are
// measurements, as times are, and no part of it.
type content struct {
	kind trace.Kind
	what uint32    // number of the region's, communicator's or metric's name
	args [4]uint64 // peer, tag, bytes; or operation, root, sent, received
}

// records reads the records of one location, with a view on those to come.
type records struct {
	s      *side
	l      trace.LocationID
	next   func() (*trace.Batch, error, bool)
	buffer []record
	head   int     // of buffer: the next record
	times  []int64 // of a batch
	last   int64   // the latest corrected time
	ended  bool
	err    error
}

// newRecords reads location l of a side from batches; stop is to be called at the end.
func newRecords(s *side, l trace.LocationID, batches iter.Seq2[*trace.Batch, error]) (r *records, stop func()) {
	next, stop := iter.Pull2(batches)
	return &records{s: s, l: l, next: next, last: s.start}, stop
}

// peek returns the i-th record from here, nil beyond the end. It is valid until the next
// use of r.
func (r *records) peek(i int) *record {
	for r.head+i >= len(r.buffer) {
		if r.ended {
			return nil
		}
		r.fill()
	}
	return &r.buffer[r.head+i]
}

// drop passes over n records, or over all that were looked at if those are fewer, and
// returns their number.
func (r *records) drop(n int) int {
	n = min(n, len(r.buffer)-r.head)
	r.head += n
	return n
}

// fill appends the records of a batch.
func (r *records) fill() {
	b, err, ok := r.next()
	if !ok || err != nil {
		r.err, r.ended = err, true
		return
	}
	r.times = r.times[:0]
	for _, row := range b.Events {
		r.times = append(r.times, b.Time(row))
	}
	r.last = r.s.t.Clock.Maps[r.l].Correct(r.times, r.last)
	r.buffer, r.head = append(r.buffer[:0], r.buffer[r.head:]...), 0
	for seq, row := range b.Events {
		r.buffer = append(r.buffer, record{content: r.s.content(b, row), seq: seq, time: r.s.ns(r.times[seq-b.First])})
	}
}

// content returns what the event in a row of a batch says.
func (s *side) content(b *trace.Batch, row trace.Row) content {
	k := row.First
	switch row.Table {
	case trace.TableFlow:
		f := &b.Flow
		return content{kind: f.Kind[k], what: numberOf(s.regions, f.Region[k])}
	case trace.TableP2P:
		p := &b.P2P
		return content{p.Kind[k], numberOf(s.comms, p.Comm[k]),
			[4]uint64{uint64(p.Peer[k]), uint64(p.Tag[k]), p.Bytes[k]}}
	case trace.TableColl:
		p := &b.Coll
		return content{p.Kind[k], numberOf(s.comms, p.Comm[k]),
			[4]uint64{uint64(p.Op[k]), uint64(p.Root[k]), p.Sent[k], p.Received[k]}}
	case trace.TableMetric:
		return content{kind: trace.KindMetric, what: numberOf(s.metrics, b.Metric.Metric[k])}
	}
	return content{kind: b.Other.Kind[k]}
}

// numberOf returns the number of a definition's name, None if there is none.
func numberOf[ID ~uint32](numbers []uint32, id ID) uint32 {
	if int(id) < len(numbers) {
		return numbers[id]
	}
	return trace.None
}
