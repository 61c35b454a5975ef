package merge

import (
	"cmp"
	"math"
	"slices"

	"tracekit/trace"
)

// A point is something that the order of events between processes depends on.
type point struct {
	time int64 // with measured offsets, before the logical clock
	loc  trace.LocationID
	kind pointKind
	row  uint32 // in Sends, Recvs, or of the part
}

type pointKind uint8

const (
	noPoint pointKind = iota
	enterPoint
	sendPoint
	recvPoint
	leavePoint
)

// A walker visits the points of a process in order of time; within a location, points of
// one time are visited in recorded order.
type walker struct {
	streams []*stream
}

func (c *logicalClock) walk(locs []trace.LocationID) *walker {
	w := &walker{}
	for _, l := range locs {
		s := &stream{clock: c, loc: l}
		s.fetchSend()
		s.fetchRecv()
		s.fetchPart()
		w.streams = append(w.streams, s)
	}
	return w
}

// peek returns the next point; kind is noPoint at the end.
func (w *walker) peek() point {
	var next point
	for _, s := range w.streams {
		if p := s.peek(); p.kind != noPoint && (next.kind == noPoint || p.time < next.time) {
			next = p
		}
	}
	return next
}

// pass goes on behind a point that peek has returned.
func (w *walker) pass(p point) {
	for _, s := range w.streams {
		if s.loc == p.loc {
			s.pass(p)
			return
		}
	}
}

// A stream visits the points of one location.
type stream struct {
	clock            *logicalClock
	loc              trace.LocationID
	send, recv, part head
	leaves           []leaveAt // of the parts that were entered, soonest first
}

// A head is the next row of one of a location's tables.
type head struct {
	next int // the row after it
	row  uint32
	time int64 // math.MaxInt64 at the end
	seq  uint64
}

type leaveAt struct {
	time int64
	part uint32
}

func (s *stream) at(t int64) int64 {
	return trace.CorrectOffset(s.clock.maps[s.loc].Offsets, t)
}

// doubted reports whether a message, by the rows of its ends, does not bind.
func (s *stream) doubted(from, to trace.LocationID, send, recv int) bool {
	c := s.clock
	return c.doubts != nil && c.doubts.message(from, to, c.trace.Sends[from].Ptr(send), c.trace.Recvs[to].Ptr(recv))
}

func (s *stream) fetchSend() {
	t := s.clock.trace.Sends[s.loc]
	for s.send.time = math.MaxInt64; s.send.next < t.Len(); {
		row := t.At(s.send.next)
		s.send.next++
		if row.State == trace.Matched && !s.doubted(s.loc, row.RecvLoc, int(s.send.next-1), int(row.Recv)) {
			s.send.row, s.send.time, s.send.seq = uint32(s.send.next-1), s.at(row.Time), row.Seq()
			return
		}
	}
}

func (s *stream) fetchRecv() {
	t := s.clock.trace.Recvs[s.loc]
	for s.recv.time = math.MaxInt64; s.recv.next < t.Len(); {
		row := t.At(s.recv.next)
		s.recv.next++
		if row.State == trace.Matched && !s.doubted(row.SendLoc, s.loc, int(row.Send), int(s.recv.next-1)) {
			s.recv.row, s.recv.time, s.recv.seq = uint32(s.recv.next-1), s.at(row.Time), row.Seq()
			return
		}
	}
}

func (s *stream) fetchPart() {
	parts := s.clock.parts[s.loc]
	for s.part.time = math.MaxInt64; s.part.next < parts.Len(); {
		p := parts.At(s.part.next)
		s.part.next++
		if p.collective == trace.None || p.call == trace.None || !s.clock.binds(p) {
			continue
		}
		s.part.row, s.part.time, s.part.seq = uint32(s.part.next-1), s.at(p.from), p.begin
		return
	}
}

func (s *stream) peek() point {
	p, seq := point{time: math.MaxInt64, loc: s.loc}, uint64(math.MaxUint64)
	for _, h := range [...]struct {
		*head
		kind pointKind
	}{{&s.part, enterPoint}, {&s.send, sendPoint}, {&s.recv, recvPoint}} {
		if h.time < p.time || h.time == p.time && h.seq < seq && h.time != math.MaxInt64 {
			p.time, p.row, p.kind, seq = h.time, h.row, h.kind, h.seq
		}
	}
	if len(s.leaves) > 0 && s.leaves[0].time < p.time {
		p.time, p.row, p.kind = s.leaves[0].time, s.leaves[0].part, leavePoint
	}
	return p
}

func (s *stream) pass(p point) {
	switch p.kind {
	case sendPoint:
		s.fetchSend()
	case recvPoint:
		s.fetchRecv()
	case leavePoint:
		s.leaves = s.leaves[1:]
	case enterPoint:
		s.expectLeave(p.row)
		s.fetchPart()
	}
}

// expectLeave adds the end of a part to the leaves that are to come.
func (s *stream) expectLeave(row uint32) {
	p := s.clock.parts[s.loc].At(int(row))
	if p.done == trace.None {
		return
	}
	l := leaveAt{s.at(p.to), row}
	i, _ := slices.BinarySearchFunc(s.leaves, l, func(a, b leaveAt) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.part, b.part))
	})
	s.leaves = slices.Insert(s.leaves, i, l)
}
