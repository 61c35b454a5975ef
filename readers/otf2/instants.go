package otf2

import (
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// OTF2 has no event for a moment that has a name and nothing else, as the instants of other
// formats are. They are written as events ParameterString of a parameter of our own, whose value
// is the name: tools show it, and reading makes instants of it again. (Markers would be moments
// too, but lie in a file of their own: their places among the events would be lost.) Neither the
// parameter nor its name is a definition of the trace.

// instantName is the name of the parameter, and a string that means nothing else.
const instantName = "tracekit::Instant"

const defParameter = 23

// isInstantName reports whether a definition record is that of the name.
func isInstantName(kind uint8, r *record) bool {
	return kind == defString && r.texts[0] == instantName
}

// buildInstant takes the definition of the parameter; it returns false for all others.
func (d *defReader) buildInstant(kind uint8, r *record) bool {
	if kind != defParameter || !d.instantNamed || r.values[1] != d.instantString || trace.ValueType(r.values[2]) != trace.TypeString {
		return false
	}
	d.hasInstants, d.instant = true, r.values[0]
	return true
}

// addInstant appends the event ParameterString of the given values if it is an instant.
func (t *stream) addInstant(values []uint64) bool {
	s := t.source
	if !s.hasInstants || values[0] != s.instant {
		return false
	}
	name := s.ids[spaceString].get(values[1])
	if name == trace.None {
		return false
	}
	t.batch.AddOther(t.time, trace.KindInstant, uint64(name))
	return true
}

// numberInstants chooses the identifiers of the parameter and of its name, which nothing has.
func (w *Writer) numberInstants() {
	for i := range w.defs.Strings {
		w.instantString = max(w.instantString, w.str(trace.StringID(i))+1)
	}
	var r record
	for _, o := range w.defs.Opaque {
		if o.Format != Format || o.Kind != defParameter {
			continue
		}
		c := wire.Cursor{Data: o.Payload, BigEndian: o.BigEndian}
		if definitionRecords()[o.Kind].decode(&c, &r); c.Err == nil {
			w.instant = max(w.instant, r.values[0]+1)
		}
	}
}

// appendInstant appends an instant; ok is false if it is none that can be written.
func (f *eventFile) appendInstant(out []byte, args []uint64) (_ []byte, ok bool) {
	if len(args) != 1 || args[0] >= uint64(len(f.w.defs.Strings)) || f.w.instant >= undefined || f.w.instantString >= undefined {
		return out, false
	}
	f.w.instants.Store(true)
	return f.put(out, trace.KindParameterString, f.w.instant, f.w.str(trace.StringID(args[0]))), true
}

// putInstantName and putInstant write the definitions, if there are instants.
func (w *Writer) putInstantName(f *defFile) {
	if w.instants.Load() {
		f.putRecord(defString, &record{values: []uint64{w.instantString}, texts: [2]string{instantName}})
	}
}

func (w *Writer) putInstant(f *defFile) {
	if w.instants.Load() {
		f.put(defParameter, w.instant, w.instantString, uint64(trace.TypeString))
	}
}
