package compare

import (
	"context"
	"fmt"

	"tracekit/stats/profile"
	"tracekit/trace"
)

// takeWindows adds what a location does that makes no calls which could part its time: streams of
// devices, threads that never call MPI. Its blocks are windows of the time from its first event
// to its last, all of one length; an instance is a visit.
func takeWindows(ctx context.Context, t *trace.Trace, l trace.LocationID, segments *profile.Segments,
	number func(trace.PathID) int, places []*series) error {
	w := &windows{places: places, site: make(map[trace.RegionID]int), rank: t.Rank[l], outside: number(trace.None)}
	if t.Defs.Locations[l].Kind == trace.LocationGPU {
		w.outside = nowhere
	}
	for path := range t.Tree.Nodes {
		if r := t.Tree.Nodes[path].Region; w.site[r] == 0 {
			w.site[r] = number(trace.PathID(path)) + 1
		}
	}
	for _, s := range segments.All() {
		if s.Path == profile.PathNotRecorded {
			before := w.series(number(s.Path))
			before.own[0], before.instances[0] = before.own[0]+s.Time, before.instances[0]+1
			before.rank(w.rank).own += s.Time
		}
	}
	for pass := range 2 { // the first finds the ends
		w.stack, w.started = trace.CallStack[struct{}]{}, false
		for b, err := range t.Source.Events(ctx, l) {
			if err != nil {
				return fmt.Errorf("reading location %d: %w", l, err)
			}
			if pass == 0 {
				w.bounds(b)
				continue
			}
			w.batch(b)
		}
	}
	return nil
}

// nowhere is the number of no place: a stream outside any region idles, which is a device's time and no place's.
const nowhere = -1

// windows cuts the time of a location.
type windows struct {
	places      []*series
	site        map[trace.RegionID]int // number of the site, and one
	rank        uint32
	outside     int // its number, or nowhere
	stack       trace.CallStack[struct{}]
	started     bool
	first, last int64 // recorded times
	now         int64
}

func (w *windows) bounds(b *trace.Batch) {
	for _, at := range b.Flow.Time {
		if !w.started {
			w.first, w.last, w.started = at, at, true
		}
		w.first, w.last = min(w.first, at), max(w.last, at)
	}
}

func (w *windows) batch(b *trace.Batch) {
	for i, kind := range b.Flow.Kind {
		at := b.Flow.Time[i]
		if !w.started {
			w.now, w.started = at, true
		}
		w.advance(at)
		if kind.Enters() {
			w.stack.Enter(b.Flow.Region[i], struct{}{})
			w.top().instances[w.window(w.now)]++
			continue
		}
		for range w.stack.Leave(b.Flow.Region[i]) {
			w.stack.Pop()
		}
	}
}

// top returns the series of the innermost region; nil: nowhere.
func (w *windows) top() *series {
	k := w.outside
	if n := w.stack.Len(); n > 0 && w.site[w.stack.Region(n-1)] > 0 {
		k = w.site[w.stack.Region(n-1)] - 1
	}
	if k == nowhere {
		return nil
	}
	return w.series(k)
}

func (w *windows) series(k int) *series {
	if w.places[k] == nil {
		w.places[k] = new(series)
	}
	return w.places[k]
}

// window returns the number of the window that an instant lies in.
func (w *windows) window(at int64) int {
	return min(blocks-1, int(float64(at-w.first)/float64(w.last-w.first+1)*blocks))
}

// advance charges the time until an instant, each window its part.
func (w *windows) advance(at int64) {
	if at <= w.now {
		return
	}
	s := w.top()
	if s == nil {
		w.now = at
		return
	}
	s.rank(w.rank).own += at - w.now
	for w.now < at {
		k := w.window(w.now)
		end := at
		if k < blocks-1 {
			edge := w.first + int64(float64(k+1)/blocks*float64(w.last-w.first+1))
			end = min(at, max(edge, w.now+1))
		}
		s.own[k] += end - w.now
		w.now = end
	}
}
