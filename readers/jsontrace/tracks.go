package jsontrace

import (
	"bytes"
	"cmp"
	"fmt"

	"tracekit/readers/internal/nest"
)

// crowded says why events of further tracks are left out.
var crowded = fmt.Sprintf("more than %d different pid and tid in one file; of a trace in several files each may have as many",
	nest.TrackLimit)

// An ident is a pid or tid: an integer, or a name (an index into names).
type ident struct {
	named bool
	n     int64
}

func compareIdents(a, b ident) int {
	if a.named != b.named {
		if b.named {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.n, b.n)
}

// A trackKey identifies a track: a thread of a process, a stream of a device, or the
// asynchronous slices of a category in a process.
type trackKey struct {
	pid, tid ident
	async    bool
	stray    bool // frames of a thread whose process PyTorch does not know
	device   bool // a device of XLA that threads of the host are
}

// A track is a sequence of events that becomes a location, or several if slices overlap.
type track struct {
	trackKey
	trivial bool // holds nothing but the writer's bookkeeping, and moments
	moments bool // holds moments
	steps   bool // holds operations of a step of training
	hasRank bool
	rank    uint32 // with hasRank: of which rank
	nest.Track
	open []openCall // in tracekit's own dialect: what is entered and not left
}

// tracks finds tracks by the raw text of pid and tid.
type tracks struct {
	set     *nest.Set
	names   *names
	list    []*track
	byKey   map[trackKey]*track
	byRaw   map[string]*track
	scratch []byte
	lastPid []byte
	lastTid []byte
	last    *track
}

func newTracks(s *nest.Set, n *names) *tracks {
	return &tracks{set: s, names: n, byKey: make(map[trackKey]*track), byRaw: make(map[string]*track)}
}

// find returns the track of a pid and a tid, nil if there are too many tracks.
func (l *tracks) find(pid, tid []byte) *track {
	if l.last != nil && bytes.Equal(tid, l.lastTid) && bytes.Equal(pid, l.lastPid) {
		return l.last
	}
	l.scratch = append(append(append(l.scratch[:0], pid...), 0), tid...)
	found := l.byRaw[string(l.scratch)]
	if found == nil {
		found = l.get(trackKey{pid: l.pid(pid), tid: l.tid(pid, tid)})
		if found == nil {
			return nil
		}
		l.byRaw[string(l.scratch)] = found
	}
	l.lastPid = append(l.lastPid[:0], pid...)
	l.lastTid = append(l.lastTid[:0], tid...)
	l.last = found
	return found
}

// get returns the track of a key.
func (l *tracks) get(k trackKey) *track {
	if found := l.byKey[k]; found != nil {
		return found
	}
	found := &track{trackKey: k, trivial: true}
	found.Async = k.async
	if !l.set.Add(&found.Track) {
		return nil
	}
	l.list = append(l.list, found)
	l.byKey[k] = found
	return found
}

// found forgets how tracks are found: the file has been read.
func (l *tracks) found() { l.byKey, l.byRaw, l.last = nil, nil, nil }

// pid returns the process that a raw value means; a missing one is process 0.
func (l *tracks) pid(raw []byte) ident {
	if text(raw) == nil {
		return ident{}
	}
	return l.ident(raw)
}

// tid returns the thread that a raw value means; a missing one has the process's number.
func (l *tracks) tid(pid, raw []byte) ident {
	if text(raw) == nil {
		return l.pid(pid)
	}
	return l.ident(raw)
}

func (l *tracks) ident(raw []byte) ident {
	s := text(raw)
	if n, ok := integer(s); ok {
		return ident{n: n}
	}
	return ident{named: true, n: int64(l.names.raw(s))}
}
