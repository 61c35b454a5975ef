package jsontrace

import (
	"cmp"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// asyncLimit bounds the number of asynchronous begins and ends that wait for each other.
const asyncLimit = 1 << 20

// async pairs the begins and ends of asynchronous slices, in the order of the file, and
// puts the slices into tracks of their own, one for each category in a process.
//
//	open and early are by a hash of category and identifier
//	waiting counts what is in them
type async struct {
	f       *file
	open    map[uint64]*halves
	early   map[uint64]*halves // ends before their begins, in files that are not sorted
	waiting int
}

// A half is a begin or an end that waits for the other.
type half struct {
	time   int64
	name   uint64 // hash; anyName: an end without a name, which fits all begins
	track  *track // nil: the half was taken
	region trace.RegionID
	call   nest.Call
	at     int64
	place  int // in the index of its name
}

const anyName = 0

func newAsync(f *file) *async {
	return &async{f: f, open: make(map[uint64]*halves), early: make(map[uint64]*halves)}
}

// event takes one of b, e, n, S, T, p, F.
func (a *async) event(ev *event, at int64) {
	l := a.track(ev)
	if l == nil {
		a.f.find(trace.CodeLimitExceeded, at, crowded)
		return
	}
	parts := [][]byte{ev.cat, canonicalID(ev)}
	if ev.phase == 'S' || ev.phase == 'F' {
		parts = append(parts, ev.name)
	}
	key := hash(parts...)
	switch ev.phase {
	case 'b', 'S':
		b := half{time: ev.time, name: hash(ev.name), track: l,
			region: a.f.regions.find(ev.name, ev.cat), at: at}
		if r := &a.f.regions.list[b.region]; r.nccl {
			if c, own := a.f.ncclCall(r, ev); own != nil {
				b.call, b.track = c, own
			}
		}
		a.begin(key, b)
	case 'e', 'F':
		e := half{time: ev.time, name: anyName, track: l, at: at}
		if ev.name != nil {
			e.name = hash(ev.name)
		}
		a.end(key, e)
	default:
		a.step(l, ev)
	}
}

// track returns the track of the event's category in its process.
func (a *async) track(ev *event) *track {
	l := a.f.tracks
	return l.get(trackKey{pid: l.pid(ev.pid), tid: ident{true, int64(a.f.names.raw(ev.cat))}, async: true})
}

// step takes a moment within an asynchronous slice: n, or one of the older T and p, whose
// name is an argument.
func (a *async) step(l *track, ev *event) {
	name := ev.name
	if s := text(member(ev.args, "step")); ev.phase != 'n' && s != nil {
		name = s
	}
	l.trivial = false
	l.Moment()
	l.Stream.AddOther(ev.time, trace.KindInstant, uint64(a.f.names.raw(name)))
}

// begin opens a slice, or completes one whose end came earlier in the file: of those that fit
// the first, which is the nearest.
func (a *async) begin(key uint64, b half) {
	if e, ok := a.take(a.early, key, func(ends *halves) int {
		return ends.first(b.name, func(s nest.Span) bool { return s.Max >= b.time })
	}); ok {
		a.put(b, e.time-b.time)
		return
	}
	a.wait(a.open, key, b)
}

// end closes the innermost open slice of that name that began before it.
func (a *async) end(key uint64, e half) {
	before := func(s nest.Span) bool { return s.Min <= e.time || e.time == 0 && unset(e.time, s.Max) }
	if b, ok := a.take(a.open, key, func(begins *halves) int { return begins.last(e.name, before) }); ok {
		a.close1(b, e)
		return
	}
	a.wait(a.early, key, e)
}

// unset reports whether one of two times, zero, stands for a time that was not recorded,
// as in the files of NCCL's profiler.
func unset(a, b int64) bool { return (a == 0) != (b == 0) && max(a, b) > 1e9 }

// close1 puts a slice whose begin and end are known, or one of them.
func (a *async) close1(b, e half) {
	if unset(b.time, e.time) {
		a.f.find(trace.CodeBadValue, b.at, "an asynchronous slice whose begin or end has the time 0; taken as a moment")
		b.time = max(b.time, e.time)
		e.time = b.time
	}
	a.put(b, e.time-b.time)
}

func (a *async) put(b half, dur int64) {
	b.track.trivial = false
	b.track.Put(b.time, dur, b.region, b.call)
}

// wait keeps a half.
func (a *async) wait(m map[uint64]*halves, key uint64, h half) {
	if a.waiting >= asyncLimit {
		a.f.find(trace.CodeLimitExceeded, h.at, "too many asynchronous slices are open at once; this begin or end is left out")
		return
	}
	a.waiting++
	if m[key] == nil {
		m[key] = &halves{}
	}
	m[key].add(h)
}

// take removes the half of a key that is looked for; ok is false if there is none.
func (a *async) take(m map[uint64]*halves, key uint64, find func(*halves) int) (h half, ok bool) {
	waiting := m[key]
	if waiting == nil {
		return half{}, false
	}
	i := find(waiting)
	if i < 0 {
		return half{}, false
	}
	a.waiting--
	h = waiting.take(i)
	if waiting.left == 0 {
		delete(m, key)
	}
	return h, true
}

// close puts the slices that have no end and counts the ends that have no begin.
func (a *async) close() {
	var begins []half
	for _, hs := range a.open {
		begins = append(begins, hs.rest()...)
	}
	// Maps have no order, results must.
	slices.SortFunc(begins, func(x, y half) int { return cmp.Compare(x.at, y.at) })
	for _, b := range begins {
		a.put(b, nest.OpenEnd)
	}
	for _, hs := range a.early {
		for _, h := range hs.rest() {
			a.f.find(trace.CodeUnmatchedLeave, h.at, "the end of an asynchronous slice that was not begun")
		}
	}
	a.open, a.early = nil, nil
}
