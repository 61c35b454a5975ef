package devices

import (
	"container/heap"

	"tracekit/trace"
)

// turns returns how long at least one device works, and how long exactly one does, in ticks of the selected time.
func turns(c *collector, hosts []*host) (some, one int64) {
	var streams []*part
	of := make(map[uint32]*working)
	for _, h := range hosts {
		for _, d := range h.devices {
			w := &working{}
			for _, p := range d.streams {
				streams, of[uint32(p.location)] = append(streams, p), w
			}
		}
	}
	var ends workingHeap // of devices that work
	now := c.opts.From
	until := func(t int64) {
		for len(ends) > 0 && now < t {
			next := min(t, ends[0].end)
			if some += next - now; len(ends) == 1 {
				one += next - now
			}
			if now = next; ends[0].end == now {
				heap.Pop(&ends)
			}
		}
		now = max(now, t)
	}
	m := merge(streams, false)
	for k := m.next(); k != nil; k = m.next() {
		start, end := max(k.start, c.opts.From), min(k.end, c.opts.To)
		if start >= end || c.works[k.region] == trace.DeviceIdle {
			continue
		}
		until(start)
		switch w := of[k.queue]; {
		case w.at == 0:
			w.end = end
			heap.Push(&ends, w)
		case end > w.end:
			w.end = end
			heap.Fix(&ends, w.at-1)
		}
	}
	until(c.opts.To)
	return some, one
}

// working is a device that works until end; at is its place in the heap, from 1; 0: it does not work.
type working struct {
	end int64
	at  int
}

// A workingHeap has the device first that ends first.
type workingHeap []*working

func (h workingHeap) Len() int           { return len(h) }
func (h workingHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h workingHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].at, h[j].at = i+1, j+1 }

// Push implements heap.Interface.
func (h *workingHeap) Push(x any) {
	w := x.(*working)
	w.at = len(*h) + 1
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *workingHeap) Pop() any {
	n := len(*h) - 1
	w := (*h)[n]
	w.at, *h = 0, (*h)[:n]
	return w
}
