package paraver

import (
	"strconv"

	"tracekit/trace"
)

// attributes is what an event line says about the call that is entered on it.
type attributes struct {
	coll, root     bool
	comm           int64
	sent, received uint64
	levels         int // of callers
	line           int64
	lineType       uint32
	own            *ownValues
}

// pair takes one event of a line.
func (r *reading) pair(h *attributes, typ uint32, value int64) {
	i := r.types.info(typ)
	switch i.class {
	case classMPI, classRegion:
		op := operation{class: i.class, slot: i.index, typ: typ, value: value, region: trace.None}
		if value != 0 {
			op.region = r.names.region(r.pcf, typ, i.index, value)
		}
		r.types.slots[i.index].used = true
		r.ops = append(r.ops, op)
	case classMetric:
		if i.index != trace.None {
			r.members, r.values = append(r.members, i.index), append(r.values, uint64(value))
		}
	case classCaller:
		r.level(h, i.index).function = value
	case classCallerLine:
		r.level(h, i.index).line = value
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
			h.own = &r.ownValues
			*h.own = ownValues{}
		}
		h.own[i.index] = value
	default:
		r.ops = append(r.ops, operation{class: i.class, slot: i.index, typ: typ, value: value})
	}
}

// level returns the caller of a level of the line.
func (r *reading) level(h *attributes, level uint32) *callerKey {
	for h.levels <= int(level) {
		r.callers[h.levels] = callerKey{level: h.levels}
		h.levels++
	}
	return &r.callers[level]
}

// apply puts what an event line says into the streams: the numbers first, which count up
// to the event, then what is entered and left.
func (r *reading) apply(l *lane, t int64, h *attributes) {
	if l.held.on && (l.held.time != t || r.dialect) {
		r.release(l)
	}
	r.metrics(l, t)
	for i := range r.ops {
		r.operate(l, t, &r.ops[i], h)
	}
	if h.own != nil {
		r.own(l, t, h.own)
	}
	if !l.held.on {
		return
	}
	if h.coll && !r.dialect {
		r.describe(&l.held, h)
	}
	for level := 0; level < h.levels && l.held.caller == trace.None; level++ {
		l.held.caller = r.sites.caller(r.callers[level])
	}
}

// describe adds what is said of a collective to the enter that is held.
func (r *reading) describe(c *held, h *attributes) {
	c.coll, c.root = true, c.root || h.root
	c.sent, c.received = c.sent+h.sent, c.received+h.received
	if h.comm != 0 {
		c.comm = r.comms.find(h.comm)
	}
}

// maxMetricValues is how many values a metric event can hold.
const maxMetricValues = 255

// metrics adds the numbers of a line as one event.
func (r *reading) metrics(l *lane, t int64) {
	for len(r.members) > 0 {
		n := min(len(r.members), maxMetricValues)
		if set := r.meters.set(r.members[:n]); set != nil {
			l.events.AddMetric(t, set.id, set.types, r.values[:n])
		} else {
			r.find(trace.CodeNotRepresentable, "too many different sets of counters")
		}
		r.members, r.values = r.members[n:], r.values[n:]
	}
}

// operate does what one event says.
func (r *reading) operate(l *lane, t int64, op *operation, h *attributes) {
	switch op.class {
	case classMPI:
		l.calls = true
		if op.value != 0 {
			r.hold(l, t, op.region)
			return
		}
		r.release(l)
		l.events.AddFlow(t, trace.KindLeave, trace.RegionID(op.slot))
	case classRegion:
		l.calls = true
		r.release(l)
		if op.value == 0 {
			l.events.AddFlow(t, trace.KindLeave, trace.RegionID(op.slot))
			return
		}
		if h.lineType == op.typ+typeLine {
			r.locate(op.region, h)
		}
		if r.dialect { // it may have a call site
			r.hold(l, t, op.region)
			return
		}
		l.events.AddFlow(t, trace.KindEnter, op.region)
	case classFlush:
		r.flush(l, t, op.value)
	case classTracing:
		state := uint64(trace.MeasurementOn)
		if op.value == 0 {
			state = trace.MeasurementOff
		}
		r.release(l)
		l.events.AddOther(t, trace.KindMeasurementOnOff, state)
	case classProgram:
		r.release(l)
		r.program(l, t, op.value)
	case classLabelled:
		r.release(l)
		r.instant(l, t, op)
	}
}

// locate gives a region the source line that its first enter names.
func (r *reading) locate(region trace.RegionID, h *attributes) {
	def := &r.defs.Regions[region]
	if def.BeginLine != 0 {
		return
	}
	label, _ := r.pcf.label(h.lineType, h.line)
	if l, ok := lineLabel(label); ok {
		def.File, def.BeginLine = r.names.text(l.file), l.line
	}
}

// flush pairs begin and end of a flush.
func (r *reading) flush(l *lane, t int64, value int64) {
	switch {
	case value != 0:
		l.flushing, l.flush = true, t
	case l.flushing:
		r.release(l)
		l.flushing = false
		l.events.AddOther(l.flush, trace.KindBufferFlush, uint64(t))
	}
}

// unknownExit is OTF2's exit status of a program that did not tell it.
const unknownExit = 1 << 63

// program adds the begin or the end of the program, with the arguments that OTF2 wants:
// the name (none), the number of arguments (none); the exit status (not known).
func (r *reading) program(l *lane, t int64, value int64) {
	if value != 0 {
		l.events.AddOther(t, trace.KindProgramBegin, uint64(r.names.text("")), 0)
	} else {
		l.events.AddOther(t, trace.KindProgramEnd, unknownExit)
	}
}

// instant adds a moment with the names of its type and value. A value without a name is
// told by its number, as long as there are not too many.
func (r *reading) instant(l *lane, t int64, op *operation) {
	k := regionKey{op.typ, op.value}
	name, ok := r.instants[k]
	if !ok {
		label, known := r.pcf.label(op.typ, op.value)
		switch {
		case !known && len(r.instants) >= maxRegions:
			label = "other value"
		case !known:
			label = strconv.FormatInt(op.value, 10)
		}
		if op.typ != ownInstant {
			label = r.pcf.typeLabel(op.typ) + ": " + label
		}
		name = r.names.text(label)
		if len(r.instants) < 2*maxRegions {
			r.instants[k] = name
		}
	}
	l.events.AddOther(t, trace.KindInstant, uint64(name))
}
