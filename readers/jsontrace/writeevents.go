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
	p := w.pieces.Take()
	p.batch.Copy(b)
	p.prepare(&w.tracks[b.Location])
	w.err = w.pieces.Put()
	return w.err
}

// A piece is a batch and its lines. What these need of earlier batches is prepared, so that
// pieces can be written in any order.
type piece struct {
	w     *Writer
	batch trace.Batch
	track *trackPrefix
	last  int64      // time of the event before
	named []bool     // by row of Flow: a Leave that must say its region
	ends  []endpoint // by row of P2P
	lines []byte
}

// An endpoint is a message as its flow needs it: the rank in the communicator of who sends
// or receives it, and its number in the channel.
type endpoint struct {
	me  uint32
	seq uint64
}

// prepare follows the calls and the messages of a location.
func (p *piece) prepare(track *trackPrefix) {
	b, w := &p.batch, p.w
	p.track, p.last, p.named, p.ends = track, track.last, p.named[:0], p.ends[:0]
	for i := range b.Flow.Kind {
		p.named = append(p.named, track.step(&b.Flow, i, len(w.names.regions)))
	}
	for i, kind := range b.P2P.Kind {
		var e endpoint
		if isMessage(kind) {
			e.me = w.rankIn(b.P2P.Comm[i], track.rank)
			ch := channelOf(&b.P2P, i, e.me)
			e.seq = w.seqs[ch]
			w.seqs[ch]++
		}
		p.ends = append(p.ends, e)
	}
	if n := len(b.Order); n > 0 {
		track.last = lastTime(b, b.Order[n-1])
	}
}

// step follows a call; it reports whether a Leave is not that of the innermost open region.
func (t *trackPrefix) step(f *trace.Flow, i, regions int) (named bool) {
	c := callOf(f, i)
	if int(c.region) >= regions {
		return false
	}
	if f.Kind[i].Enters() {
		t.open = append(t.open, c)
		return false
	}
	top := len(t.open) - 1
	if top < 0 {
		return true
	}
	named = t.open[top] != c
	t.open = t.open[:top]
	return named
}

// callOf returns the call that a row of Flow is about.
func callOf(f *trace.Flow, i int) openCall {
	c := openCall{f.Region[i], trace.None}
	if len(f.Context) > 0 {
		c.context = f.Context[i]
	}
	return c
}

// isMessage reports whether an event is that of a message, and not only of a request.
func isMessage(k trace.Kind) bool {
	return k == trace.KindMpiSend || k == trace.KindMpiIsend || k == trace.KindMpiRecv || k == trace.KindMpiIrecv
}

// channelOf returns the channel of a message; me is the rank of the location in the
// communicator.
func channelOf(p *trace.P2P, i int, me uint32) channel {
	if k := p.Kind[i]; k == trace.KindMpiSend || k == trace.KindMpiIsend {
		return channel{comm: p.Comm[i], src: me, dst: p.Peer[i], tag: p.Tag[i]}
	}
	return channel{comm: p.Comm[i], src: p.Peer[i], dst: me, tag: p.Tag[i], recv: true}
}

// lastTime returns the time of the last row of a table.
func lastTime(b *trace.Batch, table trace.TableID) int64 {
	times := b.Other.Time
	switch table {
	case trace.TableFlow:
		times = b.Flow.Time
	case trace.TableP2P:
		times = b.P2P.Time
	case trace.TableColl:
		times = b.Coll.Time
	case trace.TableMetric:
		times = b.Metric.Time
	}
	return times[len(times)-1]
}

// write makes the lines.
func (p *piece) write() {
	r := rows{w: p.w, p: p, b: &p.batch, line: p.lines[:0]}
	for i, table := range p.batch.Order {
		r.seq = p.batch.First + uint64(i)
		r.event(table)
	}
	p.lines = r.line
}

// rows writes the events of a batch; the numbers are the indexes of the next rows.
type rows struct {
	w                                     *Writer
	p                                     *piece
	b                                     *trace.Batch
	line                                  []byte // all lines so far
	seq                                   uint64
	flow, p2p, coll, metric, other, attrs int
	args                                  int // length of the lines where args begin; 0: there are none
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
	if time < r.p.last {
		r.w.drop("the order of events whose time runs backwards")
	}
	r.p.last = time
	r.line = append(r.line, ",\n{\"ph\":\""...)
	r.line = append(append(r.line, phase, '"'), r.p.track.text...)
	r.line = r.w.appendTime(r.line, time)
	r.args = 0
}

