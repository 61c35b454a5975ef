package jsontrace

import (
	"fmt"
	"math"
	"strconv"

	"tracekit/trace"
)

// A channel is an ordered pair of ranks with a communicator and a tag; the messages of a
// channel are numbered, so that both ends of a flow get one identifier.
type channel struct {
	comm          trace.CommID
	src, dst, tag uint32
	recv          bool
}

// id returns the identifier of a message of the channel: a hash of 53 bits, since viewers
// hold numbers as floating point and read text as hexadecimal digits.
func (c channel) id(seq uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range [...]uint64{uint64(c.src), uint64(c.dst), uint64(c.comm), uint64(c.tag), seq} {
		for range 8 {
			h = (h ^ x&0xFF) * 1099511628211
			x >>= 8
		}
	}
	return h >> 11
}

// Write implements trace.Sink.
func (w *Writer) Write(b *trace.Batch) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return fmt.Errorf("%s: the trace is closed", w.path)
	case int(b.Location) >= len(w.tracks):
		return fmt.Errorf("%s: location %d is not defined", w.path, b.Location)
	}
	r := rows{w: w, b: b, track: &w.tracks[b.Location]}
	for i, table := range b.Order {
		r.seq = b.First + uint64(i)
		r.event(table)
	}
	return w.err
}

// rows writes the events of a batch; the numbers are the indexes of the next rows.
type rows struct {
	w                                     *Writer
	b                                     *trace.Batch
	track                                 *trackPrefix
	seq                                   uint64
	flow, p2p, coll, metric, other, attrs int
	args                                  int // length of the line where args begin; 0: there are none
}

func (r *rows) event(table trace.TableID) {
	switch table {
	case trace.TableFlow:
		r.writeFlow()
		r.flow++
	case trace.TableP2P:
		r.writeP2P()
		r.p2p++
	case trace.TableColl:
		r.writeColl()
		r.coll++
	case trace.TableMetric:
		r.writeMetric()
	default:
		r.writeOther()
		r.other++
	}
}

// start begins a line: phase, track and time.
func (r *rows) start(phase byte, time int64) {
	w := r.w
	if time < r.track.last {
		w.drop("the order of events whose time runs backwards")
	}
	r.track.last = time
	w.line = append(w.line[:0], ",\n{\"ph\":\""...)
	w.line = append(append(w.line, phase, '"'), r.track.text...)
	w.line = w.appendTime(w.line, time)
	r.args = 0
}

// field appends a number to the arguments.
func (r *rows) field(key string, n uint64) {
	r.key(key)
	r.w.line = strconv.AppendUint(r.w.line, n, 10)
}

// key appends the key of an argument; the first one opens the arguments.
func (r *rows) key(key string) {
	if w := r.w; r.args == 0 {
		w.line = append(w.line, `,"args":{"`...)
		r.args = len(w.line)
	} else {
		w.line = append(w.line, ',', '"')
	}
	r.w.line = append(append(r.w.line, key...), '"', ':')
}

// end writes the attributes and the line.
func (r *rows) end() {
	w, a := r.w, &r.b.Attrs
	first := true
	for ; r.attrs < len(a.Seq) && a.Seq[r.attrs] <= r.seq; r.attrs++ {
		if first {
			r.key("attr")
			w.line = append(w.line, '[')
		} else {
			w.line = append(w.line, ',')
		}
		first = false
		w.line = fmt.Appendf(w.line, "[%d,%d,%d]", a.Attribute[r.attrs], a.Type[r.attrs], a.Value[r.attrs])
	}
	if !first {
		w.line = append(w.line, ']')
	}
	if r.args > 0 {
		w.line = append(w.line, '}')
	}
	w.line = append(w.line, '}')
	if _, err := w.out.Write(w.line); err != nil && w.err == nil {
		w.err = err
	}
}

