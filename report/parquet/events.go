package parquet

import (
	"math"
	"slices"
	"sort"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/readers/arrowdir"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// The tables of a report directory stand alone: names are spelled out, times are
// nanoseconds on the axis of the document, what is not there is NULL. They hold the whole
// run, whatever was selected; overhead is known of selected calls only.

// Maker makes the tables of a trace and its analysis.
type Maker struct {
	t     *trace.Trace
	a     *analysis.Result
	lines []lineNames // by call path
	text  map[string]*nameList
	whole bool // ticks are nanoseconds
}

// A nameList numbers the names of a column.
type nameList struct {
	names []string
	index map[string]uint32
}

func newNameList() *nameList { return &nameList{names: []string{}, index: make(map[string]uint32)} }

// of returns the number of a name, None for "".
func (n *nameList) of(name string) uint32 {
	if name == "" {
		return trace.None
	}
	i, ok := n.index[name]
	if !ok {
		i = uint32(len(n.names))
		n.names, n.index[name] = append(n.names, name), i
	}
	return i
}

// lineNames is what the tables say of the calls of a path.
type lineNames struct {
	operation, region, file, of uint32
	line                        uint32 // None: not known
}

// noLine is of calls that are not recorded.
var noLine = lineNames{trace.None, trace.None, trace.None, trace.None, trace.None}

// Tables returns the tables of a report: those of threads and devices where there are such.
func Tables(t *trace.Trace, a *analysis.Result) []arrowdir.Table {
	m := NewMaker(t, a)
	tables := m.eventTables()
	if a.Threads != nil {
		tables = append(tables, threadTables(a)...)
	}
	if len(a.Devices) > 0 {
		tables = append(tables, deviceTables(a)...)
	}
	return tables
}

// Tables returns the tables of a report, whatever the trace has.
func (m *Maker) Tables() []arrowdir.Table {
	return slices.Concat(m.eventTables(), threadTables(m.a), deviceTables(m.a))
}

func (m *Maker) eventTables() []arrowdir.Table {
	return []arrowdir.Table{m.calls(), m.Messages(), m.collectives(), m.members(), m.callPaths()}
}

// NewMaker returns the maker of the tables of a trace; of a nil analysis only those of messages.
func NewMaker(t *trace.Trace, a *analysis.Result) *Maker {
	m := &Maker{t: t, a: a, text: make(map[string]*nameList)}
	m.whole = t.Defs.Clock.Nanoseconds(math.MaxInt64) == math.MaxInt64 && t.Defs.Clock.Nanoseconds(1) == 1
	for _, column := range []string{"operation", "region", "file", "line_of", "location", "communicator"} {
		m.text[column] = newNameList()
	}
	m.spellPaths()
	return m
}

func (m *Maker) spellPaths() {
	d := m.t.Defs
	labels := make([]string, len(d.Regions)+1)
	for i := range d.Regions {
		labels[i] = d.RegionLabel(trace.RegionID(i))
	}
	label := func(r trace.RegionID) string { return labels[min(int(r), len(d.Regions))] }
	m.lines = make([]lineNames, len(m.t.Tree.Nodes))
	for p := range m.lines {
		s := m.t.Tree.SourceLine(d, trace.PathID(p))
		x := &m.lines[p]
		x.operation, x.region = m.text["operation"].of(label(m.t.Tree.Nodes[p].Region)), m.text["region"].of(label(s.Region))
		x.file, x.line, x.of = m.text["file"].of(d.String(s.File)), trace.None, trace.None
		if s.Line > 0 {
			x.line = s.Line
			of := field.LineOfRegion
			if s.Exact {
				of = field.LineOfCall
			}
			x.of = m.text["line_of"].of(of)
		}
	}
}

// line returns the names of a path.
func (m *Maker) line(p trace.PathID) lineNames {
	if int(p) < len(m.lines) {
		return m.lines[p]
	}
	return noLine
}

// names describes a column of names.
func (m *Maker) names(column, list string) arrowdir.TableColumn {
	return arrowdir.TableColumn{Name: column, Names: m.text[list].names}
}

func integers(names ...string) (columns []arrowdir.TableColumn) {
	for _, n := range names {
		columns = append(columns, arrowdir.TableColumn{Name: n})
	}
	return columns
}

// ns returns a time, instant an instant of the document.
func (m *Maker) ns(ticks int64) int64 {
	if m.whole {
		return ticks
	}
	return m.t.Defs.Clock.Nanoseconds(ticks)
}

func (m *Maker) instant(tick int64) int64 { return m.ns(tick - m.t.Defs.Clock.GlobalOffset) }

// calls has a row for each MPI call that communicates: where, when, how long, how much of
// it waiting and overhead.
func (m *Maker) calls() arrowdir.Table {
	for _, l := range m.t.Defs.Locations {
		m.text["location"].of(m.t.Defs.String(l.Name))
	}
	columns := append(integers("location", "call", "rank"), m.names("thread", "location"), m.names("operation", "operation"),
		m.names("region", "region"), m.names("file", "file"))
	columns = append(append(columns, integers("line")...), m.names("line_of", "line_of"))
	columns = append(columns, integers("callpath", "start_ns", "time_ns", "wait_ns")...)
	columns = append(columns, arrowdir.TableColumn{Name: "wait_state", Names: waitNames()})
	columns = append(columns, integers("overhead_ns", "bytes_sent", "bytes_received")...)
	return arrowdir.Table{Name: "calls", Columns: columns, Parts: m.byLocation(m.callsOf)}
}

// byLocation returns the parts of a table that has one for each location.
func (m *Maker) byLocation(of func(trace.LocationID) arrowdir.Part) func() []arrowdir.Part {
	return func() (parts []arrowdir.Part) {
		for l := range m.t.Calls {
			parts = append(parts, of(trace.LocationID(l)))
		}
		return parts
	}
}

// bounds are the least and the greatest value that are wanted of a column, and the part of a table that they are asked of.
type bounds struct {
	least, greatest int64
	rows            int
}

// here returns all rows if the one value that they have is wanted, else none; trace.None is missing.
func (b bounds) here(v uint32) (first, end int, ok bool) {
	if v == trace.None || int64(v) < b.least || int64(v) > b.greatest {
		return 0, 0, true
	}
	return 0, b.rows, true
}

// among returns the rows that are wanted by a value that never falls from row to row.
func (b bounds) among(value func(int) int64) (first, end int, ok bool) {
	first = sort.Search(b.rows, func(i int) bool { return value(i) >= b.least })
	return first, first + sort.Search(b.rows-first, func(i int) bool { return value(first+i) > b.greatest }), true
}

// during returns about how many rows lie in a time that is wanted, of rows that are spread from an instant to another one.
func (b bounds) during(from, to int64) (first, end int, ok bool) {
	if b.least > to || b.greatest < from {
		return 0, 0, true
	}
	share := (float64(min(b.greatest, to)-max(b.least, from)) + 1) / (float64(to-from) + 1)
	return 0, min(b.rows, 1+int(share*float64(b.rows))), true
}

// waitNames are the names of wait states by kind.
func waitNames() []string {
	var names []string
	for k := range waitstate.Kinds {
		key := k.Info().Key
		switch k {
		case waitstate.None: // not NULL: that is slow to write where it comes and goes
			key = "none"
		case waitstate.AtStartup:
			key = "startup"
		}
		names = append(names, key)
	}
	return names
}

// Columns of calls.
const (
	callLocation = iota
	callNumber
	callRank
	callThread
	callOperation
	callRegion
	callFile
	callLine
	callLineOf
	callPath
	callStart
	callTime
	callWait
	callWaitState
	callOverhead
	callSent
	callReceived
)

// callsOf are the calls of one location, with the bytes that they send and receive.
func (m *Maker) callsOf(l trace.LocationID) arrowdir.Part {
	calls := m.t.Calls[l]
	thread := m.text["location"].of(m.t.Defs.String(m.t.Defs.Locations[l].Name))
	within := func(column int, least, greatest int64) (first, end int, ok bool) {
		b := bounds{least, greatest, calls.Len()}
		switch column {
		case callLocation:
			return b.here(uint32(l))
		case callRank:
			return b.here(m.t.Rank[l])
		case callStart: // calls are in order of their Enter
			return b.among(func(i int) int64 { return m.instant(calls.Ptr(i).Enter) })
		}
		return 0, 0, false
	}
	return arrowdir.Part{Rows: calls.Len(), Within: within, Fill: func(b *arrowdir.Block, first int) {
		b.ID(callLocation, uint32(l))
		b.ID(callRank, m.t.Rank[l])
		b.Name(callThread, thread)
		number, line, path := b.Ints(callNumber), b.Ints(callLine), b.Ints(callPath)
		start, time, wait, overhead := b.Ints(callStart), b.Ints(callTime), b.Ints(callWait), b.Ints(callOverhead)
		operation, region, file := b.Names(callOperation), b.Names(callRegion), b.Names(callFile)
		of, state := b.Names(callLineOf), b.Names(callWaitState)
		call := calls.Cursor()
		for i := range b.Rows {
			c := call.Ptr(first + i)
			x := &noLine
			if int(c.Path) < len(m.lines) {
				x = &m.lines[c.Path]
			}
			if number != nil {
				number[i] = int64(first + i)
			}
			b.SetName(callOperation, operation, i, x.operation)
			b.SetName(callRegion, region, i, x.region)
			b.SetName(callFile, file, i, x.file)
			b.SetID(callLine, line, i, x.line)
			b.SetName(callLineOf, of, i, x.of)
			b.SetID(callPath, path, i, uint32(c.Path))
			if start != nil {
				start[i] = m.instant(c.Enter)
			}
			if time != nil {
				time[i] = m.ns(c.Leave - c.Enter)
			}
		}
		if wait != nil || state != nil {
			waits := m.a.Waits[l]
			at, row := waits.Index.Cursor(), waits.Rows.Cursor()
			for i := range b.Rows {
				kind, ns := waitstate.None, int64(0)
				if k := *at.Ptr(first + i); k > 0 {
					w := row.Ptr(int(k - 1))
					kind, ns = w.Kind, m.ns(w.Time)
				}
				b.SetName(callWaitState, state, i, uint32(kind))
				if wait != nil {
					wait[i] = ns
				}
			}
		}
		for i := range overhead {
			var ok bool
			if overhead[i], ok = m.a.CallOverhead.At(l, first+i); !ok {
				b.Missing(callOverhead, i)
			}
		}
		m.bytesOf(l, first, b.Rows, b.Ints(callSent), b.Ints(callReceived))
	}}
}

// bytesOf sets the bytes that calls of a location send and receive, as far as they are wanted.
func (m *Maker) bytesOf(l trace.LocationID, first, n int, sent, received []int64) {
	if sent == nil && received == nil {
		return
	}
	clear(sent)
	clear(received)
	add := func(to []int64, call int, bytes uint64) {
		if to != nil {
			to[call-first] += int64(bytes)
		}
	}
	calls, sends, recvs, parts := m.t.Calls[l], m.t.Sends[l], m.t.Recvs[l], m.t.Parts[l]
	call, send, recv, part, member := calls.Cursor(), sends.Cursor(), recvs.Cursor(), parts.Cursor(), m.t.Members.Cursor()
	end := calls.Len()
	nextSend, nextRecv := call.Ptr(first).FirstSend, call.Ptr(first).FirstRecv
	for i := first; i < first+n; i++ {
		k, r := nextSend, nextRecv
		nextSend, nextRecv = uint32(sends.Len()), uint32(recvs.Len())
		if i+1 < end {
			c := call.Ptr(i + 1)
			nextSend, nextRecv = c.FirstSend, c.FirstRecv
		}
		for ; k < nextSend; k++ {
			if s := send.Ptr(int(k)); int(s.Call) == i {
				add(sent, i, s.Bytes)
			}
		}
		for ; r < nextRecv; r++ {
			add(received, i, recv.Ptr(int(r)).Bytes)
		}
	}
	of := func(i int) *trace.Member { return member.Ptr(int(part.Ptr(i).Member)) }
	begin := sort.Search(parts.Len(), func(i int) bool { return int(of(i).Call) >= first })
	for i, end := begin, parts.Len(); i < end; i++ {
		p := of(i)
		if int(p.Call) >= first+n {
			break
		}
		add(sent, int(p.Call), p.Sent)
		add(received, int(p.Call), p.Received)
	}
}

// messageStates are the names of trace.MessageState.
func messageStates() []string { return []string{"unmatched", "matched", "cancelled", "unusable"} }

// Messages has a row for each point-to-point message, also those of which one side only is
// recorded.
func (m *Maker) Messages() arrowdir.Table {
	for i := range m.t.Defs.Comms {
		m.communicator(trace.CommID(i))
	}
	columns := append(integers("from", "to", "tag"), m.names("communicator", "communicator"))
	columns = append(append(columns, integers("bytes")...), arrowdir.TableColumn{Name: "state", Names: messageStates()})
	columns = append(columns, integers("send_ns", "receive_ns", "latency_ns")...)
	for _, side := range []string{"send_", "receive_"} {
		columns = append(append(columns, integers(side+"location", side+"call")...), m.names(side+"operation", "operation"),
			m.names(side+"region", "region"), m.names(side+"file", "file"))
		columns = append(append(columns, integers(side+"line")...), m.names(side+"line_of", "line_of"))
	}
	return arrowdir.Table{Name: "messages", Columns: columns, Parts: func() []arrowdir.Part {
		return slices.Concat(m.byLocation(m.sendsOf)(), m.byLocation(m.lonelyOf)())
	}}
}

// Columns of messages.
const (
	messageFrom            = 0
	messageTo              = 1
	messageSend            = 6
	messageReceive         = 7
	messageSendLocation    = 9
	messageReceiveLocation = 16
)

func (m *Maker) communicator(c trace.CommID) uint32 {
	if int(c) >= len(m.t.Defs.Comms) {
		return trace.None
	}
	return m.text["communicator"].of(m.t.Defs.String(m.t.Defs.Comms[c].Name))
}

// sendsOf are the messages that a location sends.
func (m *Maker) sendsOf(l trace.LocationID) arrowdir.Part {
	sends := m.t.Sends[l]
	within := func(column int, least, greatest int64) (first, end int, ok bool) {
		b := bounds{least, greatest, sends.Len()}
		switch column {
		case messageFrom:
			return b.here(m.t.Rank[l])
		case messageSendLocation:
			return b.here(uint32(l))
		case messageSend: // sends are in order of their records
			return b.among(func(i int) int64 { return m.instant(sends.Ptr(i).Time) })
		}
		return 0, 0, false
	}
	return arrowdir.Part{Rows: sends.Len(), Within: within, Fill: arrowdir.ByRow(func(r *arrowdir.Rows, i int) { m.Message(r, l, i) })}
}

// lonelyOf are the messages that a location receives and of which no send is known.
func (m *Maker) lonelyOf(l trace.LocationID) arrowdir.Part {
	recvs := m.t.Recvs[l]
	var lonely []int
	for i := range recvs.Len() {
		if recvs.Ptr(i).State != trace.Matched {
			lonely = append(lonely, i)
		}
	}
	within := func(column int, least, greatest int64) (first, end int, ok bool) {
		b := bounds{least, greatest, len(lonely)}
		switch column {
		case messageTo:
			return b.here(m.t.Rank[l])
		case messageReceiveLocation:
			return b.here(uint32(l))
		case messageSend, messageSendLocation:
			return b.here(trace.None)
		case messageReceive: // receives are in order of their records
			return b.among(func(i int) int64 { return m.instant(recvs.Ptr(lonely[i]).Time) })
		}
		return 0, 0, false
	}
	return arrowdir.Part{Rows: len(lonely), Within: within, Fill: arrowdir.ByRow(func(r *arrowdir.Rows, i int) {
		s := recvs.At(lonely[i])
		r.ID(s.From(m.t.Rank)).ID(m.t.Rank[l]).Int(int64(s.Tag)).Name(m.communicator(s.Comm)).Int(int64(s.Bytes)).Name(uint32(s.State))
		r.Missing().Int(m.instant(s.Time)).Missing()
		m.end(r, trace.None, trace.None)
		m.end(r, l, s.Call)
	})}
}

// Message writes a send with its receive.
func (m *Maker) Message(r *arrowdir.Rows, l trace.LocationID, send int) *arrowdir.Rows {
	t, s := m.t, m.t.Sends[l].At(send)
	r.ID(t.Rank[l]).ID(s.To(t.Rank)).Int(int64(s.Tag)).Name(m.communicator(s.Comm)).Int(int64(s.Bytes)).Name(uint32(s.State)).
		Int(m.instant(s.Time))
	var recv trace.Recv
	if s.State == trace.Matched {
		recv = t.Recvs[s.RecvLoc].At(int(s.Recv))
		r.Int(m.instant(recv.Time))
	} else {
		r.Missing()
	}
	if s.State == trace.Matched && s.Call != trace.None && recv.Call != trace.None {
		r.Int(m.ns(t.Calls[s.RecvLoc].At(int(recv.Call)).Leave - t.Calls[l].At(int(s.Call)).Enter))
	} else {
		r.Missing()
	}
	m.end(r, l, s.Call)
	if s.State == trace.Matched {
		m.end(r, s.RecvLoc, recv.Call)
	} else {
		m.end(r, trace.None, trace.None)
	}
	return r
}

// end writes where one end of a message lies.
func (m *Maker) end(r *arrowdir.Rows, l trace.LocationID, call uint32) {
	x := noLine
	if l != trace.None && call != trace.None {
		x = m.line(m.t.Calls[l].At(int(call)).Path)
	}
	r.ID(uint32(l)).ID(call).Name(x.operation).Name(x.region).Name(x.file).ID(x.line).Name(x.of)
}

// A meeting is when the members of a collective begin and end their parts.
type meeting struct{ start, last, end int64 }

// A sequence is collectives of one communicator, one after the other, which lie together: from first up to end.
type sequence struct {
	first, end int
	blocks     [][meetingTimes]extent // of some collectives each; nil: not looked at yet
}

const (
	meetingBlock = 64
	meetingTimes = 3 // start, last, end
)

// An extent is the least and the greatest of some values.
type extent struct{ least, greatest int64 }

// sequences returns all collectives.
func (m *Maker) sequences() (out []*sequence) {
	var of trace.CommID
	for i := range m.t.Collectives.Len() {
		if c := m.t.Collectives.Ptr(i).Comm; i == 0 || c != of {
			out, of = append(out, &sequence{first: i}), c
		}
		out[len(out)-1].end = i + 1
	}
	return out
}

// during returns the collectives, counted from the first one, outside of which none has a time (0: start, 1: last, 2: end) as wanted.
func (s *sequence) during(m *Maker, time int, least, greatest int64) (first, end int) {
	if s.blocks == nil {
		for i := s.first; i < s.end; i++ {
			if (i-s.first)%meetingBlock == 0 {
				none := extent{math.MaxInt64, math.MinInt64}
				s.blocks = append(s.blocks, [meetingTimes]extent{none, none, none})
			}
			x := m.meeting(m.t.Collectives.At(i))
			for k, tick := range [meetingTimes]int64{x.start, x.last, x.end} {
				e := &s.blocks[len(s.blocks)-1][k]
				e.least, e.greatest = min(e.least, m.instant(tick)), max(e.greatest, m.instant(tick))
			}
		}
	}
	first, end = s.end, s.first
	for k, b := range s.blocks {
		if b[time].least <= greatest && b[time].greatest >= least {
			first, end = min(first, s.first+k*meetingBlock), min(s.end, s.first+(k+1)*meetingBlock)
		}
	}
	return min(first, end) - s.first, end - s.first
}

// collectives has a row for each instance of a collective operation.
func (m *Maker) collectives() arrowdir.Table {
	columns := append(integers("collective"), m.names("operation", "operation"), m.names("communicator", "communicator"))
	columns = append(columns, integers("size", "members", "root", "bytes_sent", "bytes_received", "start_ns", "last_ns", "end_ns")...)
	const collective, start, end = 0, 8, 10
	return arrowdir.Table{Name: "collectives", Columns: columns, Parts: func() (parts []arrowdir.Part) {
		for _, s := range m.sequences() {
			parts = append(parts, arrowdir.Part{Rows: s.end - s.first, Within: func(column int, least, greatest int64) (int, int, bool) {
				switch {
				case column == collective:
					return bounds{least, greatest, s.end - s.first}.among(func(i int) int64 { return int64(s.first + i) })
				case column >= start && column <= end:
					from, to := s.during(m, column-start, least, greatest)
					return from, to, true
				}
				return 0, 0, false
			}, Fill: arrowdir.ByRow(func(r *arrowdir.Rows, i int) { m.collective(r, s.first+i) })})
		}
		return parts
	}}
}

// collective writes what the members of a collective do together.
func (m *Maker) collective(r *arrowdir.Rows, i int) {
	c := m.t.Collectives.At(i)
	operation := uint32(trace.None)
	if c.Count > 0 { // what the first member calls it
		p := m.t.Members.Ptr(int(c.First))
		operation = m.line(m.t.Calls[p.Location].At(int(p.Call)).Path).operation
	}
	r.Int(int64(i)).Name(operation).Name(m.communicator(c.Comm)).Int(int64(c.Size)).Int(int64(c.Count))
	if c.Root >= c.Size {
		r.Missing()
	} else {
		r.Int(int64(c.Root))
	}
	var sent, received uint64
	for k := range c.Count {
		p := m.t.Members.Ptr(int(c.First + k))
		sent, received = sent+p.Sent, received+p.Received
	}
	x := m.meeting(c)
	r.Int(int64(sent)).Int(int64(received)).Int(m.instant(x.start)).Int(m.instant(x.last)).Int(m.instant(x.end))
}

// meeting returns when the first and the last member of a collective begin their parts, and when the last one ends its part.
func (m *Maker) meeting(c trace.Collective) (x meeting) {
	for k := range c.Count {
		p := m.t.Members.Ptr(int(c.First + k))
		if k == 0 {
			x = meeting{p.Begin, p.Begin, p.End}
		}
		x.start, x.last, x.end = min(x.start, p.Begin), max(x.last, p.Begin), max(x.end, p.End)
	}
	return x
}

// members has a row for each rank's part in a collective.
func (m *Maker) members() arrowdir.Table {
	columns := integers("collective", "rank", "location", "call", "done_call", "start_ns", "time_ns", "bytes_sent", "bytes_received")
	const collective, start = 0, 5
	first := func(i int) int { // member of a collective
		if i >= m.t.Collectives.Len() {
			return m.t.Members.Len()
		}
		return int(m.t.Collectives.Ptr(i).First)
	}
	of := func(member, last int) int { // its collective, mostly that of the member before
		if member < first(last) || member >= first(last+1) {
			return sort.Search(m.t.Collectives.Len(), func(i int) bool { return first(i) > member }) - 1
		}
		return last
	}
	return arrowdir.Table{Name: "members", Columns: columns, Parts: func() (parts []arrowdir.Part) {
		for _, s := range m.sequences() {
			begin := first(s.first)
			parts = append(parts, arrowdir.Part{Rows: first(s.end) - begin, Within: func(column int, least, greatest int64) (int, int, bool) {
				var from, to int // collectives of the sequence
				switch column {
				case collective:
					from, to, _ = bounds{least, greatest, s.end - s.first}.among(func(i int) int64 { return int64(s.first + i) })
				case start: // from the first one that is not over before it up to the last one that begins before it ends
					from, _ = s.during(m, 1, least, math.MaxInt64)
					_, to = s.during(m, 0, math.MinInt64, greatest)
					to = max(from, to)
				default:
					return 0, 0, false
				}
				return first(s.first+from) - begin, first(s.first+to) - begin, true
			}, Fill: func(b *arrowdir.Block, at int) {
				c := s.first
				arrowdir.ByRow(func(r *arrowdir.Rows, i int) {
					p := m.t.Members.At(begin + i)
					c = of(begin+i, c)
					r.Int(int64(c)).ID(m.t.Rank[p.Location]).ID(uint32(p.Location)).ID(p.Call).ID(p.Done)
					r.Int(m.instant(p.Begin)).Int(m.ns(p.End - p.Begin)).Int(int64(p.Sent)).Int(int64(p.Received))
				})(b, at)
			}})
		}
		return parts
	}}
}

// callPaths has the tree of call paths that calls refer to.
func (m *Maker) callPaths() arrowdir.Table {
	regions, files := newNameList(), newNameList()
	for _, p := range m.a.CallPaths {
		regions.of(p.Region)
		files.of(string(p.File))
	}
	columns := append(integers("callpath", "parent"), arrowdir.TableColumn{Name: "region", Names: regions.names},
		arrowdir.TableColumn{Name: "file", Names: files.names})
	columns = append(columns, integers("line", "visits", "inclusive_ns", "exclusive_ns")...)
	return arrowdir.Table{Name: "callpaths", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for _, p := range m.a.CallPaths {
			r.ID(uint32(p.ID)).ID(uint32(p.Parent)).Name(regions.of(p.Region)).Name(files.of(string(p.File)))
			if p.Line == 0 {
				r.Missing()
			} else {
				r.Int(int64(p.Line))
			}
			if !r.Int(int64(p.Count)).Int(p.InclusiveNs).Int(p.ExclusiveNs).End() {
				return
			}
		}
	}}
}
