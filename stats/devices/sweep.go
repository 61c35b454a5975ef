package devices

import (
	"tracekit/document/accelerator"
	"tracekit/spill"
	"tracekit/trace"
)

// A sweep merges intervals that come in order of their begin and measures what they cover.
//
//	sums hold up to now
//	ends[w] is the latest end of an interval of work w so far; idle is the latest of all
type sweep struct {
	begun      bool
	first, now int64
	ends       [works]int64
	idle       int64
	last       int64 // the latest end
	sums       coverage
	gap        func(from, to int64) // is told of the times within the span in which nothing is done; may be nil
}

// waiting is the work of intervals in which a device waits for the last member of a collective.
const (
	waiting = trace.DeviceMemory + 1
	works   = int(waiting) + 1
)

// A coverage is how much of the time something is done, in ticks.
type coverage struct {
	compute, communication, memory                   int64
	exposedCommunication, exposedMemory, exposedWait int64
}

func (c coverage) busy() int64 { return c.compute + c.exposedCommunication + c.exposedMemory }

func (c coverage) minus(o coverage) coverage {
	return coverage{c.compute - o.compute, c.communication - o.communication, c.memory - o.memory,
		c.exposedCommunication - o.exposedCommunication, c.exposedMemory - o.exposedMemory, c.exposedWait - o.exposedWait}
}

// add takes an interval; none begins before the one before it.
func (s *sweep) add(start, end int64, work trace.DeviceWork) {
	if !s.begun {
		s.begun, s.first, s.now, s.last, s.idle = true, start, start, start, start
		for i := range s.ends {
			s.ends[i] = start
		}
	}
	s.advance(start)
	if start > s.last && s.gap != nil && work != waiting {
		s.gap(s.last, start)
	}
	s.ends[work], s.idle = max(s.ends[work], end), max(s.idle, end)
	if work != waiting {
		s.last = max(s.last, end)
	}
}

// advance measures up to a time.
func (s *sweep) advance(to int64) {
	if !s.begun || s.now >= to {
		return
	}
	for stop := min(to, s.idle); s.now < stop; {
		next := stop
		for _, e := range s.ends {
			if e > s.now && e < next {
				next = e
			}
		}
		d := next - s.now
		compute, comm := s.ends[trace.DeviceCompute] > s.now, s.ends[trace.DeviceCommunication] > s.now
		memory, wait := s.ends[trace.DeviceMemory] > s.now, s.ends[waiting] > s.now
		if compute {
			s.sums.compute += d
		}
		if comm {
			s.sums.communication += d
			if !compute {
				s.sums.exposedCommunication += d
			}
		}
		if wait && comm && !compute {
			s.sums.exposedWait += d
		}
		if memory {
			s.sums.memory += d
			if !compute && !comm {
				s.sums.exposedMemory += d
			}
		}
		s.now = next
	}
	s.now = to
}

// finish measures to the end of the last interval and returns the times.
func (s *sweep) finish(t *trace.Trace) accelerator.Times {
	s.advance(s.last)
	return deviceTimes(t, s.last-s.first, s.sums)
}

// deviceTimes converts what a sweep measured. Parts are rounded together, so that they add up.
func deviceTimes(t *trace.Trace, span int64, c coverage) accelerator.Times {
	ns := t.Defs.Clock.Nanoseconds
	out := accelerator.Times{SpanNs: ns(span), BusyNs: ns(c.busy()), ComputeNs: ns(c.compute), CommunicationNs: ns(c.communication),
		MemoryNs: ns(c.memory)}
	out.ExposedCommunicationNs = ns(c.compute+c.exposedCommunication) - out.ComputeNs
	out.ExposedMemoryNs = out.BusyNs - out.ComputeNs - out.ExposedCommunicationNs
	out.IdleNs = out.SpanNs - out.BusyNs
	if c.communication > 0 {
		overlap := 1 - float64(c.exposedCommunication)/float64(c.communication)
		out.Overlap = &overlap
	}
	return out
}

// A cursor goes over the kernels of a location, forwards or backwards.
type cursor struct {
	table *spill.Table[kernel]
	at    int
	back  bool
	key   int64 // start of the current kernel, negative if backwards
}

func (c *cursor) load() bool {
	if c.at < 0 || c.at >= c.table.Len() {
		return false
	}
	if c.key = c.table.Ptr(c.at).start; c.back {
		c.key = -c.key
	}
	return true
}

func (c *cursor) step() {
	if c.back {
		c.at--
	} else {
		c.at++
	}
}

// A merger goes over the kernels of several locations in order of their begin; of equal ones the
// first location comes first. It is a heap of cursors.
type merger struct{ heap []*cursor }

func merge(streams []*part, back bool) *merger {
	m := &merger{}
	for _, p := range streams {
		if p.kernels == nil {
			continue
		}
		c := &cursor{table: p.kernels, back: back}
		if back {
			c.at = p.kernels.Len() - 1
		}
		if c.load() {
			m.heap = append(m.heap, c)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// less orders by begin; ties do not matter to what is measured, but to which kernel is said to end a gap.
func (m *merger) less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	return a.key < b.key || a.key == b.key && a.table.Ptr(a.at).queue < b.table.Ptr(b.at).queue
}

func (m *merger) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(m.heap) {
			return
		}
		if k+1 < len(m.heap) && m.less(k+1, k) {
			k++
		}
		if !m.less(k, i) {
			return
		}
		m.heap[i], m.heap[k] = m.heap[k], m.heap[i]
		i = k
	}
}

// next returns the next kernel that ended, nil at the end.
func (m *merger) next() *kernel {
	for len(m.heap) > 0 {
		c := m.heap[0]
		k := c.table.Ptr(c.at)
		if c.step(); !c.load() {
			n := len(m.heap) - 1
			m.heap[0] = m.heap[n]
			m.heap = m.heap[:n]
		}
		m.down(0)
		if k.end >= k.start {
			return k
		}
	}
	return nil
}
