package tracetest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracekit/trace"
)

// names says how regions and communicators are named in events: by name if that is
// theirs alone, else by number.
type names struct {
	regions, comms   []string
	regionIDs        map[string]trace.RegionID
	commIDs          map[string]trace.CommID
	ambiguousRegions map[string]bool
}

const commPrefix = "MPI_COMM_"

// newNames finds the names that are unambiguous. Communicators lose their prefix
// first, so MPI_COMM_X and X are ambiguous.
func newNames(d *trace.Defs) *names {
	n := &names{regionIDs: make(map[string]trace.RegionID), commIDs: make(map[string]trace.CommID), ambiguousRegions: make(map[string]bool)}
	for i, r := range d.Regions {
		n.addRegion(d.String(r.Name), trace.RegionID(i))
	}
	ambiguous := make(map[string]bool)
	for i, c := range d.Comms {
		name := strings.TrimPrefix(d.String(c.Name), commPrefix)
		if _, ok := n.commIDs[name]; ok {
			ambiguous[name] = true
		}
		n.commIDs[name] = trace.CommID(i)
	}
	for name := range ambiguous {
		delete(n.commIDs, name)
	}
	for i, r := range d.Regions {
		n.regions = append(n.regions, nameOrNumber(n.regionIDs, d.String(r.Name), i))
	}
	for i, c := range d.Comms {
		n.comms = append(n.comms, nameOrNumber(n.commIDs, strings.TrimPrefix(d.String(c.Name), commPrefix), i))
	}
	return n
}

func (n *names) addRegion(name string, id trace.RegionID) {
	if _, ok := n.regionIDs[name]; ok || n.ambiguousRegions[name] {
		n.ambiguousRegions[name] = true
		delete(n.regionIDs, name)
		return
	}
	n.regionIDs[name] = id
}

func nameOrNumber[T comparable](ids map[string]T, name string, i int) string {
	if _, ok := ids[name]; ok && name != "" {
		return quote(name)
	}
	return strconv.Itoa(i)
}

// ref names a definition; one that does not exist has its number only.
func ref(names []string, id uint32) string {
	if int(id) < len(names) {
		return names[id]
	}
	return idText(id)
}

// An eventWriter writes the events of one location. A line ends before an Enter and after
// a Leave, and is indented by the depth of the call path.
type eventWriter struct {
	out   *strings.Builder
	defs  *trace.Defs
	names *names
	depth int
	open  bool // a line is begun
	attr  int  // rows of the batch's attributes that are written
}

// batch writes the events of a batch that passes Check.
func (e *eventWriter) batch(b *trace.Batch) {
	e.attr = 0
	for seq, r := range b.Events {
		switch r.Table {
		case trace.TableFlow:
			e.flow(&b.Flow, r.First)
		case trace.TableP2P:
			e.p2p(&b.P2P, r.First)
		case trace.TableColl:
			e.coll(&b.Coll, r.First)
		case trace.TableMetric:
			e.metric(&b.Metric, r)
		default:
			e.other(&b.Other, r.First)
		}
		e.attributes(&b.Attrs, seq)
		if r.Table == trace.TableFlow && !b.Flow.Kind[r.First].Enters() {
			e.end()
		}
	}
}

// end finishes the line.
func (e *eventWriter) end() {
	if e.open {
		e.out.WriteString("\n")
	}
	e.open = false
}

const maxIndent = 20 // levels; deeper call paths stay there

// event begins an event, on a new line or on the one that is begun.
func (e *eventWriter) event(time int64, kind trace.Kind) {
	if e.open {
		e.out.WriteString(" ; ")
	} else {
		e.out.WriteString(strings.Repeat("  ", 1+max(0, min(e.depth, maxIndent))))
	}
	e.open = true
	e.out.WriteString(strconv.FormatInt(time, 10))
	e.out.WriteString(" " + kind.String())
}

// key writes a key whose value is not the one that is left out.
func (e *eventWriter) key(key string, v, def uint64) {
	if s := numberText(v, def); s != "" {
		e.out.WriteString(" " + key + "=" + s)
	}
}

// flow: a Leave stands one level further out, as its Enter does.
func (e *eventWriter) flow(f *trace.Flow, i int) {
	if f.Kind[i].Enters() {
		e.end()
	} else {
		e.depth--
	}
	e.event(f.Time[i], f.Kind[i])
	e.out.WriteString(" " + ref(e.names.regions, uint32(f.Region[i])))
	if len(f.Context) > 0 {
		e.key("context", uint64(f.Context[i]), trace.None)
		e.key("unwind", uint64(f.Unwind[i]), 0)
	}
	if f.Kind[i].Enters() {
		e.depth++
	}
}

