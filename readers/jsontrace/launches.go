package jsontrace

import (
	"bytes"
	"cmp"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// Traces of PyTorch before 2.3 do not note sizes on the kernels of collectives. There they
// are found by way of the launch: the host's slice nccl:… has the shapes and types of its
// tensors; the runtime's call that launches the kernel lies in it; kernel and call have the
// same correlation. The profiler writes them in this order.

// Messages that PyTorch batches (batch_isend_irecv) share a kernel. It has no arguments, since it is launched after the calls for its
// messages have returned. Their records, record_param_comms, are what the thread has recorded since it last launched a kernel; a record in
// which a kernel is launched is that kernel's own.

// launches finds the bytes that a kernel of a collective sends, and the messages of a kernel that has several.
//
//	called are the messages that a thread has called for since its last launch, and when the records end
type launches struct {
	called  map[*track][]calledMessage
	batches map[int64][]nest.Call   // by correlation
	batched int                     // messages in called and batches
	spans   map[*track][]launchSpan // ascending in begin
	bytes   map[int64]uint64        // by correlation
	held    int                     // in spans
	lost    uint64                  // spans that come too late or are too many, launches that are too many
}

// A calledMessage is one that was called for, and its record.
type calledMessage struct {
	nest.Call
	begin, end int64
}

// A launchSpan is a slice of the host that launches a collective, or asks for a message of gloo.
type launchSpan struct {
	begin, end int64
	bytes      uint64
	peer, tag  uint32 // of the message
}

const (
	launchLimit = 1 << 20 // bounds the number of spans and that of correlations
	spanDelay   = 64      // how many later spans may come before a span
)

func newLaunches() launches {
	return launches{called: make(map[*track][]calledMessage), batches: make(map[int64][]nest.Call), spans: make(map[*track][]launchSpan),
		bytes: make(map[int64]uint64)}
}

// span takes a host's slice of a collective, or of a message.
func (s *launches) span(l *track, r *region, ev *event) {
	spans := s.spans[l]
	n := launchSpan{ev.time, nest.AddTime(ev.time, ev.dur), tensorBytes(ev.args), trace.None, 0}
	if r.asked {
		n.peer, n.tag = messageInputs(ev.args)
	} else if n.bytes == 0 {
		return
	}
	i := len(spans) // nearly always the last
	for i > 0 && len(spans)-i < spanDelay && spans[i-1].begin > n.begin {
		i--
	}
	if s.held == launchLimit || i > 0 && spans[i-1].begin > n.begin {
		s.lost++
		return
	}
	s.held++
	s.spans[l] = slices.Insert(spans, i, n)
}

// around returns the last span that begins at a time or before, if it lasts until then; nil: none.
func (s *launches) around(l *track, t int64) *launchSpan {
	spans := s.spans[l]
	i, found := slices.BinarySearchFunc(spans, t, func(x launchSpan, t int64) int { return cmp.Compare(x.begin, t) })
	if !found {
		i--
	}
	if i < 0 || t > spans[i].end {
		return nil
	}
	return &spans[i]
}

// record takes a message that is called for.
func (s *launches) record(l *track, ev *event, c nest.Call) {
	switch {
	case !c.Operation.IsMessage():
	case s.batched == launchLimit:
		s.lost++
	default:
		s.batched++
		s.called[l] = append(s.called[l], calledMessage{c, ev.time, nest.AddTime(ev.time, ev.dur)})
	}
}

// batch returns the messages of a kernel, nil if there are none or they are its own.
func (s *launches) batch(c *nest.Call) []nest.Call {
	if c.Tag != byLaunch || c.Operation != nest.KernelOperation("ncclDevKernel_SendRecv") {
		return nil
	}
	return s.batches[int64(c.Sent)]
}

// launched takes a launch of a kernel, which has the messages that were called for before. A message in whose record it is launched
// has this kernel alone.
func (s *launches) launched(l *track, ev *event) {
	called := s.called[l]
	n := 0
	for n < len(called) && called[n].begin <= ev.time {
		n++
	}
	id, ok := integer(text(member(ev.args, "correlation")))
	for _, m := range called[:n] {
		if ok && m.end <= ev.time {
			s.batches[id] = append(s.batches[id], m.Call)
		}
	}
	s.called[l] = called[n:]
}

// launch takes a call of the accelerator's runtime.
func (s *launches) launch(l *track, ev *event) {
	if len(s.called[l]) > 0 && bytes.Contains(ev.name, []byte("aunchKernel")) {
		s.launched(l, ev)
	}
	span := s.around(l, ev.time)
	if span == nil {
		return
	}
	if id, ok := integer(text(member(ev.args, "correlation"))); ok {
		if len(s.bytes) == launchLimit {
			s.lost++
			return
		}
		s.bytes[id] = span.bytes
	}
}

// byLaunch is the tag of a collective whose sizes are those of its launch, by the
// correlation that stands in place of what it sends.
const byLaunch = 1

// postpone notes the correlation of a kernel without sizes: the file may hold the launch
// after the kernel.
func postpone(c *nest.Call, args []byte) {
	if c.Operation.IsMessage() {
		return
	}
	if id, ok := integer(text(member(args, "correlation"))); ok {
		c.Tag, c.Sent = byLaunch, uint64(id)
	}
}

// sizes returns what a collective sends and receives. What an operation with several forms
// receives stays unknown if only the launch tells the size.
func (s *launches) sizes(c *nest.Call) (sent, received uint64) {
	if c.Tag != byLaunch {
		return c.Sent, c.Received
	}
	sent = s.bytes[int64(c.Sent)]
	if op := c.Collective(); op == trace.CollAllreduce || op == trace.CollAlltoall {
		received = sent
	}
	return sent, received
}

// tensorBytes returns the size of the tensors that a slice's arguments describe.
func tensorBytes(args []byte) uint64 {
	var types []uint64
	elements(member(args, "Input type"), func(v []byte) bool {
		types = append(types, typeBytes(string(text(v))))
		return len(types) < 64
	})
	var sum uint64
	i := 0
	elements(member(args, "Input Dims"), func(dims []byte) bool {
		n, some := uint64(1), false
		elements(dims, func(d []byte) bool {
			n *= number(d)
			some = true
			return true
		})
		if some && i < len(types) {
			sum += n * types[i]
		}
		i++
		return true
	})
	return sum
}

// typeBytes returns the size of an element of a tensor's type as C++ calls it.
func typeBytes(name string) uint64 {
	switch name {
	case "c10::Half", "c10::BFloat16", "short int":
		return 2
	case "long int":
		return 8
	case "unsigned char", "signed char", "bool":
		return 1
	}
	return nest.ElementBytes(name)
}
