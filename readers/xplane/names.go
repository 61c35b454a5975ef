package xplane

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// What a line of a device has.
type lineKind uint8

const (
	lineRepeats lineKind = iota // what other lines have
	lineStream
	lineOps
)

// asynchronousCopy are operations of XLA that copy memory while others compute, and those that wait for the copy.
var asynchronousCopy = trace.Expression(`^%?(?:copy|slice|dynamic-slice|dynamic-update-slice)-(?:start|done)\b`)

var streamName = trace.Expression(`^Stream #(-?\d{1,18})(?:\((.*)\))?`)

// lineOf returns the kind of a device's line, and for streams their number.
func lineOf(name string) (kind lineKind, stream int64) {
	if m := streamName().FindStringSubmatch(name); m != nil {
		stream, _ = strconv.ParseInt(m[1], 10, 64)
		return lineStream, stream
	}
	if name == nest.XLAOps || name == "Async XLA Ops" {
		return lineOps, 0
	}
	return lineRepeats, 0
}

var devicePlane = trace.Expression(`^/device:([A-Za-z]\w{0,30}):(\d{1,9})$`)

// deviceOf returns type and number of the device that a plane is of.
func deviceOf(plane string) (kind string, number int64, ok bool) {
	m := devicePlane().FindStringSubmatch(plane)
	if m == nil {
		return "", 0, false
	}
	number, _ = strconv.ParseInt(m[2], 10, 64)
	return m[1], number, true
}

// threadName returns what a line of the host is called, without numbers that say nothing, and the thread's number.
func threadName(line string) (name string, tid int64) {
	at := strings.LastIndexByte(line, '/')
	if at < 0 {
		return line, 0
	}
	id, err := strconv.ParseInt(line[at+1:], 10, 64)
	switch {
	case err != nil:
		return line, 0
	case line[:at] == "Host Threads":
		return fmt.Sprintf("thread %d", id), id
	}
	return line[:at], 0 // the number is a hash
}

// frameName is the form of names of Python's functions.
var frameName = trace.Expression(`^\$(.+\.py):(\d{1,9}) (.+)$`)

var runtimeCall = trace.Expression(`^(hip|cuda|cu)[A-Z]\w*$`)

// hostRegion returns the region of what a host does.
func hostRegion(f *recording.File, name string) trace.RegionID {
	if m := frameName().FindStringSubmatch(name); m != nil {
		what := recording.Function
		line, _ := strconv.ParseUint(m[2], 10, 32)
		what.File, what.Line = m[1], uint32(line)
		return f.Region(m[3], what)
	}
	if m := runtimeCall().FindStringSubmatch(name); m != nil {
		switch m[1] {
		case "hip":
			return f.Region(name, recording.Runtime(trace.ParadigmHIP))
		case "cuda":
			return f.Region(name, recording.Runtime(trace.ParadigmCUDA))
		}
		return f.Region(name, recording.Driver(trace.ParadigmCUDA))
	}
	return f.Region(name, recording.Function)
}

// copyKind finds the direction in the names that XLA has for copies: MemcpyH2D.
var copyKind = trace.Expression(`^Memcpy([HDP])2([HDP])$`)

// deviceRegion returns the region of what a device does on a line, for an operation of XLA.
func deviceRegion(f *recording.File, name, line, operation string, details bool, paradigm trace.Paradigm) trace.RegionID {
	if m := copyKind().FindStringSubmatch(name); m != nil {
		return f.Region("Memcpy "+m[1]+"to"+m[2], recording.Copy(paradigm))
	}
	switch {
	case strings.HasPrefix(name, "Memset") || strings.Contains(line, "(Memset"):
		return f.Region(name, recording.Memset(paradigm))
	case details || asynchronousCopy().MatchString(operation) || strings.HasPrefix(name, "Memcpy") || strings.Contains(line, "(Memcpy"):
		return f.Region(name, recording.Copy(paradigm))
	}
	name = strings.TrimSuffix(name, ".kd")
	if op := nest.XLACollective(operation); op != nest.OpNone {
		return f.Communicator(name, recording.Kernel(paradigm), op)
	}
	return f.Region(name, recording.Kernel(paradigm))
}

var copySize = []byte(" size:")

// sizeOf returns the bytes that the details of a copy tell.
func sizeOf(details []byte) (n uint64) {
	if !bytes.HasPrefix(details, copySize[1:]) {
		_, rest, ok := bytes.Cut(details, copySize)
		if !ok {
			return 0
		}
		details = rest
	} else {
		details = details[len(copySize)-1:]
	}
	for _, c := range details {
		if c < '0' || c > '9' || n > 1<<59 {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}
