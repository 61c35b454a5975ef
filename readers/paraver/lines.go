package paraver

import (
	"bytes"
	"fmt"
	"strings"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A reading takes the lines of a .prv file, one after the other.
type reading struct {
	path    string
	options Options
	header  *header
	pcf     *pcf
	row     rowFile
	defs    *trace.Defs
	names   *names
	meters  *meters
	types   *eventTypes
	sites   *sites
	comms   *comms
	roots   *roots
	spool   *spool.Spool
	lanes   []lane
	appls   []appl
	counts  counts
	ledger  trace.Ledger
	notes   []string // metadata lines

	instants map[regionKey]trace.StringID
	last     int64 // greatest time
	at       position
	dialect  bool // written by this package: see own.go

	ops     []operation // of the line
	members []uint32
	values  []uint64
	callers [callerLevels]callerKey

	ownValues ownValues
	fields    [14]int64
}

// An appl is an application.
type appl struct{ tasks []taskPlace }

// A taskPlace is the place of a task: its world rank, its first lane and the number of its
// threads.
type taskPlace struct {
	rank, lane uint32
	threads    int64
}

// A position is the line that is read.
type position struct {
	block block
	begin int // of the line in the block
}

// counts is the number of lines by kind.
type counts struct {
	States, Events, Communications, Globals, Communicators, Comments, Others, Bad uint64
}

// String tells the numbers that are not 0.
func (c counts) String() string {
	var b strings.Builder
	for _, n := range []struct {
		name  string
		count uint64
	}{{"state", c.States}, {"event", c.Events}, {"communication", c.Communications}, {"global communication", c.Globals},
		{"communicator", c.Communicators}, {"comment", c.Comments}, {"unknown", c.Others}, {"bad", c.Bad}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %s %d", n.name, n.count)
		}
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// An operation is what one event of a line does to the call stack, or a moment.
type operation struct {
	class  class
	slot   uint32
	typ    uint32
	region trace.RegionID
	value  int64
}

// block reads the lines of a block.
func (r *reading) block(b block) {
	r.at.block = b
	s := scanner{data: b.data}
	for s.pos < len(b.data) {
		r.at.begin = s.pos
		if err := r.line(&s); err != nil {
			r.counts.Bad++
			r.bad(err)
		}
		s.nextLine()
	}
}

func (r *reading) line(s *scanner) error {
	c := s.data[s.pos]
	if c >= '1' && c <= '4' && s.data[s.pos+1] == ':' {
		s.pos += 2
		switch c {
		case '1':
			return r.state(s)
		case '2':
			return r.event(s)
		case '3':
			return r.communication(s)
		}
		return r.global(s)
	}
	return r.other(s)
}

// other reads a line that is no record.
func (r *reading) other(s *scanner) error {
	n := bytes.IndexByte(s.data[s.pos:], '\n')
	text := bytes.TrimRight(s.data[s.pos:s.pos+n], "\r")
	switch {
	case len(text) == 0:
		return nil
	case text[0] == '#':
		r.counts.Comments++
		if len(r.notes) < 64 && len(text) < 4096 {
			r.notes = append(r.notes, string(text[1:]))
		}
		return nil
	case len(text) > 2 && text[1] == ':' && strings.IndexByte("cCiI", text[0]) >= 0:
		r.counts.Communicators++
		return r.comms.line(string(text))
	}
	r.counts.Others++
	r.find(trace.CodeUnknownRecord, "%.40q", text)
	return nil
}

// bad notes a line that is left out.
func (r *reading) bad(err error) {
	code := trace.CodeBadValue
	if err == errObject {
		code = trace.CodeDanglingReference
	}
	r.find(code, "%v", err)
}

// find notes a finding at the line that is read.
func (r *reading) find(code trace.Code, format string, args ...any) {
	place := trace.Place{Location: trace.None, File: r.path, Offset: r.at.block.offset + int64(r.at.begin)}
	if r.ledger.Count(code) > 0 { // only the first is described
		r.ledger.Add(code, place, "")
		return
	}
	line := r.at.block.line + bytes.Count(r.at.block.data[:r.at.begin], []byte{'\n'})
	r.ledger.Add(code, place, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// lane returns the lane of a thread.
func (r *reading) lane(appl, task, thread int64) *lane {
	if p := r.place(appl, task); p != nil && thread >= 1 && thread <= p.threads {
		l := &r.lanes[int64(p.lane)+thread-1]
		if l.events == nil {
			r.openLane(l)
		}
		return l
	}
	return nil
}

func (r *reading) place(appl, task int64) *taskPlace {
	if appl < 1 || appl > int64(len(r.appls)) {
		return nil
	}
	a := &r.appls[appl-1]
	if task < 1 || task > int64(len(a.tasks)) {
		return nil
	}
	return &a.tasks[task-1]
}

// maxTime is the greatest time that is believed; so differences do not overflow.
const maxTime = 1 << 61

// moment checks a time of a line and notes lines out of order.
func (r *reading) moment(l *lane, t int64) error {
	if uint64(t) > maxTime {
		return errTime
	}
	if t < l.last {
		r.find(trace.CodeUnsorted, "time %d after %d", t, l.last)
	} else {
		l.last = t
		r.last = max(r.last, t)
	}
	return nil
}

// state reads cpu:appl:task:thread:begin:end:state.
func (r *reading) state(s *scanner) error {
	f := r.fields[:7]
	if err := s.numbers(f); err != nil {
		return err
	}
	if !s.atEnd() {
		return s.extra()
	}
	l := r.lane(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	begin, end, value := f[4], f[5], f[6]
	if end == -1 {
		end = maxTime
	}
	if end < begin || end > maxTime {
		return errTime
	}
	if err := r.moment(l, begin); err != nil {
		return err
	}
	r.counts.States++
	if !l.calls && !r.dialect && value != stateNotCreated {
		l.states.Tie = -end // the longer one first
		l.states.AddAttr(0, trace.TypeInt64, uint64(end))
		l.states.AddFlow(begin, trace.KindEnter, r.stateRegion(value))
	}
	return nil
}

// extra tells why a line does not end where it should.
func (s *scanner) extra() error {
	if s.data[s.pos] == ':' {
		return errFields
	}
	return errNumber
}

// event reads cpu:appl:task:thread:time and pairs of type:value.
func (r *reading) event(s *scanner) error {
	f := r.fields[:5]
	if err := s.numbers(f); err != nil {
		return err
	}
	l := r.lane(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	t := f[4]
	if s.atEnd() {
		return errFields
	}
	h := attributes{levels: 0}
	r.ops, r.members, r.values = r.ops[:0], r.members[:0], r.values[:0]
	for !s.atEnd() {
		if !s.colon() {
			return errNumber
		}
		typ, ok := s.long()
		if !ok || uint64(typ) > 1<<32-1 {
			return errNumber
		}
		if !s.colon() {
			return s.missing()
		}
		value, ok := s.number()
		if !ok {
			return errNumber
		}
		r.pair(&h, uint32(typ), value)
	}
	if err := r.moment(l, t); err != nil {
		return err
	}
	r.counts.Events++
	r.apply(l, t, &h)
	return nil
}

// communication reads cpuS:applS:taskS:threadS:logS:phyS:cpuR:applR:taskR:threadR:logR:
// phyR:size:tag.
func (r *reading) communication(s *scanner) error {
	f := r.fields[:14]
	if err := s.numbers(f); err != nil {
		return err
	}
	if !s.atEnd() {
		return s.extra()
	}
	from, to := r.lane(f[1], f[2], f[3]), r.lane(f[7], f[8], f[9])
	if from == nil || to == nil {
		return errObject
	}
	for _, t := range [...]int64{f[4], f[5], f[10], f[11]} {
		if uint64(t) > maxTime {
			return errTime
		}
		r.last = max(r.last, t)
	}
	r.counts.Communications++
	size := uint64(f[12])
	if f[12] < 0 {
		size = uint64(uint32(f[12])) // written as a signed number of 32 bits
	}
	if r.dialect {
		return nil
	}
	comm := r.comms.between(f[1], f[7])
	row := trace.P2PRow{Time: f[4], Kind: trace.KindMpiSend, Peer: to.task, Comm: comm,
		Tag: uint32(f[13]), Bytes: size, Request: uint64(f[5])}
	from.messages.AddP2P(row)
	row.Time, row.Kind, row.Peer, row.Request = f[10], trace.KindMpiRecv, from.task, uint64(f[11])
	to.messages.AddP2P(row)
	return nil
}

// global reads cpu:appl:task:thread:time:comm:sent:received:op:flag, the collectives of
// old traces.
func (r *reading) global(s *scanner) error {
	f := r.fields[:8]
	if err := s.numbers(f); err != nil {
		return err
	}
	l := r.lane(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	r.counts.Globals++
	h := &l.held
	if !h.on || h.time != f[4] || h.coll {
		return nil
	}
	h.coll, h.comm, h.sent, h.received = true, r.comms.find(f[5]), uint64(f[6]), uint64(f[7])
	switch op := r.names.classes[h.region].Op; op {
	case trace.CollBcast, trace.CollScatter, trace.CollScatterv: // the root sends
		h.root = f[6] > 0 && f[7] == 0
	case trace.CollReduce, trace.CollGather, trace.CollGatherv:
		h.root = f[7] > 0 && f[6] == 0
	}
	return nil
}
