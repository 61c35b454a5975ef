package symbols

import (
	"encoding/binary"
	"slices"

	"tracekit/trace"
)

// Rows make symbols of the events of a batch (docs/internals/TKF.md, Symbols),
// or the other way round: both directions side by side, table by table.
//
//	event = symbol + time + values
//	values = what an open symbol leaves out, literal request, metric values, attribute values
type Rows struct {
	Table    *Table
	requests requests
	Values   []uint64 // of the current event, in the order of the stream
	// Unmetered leaves the values of metrics out: they are 0 when they are written.
	Unmetered bool

	attr    int // next row of the attributes
	scratch []byte
}

// Begin starts with an event of a batch.
func (r *Rows) Begin(b *trace.Batch, seq uint64) {
	r.attr, _ = slices.BinarySearch(b.Attrs.Seq, seq)
}

// Read returns the number of the symbol and the time of an event of the batch, and leaves the
// values that follow in r.Values. A guess of the number is tried first: comparing is cheaper
// than looking up.
func (r *Rows) Read(b *trace.Batch, seq uint64, at trace.Row, guess uint32, guessed bool) (id uint32, time int64) {
	s, time := r.read(b, seq, at)
	if guessed && r.Table.symbols[guess] == s {
		return guess, time
	}
	return r.number(s), time
}

// number returns the number of a symbol, which may become open for it.
func (r *Rows) number(s symbol) uint32 {
	t := r.Table
	if id, ok := t.index[s]; ok {
		return id
	}
	if !s.open && !t.admits(&s) {
		s = r.open(s)
		if id, ok := t.index[s]; ok {
			return id
		}
	}
	return t.add(s)
}

// read returns the symbol and the time of an event of the batch. The symbol is closed unless
// its list would be one too many.
func (r *Rows) read(b *trace.Batch, seq uint64, at trace.Row) (s symbol, time int64) {
	row := at.First
	r.Values = r.Values[:0]
	switch at.Table {
	case trace.TableFlow:
		s, time = readFlow(&b.Flow, row), b.Flow.Time[row]
	case trace.TableP2P:
		p := &b.P2P
		time = p.Time[row]
		s = symbol{kind: p.Kind[row], ref: uint32(p.Comm[row]), peer: p.Peer[row], tag: p.Tag[row], size: p.Bytes[row]}
		r.request(&s, p.Request[row])
	case trace.TableColl:
		c := &b.Coll
		time = c.Time[row]
		s = symbol{kind: c.Kind[row], op: c.Op[row], ref: uint32(c.Comm[row]), peer: c.Root[row], size: c.Sent[row], received: c.Received[row]}
		r.request(&s, c.Request[row])
	case trace.TableMetric:
		s, time = r.metric(&b.Metric, at), b.Metric.Time[row]
	default:
		s, time = r.other(&b.Other, row), b.Other.Time[row]
	}
	if r.attr < len(b.Attrs.Seq) && b.Attrs.Seq[r.attr] == seq {
		r.attributes(&b.Attrs, &s)
	}
	return s, time
}

func readFlow(f *trace.Flow, row int) symbol {
	s := symbol{kind: f.Kind[row], ref: uint32(f.Region[row]), peer: trace.None}
	if len(f.Context) > 0 {
		s.peer, s.tag = uint32(f.Context[row]), f.Unwind[row]
	}
	return s
}

// request fills in how the event names its request.
func (r *Rows) request(s *symbol, id uint64) {
	role := requestRoleOf(s.kind)
	if role == roleNone && id == 0 {
		return
	}
	if s.how, s.request = r.requests.encode(role, id); s.how == requestLiteral {
		r.Values = append(r.Values, id)
	}
	r.requests.update(role, id)
}

// metric reads the rows of a metric event.
func (r *Rows) metric(m *trace.MetricValues, at trace.Row) symbol {
	r.scratch = r.scratch[:0]
	for _, t := range m.Type[at.First:at.End] {
		r.scratch = append(r.scratch, byte(t))
	}
	if !r.Unmetered {
		r.Values = append(r.Values, m.Value[at.First:at.End]...)
	}
	return symbol{kind: trace.KindMetric, ref: uint32(m.Metric[at.First]), list: r.Table.list(r.scratch)}
}

func (r *Rows) other(o *trace.Other, row int) symbol {
	args := o.Args[o.Offset[row]:o.Offset[row+1]]
	s := symbol{kind: o.Kind[row], tag: uint32(len(args))}
	r.scratch = r.scratch[:0]
	for _, a := range args {
		r.scratch = binary.AppendUvarint(r.scratch, a)
	}
	if r.Table.full(r.scratch) {
		r.Values = append(r.Values, args...)
		return s.opened()
	}
	s.list = r.Table.list(r.scratch)
	return s
}

