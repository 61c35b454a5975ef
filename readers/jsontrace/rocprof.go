package jsontrace

import (
	"bytes"
	"strings"
)

// rocprofTimes replaces the times of a slice of rocprof, which are rounded down to
// microseconds, by the nanoseconds that stand in its arguments; it returns false if there
// are none.
func rocprofTimes(ev *event) bool {
	if !bytes.Contains(ev.args, []byte(`"BeginNs"`)) {
		return false
	}
	begin, ok1 := integer(text(member(ev.args, "BeginNs")))
	end, ok2 := integer(text(member(ev.args, "EndNs")))
	if ok1 && ok2 && end >= begin {
		ev.time, ev.dur = begin, end-begin
	}
	return true
}

// rocprofDevice reports whether a process of a trace of rocprof is an accelerator, or the
// copying to and from one.
func rocprofDevice(process string) bool {
	return strings.HasPrefix(process, "GPU") || process == "COPY"
}
