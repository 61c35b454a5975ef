package paraver

import (
	"strconv"

	"tracekit/trace"
)

// attributes is what an event line says about the call that is entered on it. Extrae puts
// all of it on one line, the call first:
//
//	2:1:1:1:1:5000:50000002:10:50100001:8:50100002:8:50100004:1:70000001:3:80000001:17
//
// enters MPI_Allreduce of 8 bytes on communicator 1 from function 3, line 17.
type attributes struct {
	coll, root     bool // something is said of a collective; this task is its root
	comm           int64
	sent, received uint64                 // bytes
	levels         int                    // of callers
	line           int64                  // source line of a function that is entered
	lineType       uint32                 // event type that tells it
	context        trace.CallingContextID // of the call, if it is told
	own            *ownValues
	crowded        int // values of types that are too many to be counters
}

// pair takes one event of a line: it sorts it by its type's class into operations, numbers
// and attributes. ok is false if a worker does not know it.
func (d *decoder) pair(h *attributes, typ uint32, value int64) (ok bool) {
	i, ok := d.info(typ)
	if !ok {
		return false
	}
	switch i.class {
	case classMPI, classRegion, classInterval:
		if typ == d.tasks && d.main == nil {
			return false
		}
		op := operation{class: i.class, slot: i.index, typ: typ, value: value, region: trace.None}
		if value != 0 {
			if op.region, ok = d.region(typ, i.index, value); !ok {
				return false
			}
		}
		d.ops = append(d.ops, op)
	case classMetric:
		if i.index == trace.None {
			h.crowded++
			return d.mayFind(trace.CodeLimitExceeded)
		}
		d.members, d.values = append(d.members, i.index), append(d.values, uint64(value))
	case classCaller:
		d.level(h, i.index).function = value
	case classCallerLine:
		d.level(h, i.index).line = value
	case classSent:
		h.coll, h.sent = true, uint64(value)
	case classReceived:
		h.coll, h.received = true, uint64(value)
	case classComm:
		h.coll, h.comm = true, value
	case classRoot:
		h.coll, h.root = true, value != 0
	case classLine:
		h.line, h.lineType = value, typ
	case classOwn:
		if h.own == nil {
			h.own = &d.ownValues
			*h.own = ownValues{}
		}
		h.own.set(uint32(i.index), value)
	case classFlush:
		d.ops = append(d.ops, operation{class: i.class, value: value})
		return d.main != nil
	default:
		d.ops = append(d.ops, operation{class: i.class, slot: i.index, typ: typ, value: value})
	}
	return true
}

// level returns the caller of a level of the line.
func (d *decoder) level(h *attributes, level uint32) *callerKey {
	for h.levels <= int(level) {
		d.callers[h.levels] = callerKey{level: h.levels}
		h.levels++
	}
	return &d.callers[level]
}

// idle reports whether a line makes no event and says nothing about a call: what it tells
// belongs to a call that should be entered at its time.
func (d *decoder) idle(l *thread, t int64, h *attributes) bool {
	return len(d.ops)+len(d.values)+h.crowded == 0 && h.own == nil && !d.dialect && !(l.held.on && l.held.time == t)
}

// prepare looks up what the line names and does not change the thread; ok is false if a worker
// does not know all. To give the caller to the right call, it follows what the operations will
// do to the enter that is held.
func (d *decoder) prepare(l *thread, t int64, h *attributes) (ok bool) {
	if d.main == nil && h.own != nil && !d.mayOwn(h.own) {
		return false
	}
	d.sets = d.sets[:0]
	for m := d.members; len(m) > 0; m = m[min(len(m), maxMetricValues):] {
		set, ok := d.set(m[:min(len(m), maxMetricValues)])
		if !ok {
			return false
		}
		d.sets = append(d.sets, set)
	}
	var held held // behind the line
	if l.held.on && l.held.time == t && !d.dialect {
		held = l.held
	}
	for i := range d.ops {
		op := &d.ops[i]
		switch op.class {
		case classMPI:
			held.on, held.region, held.context = op.value != 0, op.region, trace.None
		case classRegion, classInterval:
			held.on, held.region, held.context = op.value != 0 && d.dialect, op.region, trace.None
			if op.value != 0 && h.lineType == op.typ+typeLine && !d.locate(op.region, h) {
				return false
			}
		case classTracing, classProgram:
			held.on = false
		case classLabelled:
			held.on = false
			if op.text, ok = d.text(op); !ok {
				return false
			}
		}
	}
	h.context = trace.None
	if !held.on || held.context != trace.None {
		return true
	}
	for level := range h.levels {
		caller, ok := d.caller(d.callers[level])
		if !ok {
			return false
		}
		if caller != trace.None {
			h.context, ok = d.context(contextKey{held.region, caller})
			return ok
		}
	}
	return true
}

