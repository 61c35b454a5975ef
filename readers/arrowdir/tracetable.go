package arrowdir

import (
	"errors"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"tracekit/trace"
)

// A Table is a table of a reconciled trace, in records of at most RecordRows rows. A
// record is valid until the next one; it has its memory from nobody's allocator.
type Table struct {
	Name    string
	Schema  *arrow.Schema
	Records iter.Seq[arrow.Record]
}

// RecordRows is the number of rows of the records of a Table but the last.
const RecordRows = 1 << 16

// Tables returns the trace's tables: calls, messages (also those with one side only),
// collectives and members, all in order of location, then of row. Times are corrected
// ticks; None stands for what is not there. The trace's store is used while iterating.
func Tables(t *trace.Trace) []Table {
	var c callColumns
	var m messageColumns
	var l collectiveColumns
	var p memberColumns
	return []Table{
		{"calls", schemaOf(c.columns()), func(yield func(arrow.Record) bool) { callRecords(t, yield) }},
		{"messages", schemaOf(m.columns()), func(yield func(arrow.Record) bool) { messageRecords(t, yield) }},
		{"collectives", schemaOf(l.columns()), func(yield func(arrow.Record) bool) { collectiveRecords(t, yield) }},
		{"members", schemaOf(p.columns()), func(yield func(arrow.Record) bool) { memberRecords(t, yield) }},
	}
}

// A chunker gives full sets of columns on as records and empties them.
type chunker struct {
	columns []column
	schema  *arrow.Schema
	yield   func(arrow.Record) bool
	stopped bool
}

// row is called after each row.
func (c *chunker) row() bool {
	if c.columns[0].slice.len() >= RecordRows {
		c.flush()
	}
	return !c.stopped
}

// flush gives the rows on. There is a record even if the table is empty.
func (c *chunker) flush() {
	if c.stopped {
		return
	}
	r := recordOf(c.schema, c.columns)
	c.stopped = !c.yield(r)
	r.Release()
	for _, column := range c.columns {
		column.slice.empty()
	}
}

func newChunker(columns []column, yield func(arrow.Record) bool) *chunker {
	return &chunker{columns: columns, schema: schemaOf(columns), yield: yield}
}

type callColumns struct {
	location     []trace.LocationID
	seq          []uint64
	enter, leave []int64
	path         []trace.PathID
	region       []trace.RegionID
	class        []trace.CallClass
	coll         []uint32
	open         []uint8
}

func (c *callColumns) columns() []column {
	return []column{numberColumn("location", &c.location), numberColumn("seq", &c.seq), numberColumn("enter", &c.enter),
		numberColumn("leave", &c.leave), numberColumn("path", &c.path), numberColumn("region", &c.region),
		numberColumn("class", &c.class), numberColumn("collective", &c.coll), numberColumn("open", &c.open)}
}

