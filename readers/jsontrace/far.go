package jsontrace

import (
	"bytes"

	"tracekit/trace"
)

// Times that are so far from 0 that they do not fit into 64 bits, as those of a writer that counts nanoseconds in the place of
// microseconds, count from the first of them, if no other time has come before. Then what others do not fit are as far from it.

// farTime gives an event whose time does not fit one that counts from the first such time; it returns false if that does not fit either.
func (f *file) farTime(ev *event, at int64) bool {
	whole, fraction, _ := bytes.Cut(text(ev.ts), []byte("."))
	units, ok, exact := decimal(whole, 0)
	if !ok || !exact {
		return false
	}
	if !f.far && f.near {
		return false
	}
	if !f.far {
		f.far, f.farUnits = true, units
		f.find(trace.CodeFarTimes, at, string(text(ev.ts)))
	}
	scale := int64(1)
	for range f.digits() {
		scale *= 10
	}
	units -= f.farUnits
	if units > farthest/scale || units < -farthest/scale {
		return false
	}
	part, ok, _ := decimal(append([]byte("0."), fraction...), f.digits())
	ev.time = units*scale + part
	return ok || len(fraction) == 0
}

// farthest bounds times that count from another one, so that they can be added.
const farthest = 1 << 61
