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
	w.err = w.pieces.Put(0)
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

	inside bool // a time fits
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
	p.track, p.last, p.named, p.ends, p.inside = track, track.last, p.named[:0], p.ends[:0], false
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
	for _, r := range b.Events {
		track.last = b.Time(r)
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

// write makes the lines.
func (p *piece) write() {
	w := lineWriter{Writer: p.w, p: p, b: &p.batch, line: p.lines[:0]}
	for seq, r := range p.batch.Events {
		w.seq = seq
		switch i := r.First; r.Table {
		case trace.TableFlow:
			w.flow(i)
		case trace.TableP2P:
			w.p2p(i)
		case trace.TableColl:
			w.coll(i)
		case trace.TableMetric:
			w.metric(r)
		default:
			w.other(i)
		}
	}
	p.lines = w.line
}

// A lineWriter writes the events of a batch.
type lineWriter struct {
	*Writer
	p     *piece
	b     *trace.Batch
	line  []byte // all lines so far
	seq   uint64 // of the event at hand
	attrs int    // index of the next row of attributes
	args  int    // length of the lines where args begin; 0: there are none
}

// start begins a line: phase, track and time.
func (w *lineWriter) start(phase byte, time int64) {
	if time < w.p.last {
		w.drop("the order of events whose time runs backwards")
	}
	w.p.last = time
	w.line = append(w.line, ",\n{\"ph\":\""...)
	w.line = append(append(w.line, phase, '"'), w.p.track.text...)
	w.line = w.appendTime(w.line, time)
	w.args = 0
}

// field appends a number to the arguments.
func (w *lineWriter) field(key string, n uint64) {
	w.key(key)
	w.line = strconv.AppendUint(w.line, n, 10)
}

// key appends the key of an argument; the first one opens the arguments.
func (w *lineWriter) key(key string) {
	if w.args == 0 {
		w.line = append(w.line, `,"args":{"`...)
		w.args = len(w.line)
	} else {
		w.line = append(w.line, ',', '"')
	}
	w.line = append(append(w.line, key...), '"', ':')
}

// end writes the attributes and the line.
func (w *lineWriter) end() {
	a, first := &w.b.Attrs, true
	for ; w.attrs < len(a.Seq) && a.Seq[w.attrs] <= w.seq; w.attrs++ {
		if first {
			w.key("attr")
			w.line = append(w.line, '[')
		} else {
			w.line = append(w.line, ',')
		}
		first = false
		w.line = fmt.Appendf(w.line, "[%d,%d,%d]", a.Attribute[w.attrs], a.Type[w.attrs], a.Value[w.attrs])
	}
	if !first {
		w.line = append(w.line, ']')
	}
	if w.args > 0 {
		w.line = append(w.line, '}')
	}
	w.line = append(w.line, '}')
}

func (w *lineWriter) flow(i int) {
	f := &w.b.Flow
	call := callOf(f, i)
	enters := f.Kind[i].Enters()
	switch {
	case int(call.region) >= len(w.names.regions):
		w.drop("a call of a region that is not defined")
		w.skipAttrs()
		return
	case enters:
		w.start('B', f.Time[i])
	default:
		w.start('E', f.Time[i])
	}
	if enters || w.p.named[i] {
		w.name(call.region)
		if call.context != trace.None {
			w.field("ctx", uint64(call.context))
			if enters {
				w.field("unwind", uint64(f.Unwind[i]))
			}
		}
	}
	w.end()
}

// name appends what tells the region.
func (w *lineWriter) name(region trace.RegionID) {
	n := &w.names.regions[region]
	w.line = append(w.line, n.text...)
	if n.argument {
		w.field("r", uint64(region))
	}
}

// skipAttrs passes over the attributes of an event that is not written.
func (w *lineWriter) skipAttrs() {
	for a := &w.b.Attrs; w.attrs < len(a.Seq) && a.Seq[w.attrs] <= w.seq; {
		w.attrs++
	}
}

func (w *lineWriter) p2p(i int) {
	p := &w.b.P2P
	kind := p.Kind[i]
	if !isMessage(kind) {
		w.start('i', p.Time[i])
		w.line = fmt.Appendf(w.line, `,"s":"t","name":"%s","cat":"%s"`, kind, requestCategory)
		w.field("req", p.Request[i])
		w.end()
		return
	}
	// Both ends of a flow must compute the same identifier from what each knows.
	ch, seq := channelOf(p, i, w.p.ends[i].me), w.p.ends[i].seq
	phase, bind := byte('s'), ""
	if ch.recv {
		phase, bind = 'f', `,"bp":"e"`
	}
	w.start(phase, p.Time[i])
	w.line = append(w.line, `,"name":"msg","cat":"`+messageCategory+`","id":`...)
	w.line = append(strconv.AppendUint(w.line, ch.id(seq), 10), bind...)
	w.field("src", uint64(ch.src))
	w.field("dst", uint64(ch.dst))
	w.field("tag", uint64(ch.tag))
	if ch.comm != trace.None {
		w.field("comm", uint64(ch.comm))
	}
	w.field("bytes", p.Bytes[i])
	w.field("seq", seq)
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		w.field("req", p.Request[i])
	}
	w.end()
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

func (w *lineWriter) coll(i int) {
	c := &w.b.Coll
	kind := c.Kind[i]
	w.start('i', c.Time[i])
	w.line = fmt.Appendf(w.line, `,"s":"t","name":"%s","cat":"%s"`, kind, collectiveCategory)
	switch kind {
	case trace.KindNonBlockingCollectiveRequest:
		w.field("req", c.Request[i])
	case trace.KindCollectiveEnd, trace.KindNonBlockingCollectiveComplete:
		w.field("op", uint64(c.Op[i]))
		if c.Comm[i] != trace.None {
			w.field("comm", uint64(c.Comm[i]))
		}
		if c.Root[i] != trace.None {
			w.field("root", uint64(c.Root[i]))
		}
		w.field("sent", c.Sent[i])
		w.field("received", c.Received[i])
		if kind == trace.KindNonBlockingCollectiveComplete {
			w.field("req", c.Request[i])
		}
	}
	w.end()
}

func (w *lineWriter) metric(r trace.Row) {
	m := &w.b.Metric
	w.start('C', m.Time[r.First])
	id := m.Metric[r.First]
	w.line = append(w.line, `,"name":`...)
	w.line = append(w.line, quoted(w.metricName(id))...)
	w.line = append(w.line, `,"id":`...)
	w.line = strconv.AppendUint(w.line, uint64(id), 10)
	members := w.defs.CountersOf(id)
	for k := r.First; k < r.End; k++ {
		name, typ := strconv.Quote(strconv.Itoa(int(m.Member[k])))+":", m.Type[k]
		if n := int(m.Member[k]); n < len(members) && int(members[n]) < len(w.names.members) {
			name, typ = w.names.members[members[n]], w.defs.MetricMembers[members[n]].Value
		}
		if typ != m.Type[k] {
			w.drop("a counter value of another type than its definition")
		}
		if w.args == 0 {
			w.line = append(w.line, `,"args":{`...)
			w.args = len(w.line)
		} else {
			w.line = append(w.line, ',')
		}
		w.line = appendValue(append(w.line, name...), typ, m.Value[k])
	}
	w.end()
}

// metricName returns the name of a metric's first member.
func (w *Writer) metricName(id trace.MetricID) string {
	if m := w.defs.CountersOf(id); len(m) > 0 && int(m[0]) < len(w.defs.MetricMembers) {
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

func (w *lineWriter) other(i int) {
	o := &w.b.Other
	args := o.Args[o.Offset[i]:o.Offset[i+1]]
	kind := o.Kind[i]
	w.start('i', o.Time[i])
	w.line = append(w.line, `,"s":"t","name":`...)
	if kind == trace.KindInstant && len(args) == 1 && args[0] < uint64(len(w.defs.Strings)) {
		w.line = w.names.appendString(w.line, w.defs, trace.StringID(args[0]))
		w.end()
		return
	}
	w.line = fmt.Appendf(w.line, `"%s","cat":"%s"`, kind, recordCategory)
	w.field("k", uint64(kind))
	if len(args) > 0 {
		w.key("a")
		w.line = append(w.line, '[')
		for j, a := range args {
			if j > 0 {
				w.line = append(w.line, ',')
			}
			w.line = strconv.AppendUint(w.line, a, 10)
		}
		w.line = append(w.line, ']')
	}
	w.end()
}