func callRecords(t *trace.Trace, yield func(arrow.Record) bool) {
	var c callColumns
	chunks := newChunker(c.columns(), yield)
	for l, calls := range t.Calls {
		for i := range calls.Len() {
			r := calls.At(i)
			c.location, c.seq = append(c.location, trace.LocationID(l)), append(c.seq, r.Seq)
			c.enter, c.leave = append(c.enter, r.Enter), append(c.leave, r.Leave)
			c.path, c.region, c.class = append(c.path, r.Path), append(c.region, r.Region), append(c.class, r.Class)
			c.coll, c.open = append(c.coll, r.Coll), append(c.open, bit(r.Open))
			if !chunks.row() {
				return
			}
		}
	}
	chunks.flush()
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

type messageColumns struct {
	from, to                   []uint32
	sendLocation, recvLocation []trace.LocationID
	sendSeq, recvSeq           []uint64
	sendTime, recvTime         []int64
	comm                       []trace.CommID
	tag                        []uint32
	bytes                      []uint64
	state                      []trace.MessageState
}

func (m *messageColumns) columns() []column {
	return []column{numberColumn("from", &m.from), numberColumn("to", &m.to), numberColumn("send_location", &m.sendLocation),
		numberColumn("send_seq", &m.sendSeq), numberColumn("send_time", &m.sendTime), numberColumn("recv_location", &m.recvLocation),
		numberColumn("recv_seq", &m.recvSeq), numberColumn("recv_time", &m.recvTime), numberColumn("comm", &m.comm),
		numberColumn("tag", &m.tag), numberColumn("bytes", &m.bytes), numberColumn("state", &m.state)}
}

func (m *messageColumns) sendSide(l trace.LocationID, seq uint64, time int64) {
	m.sendLocation, m.sendSeq, m.sendTime = append(m.sendLocation, l), append(m.sendSeq, seq), append(m.sendTime, time)
}

func (m *messageColumns) recvSide(l trace.LocationID, seq uint64, time int64) {
	m.recvLocation, m.recvSeq, m.recvTime = append(m.recvLocation, l), append(m.recvSeq, seq), append(m.recvTime, time)
}

func (m *messageColumns) what(from, to uint32, comm trace.CommID, tag uint32, bytes uint64, state trace.MessageState) {
	m.from, m.to, m.comm, m.tag = append(m.from, from), append(m.to, to), append(m.comm, comm), append(m.tag, tag)
	m.bytes, m.state = append(m.bytes, bytes), append(m.state, state)
}

// messageRecords has the sends with their receives, then the receives without a send.
func messageRecords(t *trace.Trace, yield func(arrow.Record) bool) {
	var m messageColumns
	chunks := newChunker(m.columns(), yield)
	for l, sends := range t.Sends {
		for i := range sends.Len() {
			s := sends.At(i)
			m.what(t.Rank[l], s.To, s.Comm, s.Tag, s.Bytes, s.State)
			m.sendSide(trace.LocationID(l), s.Seq, s.Time)
			if s.State == trace.Matched {
				r := t.Recvs[s.RecvLoc].At(int(s.Recv))
				m.recvSide(s.RecvLoc, r.Seq, r.Time)
			} else {
				m.recvSide(trace.None, 0, 0)
			}
			if !chunks.row() {
				return
			}
		}
	}
	for l, recvs := range t.Recvs {
		for i := range recvs.Len() {
			r := recvs.At(i)
			if r.State == trace.Matched {
				continue
			}
			m.what(r.From, t.Rank[l], r.Comm, r.Tag, r.Bytes, r.State)
			m.sendSide(trace.None, 0, 0)
			m.recvSide(trace.LocationID(l), r.Seq, r.Time)
			if !chunks.row() {
				return
			}
		}
	}
	chunks.flush()
}

type collectiveColumns struct {
	op                       []trace.CollectiveOp
	comm                     []trace.CommID
	root, size, first, count []uint32
	mismatch                 []uint8
}

func (c *collectiveColumns) columns() []column {
	return []column{numberColumn("op", &c.op), numberColumn("comm", &c.comm), numberColumn("root", &c.root),
		numberColumn("size", &c.size), numberColumn("first_member", &c.first), numberColumn("members", &c.count),
		numberColumn("mismatch", &c.mismatch)}
}

func collectiveRecords(t *trace.Trace, yield func(arrow.Record) bool) {
	var c collectiveColumns
	chunks := newChunker(c.columns(), yield)
	for i := range t.Collectives.Len() {
		r := t.Collectives.At(i)
		c.op, c.comm, c.root = append(c.op, r.Op), append(c.comm, r.Comm), append(c.root, r.Root)
		c.size, c.first, c.count = append(c.size, r.Size), append(c.first, r.First), append(c.count, r.Count)
		c.mismatch = append(c.mismatch, bit(r.Mismatch))
		if !chunks.row() {
			return
		}
	}
	chunks.flush()
}

type memberColumns struct {
	location         []trace.LocationID
	rank, call, done []uint32
	begin, end       []int64
	sent, received   []uint64
}

func (m *memberColumns) columns() []column {
	return []column{numberColumn("location", &m.location), numberColumn("rank", &m.rank), numberColumn("call", &m.call),
		numberColumn("done", &m.done), numberColumn("begin", &m.begin), numberColumn("end", &m.end), numberColumn("sent", &m.sent), numberColumn("received", &m.received)}
}

func memberRecords(t *trace.Trace, yield func(arrow.Record) bool) {
	var m memberColumns
	chunks := newChunker(m.columns(), yield)
	for i := range t.Members.Len() {
		r := t.Members.At(i)
		m.location, m.rank, m.call, m.done = append(m.location, r.Location), append(m.rank, r.Rank), append(m.call, r.Call), append(m.done, r.Done)
		m.begin, m.end = append(m.begin, r.Begin), append(m.end, r.End)
		m.sent, m.received = append(m.sent, r.Sent), append(m.received, r.Received)
		if !chunks.row() {
			return
		}
	}
	chunks.flush()
}

// WriteParquet writes a table of a reconciled trace as one Parquet file.
func WriteParquet(name string, t Table) error {
	w, err := newParquetWriter(name, t.Schema)
	if err != nil {
		return err
	}
	for r := range t.Records {
		if _, err := w.write(r, false); err != nil {
			_, cerr := w.close()
			return errors.Join(err, cerr)
		}
	}
	_, err = w.close()
	return err
}