// namesMessage reports whether a kind's record names peer, communicator, tag and bytes.
func namesMessage(k trace.Kind) bool {
	return k == trace.KindMpiSend || k == trace.KindMpiIsend || k == trace.KindMpiRecv || k == trace.KindMpiIrecv
}

// peerKey is the key of the peer.
func peerKey(k trace.Kind) string {
	if k == trace.KindMpiRecv || k == trace.KindMpiIrecv {
		return "from"
	}
	return "to"
}

// defaultComm is the communicator that is left out.
func defaultComm(named bool) trace.CommID {
	if named {
		return 0
	}
	return trace.None
}

func (e *eventWriter) p2p(p *trace.P2P, i int) {
	e.event(p.Time[i], p.Kind[i])
	e.key(peerKey(p.Kind[i]), uint64(p.Peer[i]), trace.None)
	e.comm(p.Comm[i], defaultComm(namesMessage(p.Kind[i])))
	e.key("tag", uint64(p.Tag[i]), 0)
	e.key("bytes", p.Bytes[i], 0)
	e.key("req", p.Request[i], 0)
}

func (e *eventWriter) comm(c, def trace.CommID) {
	if c != def {
		e.out.WriteString(" comm=" + ref(e.names.comms, uint32(c)))
	}
}

// namesCollective reports whether a kind's record names operation and communicator.
func namesCollective(k trace.Kind) bool {
	return k == trace.KindCollectiveEnd || k == trace.KindNonBlockingCollectiveComplete
}

func (e *eventWriter) coll(c *trace.Coll, i int) {
	e.event(c.Time[i], c.Kind[i])
	named := namesCollective(c.Kind[i])
	switch {
	case named && c.Op[i] <= lastOp:
		e.out.WriteString(" " + c.Op[i].String())
	case named || c.Op[i] != 0:
		fmt.Fprintf(e.out, " op=%d", c.Op[i])
	}
	e.comm(c.Comm[i], defaultComm(named))
	if c.Root[i] != trace.RootNone {
		e.out.WriteString(" root=" + rootText(c.Root[i]))
	}
	e.key("sent", c.Sent[i], 0)
	e.key("received", c.Received[i], 0)
	e.key("req", c.Request[i], 0)
}

// lastOp is the last of the operations that have names.
const lastOp = trace.CollDestroyHandleAndDeallocate

// rootText: a root is a rank or one of MPI's special values.
func rootText(root uint32) string {
	switch root {
	case trace.RootSelf:
		return "self"
	case trace.RootThisGroup:
		return "thisgroup"
	}
	return idText(root)
}

// metric writes all values of one event.
func (e *eventWriter) metric(m *trace.MetricValues, r trace.Row) {
	for i := r.First; i < r.End; i++ {
		if i == r.First {
			e.event(m.Time[i], trace.KindMetric)
			e.out.WriteString(" " + idText(uint32(m.Metric[i])))
		}
		e.out.WriteString(" " + valueText(m.Type[i], m.Value[i]))
	}
}

func (e *eventWriter) other(o *trace.Other, i int) {
	e.event(o.Time[i], o.Kind[i])
	for _, a := range o.Args[o.Offset[i]:o.Offset[i+1]] {
		e.out.WriteString(" " + strconv.FormatUint(a, 10))
	}
}

func (e *eventWriter) attributes(a *trace.Attrs, seq uint64) {
	for ; e.attr < len(a.Seq) && a.Seq[e.attr] == seq; e.attr++ {
		i := e.attr
		e.out.WriteString(" attr=" + idText(uint32(a.Attribute[i])) + ":" + valueText(a.Type[i], a.Value[i]))
	}
}

var typeNames = []string{"none", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
	"float", "double", "string"}

// valueText writes TYPE:VALUE: signed types with their sign, doubles as such if that
// gives the same bits again, all others as unsigned numbers.
func valueText(t trace.ValueType, v uint64) string {
	name := strconv.Itoa(int(t))
	if int(t) < len(typeNames) {
		name = typeNames[t]
	}
	switch {
	case t >= trace.TypeInt8 && t <= trace.TypeInt64:
		return name + ":" + strconv.FormatInt(int64(v), 10)
	case t == trace.TypeDouble:
		if f := math.Float64frombits(v); !math.IsNaN(f) {
			return name + ":" + strconv.FormatFloat(f, 'g', -1, 64)
		}
		return name + ":0x" + strconv.FormatUint(v, 16)
	}
	return name + ":" + strconv.FormatUint(v, 10)
}
