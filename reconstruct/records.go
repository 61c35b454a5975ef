package reconstruct

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
	batch  *trace.Batch
	done   int               // events of batch that were read
	row    [trace.Tables]int // of batch's tables: the next one
	buffer []record
	head   int // of buffer: the next record
	times  []int64
	last   int64
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

// fill appends some more records, few enough for the processor's cache.
func (r *records) fill() {
	const some = 512
	if r.batch == nil || r.done == r.batch.Len() {
		var ok bool
		if r.batch, r.err, ok = r.next(); !ok || r.err != nil {
			r.ended = true
			return
		}
		r.done, r.row = 0, [trace.Tables]int{}
	}
	kept := copy(r.buffer, r.buffer[r.head:])
	r.buffer, r.head, r.times = r.buffer[:kept], 0, r.times[:0]
	for end := min(r.done+some, r.batch.Len()); r.done < end; r.done++ {
		x := record{seq: r.batch.First + uint64(r.done)}
		var raw int64
		raw, x.content = r.read(r.batch.Order[r.done], x.seq)
		r.times, r.buffer = append(r.times, raw), append(r.buffer, x)
	}
	r.last = r.s.t.Clock.Maps[r.l].Correct(r.times, r.last)
	for i, t := range r.times {
		r.buffer[kept+i].time = r.s.ns(t)
	}
}

// read returns the raw time and the content of the next event of a table, event seq.
func (r *records) read(table trace.TableID, seq uint64) (raw int64, c content) {
	b, k := r.batch, r.row[table]
	r.row[table]++
	switch table {
	case trace.TableFlow:
		f := &b.Flow
		return f.Time[k], content{kind: f.Kind[k], what: numberOf(r.s.regions, f.Region[k])}
	case trace.TableP2P:
		p := &b.P2P
		return p.Time[k], content{p.Kind[k], numberOf(r.s.comms, p.Comm[k]),
			[4]uint64{uint64(p.Peer[k]), uint64(p.Tag[k]), p.Bytes[k]}}
	case trace.TableColl:
		p := &b.Coll
		return p.Time[k], content{p.Kind[k], numberOf(r.s.comms, p.Comm[k]),
			[4]uint64{uint64(p.Op[k]), uint64(p.Root[k]), p.Sent[k], p.Received[k]}}
	case trace.TableMetric:
		c.kind = trace.KindMetric
		raw, c.what, r.row[table] = r.readMetric(seq, k)
		return raw, c
	}
	return b.Other.Time[k], content{kind: b.Other.Kind[k]}
}

// readMetric returns time and name of metric event seq, whose values begin at row i, and
// the row that follows them. An event without values has the time of the one before.
func (r *records) readMetric(seq uint64, i int) (raw int64, what uint32, next int) {
	m := &r.batch.Metric
	raw, what = r.last, trace.None
	for next = i; next < len(m.Seq) && m.Seq[next] == seq; next++ {
		raw, what = m.Time[next], numberOf(r.s.metrics, m.Metric[next])
	}
	return raw, what, next
}

// numberOf returns the number of a definition's name, None if there is none.
func numberOf[ID ~uint32](numbers []uint32, id ID) uint32 {
	if int(id) < len(numbers) {
		return numbers[id]
	}
	return trace.None
}
