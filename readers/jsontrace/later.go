package jsontrace

import (
	"cmp"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// Profilers may write a file for each step, or each time that they are started. Files of one rank that follow each other in time are one
// recording: their threads and streams are the same locations.

// later finds the files of PyTorch's profiler that go on with others of their rank, and orders those by time. Files are in order of rank.
func later(files []*file) {
	for i := 0; i < len(files); {
		n := i + 1
		for n < len(files) && files[n].origin.hasRank && files[i].origin.hasRank && files[n].origin.rank == files[i].origin.rank &&
			files[n].origin.worldSize == files[i].origin.worldSize {
			n++
		}
		if n > i+1 {
			follow(files[i:n])
		}
		i = n
	}
}

// follow orders files of a rank by time; they go on with each other if they do not overlap.
func follow(files []*file) {
	begins, ends := make(map[*file]int64), make(map[*file]int64)
	for _, f := range files {
		lo, hi, ok := nest.Extent(nested(f.tracks.list))
		if !ok || !f.origin.kineto {
			return
		}
		begins[f], ends[f] = nest.AddTime(lo, f.base), nest.AddTime(hi, f.base)
	}
	slices.SortStableFunc(files, func(x, y *file) int { return cmp.Compare(begins[x], begins[y]) })
	for i := 1; i < len(files); i++ {
		if begins[files[i]] < ends[files[i-1]] {
			return
		}
	}
	for i, f := range files {
		f.begun, f.ended = begins[f]-f.base, ends[f]-f.base
		if f.later = i; i > 0 {
			f.before = files[i-1]
		}
	}
}

// begins and ends return when the first and the last event is, of a file that has later ones or is one.
func (f *file) begins() int64 { return nest.AddTime(f.begun, f.set.Shift) }
func (f *file) ends() int64   { return nest.AddTime(f.ended, f.set.Shift) }

// seats are the processes, accelerators, threads and streams of a rank, in which later files go on.
type seats struct {
	groups    map[groupSeat]trace.LocationGroupID
	locations map[seat]trace.LocationID
	ends      map[trace.LocationID]*place // the last place of those that go on
	kinds     [3]int                      // of the file at hand: groups so far, by kind
}

func newSeats() seats {
	return seats{groups: make(map[groupSeat]trace.LocationGroupID), locations: make(map[seat]trace.LocationID),
		ends: make(map[trace.LocationID]*place)}
}

// A groupSeat is the n-th group of its kind: a job that is started again has other processes.
type groupSeat struct {
	kind uint8
	n    int
}

// A seat is a sub-track of a thread or stream, by its number or name. The main thread has none.
type seat struct {
	group        trace.LocationGroupID
	tid          int64
	name         string
	named, main  bool
	async, stray bool
	sub          int
}

func (f *file) seat(l *track, group trace.LocationGroupID) seat {
	s := seat{group: group, named: l.tid.named, async: l.async, stray: l.stray}
	switch {
	case l.tid == l.pid && !l.async:
		s.main = true
	case s.named:
		s.name = f.names.list[l.tid.n]
	default:
		s.tid = l.tid.n
	}
	return s
}

// groupOf returns the location group of a process or accelerator: that of earlier files, or a new one.
func (a *assembler) groupOf(number int, f *file, pid ident, kind uint8, creator trace.LocationGroupID) trace.LocationGroupID {
	key := groupSeat{kind, a.seats.kinds[kind]}
	a.seats.kinds[kind]++
	id, known := a.seats.groups[key]
	if !known {
		id = a.group(number, f, pid, kind, creator)
		a.seats.groups[key] = id
	}
	return id
}

// location returns the location of a seat: that of earlier files, or the next new one.
func (a *assembler) location(s seat) trace.LocationID {
	if id, known := a.seats.locations[s]; known {
		return id
	}
	return trace.LocationID(len(a.places))
}

// goOn lets the events of a location go on in a later file.
func (a *assembler) goOn(id trace.LocationID, p place, events uint64) {
	a.defs.Locations[id].Events += events
	if p.main() {
		a.defs.Locations[id].Events += 2
		a.pauses = [2]trace.StringID{a.string(trace.InstantPause), a.string(trace.InstantResume)}
	}
	last := a.seats.ends[id]
	if last == nil {
		last = &a.places[id]
	}
	last.next, a.seats.ends[id] = &p, &p
}
