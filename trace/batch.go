package trace

// A TableID names one of the tables of a Batch.
type TableID uint8

// The tables: those of events, and that of their attributes.
const (
	TableFlow   TableID = iota // enter and leave
	TableP2P                   // point-to-point communication
	TableColl                  // collective communication
	TableMetric                // counters
	TableOther                 // everything else
	TableAttrs                 // attributes, which belong to events of the tables above
)

// Tables is the number of tables.
const Tables = int(TableAttrs) + 1

// String returns the table's name.
func (t TableID) String() string {
	return enumName([]string{"flow", "p2p", "coll", "metric", "other", "attrs"}, int(t))
}

// A Batch holds consecutive events of one location in several narrow tables. Its slices
// belong to whoever delivers it and are valid only until the next one is asked for.
//
//	len(Order) events with the sequence numbers First, First+1, …
//	Order[i] says in which table event First+i is; each table is ascending in Seq
//	the columns of a table have one length (Metric: one row per value; Other: see there)
//	Time is the recorded (raw) tick; it does not decrease within a location of a sound trace
type Batch struct {
	Location LocationID
	First    uint64
	Order    []TableID

	Flow   Flow
	P2P    P2P
	Coll   Coll
	Metric MetricValues
	Other  Other
	Attrs  Attrs
}

// Flow holds the enter and leave events. Context and Unwind are empty unless some event
// of the batch has a calling context.
type Flow struct {
	Seq     []uint64
	Time    []int64
	Kind    []Kind
	Region  []RegionID
	Context []CallingContextID
	Unwind  []uint32
}

// P2P holds the point-to-point events. Peer is the rank in the communicator (for
// intercommunicators: in the other group). The events that name only a request
// (MpiIsendComplete, MpiIrecvRequest, MpiRequestTest, MpiRequestCancelled) have None in
// Peer and Comm and 0 in Tag and Bytes; blocking events have 0 in Request.
type P2P struct {
	Seq     []uint64
	Time    []int64
	Kind    []Kind
	Peer    []uint32
	Comm    []CommID
	Tag     []uint32
	Bytes   []uint64
	Request []uint64
}

// Coll holds the collective events. MpiCollectiveBegin has None in Comm and Root;
// NonBlockingCollectiveRequest likewise, with its Request.
type Coll struct {
	Seq      []uint64
	Time     []int64
	Kind     []Kind
	Op       []CollectiveOp
	Comm     []CommID
	Root     []uint32
	Sent     []uint64
	Received []uint64
	Request  []uint64
}

// MetricValues holds one row per counter value; the rows of one event share Seq. Member is
// the value's position in the metric. Value holds the bits of a uint64, int64 or float64
// according to Type. An event without values has one row, of TypeNone with the value 0.
type MetricValues struct {
	Seq    []uint64
	Time   []int64
	Metric []MetricID
	Member []uint8
	Type   []ValueType
	Value  []uint64
}

// Other holds the events that have no table of their own. The arguments of event i are
// Args[Offset[i]:Offset[i+1]], in the order of OTF2's record tables, references as in
// the file (after its mapping tables); signed arguments are in two's complement.
// len(Offset) is len(Seq)+1, or 0 if the table is empty.
type Other struct {
	Seq    []uint64
	Time   []int64
	Kind   []Kind
	Offset []int32
	Args   []uint64
}

// Attrs holds the attributes that events carry; Seq is the sequence number of the event.
type Attrs struct {
	Seq       []uint64
	Attribute []AttributeID
	Type      []ValueType
	Value     []uint64
}

// Len returns the number of events.
func (b *Batch) Len() int { return len(b.Order) }

// A Row says where an event stands: in rows First to End-1 of a table, which are several
// for a metric event of several values only.
type Row struct {
	Table      TableID
	First, End int
}

// Events iterates over the events in recorded order, with their sequence numbers.
func (b *Batch) Events(yield func(seq uint64, r Row) bool) {
	var next [TableAttrs]int
	for i, table := range b.Order {
		r := Row{Table: table, First: next[table]}
		if r.End = r.First + 1; table == TableMetric {
			r.End = b.MetricEnd(r.First, b.First+uint64(i))
		}
		next[table] = r.End
		if !yield(b.First+uint64(i), r) {
			return
		}
	}
}

// MetricEnd returns the end of the values of a metric event, which begin in row i.
func (b *Batch) MetricEnd(i int, seq uint64) int {
	for i < len(b.Metric.Seq) && b.Metric.Seq[i] == seq {
		i++
	}
	return i
}

// Time returns the recorded time of the event in a row.
func (b *Batch) Time(r Row) int64 {
	switch r.Table {
	case TableFlow:
		return b.Flow.Time[r.First]
	case TableP2P:
		return b.P2P.Time[r.First]
	case TableColl:
		return b.Coll.Time[r.First]
	case TableMetric:
		return b.Metric.Time[r.First]
	}
	return b.Other.Time[r.First]
}

