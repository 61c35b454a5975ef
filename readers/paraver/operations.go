package paraver

import "tracekit/trace"

// An operation is what one event of a line does to the call stack, or a moment.
//
//	region is what value enters; None for 0, the leave
type operation struct {
	class  class
	slot   uint32
	typ    uint32
	region trace.RegionID
	text   trace.StringID // of a moment
	value  int64
}

// operate does what one event says. Whatever ends or follows a call releases the enter that is
// held, so that the stream has them in the order of the lines.
func (d *decoder) operate(l *thread, t int64, op *operation) {
	switch op.class {
	case classMPI:
		l.calls = true
		if op.value != 0 {
			d.hold(l, t, op.region)
			return
		}
		d.release(l)
		l.events.AddFlow(t, trace.KindLeave, trace.RegionID(op.slot))
	case classRegion, classInterval:
		l.calls = l.calls || op.class == classRegion
		d.release(l)
		if op.typ == d.tasks && !d.dialect {
			d.work(l, t, op.value != 0)
		}
		switch {
		case op.value == 0:
			l.events.AddFlow(t, trace.KindLeave, trace.RegionID(op.slot))
		case d.dialect: // it may have a call site
			d.hold(l, t, op.region)
		default:
			l.events.AddFlow(t, trace.KindEnter, op.region)
		}
	case classFlush:
		d.flush(l, t, op.value)
	case classTracing:
		state := uint64(trace.MeasurementOn)
		if op.value == 0 {
			state = trace.MeasurementOff
		}
		d.release(l)
		l.events.AddOther(t, trace.KindMeasurementOnOff, state)
	case classProgram:
		d.release(l)
		d.program(l, t, op.value)
	case classLabelled:
		d.release(l)
		l.events.AddOther(t, trace.KindInstant, uint64(op.text))
	}
}

// work notes that a thread begins or ends a task, and that it ran meanwhile.
func (t *tables) work(l *thread, at int64, begins bool) {
	if l.working {
		if run := t.running(); run != nil {
			l.events.AddMetric(l.began, run.id, run.types, []uint64{uint64(at - l.began)})
		}
	}
	l.working, l.began = begins, at
}

// flush pairs begin and end of a flush.
func (d *decoder) flush(l *thread, t int64, value int64) {
	switch {
	case value != 0:
		l.flushing, l.flush = true, t
	case l.flushing:
		d.release(l)
		l.flushing = false
		l.events.AddOther(l.flush, trace.KindBufferFlush, uint64(t))
	}
}

// unknownExit is OTF2's exit status of a program that did not tell it.
const unknownExit = 1 << 63

// program adds the begin or the end of the program, with the arguments that OTF2 wants:
// the name (none), the number of arguments (none); the exit status (not known).
func (d *decoder) program(l *thread, t int64, value int64) {
	if value != 0 {
		l.events.AddOther(t, trace.KindProgramBegin, uint64(noText), 0)
	} else {
		l.events.AddOther(t, trace.KindProgramEnd, unknownExit)
	}
}
