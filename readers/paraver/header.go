package paraver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Format is the name of the format in trace.Info.
const Format = "paraver"

// maxThreads bounds the threads that a header may announce: a few bytes can announce any
// number, and each costs memory. Paraver itself holds 65535.
const maxThreads = 1 << 18

var (
	errHeader  = errors.New("the header is malformed")
	errThreads = fmt.Errorf("the header announces more than %d threads; cut the trace to some of its tasks", maxThreads)
)

// A header is the first line of a .prv file. It is what says which threads exist: lines of
// others are dangling references.
type header struct {
	date       string   // as written; its form differs by program
	end        int64    // announced time of the end, in ticks; an upper bound
	resolution uint64   // ticks per second
	cpus       []int    // by node; empty: no resources are declared
	appls      [][]task // tasks by application
	comms      int      // announced number of c: and i: lines
}

// A task is a process as the header describes it.
type task struct {
	threads int
	node    int // from 1; 0: not known
}

// Magic is how the first line begins.
const magic = "#Paraver "

// IsTrace reports whether a file that begins so is a Paraver trace, plain or gzip.
func IsTrace(head []byte) bool {
	if z, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		plain := make([]byte, len(magic))
		n, _ := io.ReadFull(z, plain)
		head = plain[:n]
	}
	return bytes.HasPrefix(head, []byte(magic))
}

// A fields parses the header's line from left to right; its first error sticks, so that a
// sequence of steps is checked once at its end.
type fields struct {
	s   string
	err error
}

// parseHeader parses the line
//
//	#Paraver (date):end_unit:resources:appls:list[,comms]
//
// such as
//
//	#Paraver (01/02/2026 at 03:04):99000_ns:2(4,4):1:3(1:1,1:1,2:2),4
//
// which announces 99 µs on two nodes of four CPUs and one application of three tasks: two of
// one thread on node 1, one of two threads on node 2; and four communicators. The date may
// hold colons. The error is errHeader, or errThreads.
func parseHeader(line string) (*header, error) {
	line = strings.TrimRight(line, "\r\n")
	rest, ok := strings.CutPrefix(line, magic+"(")
	if !ok {
		return nil, errHeader
	}
	date, rest, ok := strings.Cut(rest, "):")
	if !ok {
		return nil, errHeader
	}
	h := &header{date: date, resolution: 1e6}
	f := &fields{s: rest}
	h.parseEnd(f)
	h.parseResources(f)
	n := f.number()
	f.skip(":")
	for i := 0; i < n && f.err == nil; i++ {
		h.parseAppl(f)
	}
	if f.err == nil && len(f.s) > 1 && f.s[0] == ',' {
		f.s = f.s[1:]
		h.comms = f.number()
	}
	return h, f.err
}

// parseEnd parses the end of the trace and the unit of all times. Traces from before there
// were units are in microseconds; so Paraver takes an unknown unit, too.
func (h *header) parseEnd(f *fields) {
	s, rest, ok := strings.Cut(f.s, ":")
	if !ok {
		f.err = errHeader
		return
	}
	f.s = rest
	number, unit, _ := strings.Cut(s, "_")
	switch unit {
	case "ns":
		h.resolution = 1e9
	case "ms":
		h.resolution = 1e3
	}
	end, err := strconv.ParseFloat(number, 64)    // as Paraver does: the number may have a fraction
	if err != nil || !(end >= 0 && end < 1<<62) { // NaN is neither
		f.err = errHeader
		return
	}
	if h.end, err = strconv.ParseInt(number, 10, 64); err != nil {
		h.end = int64(end)
	}
}

// parseResources parses the CPUs: 0 (not told), N (nodes of one CPU each, in old traces) or
// N(c1,…,cN).
func (h *header) parseResources(f *fields) {
	n := f.number()
	switch {
	case f.err != nil:
		return
	case strings.HasPrefix(f.s, "("):
		for f.s = f.s[1:]; f.err == nil; f.s = f.s[1:] {
			h.cpus = append(h.cpus, f.number())
			if f.s == "" || f.s[0] == ')' {
				break
			}
		}
		f.skip(")")
	case n <= len(f.s): // one CPU each; more nodes than that cannot be referred to
		for range n {
			h.cpus = append(h.cpus, 1)
		}
	}
	f.skip(":")
}

// parseAppl parses T(threads:node,…) of T tasks, and the separator before it. T is not
// believed: every task must be there.
func (h *header) parseAppl(f *fields) {
	if len(h.appls) > 0 {
		if f.s == "" {
			f.err = errHeader
			return
		}
		f.s = f.s[1:] // a comma, or a colon from some writers
	}
	n := f.number()
	f.skip("(")
	var tasks []task
	for i := 0; i < n && f.err == nil; i++ {
		if i > 0 {
			f.skip(",")
		}
		var t task
		t.threads = f.number()
		f.skip(":")
		t.node = f.number()
		tasks = append(tasks, t)
	}
	f.skip(")")
	h.appls = append(h.appls, tasks)
	if total := h.threads(); total > maxThreads && f.err == nil {
		f.err = errThreads
	}
}

// threads returns the number of threads that are announced, at most one more than maxThreads.
func (h *header) threads() int {
	n := 0
	for _, a := range h.appls {
		for _, t := range a {
			n = min(n+t.threads, maxThreads+1)
		}
	}
	return n
}

// number parses a number of at most nine digits.
func (f *fields) number() int {
	n := 0
	for n < len(f.s) && f.s[n] >= '0' && f.s[n] <= '9' {
		n++
	}
	if f.err == nil && (n == 0 || n > 9) {
		f.err = errHeader
	}
	if f.err != nil {
		return 0
	}
	v, _ := strconv.Atoi(f.s[:n])
	f.s = f.s[n:]
	return v
}

// skip passes over a text that must be there.
func (f *fields) skip(text string) {
	if f.err != nil {
		return
	}
	rest, ok := strings.CutPrefix(f.s, text)
	if !ok {
		f.err = errHeader
		return
	}
	f.s = rest
}
