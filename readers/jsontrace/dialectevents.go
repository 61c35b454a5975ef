package jsontrace

import (
	"fmt"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// recordArgs are the members of the arguments that the dialect uses, raw.
type recordArgs struct {
	region, context, unwind, kind, list, op, comm, root, sent, received, req, attrs []byte
	message                                                                         messageArgs
}

func readRecordArgs(args []byte) (a recordArgs) {
	if args == nil {
		return a
	}
	a.message = readMessageArgs(args)
	a.comm, a.req = a.message.comm, a.message.req
	members(args, func(key, value []byte) bool {
		switch string(key) {
		case "r":
			a.region = value
		case "ctx":
			a.context = value
		case "unwind":
			a.unwind = value
		case "k":
			a.kind = value
		case "a":
			a.list = value
		case "op":
			a.op = value
		case "root":
			a.root = value
		case "sent":
			a.sent = value
		case "received":
			a.received = value
		case "attr":
			a.attrs = value
		}
		return true
	})
	return a
}

// event takes any event but M.
func (d *dialect) event(f *file, l *track, ev *event, at int64) {
	time := d.ticks(ev.time)
	// The order of the file is that of recording, also at equal times.
	a := readRecordArgs(ev.args)
	l.Stream.Tie = nest.TieFile
	if a.attrs != nil {
		d.attributes(l, a.attrs)
	}
	ok := true
	switch {
	case ev.phase == 'B':
		ok = d.enter(l, ev, time, &a)
	case ev.phase == 'E':
		ok = d.leave(f, l, ev, time, at, &a)
	case ev.phase == 'C':
		ok = d.counter(l, ev, time)
	case (ev.phase == 's' || ev.phase == 'f') && string(ev.cat) == messageCategory:
		ok = d.message(l, ev, time, &a)
	case ev.phase == 'i':
		ok = d.instant(l, ev, time, &a)
	default:
		ok = false
	}
	if !ok {
		f.find(trace.CodeBadValue, at, fmt.Sprintf("an event of phase %q that says what tracekit does not write", ev.phase))
	}
}

// attributes attaches attributes, triples of number, type and value, to the next event.
func (d *dialect) attributes(l *track, list []byte) {
	n := 0
	elements(list, func(triple []byte) bool {
		var v [3]uint64
		i := 0
		elements(triple, func(x []byte) bool {
			if i < 3 {
				v[i] = number(x)
			}
			i++
			return true
		})
		if n++; i == 3 && v[0] < uint64(len(d.Defs.Attributes)) && v[1] < 256 && n < 256 {
			l.Stream.AddAttr(trace.AttributeID(v[0]), trace.ValueType(v[1]), v[2])
		}
		return true
	})
}

// region returns the region that name and category, or the argument r, name.
func (d *dialect) region(ev *event, a *recordArgs) (trace.RegionID, bool) {
	if a.region != nil {
		n := number(a.region)
		return trace.RegionID(n), n < uint64(len(d.Defs.Regions))
	}
	d.scratch = append(append(append(d.scratch[:0], ev.name...), 0), ev.cat...)
	if id, ok := d.byRaw[string(d.scratch)]; ok {
		return id, true
	}
	id, ok := d.byName[unescape(ev.name)+"\x00"+string(ev.cat)]
	if ok && len(d.byRaw) < 2*len(d.byName) {
		d.byRaw[string(d.scratch)] = id
	}
	return id, ok
}

func (d *dialect) enter(l *track, ev *event, time int64, a *recordArgs) bool {
	id, ok := d.region(ev, a)
	if !ok {
		return false
	}
	c := openCall{id, trace.None}
	if a.context == nil {
		l.Stream.AddFlow(time, trace.KindEnter, id)
	} else {
		c.context = trace.CallingContextID(number(a.context))
		l.Stream.AddContext(time, trace.KindCallingContextEnter, id, c.context, uint32(number(a.unwind)))
	}
	l.open = append(l.open, c)
	return true
}

// leave takes an E. One without a name leaves what was entered last.
func (d *dialect) leave(f *file, l *track, ev *event, time, at int64, a *recordArgs) bool {
	c := openCall{context: trace.None}
	top := len(l.open) - 1
	switch {
	case ev.name != nil || a.region != nil:
		id, ok := d.region(ev, a)
		if !ok {
			return false
		}
		if c.region = id; a.context != nil {
			c.context = trace.CallingContextID(number(a.context))
		}
	case top >= 0:
		c = l.open[top]
	default:
		f.find(trace.CodeUnmatchedLeave, at, "an E without B")
		return true
	}
	if top >= 0 {
		l.open = l.open[:top]
	}
	if c.context == trace.None {
		l.Stream.AddFlow(time, trace.KindLeave, c.region)
	} else {
		l.Stream.AddContext(time, trace.KindCallingContextLeave, c.region, c.context, 0)
	}
	return true
}

// counter takes a C, whose id is the number of the metric and whose arguments are its
// members in order.
func (d *dialect) counter(l *track, ev *event, time int64) bool {
	id, ok := integer(text(ev.id))
	if !ok || id < 0 || id >= int64(len(d.Defs.Metrics)) {
		return false
	}
	counters := d.Defs.CountersOf(trace.MetricID(id))
	d.types, d.values = d.types[:0], d.values[:0]
	members(ev.args, func(key, value []byte) bool {
		if value[0] == '[' || len(d.values) >= len(counters) || len(d.values) == seriesLimit {
			return true
		}
		typ := trace.TypeDouble
		if i := counters[len(d.values)]; int(i) < len(d.Defs.MetricMembers) {
			typ = d.Defs.MetricMembers[i].Value
		}
		d.types, d.values = append(d.types, typ), append(d.values, typedValue(typ, text(value)))
		return true
	})
	if len(d.values) == 0 {
		return false
	}
	l.Stream.AddMetric(time, trace.MetricID(id), d.types, d.values)
	return true
}

// typedValue returns the bits of a number of that type.
func typedValue(typ trace.ValueType, s []byte) uint64 {
	got, v, _ := counterValue(s)
	return nest.Converted(typ, got, v)
}

func (d *dialect) message(l *track, ev *event, time int64, a *recordArgs) bool {
	comm, ok := d.comm(a.comm)
	if !ok || a.message.src == nil || a.message.dst == nil {
		return false
	}
	row, _ := a.message.row(ev, uint32(comm))
	row.Time = time
	l.Stream.AddP2P(row)
	return true
}

// comm returns the communicator of that number; none is None.
func (d *dialect) comm(s []byte) (trace.CommID, bool) {
	if s == nil {
		return trace.None, true
	}
	n := number(s)
	return trace.CommID(n), n < uint64(len(d.Defs.Comms))
}

// instant takes an i: a record without a phase of its own, or a named moment.
func (d *dialect) instant(l *track, ev *event, time int64, a *recordArgs) bool {
	switch string(ev.cat) {
	case requestCategory:
		kind, ok := trace.KindByName(string(ev.name))
		if !ok || kind.Table() != trace.TableP2P {
			return false
		}
		l.Stream.AddRequest(time, kind, number(a.req))
	case collectiveCategory:
		return d.collective(l, ev, time, a)
	case recordCategory:
		return d.other(l, time, a)
	default:
		id, ok := d.strings[unescape(ev.name)]
		if !ok {
			return false
		}
		l.Stream.AddOther(time, trace.KindInstant, uint64(id))
	}
	return true
}

func (d *dialect) collective(l *track, ev *event, time int64, a *recordArgs) bool {
	kind, ok := trace.KindByName(string(ev.name))
	comm, found := d.comm(a.comm)
	if !ok || !found || kind.Table() != trace.TableColl {
		return false
	}
	row := trace.CollRow{Time: time, Kind: kind, Op: trace.CollectiveOp(number(a.op)), Comm: comm,
		Root: trace.None, Sent: number(a.sent), Received: number(a.received), Request: number(a.req)}
	if a.root != nil {
		row.Root = uint32(number(a.root))
	}
	l.Stream.AddColl(row)
	return true
}

// otherLimit is the number of arguments that a record can have.
const otherLimit = 60000

func (d *dialect) other(l *track, time int64, a *recordArgs) bool {
	kind := number(a.kind)
	if a.kind == nil || kind > 255 || trace.Kind(kind).Table() != trace.TableOther {
		return false
	}
	d.values = d.values[:0]
	elements(a.list, func(v []byte) bool {
		d.values = append(d.values, number(v))
		return len(d.values) < otherLimit
	})
	l.Stream.AddOther(time, trace.Kind(kind), d.values...)
	return true
}
