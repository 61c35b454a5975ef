package recording

import (
	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// Number puts the value of a counter whose values may be integers or not onto a track: once one is
// not, all are delivered as floating point.
func (f *File) Number(l *Track, time int64, id trace.MetricID, typ trace.ValueType, bits uint64) {
	if typ == trace.TypeDouble && f.meters[id].typ != typ {
		f.meters[id].typ = typ
	}
	if f.Set.Type == nil {
		f.Set.Type = func(id trace.MetricID, _ int) trace.ValueType { return f.meters[id].typ }
	}
	l.Moment()
	l.Stream.AddMetric(time, id, []trace.ValueType{typ}, []uint64{bits})
}

// String returns the text of a number that Text has returned.
func (f *File) String(id uint32) string { return f.list[id] }

// Communication returns what a region of a device communicates, by its name, among all ranks.
func (f *File) Communication(id trace.RegionID) nest.Call {
	op := f.described[id].op
	if op == nest.OpNone || op == nest.OpUnnamed {
		return nest.Call{}
	}
	return nest.Call{Operation: op, Peer: trace.RootNone}
}

// Communicator returns the region of a device's work that communicates, whatever its name: what it communicates, if that is known, is
// as the names of kernels tell it.
func (f *File) Communicator(name string, what What, op nest.Operation) trace.RegionID {
	if op == nest.OpUnnamed {
		what.Role = trace.RoleCollOther
	}
	id := f.Region(name, what)
	if f.described[id].op == nest.OpNone {
		f.described[id].op = op
	}
	return id
}