// apply puts what an event line says into the streams: the numbers first, which count up
// to the event, then what is entered and left.
func (d *decoder) apply(l *thread, t int64, h *attributes) {
	if l.fresh {
		l.fresh, l.begin = false, t
	}
	if l.held.on && (l.held.time != t || d.dialect) {
		d.release(l)
	}
	d.metrics(l, t)
	for i := range d.ops {
		d.operate(l, t, &d.ops[i])
	}
	if h.own != nil {
		d.own(l, t, h.own)
	}
	if !l.held.on {
		return
	}
	if h.coll && !d.dialect {
		d.describe(&l.held, h)
	}
	if l.held.context == trace.None {
		l.held.context = h.context
	}
}

// describe adds what is said of a collective to the enter that is held.
func (d *decoder) describe(c *held, h *attributes) {
	c.coll, c.root = true, c.root || h.root
	c.sent, c.received = c.sent+h.sent, c.received+h.received
	if h.comm != 0 {
		c.comm = d.comms.find(h.comm)
	}
}

// maxMetricValues is how many values a metric event can hold.
const maxMetricValues = 255

// metrics adds the numbers of a line, as one event if they are not too many.
func (d *decoder) metrics(l *thread, t int64) {
	values := d.values
	for _, set := range d.sets {
		n := min(len(values), maxMetricValues)
		if set != nil {
			l.events.AddMetric(t, set.id, set.types, values[:n])
		} else {
			d.find(trace.CodeLimitExceeded, "more than %d different sets of counters", maxMeters)
		}
		values = values[n:]
	}
}

// region returns the region that a value of an event type enters; ok is false if a worker
// sees it first.
func (d *decoder) region(typ, slot uint32, value int64) (id trace.RegionID, ok bool) {
	if id, ok = d.names.known(typ, value); ok {
		return id, true
	}
	if d.main == nil {
		return trace.None, false
	}
	return d.names.region(d.pcf, typ, slot, value), true
}

// locate gives a region the source line that its first enter names; it returns false if a
// worker would have to.
func (d *decoder) locate(region trace.RegionID, h *attributes) bool {
	def := &d.defs.Regions[region]
	if def.BeginLine != 0 {
		return true
	}
	label, _ := d.pcf.label(h.lineType, h.line)
	l, ok := lineLabel(label)
	if !ok {
		return true
	}
	if d.main == nil {
		return false
	}
	def.File, def.BeginLine = d.names.text(l.file), l.line
	return true
}

// text returns the names of a moment's type and value; ok is false if a worker sees them
// first. A value without a name is told by its number, as long as there are not too many.
func (d *decoder) text(op *operation) (name trace.StringID, ok bool) {
	k := regionKey{op.typ, op.value}
	if name, ok = d.instants[k]; ok || d.main == nil {
		return name, ok
	}
	label, known := d.pcf.label(op.typ, op.value)
	switch {
	case !known && len(d.instants) >= maxRegions:
		d.names.lost++
		label = "other value"
	case !known:
		label = strconv.FormatInt(op.value, 10)
	}
	if d.pcf.typeLabel(op.typ) != instantsLabel {
		label = d.pcf.typeLabel(op.typ) + ": " + label
	}
	name = d.names.text(label)
	if len(d.instants) < 2*maxRegions {
		d.instants[k] = name
	}
	return name, true
}
