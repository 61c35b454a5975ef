package jsontrace

import (
	"cmp"
	"slices"

	"tracekit/trace"
)

// asyncLimit bounds the number of asynchronous begins and ends that wait for each other.
const asyncLimit = 1 << 20

// async pairs the begins and ends of asynchronous slices, in the order of the file, and
// puts the slices into tracks of their own, one for each category in a process.
//
//	waiting counts what is in open and early
type async struct {
	f       *file
	open    map[string][]half
	early   map[string][]half // ends before their begins, in files that are not sorted
	waiting int
}

// A half is a begin or an end that waits for the other.
type half struct {
	time   int64
	name   []byte
	track  *track
	region trace.RegionID
	call   call
	at     int64
}

func newAsync(f *file) *async {
	return &async{f: f, open: make(map[string][]half), early: make(map[string][]half)}
}

// event takes one of b, e, n, S, T, p, F.
func (a *async) event(ev *event, at int64) {
	l := a.track(ev)
	if l == nil {
		a.f.find(trace.CodeBadValue, at, "too many different pid and tid")
		return
	}
	key := string(ev.cat) + "\x00" + string(canonicalID(ev))
	if ev.phase == 'S' || ev.phase == 'F' {
		key += "\x00" + string(ev.name)
	}
	switch ev.phase {
	case 'b', 'S':
		b := half{time: ev.time, name: slices.Clone(ev.name), track: l,
			region: a.f.regions.find(ev.name, ev.cat), at: at}
		if r := &a.f.regions.list[b.region]; r.nccl {
			if c, own := a.f.ncclCall(r, ev); own != nil {
				b.call, b.track = c, own
			}
		}
		a.begin(key, b)
	case 'e', 'F':
		a.end(key, half{time: ev.time, name: slices.Clone(ev.name), at: at})
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
	l.record()
	l.stream.AddOther(ev.time, trace.KindInstant, uint64(a.f.names.raw(name)))
}

// begin opens a slice, or completes one whose end came earlier in the file.
func (a *async) begin(key string, b half) {
	ends := a.early[key] // in the order of the file: the first that fits is the nearest
	for i, e := range ends {
		if e.time >= b.time && sameName(e.name, b.name) {
			a.take(a.early, key, i)
			a.put(b, e.time-b.time)
			return
		}
	}
	a.wait(a.open, key, b)
}

// end closes the innermost open slice of that name that began before it.
func (a *async) end(key string, e half) {
	begins := a.open[key]
	for i := len(begins) - 1; i >= 0; i-- {
		b := begins[i]
		if !sameName(e.name, b.name) {
			continue
		}
		if e.time < b.time && !unset(e.time, b.time) {
			continue
		}
		a.take(a.open, key, i)
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
	b.track.put(b.time, dur, b.region, b.call)
}

func sameName(end, begin []byte) bool { return end == nil || string(end) == string(begin) }

// wait keeps a half.
func (a *async) wait(m map[string][]half, key string, h half) {
	if a.waiting >= asyncLimit {
		a.f.find(trace.CodeBadValue, h.at, "too many asynchronous slices are open at once")
		return
	}
	a.waiting++
	m[key] = append(m[key], h)
}

// take removes half i of a key.
func (a *async) take(m map[string][]half, key string, i int) {
	a.waiting--
	if m[key] = slices.Delete(m[key], i, i+1); len(m[key]) == 0 {
		delete(m, key)
	}
}

// close puts the slices that have no end and counts the ends that have no begin.
func (a *async) close() {
	var begins []half
	for _, hs := range a.open {
		begins = append(begins, hs...)
	}
	// Maps have no order, results must.
	slices.SortFunc(begins, func(x, y half) int { return cmp.Compare(x.at, y.at) })
	for _, b := range begins {
		a.put(b, openEnd)
	}
	for _, hs := range a.early {
		for _, h := range hs {
			a.f.find(trace.CodeUnmatchedLeave, h.at, "the end of an asynchronous slice that was not begun")
		}
	}
	a.open, a.early = nil, nil
}