func (r *rows) writeFlow() {
	f, i, w := &r.b.Flow, r.flow, r.w
	kind, region := f.Kind[i], f.Region[i]
	call := openCall{region, trace.None}
	if len(f.Context) > 0 {
		call.context = f.Context[i]
	}
	if int(region) >= len(w.names.regions) {
		w.drop("a call of a region that is not defined")
		r.skipAttrs()
		return
	}
	if kind.Enters() {
		r.start('B', f.Time[i])
		r.name(region)
		if call.context != trace.None {
			r.field("ctx", uint64(call.context))
			r.field("unwind", uint64(f.Unwind[i]))
		}
		r.track.open = append(r.track.open, call)
		r.end()
		return
	}
	r.start('E', f.Time[i])
	top := len(r.track.open) - 1
	if top < 0 || r.track.open[top] != call {
		r.name(region)
		if call.context != trace.None {
			r.field("ctx", uint64(call.context))
		}
	}
	if top >= 0 {
		r.track.open = r.track.open[:top]
	}
	r.end()
}

// name appends what tells the region.
func (r *rows) name(region trace.RegionID) {
	n := &r.w.names.regions[region]
	r.w.line = append(r.w.line, n.text...)
	if n.argument {
		r.field("r", uint64(region))
	}
}

// skipAttrs passes over the attributes of an event that is not written.
func (r *rows) skipAttrs() {
	for a := &r.b.Attrs; r.attrs < len(a.Seq) && a.Seq[r.attrs] <= r.seq; {
		r.attrs++
	}
}

func (r *rows) writeP2P() {
	p, i, w := &r.b.P2P, r.p2p, r.w
	kind := p.Kind[i]
	send := kind == trace.KindMpiSend || kind == trace.KindMpiIsend
	if !send && kind != trace.KindMpiRecv && kind != trace.KindMpiIrecv {
		r.start('i', p.Time[i])
		w.line = fmt.Appendf(w.line, `,"s":"t","name":"%s","cat":"%s"`, kind, requestCategory)
		r.field("req", p.Request[i])
		r.end()
		return
	}
	// Both ends of a flow must compute the same identifier from what each knows.
	me := w.rankIn(p.Comm[i], r.track.rank)
	ch := channel{comm: p.Comm[i], src: me, dst: p.Peer[i], tag: p.Tag[i]}
	phase, bind := byte('s'), ""
	if !send {
		ch.src, ch.dst, ch.recv = p.Peer[i], me, true
		phase, bind = 'f', `,"bp":"e"`
	}
	seq := w.seqs[ch]
	w.seqs[ch]++
	r.start(phase, p.Time[i])
	w.line = fmt.Appendf(w.line, `,"name":"msg","cat":"%s","id":%d%s`, messageCategory, ch.id(seq), bind)
	r.field("src", uint64(ch.src))
	r.field("dst", uint64(ch.dst))
	r.field("tag", uint64(ch.tag))
	if ch.comm != trace.None {
		r.field("comm", uint64(ch.comm))
	}
	r.field("bytes", p.Bytes[i])
	r.field("seq", seq)
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		r.field("req", p.Request[i])
	}
	r.end()
}

// rankIn returns the rank in a communicator of a world rank, None if it is not known.
func (w *Writer) rankIn(comm trace.CommID, rank uint32) uint32 {
	if int(comm) >= len(w.defs.Comms) || rank == trace.None {
		return trace.None
	}
	if w.ranks == nil {
		w.ranks = make(map[trace.CommID]map[uint32]uint32)
	}
	ranks, ok := w.ranks[comm]
	if !ok {
		ranks = make(map[uint32]uint32)
		if g := w.defs.Comms[comm].Group; int(g) < len(w.defs.Groups) {
			for i, m := range w.defs.Groups[g].Members {
				ranks[m] = uint32(i)
			}
		}
		w.ranks[comm] = ranks
	}
	if r, ok := ranks[rank]; ok {
		return r
	}
	return trace.None
}