// attributes reads the attributes of an event.
func (r *Rows) attributes(a *trace.Attrs, s *symbol) {
	r.scratch = r.scratch[:0]
	for seq := a.Seq[r.attr]; r.attr < len(a.Seq) && a.Seq[r.attr] == seq; r.attr++ {
		r.scratch = binary.AppendUvarint(r.scratch, uint64(a.Attribute[r.attr]))
		r.scratch = append(r.scratch, byte(a.Type[r.attr]))
		r.Values = append(r.Values, a.Value[r.attr])
	}
	s.attrs = r.Table.list(r.scratch)
}

// open returns the open form of a closed symbol that was just read, and puts what it
// leaves out before the values.
func (r *Rows) open(s symbol) symbol {
	var front []uint64
	switch s.kind.Table() {
	case trace.TableP2P:
		front = []uint64{uint64(s.peer), uint64(s.tag), s.size}
	case trace.TableColl:
		front = []uint64{uint64(s.peer), s.size, s.received}
	default:
		front = uvarints(r.Table.lists[s.list])
	}
	r.Values = append(front, r.Values...)
	return s.opened()
}

// uvarints decodes a list of numbers.
func uvarints(list string) []uint64 {
	var out []uint64
	for b := []byte(list); len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		out, b = append(out, v), b[n:]
	}
	return out
}

// Count returns the number of values that follow a symbol.
func (r *Rows) Count(id uint32) int {
	s := &r.Table.symbols[id]
	n := len(r.Table.attributes(s.attrs))
	switch s.kind.Table() {
	case trace.TableP2P, trace.TableColl:
		if s.open {
			n += 3
		}
		if s.how == requestLiteral {
			n++
		}
	case trace.TableMetric:
		if !r.Unmetered {
			n += len(r.Table.lists[s.list])
		}
	case trace.TableOther:
		if s.open {
			n += int(s.tag)
		}
	}
	return n
}

// Write appends the event of a symbol and the values that follow it to the batch; ok is
// false if the symbol names a request that does not exist.
func (r *Rows) Write(b *trace.Batch, id uint32, time int64) (ok bool) {
	s := &r.Table.symbols[id]
	own := r.Values[:len(r.Values)-len(r.Table.attributes(s.attrs))]
	for i, a := range r.Table.attributes(s.attrs) {
		b.AddAttr(a.id, a.typ, r.Values[len(own)+i])
	}
	switch s.kind.Table() {
	case trace.TableFlow:
		writeFlow(b, s, time)
		return true
	case trace.TableMetric:
		return r.writeMetric(b, s, time)
	case trace.TableOther:
		if !s.open {
			own = r.Table.args(s.list)
		}
		b.AddOther(time, s.kind, own...)
		return true
	}
	return r.writeCommunication(b, *s, time, own)
}

func writeFlow(b *trace.Batch, s *symbol, time int64) {
	if s.peer == trace.None && s.tag == 0 && s.kind != trace.KindCallingContextEnter && s.kind != trace.KindCallingContextLeave {
		b.AddFlow(time, s.kind, trace.RegionID(s.ref))
		return
	}
	b.AddContext(time, s.kind, trace.RegionID(s.ref), trace.CallingContextID(s.peer), s.tag)
}

// MostMembers is how many values metrics have at most whose values are left out.
const MostMembers = 255

func (r *Rows) writeMetric(b *trace.Batch, s *symbol, time int64) (ok bool) {
	list := r.Table.lists[s.list]
	types := make([]trace.ValueType, len(list))
	for i := range types {
		types[i] = trace.ValueType(list[i])
	}
	values := r.Values
	if r.Unmetered {
		if len(types) > MostMembers {
			return false
		}
		values = make([]uint64, len(types))
	}
	b.AddMetric(time, trace.MetricID(s.ref), types, values[:len(types)])
	return true
}

func (r *Rows) writeCommunication(b *trace.Batch, s symbol, time int64, values []uint64) (ok bool) {
	p2p := s.kind.Table() == trace.TableP2P
	if s.open && p2p {
		s.peer, s.tag, s.size = uint32(values[0]), uint32(values[1]), values[2]
	} else if s.open {
		s.peer, s.size, s.received = uint32(values[0]), values[1], values[2]
	}
	id, ok := uint64(0), true
	if s.how == requestLiteral {
		id = values[len(values)-1]
	} else if id, ok = r.requests.decode(s.how, s.request); !ok {
		return false
	}
	if role := requestRoleOf(s.kind); role != roleNone {
		r.requests.update(role, id)
	}
	if p2p {
		b.AddP2P(trace.P2PRow{Time: time, Kind: s.kind, Peer: s.peer, Comm: trace.CommID(s.ref), Tag: s.tag, Bytes: s.size, Request: id})
		return true
	}
	b.AddColl(trace.CollRow{Time: time, Kind: s.kind, Op: s.op, Comm: trace.CommID(s.ref), Root: s.peer, Sent: s.size, Received: s.received,
		Request: id})
	return true
}
