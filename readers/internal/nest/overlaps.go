package nest

import (
	"container/heap"
	"context"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// overlaps takes the slices of a track that overlap others without being nested, and gives
// each to the first sub-track in which it is. What a sub-track gets waits in a spool in which
// the number of the sub-track stands for the time, so that each is delivered without going
// through the others.
//
//	layers[k-1] is sub-track k
//	room finds the first sub-track whose innermost open slice ends late enough
//	ends is a heap of the open slices of all sub-tracks: room changes when one ends
//
// So a slice costs the logarithm of their number.
type overlaps struct {
	of     *Track
	track  *nester // sub-track 0
	stream *spool.Stream
	layers []*nester
	room   Timeline
	ends   layerEnds
	args   []uint64
	paths  trace.PathCache // of the layers
}

// A layerEnd is the end of an open slice of a sub-track.
type layerEnd struct {
	time  int64
	layer int
}

type layerEnds []layerEnd

func (h layerEnds) Len() int           { return len(h) }
func (h layerEnds) Less(i, j int) bool { return h[i].time < h[j].time }
func (h layerEnds) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *layerEnds) Push(x any) { *h = append(*h, x.(layerEnd)) }

// Pop implements heap.Interface.
func (h *layerEnds) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

// newOverlaps returns what takes the slices that a nester of sub-track 0 does not.
func newOverlaps(s *Set, l *Track, n *nester) *overlaps {
	o := &overlaps{of: l, track: n, stream: s.overlaps.Stream(l.Number)}
	n.outside = o.slice
	return o
}

// slice takes a slice; times do not decrease.
func (o *overlaps) slice(time, dur int64, region trace.RegionID, c Call) {
	for len(o.ends) > 0 && o.ends[0].time <= time {
		k := heap.Pop(&o.ends).(layerEnd).layer
		o.layers[k].pop(time)
		o.room.Set(k, o.layers[k].limit())
	}
	end := endOf(time, dur)
	k := o.room.First(func(limits Span) bool { return dur == OpenEnd || o.track.fits(end, limits.Max) })
	if k < 0 {
		s := o.track.s
		if s.layers.Add(1); s.Crowded() {
			o.track.count.lost++
			return
		}
		k = len(o.layers)
		layer := newNester(s, o.of, nil)
		layer.outline(&o.paths, uint32(k))
		o.layers = append(o.layers, layer)
		o.room.Add(unknownEnd)
	}
	n := o.layers[k]
	n.slice(time, dur, region, c)
	o.room.Set(k, n.limit())
	if n.limit() != unknownEnd {
		heap.Push(&o.ends, layerEnd{n.limit(), k})
	}
	o.put(k+1, time, dur, region, c)
}

// put keeps a slice for its sub-track.
func (o *overlaps) put(sub int, time, dur int64, region trace.RegionID, c Call) {
	o.args = append(o.args[:0], uint64(time), uint64(dur), uint64(region), uint64(c.Operation))
	if c.Operation != OpNone {
		o.args = append(o.args, uint64(c.Comm), uint64(c.Peer), uint64(c.Tag), c.Sent, c.Received)
	}
	for _, a := range o.track.attrs {
		o.args = append(o.args, uint64(a.id), uint64(a.typ), a.value)
	}
	o.stream.AddOther(int64(sub), recordSlice, o.args...)
}

// close returns what was found in all sub-tracks.
func (o *overlaps) close() *Survey {
	s := &Survey{Events: []uint64{o.track.events}, Outlines: []*Outline{o.track.outlined()}, count: o.track.count}
	for _, n := range o.layers {
		n.close()
		s.count.open += n.count.open
		s.count.deep += n.count.deep
		s.Events, s.Outlines = append(s.Events, n.events), append(s.Outlines, n.outlined())
	}
	return s
}

// walkOverlap passes the slices of a sub-track on to a nester, as walk does.
func (s *Set) walkOverlap(ctx context.Context, l *Track, sub int, n *nester, full func() bool) error {
	m := spool.Merge([]*spool.Stream{s.overlaps.Stream(l.Number)}, spool.Part{First: int64(sub), Last: int64(sub)})
	count := 0
	for r := m.Next(); r != nil; r = m.Next() {
		if count++; count%batchEvents == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a := r.Args()
		c := Call{Operation: Operation(a[3])}
		attrs := a[4:]
		if c.Operation != OpNone {
			c = Call{Operation: c.Operation, Comm: uint32(a[4]), Peer: uint32(a[5]), Tag: uint32(a[6]), Sent: a[7], Received: a[8]}
			attrs = a[9:]
		}
		n.attrs = n.attrs[:0]
		for ; len(attrs) > 0; attrs = attrs[3:] {
			n.attrs = append(n.attrs, attr{trace.AttributeID(attrs[0]), trace.ValueType(attrs[1]), attrs[2]})
		}
		n.slice(int64(a[0]), int64(a[1]), trace.RegionID(a[2]), c)
		if !full() {
			return nil
		}
	}
	n.close()
	return nil
}