// field appends a number to the arguments.
func (r *rows) field(key string, n uint64) {
	r.key(key)
	r.line = strconv.AppendUint(r.line, n, 10)
}

// key appends the key of an argument; the first one opens the arguments.
func (r *rows) key(key string) {
	if r.args == 0 {
		r.line = append(r.line, `,"args":{"`...)
		r.args = len(r.line)
	} else {
		r.line = append(r.line, ',', '"')
	}
	r.line = append(append(r.line, key...), '"', ':')
}

// end writes the attributes and the line.
func (r *rows) end() {
	a, first := &r.b.Attrs, true
	for ; r.attrs < len(a.Seq) && a.Seq[r.attrs] <= r.seq; r.attrs++ {
		if first {
			r.key("attr")
			r.line = append(r.line, '[')
		} else {
			r.line = append(r.line, ',')
		}
		first = false
		r.line = fmt.Appendf(r.line, "[%d,%d,%d]", a.Attribute[r.attrs], a.Type[r.attrs], a.Value[r.attrs])
	}
	if !first {
		r.line = append(r.line, ']')
	}
	if r.args > 0 {
		r.line = append(r.line, '}')
	}
	r.line = append(r.line, '}')
}

func (r *rows) writeFlow() {
	f, i := &r.b.Flow, r.flow
	call := callOf(f, i)
	enters := f.Kind[i].Enters()
	switch {
	case int(call.region) >= len(r.w.names.regions):
		r.w.drop("a call of a region that is not defined")
		r.skipAttrs()
		return
	case enters:
		r.start('B', f.Time[i])
	default:
		r.start('E', f.Time[i])
	}
	if enters || r.p.named[i] {
		r.name(call.region)
		if call.context != trace.None {
			r.field("ctx", uint64(call.context))
			if enters {
				r.field("unwind", uint64(f.Unwind[i]))
			}
		}
	}
	r.end()
}

// name appends what tells the region.
func (r *rows) name(region trace.RegionID) {
	n := &r.w.names.regions[region]
	r.line = append(r.line, n.text...)
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
	p, i := &r.b.P2P, r.p2p
	kind := p.Kind[i]
	if !isMessage(kind) {
		r.start('i', p.Time[i])
		r.line = fmt.Appendf(r.line, `,"s":"t","name":"%s","cat":"%s"`, kind, requestCategory)
		r.field("req", p.Request[i])
		r.end()
		return
	}
	// Both ends of a flow must compute the same identifier from what each knows.
	ch, seq := channelOf(p, i, r.p.ends[i].me), r.p.ends[i].seq
	phase, bind := byte('s'), ""
	if ch.recv {
		phase, bind = 'f', `,"bp":"e"`
	}
	r.start(phase, p.Time[i])
	r.line = append(r.line, `,"name":"msg","cat":"`+messageCategory+`","id":`...)
	r.line = append(strconv.AppendUint(r.line, ch.id(seq), 10), bind...)
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
	c, i := &r.b.Coll, r.coll
	kind := c.Kind[i]
	r.start('i', c.Time[i])
	r.line = fmt.Appendf(r.line, `,"s":"t","name":"%s","cat":"%s"`, kind, collectiveCategory)
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
	r.line = append(r.line, `,"name":`...)
	r.line = append(r.line, quoted(w.metricName(id))...)
	r.line = append(r.line, `,"id":`...)
	r.line = strconv.AppendUint(r.line, uint64(id), 10)
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
			r.line = append(r.line, `,"args":{`...)
			r.args = len(r.line)
		} else {
			r.line = append(r.line, ',')
		}
		r.line = appendValue(append(r.line, name...), typ, m.Value[k])
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
	r.line = append(r.line, `,"s":"t","name":`...)
	if kind == trace.KindInstant && len(args) == 1 && args[0] < uint64(len(w.defs.Strings)) {
		r.line = w.names.appendString(r.line, w.defs, trace.StringID(args[0]))
		r.end()
		return
	}
	r.line = fmt.Appendf(r.line, `"%s","cat":"%s"`, kind, recordCategory)
	r.field("k", uint64(kind))
	if len(args) > 0 {
		r.key("a")
		r.line = append(r.line, '[')
		for j, a := range args {
			if j > 0 {
				r.line = append(r.line, ',')
			}
			r.line = strconv.AppendUint(r.line, a, 10)
		}
		r.line = append(r.line, ']')
	}
	r.end()
}
