package jsontrace

import (
	"bytes"
	"cmp"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// laneLimit bounds the number of lanes of a file. Events of further ones are left out.
const laneLimit = 1 << 18

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

// A laneKey identifies a lane: a thread of a process, a stream of a device, or the
// asynchronous slices of a category in a process.
type laneKey struct {
	pid, tid ident
	async    bool
}

// A lane is a sequence of events that becomes a location, or several if slices overlap.
type lane struct {
	laneKey
	number  trace.LocationID // in the spool
	stream  *spool.Stream
	stacked bool   // the last slice came as B or E
	gpu     bool   // holds kernels
	trivial bool   // holds nothing but the writer's bookkeeping
	rank    uint32 // with hasRank: of which rank
	hasRank bool
	comm    bool            // holds collectives or messages
	latest  int64           // the latest end of a slice, if it has slices
	exile   map[uint64]bool // slices that nest in none of the first sub-lane: see nester
	open    []openCall      // in tracekit's own dialect: what is entered and not left
}

// lanes finds lanes by the raw text of pid and tid.
type lanes struct {
	spool   *spool.Spool
	names   *names
	list    []*lane
	byKey   map[laneKey]*lane
	byRaw   map[string]*lane
	scratch []byte
	lastPid []byte
	lastTid []byte
	last    *lane
}

func newLanes(s *spool.Spool, n *names) *lanes {
	return &lanes{spool: s, names: n, byKey: make(map[laneKey]*lane), byRaw: make(map[string]*lane)}
}

// find returns the lane of a pid and a tid, nil if there are too many lanes.
func (l *lanes) find(pid, tid []byte) *lane {
	if l.last != nil && bytes.Equal(tid, l.lastTid) && bytes.Equal(pid, l.lastPid) {
		return l.last
	}
	l.scratch = append(append(append(l.scratch[:0], pid...), 0), tid...)
	found := l.byRaw[string(l.scratch)]
	if found == nil {
		found = l.get(laneKey{pid: l.pid(pid), tid: l.tid(pid, tid)})
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

// get returns the lane of a key.
func (l *lanes) get(k laneKey) *lane {
	if found := l.byKey[k]; found != nil {
		return found
	}
	if len(l.list) >= laneLimit {
		return nil
	}
	id := trace.LocationID(len(l.list))
	found := &lane{laneKey: k, number: id, stream: l.spool.Stream(id), trivial: true}
	l.list = append(l.list, found)
	l.byKey[k] = found
	return found
}

// pid returns the process that a raw value means; a missing one is process 0.
func (l *lanes) pid(raw []byte) ident {
	if text(raw) == nil {
		return ident{}
	}
	return l.ident(raw)
}

// tid returns the thread that a raw value means; a missing one has the process's number.
func (l *lanes) tid(pid, raw []byte) ident {
	if text(raw) == nil {
		return l.pid(pid)
	}
	return l.ident(raw)
}

func (l *lanes) ident(raw []byte) ident {
	s := text(raw)
	if n, ok := integer(s); ok {
		return ident{n: n}
	}
	return ident{named: true, n: int64(l.names.raw(s))}
}