func (r *rows) writeColl() {
	c, i, w := &r.b.Coll, r.coll, r.w
	kind := c.Kind[i]
	r.start('i', c.Time[i])
	w.line = fmt.Appendf(w.line, `,"s":"t","name":"%s","cat":"%s"`, kind, collectiveCategory)
	switch kind {
	case trace.KindNonBlockingCollectiveRequest:
		r.field("req", c.Request[i])
	case trace.KindCollectiveEnd, trace.KindNonBlockingCollectiveComplete:
		r.field("op", uint64(c.Op[i]))
		if c.Comm[i] != trace.None {
			r.field("comm", uint64(c.Comm[i]))
		}
		if c.Root[i] != trace.None {
			r.field("root", uint64(c.Root[i]))
		}
		r.field("sent", c.Sent[i])
		r.field("received", c.Received[i])
		if kind == trace.KindNonBlockingCollectiveComplete {
			r.field("req", c.Request[i])
		}
	}
	r.end()
}

func (r *rows) writeMetric() {
	m, i, w := &r.b.Metric, r.metric, r.w
	r.start('C', m.Time[i])
	id := m.Metric[i]
	w.line = append(w.line, `,"name":`...)
	w.line = append(w.line, quoted(w.metricName(id))...)
	w.line = append(w.line, `,"id":`...)
	w.line = strconv.AppendUint(w.line, uint64(id), 10)
	members := w.membersOf(id)
	for ; r.metric < len(m.Seq) && m.Seq[r.metric] == r.seq; r.metric++ {
		k := r.metric
		name, typ := strconv.Quote(strconv.Itoa(int(m.Member[k])))+":", m.Type[k]
		if n := int(m.Member[k]); n < len(members) && int(members[n]) < len(w.names.members) {
			name, typ = w.names.members[members[n]], w.defs.MetricMembers[members[n]].Value
		}
		if typ != m.Type[k] {
			w.drop("a counter value of another type than its definition")
		}
		if r.args == 0 {
			w.line = append(w.line, `,"args":{`...)
			r.args = len(w.line)
		} else {
			w.line = append(w.line, ',')
		}
		w.line = appendValue(append(w.line, name...), typ, m.Value[k])
	}
	r.end()
}

// membersOf returns the members of a metric or of its class.
func (w *Writer) membersOf(id trace.MetricID) []trace.MetricMemberID {
	if int(id) >= len(w.defs.Metrics) {
		return nil
	}
	m := &w.defs.Metrics[id]
	if m.Class != trace.None && int(m.Class) < len(w.defs.Metrics) {
		m = &w.defs.Metrics[m.Class]
	}
	return m.Members
}

// metricName returns the name of a metric's first member.
func (w *Writer) metricName(id trace.MetricID) string {
	if m := w.membersOf(id); len(m) > 0 && int(m[0]) < len(w.defs.MetricMembers) {
		return w.defs.String(w.defs.MetricMembers[m[0]].Name)
	}
	return "metric " + strconv.Itoa(int(id))
}

// appendValue appends a number; those that JSON does not have as strings.
func appendValue(line []byte, typ trace.ValueType, v uint64) []byte {
	switch typ {
	case trace.TypeDouble:
		f := math.Float64frombits(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return strconv.AppendQuote(line, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return strconv.AppendFloat(line, f, 'g', -1, 64)
	case trace.TypeInt8, trace.TypeInt16, trace.TypeInt32, trace.TypeInt64:
		return strconv.AppendInt(line, int64(v), 10)
	}
	return strconv.AppendUint(line, v, 10)
}

func (r *rows) writeOther() {
	o, i, w := &r.b.Other, r.other, r.w
	args := o.Args[o.Offset[i]:o.Offset[i+1]]
	kind := o.Kind[i]
	r.start('i', o.Time[i])
	w.line = append(w.line, `,"s":"t","name":`...)
	if kind == trace.KindInstant && len(args) == 1 && args[0] < uint64(len(w.defs.Strings)) {
		w.line = w.names.appendString(w.line, w.defs, trace.StringID(args[0]))
		r.end()
		return
	}
	w.line = fmt.Appendf(w.line, `"%s","cat":"%s"`, kind, recordCategory)
	r.field("k", uint64(kind))
	if len(args) > 0 {
		r.key("a")
		w.line = append(w.line, '[')
		for j, a := range args {
			if j > 0 {
				w.line = append(w.line, ',')
			}
			w.line = strconv.AppendUint(w.line, a, 10)
		}
		w.line = append(w.line, ']')
	}
	r.end()
}