// SetTime sets the time of the event in a row: of all values of a metric.
func (b *Batch) SetTime(r Row, time int64) {
	switch r.Table {
	case TableFlow:
		b.Flow.Time[r.First] = time
	case TableP2P:
		b.P2P.Time[r.First] = time
	case TableColl:
		b.Coll.Time[r.First] = time
	case TableMetric:
		for i := r.First; i < r.End; i++ {
			b.Metric.Time[i] = time
		}
	default:
		b.Other.Time[r.First] = time
	}
}

// Reset empties the batch for the events of location from first on and keeps its memory.
func (b *Batch) Reset(location LocationID, first uint64) {
	b.Location, b.First, b.Order = location, first, b.Order[:0]
	f, p, c, m, o, a := &b.Flow, &b.P2P, &b.Coll, &b.Metric, &b.Other, &b.Attrs
	f.Seq, f.Time, f.Kind, f.Region = f.Seq[:0], f.Time[:0], f.Kind[:0], f.Region[:0]
	f.Context, f.Unwind = f.Context[:0], f.Unwind[:0]
	p.Seq, p.Time, p.Kind, p.Peer = p.Seq[:0], p.Time[:0], p.Kind[:0], p.Peer[:0]
	p.Comm, p.Tag, p.Bytes, p.Request = p.Comm[:0], p.Tag[:0], p.Bytes[:0], p.Request[:0]
	c.Seq, c.Time, c.Kind, c.Op, c.Comm = c.Seq[:0], c.Time[:0], c.Kind[:0], c.Op[:0], c.Comm[:0]
	c.Root, c.Sent, c.Received, c.Request = c.Root[:0], c.Sent[:0], c.Received[:0], c.Request[:0]
	m.Seq, m.Time, m.Metric, m.Member = m.Seq[:0], m.Time[:0], m.Metric[:0], m.Member[:0]
	m.Type, m.Value = m.Type[:0], m.Value[:0]
	o.Seq, o.Time, o.Kind, o.Offset, o.Args = o.Seq[:0], o.Time[:0], o.Kind[:0], o.Offset[:0], o.Args[:0]
	a.Seq, a.Attribute, a.Type, a.Value = a.Seq[:0], a.Attribute[:0], a.Type[:0], a.Value[:0]
}

// copyTable makes the location and a table those of another batch; the table keeps its memory.
func (b *Batch) copyTable(from *Batch, t TableID) {
	b.Location = from.Location
	switch t {
	case TableFlow:
		x, y := &b.Flow, &from.Flow
		*x = Flow{again(x.Seq, y.Seq), again(x.Time, y.Time), again(x.Kind, y.Kind), again(x.Region, y.Region),
			again(x.Context, y.Context), again(x.Unwind, y.Unwind)}
	case TableP2P:
		x, y := &b.P2P, &from.P2P
		*x = P2P{again(x.Seq, y.Seq), again(x.Time, y.Time), again(x.Kind, y.Kind), again(x.Peer, y.Peer),
			again(x.Comm, y.Comm), again(x.Tag, y.Tag), again(x.Bytes, y.Bytes), again(x.Request, y.Request)}
	case TableColl:
		x, y := &b.Coll, &from.Coll
		*x = Coll{again(x.Seq, y.Seq), again(x.Time, y.Time), again(x.Kind, y.Kind), again(x.Op, y.Op), again(x.Comm, y.Comm),
			again(x.Root, y.Root), again(x.Sent, y.Sent), again(x.Received, y.Received), again(x.Request, y.Request)}
	case TableMetric:
		x, y := &b.Metric, &from.Metric
		*x = MetricValues{again(x.Seq, y.Seq), again(x.Time, y.Time), again(x.Metric, y.Metric),
			again(x.Member, y.Member), again(x.Type, y.Type), again(x.Value, y.Value)}
	case TableOther:
		x, y := &b.Other, &from.Other
		*x = Other{again(x.Seq, y.Seq), again(x.Time, y.Time), again(x.Kind, y.Kind), again(x.Offset, y.Offset), again(x.Args, y.Args)}
	case TableAttrs:
		x, y := &b.Attrs, &from.Attrs
		*x = Attrs{again(x.Seq, y.Seq), again(x.Attribute, y.Attribute), again(x.Type, y.Type), again(x.Value, y.Value)}
	}
}

// Copy makes the batch equal to another and keeps its memory.
func (b *Batch) Copy(from *Batch) {
	b.First, b.Order = from.First, again(b.Order, from.Order)
	for t := range TableID(Tables) {
		b.copyTable(from, t)
	}
}

// again returns a copy of a slice in the memory of an old one.
func again[T any](old, from []T) []T { return append(old[:0], from...) }

func (b *Batch) next(t TableID) uint64 {
	seq := b.First + uint64(len(b.Order))
	b.Order = append(b.Order, t)
	return seq
}

