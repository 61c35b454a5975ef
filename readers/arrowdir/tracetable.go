package arrowdir

import (
	"errors"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"tracekit/spill"
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

// A rowColumn is a column of a table of rows.
type rowColumn[R any] struct {
	column
	fill func(rows []R)
}

// field makes a column of what is got of each row.
func field[R, T any](name string, get func(r *R) T) rowColumn[R] {
	var values []T
	return rowColumn[R]{numberColumn(name, &values), func(rows []R) {
		values = values[:0]
		for i := range rows {
			values = append(values, get(&rows[i]))
		}
	}}
}

// tableOf makes a table of rows. There is a record even if it is empty.
func tableOf[R any](name string, rows iter.Seq[R], fields ...rowColumn[R]) Table {
	var columns []column
	for _, f := range fields {
		columns = append(columns, f.column)
	}
	schema := schemaOf(columns)
	return Table{name, schema, func(yield func(arrow.Record) bool) {
		var chunk []R
		flush := func() bool {
			for _, f := range fields {
				f.fill(chunk)
			}
			r := recordOf(schema, columns)
			defer r.Release()
			chunk = chunk[:0]
			return yield(r)
		}
		for r := range rows {
			if chunk = append(chunk, r); len(chunk) == RecordRows && !flush() {
				return
			}
		}
		flush()
	}}
}

// Tables returns the trace's tables: calls, messages (also those with one side only),
// collectives and members, all in order of location, then of row. Times are corrected
// ticks; None stands for what is not there. The trace's store is used while iterating.
func Tables(t *trace.Trace) []Table {
	return []Table{
		tableOf("calls", calls(t),
			field("location", func(c *call) trace.LocationID { return c.location }),
			field("seq", func(c *call) uint64 { return c.Seq }),
			field("enter", func(c *call) int64 { return c.Enter }),
			field("leave", func(c *call) int64 { return c.Leave }),
			field("path", func(c *call) trace.PathID { return c.Path }),
			field("region", func(c *call) trace.RegionID { return c.Region }),
			field("class", func(c *call) trace.CallClass { return c.Class }),
			field("collective", func(c *call) uint32 { return c.Coll }),
			field("open", func(c *call) uint8 { return bit(c.Open) })),
		tableOf("messages", messages(t),
			field("from", func(m *message) uint32 { return m.from }),
			field("to", func(m *message) uint32 { return m.to }),
			field("send_location", func(m *message) trace.LocationID { return m.send.location }),
			field("send_seq", func(m *message) uint64 { return m.send.seq }),
			field("send_time", func(m *message) int64 { return m.send.time }),
			field("recv_location", func(m *message) trace.LocationID { return m.recv.location }),
			field("recv_seq", func(m *message) uint64 { return m.recv.seq }),
			field("recv_time", func(m *message) int64 { return m.recv.time }),
			field("comm", func(m *message) trace.CommID { return m.comm }),
			field("tag", func(m *message) uint32 { return m.tag }),
			field("bytes", func(m *message) uint64 { return m.bytes }),
			field("state", func(m *message) trace.MessageState { return m.state })),
		tableOf("collectives", rowsOf(t.Collectives),
			field("op", func(c *trace.Collective) trace.CollectiveOp { return c.Op }),
			field("comm", func(c *trace.Collective) trace.CommID { return c.Comm }),
			field("root", func(c *trace.Collective) uint32 { return c.Root }),
			field("size", func(c *trace.Collective) uint32 { return c.Size }),
			field("first_member", func(c *trace.Collective) uint32 { return c.First }),
			field("members", func(c *trace.Collective) uint32 { return c.Count }),
			field("mismatch", func(c *trace.Collective) uint8 { return bit(c.Mismatch) })),
		tableOf("members", rowsOf(t.Members),
			field("location", func(m *trace.Member) trace.LocationID { return m.Location }),
			field("rank", func(m *trace.Member) uint32 { return m.Rank }),
			field("call", func(m *trace.Member) uint32 { return m.Call }),
			field("done", func(m *trace.Member) uint32 { return m.Done }),
			field("begin", func(m *trace.Member) int64 { return m.Begin }),
			field("end", func(m *trace.Member) int64 { return m.End }),
			field("sent", func(m *trace.Member) uint64 { return m.Sent }),
			field("received", func(m *trace.Member) uint64 { return m.Received })),
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// rowsOf iterates over the rows of a table.
func rowsOf[R any](t *spill.Table[R]) iter.Seq[R] {
	return func(yield func(R) bool) {
		for i := range t.Len() {
			if !yield(t.At(i)) {
				return
			}
		}
	}
}

// A call is a row of the table of calls.
type call struct {
	trace.Call
	location trace.LocationID
}

func calls(t *trace.Trace) iter.Seq[call] {
	return func(yield func(call) bool) {
		for l, calls := range t.Calls {
			for c := range rowsOf(calls) {
				if !yield(call{c, trace.LocationID(l)}) {
					return
				}
			}
		}
	}
}

// A message is a row of the table of messages.
type message struct {
	from, to   uint32
	send, recv side
	comm       trace.CommID
	tag        uint32
	bytes      uint64
	state      trace.MessageState
}

// A side is where a message was sent or received.
type side struct {
	location trace.LocationID
	seq      uint64
	time     int64
}

// messages iterates over the sends with their receives, then the receives without a send.
func messages(t *trace.Trace) iter.Seq[message] {
	none := side{location: trace.None}
	return func(yield func(message) bool) {
		for l, sends := range t.Sends {
			for s := range rowsOf(sends) {
				m := message{t.Rank[l], s.To, side{trace.LocationID(l), s.Seq, s.Time}, none, s.Comm, s.Tag, s.Bytes, s.State}
				if s.State == trace.Matched {
					r := t.Recvs[s.RecvLoc].At(int(s.Recv))
					m.recv = side{s.RecvLoc, r.Seq, r.Time}
				}
				if !yield(m) {
					return
				}
			}
		}
		for l, recvs := range t.Recvs {
			for r := range rowsOf(recvs) {
				if r.State == trace.Matched {
					continue
				}
				if !yield(message{r.From, t.Rank[l], none, side{trace.LocationID(l), r.Seq, r.Time}, r.Comm, r.Tag, r.Bytes, r.State}) {
					return
				}
			}
		}
	}
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