// AddFlow appends an Enter or Leave event without a calling context.
func (b *Batch) AddFlow(time int64, kind Kind, region RegionID) {
	f := &b.Flow
	f.Seq = append(f.Seq, b.next(TableFlow))
	f.Time = append(f.Time, time)
	f.Kind = append(f.Kind, kind)
	f.Region = append(f.Region, region)
	if len(f.Context) > 0 {
		f.Context = append(f.Context, None)
		f.Unwind = append(f.Unwind, 0)
	}
}

// AddContext appends a CallingContextEnter or CallingContextLeave event; region is that
// of the context. Unwind is the number of contexts that stay from the one before (OTF2's
// unwind distance; 0 on leave).
func (b *Batch) AddContext(time int64, kind Kind, region RegionID, context CallingContextID, unwind uint32) {
	f := &b.Flow
	for len(f.Context) < len(f.Seq) {
		f.Context = append(f.Context, None)
		f.Unwind = append(f.Unwind, 0)
	}
	f.Seq = append(f.Seq, b.next(TableFlow))
	f.Time = append(f.Time, time)
	f.Kind = append(f.Kind, kind)
	f.Region = append(f.Region, region)
	f.Context = append(f.Context, context)
	f.Unwind = append(f.Unwind, unwind)
}

// A P2PRow is one row of the P2P table without its sequence number.
type P2PRow struct {
	Time    int64
	Kind    Kind
	Peer    uint32
	Comm    CommID
	Tag     uint32
	Bytes   uint64
	Request uint64
}

// AddP2P appends a point-to-point event.
func (b *Batch) AddP2P(r P2PRow) {
	p := &b.P2P
	p.Seq = append(p.Seq, b.next(TableP2P))
	p.Time = append(p.Time, r.Time)
	p.Kind = append(p.Kind, r.Kind)
	p.Peer = append(p.Peer, r.Peer)
	p.Comm = append(p.Comm, r.Comm)
	p.Tag = append(p.Tag, r.Tag)
	p.Bytes = append(p.Bytes, r.Bytes)
	p.Request = append(p.Request, r.Request)
}

// AddRequest appends a point-to-point event that names only a request.
func (b *Batch) AddRequest(time int64, kind Kind, request uint64) {
	b.AddP2P(P2PRow{Time: time, Kind: kind, Peer: None, Comm: None, Request: request})
}

// A CollRow is one row of the Coll table without its sequence number.
type CollRow struct {
	Time           int64
	Kind           Kind
	Op             CollectiveOp
	Comm           CommID
	Root           uint32
	Sent, Received uint64
	Request        uint64
}

// AddColl appends a collective event.
func (b *Batch) AddColl(r CollRow) {
	c := &b.Coll
	c.Seq = append(c.Seq, b.next(TableColl))
	c.Time = append(c.Time, r.Time)
	c.Kind = append(c.Kind, r.Kind)
	c.Op = append(c.Op, r.Op)
	c.Comm = append(c.Comm, r.Comm)
	c.Root = append(c.Root, r.Root)
	c.Sent = append(c.Sent, r.Sent)
	c.Received = append(c.Received, r.Received)
	c.Request = append(c.Request, r.Request)
}

// AddMetric appends a metric event with its values (at most 255) of the given types.
func (b *Batch) AddMetric(time int64, metric MetricID, types []ValueType, values []uint64) {
	seq, m := b.next(TableMetric), &b.Metric
	if len(values) == 0 {
		types, values = []ValueType{TypeNone}, []uint64{0}
	}
	for i, v := range values {
		m.Seq = append(m.Seq, seq)
		m.Time = append(m.Time, time)
		m.Metric = append(m.Metric, metric)
		m.Member = append(m.Member, uint8(i))
		m.Type = append(m.Type, types[i])
		m.Value = append(m.Value, v)
	}
}

// AddOther appends an event of a kind without a table of its own.
func (b *Batch) AddOther(time int64, kind Kind, args ...uint64) {
	b.Other.Args = append(b.Other.Args, args...)
	b.Other.End(b.next(TableOther), time, kind)
}

// End ends an event whose arguments were appended to Args.
func (o *Other) End(seq uint64, time int64, kind Kind) {
	if len(o.Offset) == 0 {
		o.Offset = append(o.Offset, 0)
	}
	o.Seq = append(o.Seq, seq)
	o.Time = append(o.Time, time)
	o.Kind = append(o.Kind, kind)
	o.Offset = append(o.Offset, int32(len(o.Args)))
}

// AddAttr attaches an attribute to the event that is appended next.
func (b *Batch) AddAttr(attribute AttributeID, typ ValueType, value uint64) {
	a := &b.Attrs
	a.Seq = append(a.Seq, b.First+uint64(len(b.Order)))
	a.Attribute = append(a.Attribute, attribute)
	a.Type = append(a.Type, typ)
	a.Value = append(a.Value, value)
}
