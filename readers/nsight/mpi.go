package nsight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/spool"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
)

// A communicator is what a row of MPI_COMMUNICATORS says, from a time on.
type communicator struct {
	time      int64
	uid       int64
	hasUID    bool
	localRank int64
	size      int64
	members   []uint32 // world ranks, nil: not recorded
}

// A pendingRequest is a request that was started and not completed.
type pendingRequest struct {
	number uint64
	row    trace.P2PRow // of a receive: what completes it
	coll   trace.CollRow
	kind   trace.Kind // of what completes it
	tested int64      // when it was tested last, with by
	by     *thread    // nil: never
}

const (
	communicatorLimit = 1 << 18
	requestLimit      = 1 << 20 // open at once in a process
)

// The records that wait to be sorted, since requests are completed by later calls of other tables: each begins with the number of a
// thread and a handle.
const (
	recordP2P  trace.Kind = 240 + iota // class, peer, communicator, tag, bytes
	recordColl                         // operation, communicator, root, sent, received
	recordWait                         // end
	recordTest                         // end
)

// An mpiReader reads the tables of MPI.
type mpiReader struct {
	*report
	waiting *spool.Spool
	byName  map[int64]mpiFunction
	threads []*thread
	index   map[*thread]uint64
	numbers map[*process]trace.LocationID // of their streams in waiting
	order   []*process
	last    mpiCall
	both    *trace.P2PRow // what the last call received if it is a Sendrecv that has no second row
	unknown uint64        // messages whose other end is not told
	lost    uint64        // requests
}

type mpiFunction struct {
	trace.MPIFunction
	region trace.RegionID
}

// An mpiCall tells rows of one call.
type mpiCall struct {
	t          *thread
	begin, dur int64
	name       int64
}

// mpi reads the calls of MPI, their messages and collectives.
func (r *report) mpi() error {
	m := &mpiReader{report: r, waiting: spool.New(r.f.Set.Spool.Store()), byName: make(map[int64]mpiFunction),
		index: make(map[*thread]uint64), numbers: make(map[*process]trace.LocationID)}
	defer m.waiting.Close()
	if err := m.communicators(); err != nil {
		return err
	}
	for _, step := range []func() error{m.messages, m.collectives, m.waits, m.others, m.complete} {
		if err := step(); err != nil {
			return err
		}
	}
	r.f.Ledger.AddN(trace.CodeUnusedRecord, m.unknown, r.f.Place(-1), "a message whose other end is not recorded")
	r.f.Ledger.AddN(trace.CodeLimitExceeded, m.lost, r.f.Place(-1), "requests that are open at once; the last ones are never completed")
	return nil
}

// communicators reads who is in which communicator.
func (m *mpiReader) communicators() error {
	ofRank := make(map[int64]*process)
	for _, p := range m.processes {
		if p.HasRank {
			ofRank[int64(p.Rank)] = p
		}
	}
	count := 0
	err := m.scan("MPI_COMMUNICATORS", []string{"rank", "timestamp", "commHandle", "localRank", "size", "members", "commUid"},
		func(v []sqlite.Value) {
			p := ofRank[v[0].Int()]
			if p == nil || count == communicatorLimit {
				return
			}
			count++
			if p.comms == nil {
				p.comms = make(map[int64][]communicator)
			}
			p.comms[v[2].Int()] = append(p.comms[v[2].Int()], communicator{time: v[1].Int(), uid: v[6].Int(), hasUID: v[6].Is(),
				localRank: v[3].Int(), size: v[4].Int(), members: rankList(m.text(&v[5], &sqlite.Value{}))})
		})
	for _, p := range m.processes {
		for handle := range p.comms {
			slices.SortStableFunc(p.comms[handle], func(x, y communicator) int { return cmp.Compare(x.time, y.time) })
		}
	}
	return err
}

// rankList reads a list of ranks, nil if it is none.
func rankList(text string) (ranks []uint32) {
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[]{}(), ", r) }) {
		n, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return nil
		}
		ranks = append(ranks, uint32(n))
	}
	return ranks
}

// comm returns the number of the communicator that a handle means at a time.
func (m *mpiReader) comm(p *process, handle, uid *sqlite.Value, at int64) uint32 {
	rows := p.comms[handle.Int()]
	i, found := slices.BinarySearchFunc(rows, at, func(c communicator, t int64) int { return cmp.Compare(c.time, t) })
	if !found {
		i--
	}
	var c communicator
	if i >= 0 {
		c = rows[i]
	} else if len(rows) > 0 {
		c = rows[0] // made in the call at hand
	}
	if uid.Is() {
		c.uid, c.hasUID = uid.Int(), true
	}
	describe := func() recording.Comm {
		return recording.Comm{Name: fmt.Sprintf("communicator %d", handle.Int()), World: c.members,
			Size: uint32(max(0, min(c.size, trace.None-1)))}
	}
	switch {
	case c.hasUID && len(rows) > 0:
		return p.Join(fmt.Sprintf("mpi %d", c.uid), describe, uint32(max(0, c.localRank)))
	case len(c.members) > 0:
		return m.f.Comm(fmt.Sprint("mpi of ", c.members), describe)
	case c.size == 1 && p.HasRank:
		c.members = []uint32{p.Rank}
		return m.f.Comm(fmt.Sprint("mpi of ", c.members), describe)
	}
	return 0
}

// call puts the slice of a call of a function, and reports whether this is the call's first row.
func (m *mpiReader) call(v []sqlite.Value, c nest.Call) (t *thread, fn mpiFunction, begin, dur int64, first bool) {
	begin, dur, ok := m.span(&v[0], &v[1])
	t = m.thread(&v[2])
	if !ok || t.track == nil {
		return nil, fn, 0, 0, false
	}
	fn = m.function(&v[3])
	t.process.Works = true
	if this := (mpiCall{t, begin, dur, v[3].Int()}); this != m.last {
		m.last, first = this, true
	}
	if first {
		t.track.Put(begin, dur, fn.region, c)
	}
	return t, fn, begin, dur, first
}

// function returns what the function of an identifier of a string does.
func (m *mpiReader) function(id *sqlite.Value) mpiFunction {
	fn, known := m.byName[id.Int()]
	if !known {
		name := m.strings.Of(id)
		fn = mpiFunction{trace.MPIFunctionOf(name), m.f.Region(name, recording.Call(name))}
		if len(m.byName) < nameLimit {
			m.byName[id.Int()] = fn
		}
	}
	return fn
}

// messages reads calls that send or receive. A MPI_Sendrecv has two rows, the send and the receive, or a single one if ranks, tags
// and sizes of both are the same.
func (m *mpiReader) messages() error {
	err := m.scan("MPI_P2P_EVENTS",
		[]string{"start", "end", "globalTid", "textId", "commHandle", "commUid", "tag", "remoteRank", "size", "requestHandle"},
		func(v []sqlite.Value) {
			fn, begin, c := m.function(&v[3]), v[0].Int(), nest.Call{}
			p := m.thread(&v[2]).process
			peer := uint32(trace.None)
			if n := v[7].Int(); v[7].Is() && n >= 0 && n < trace.None {
				peer = uint32(n)
			}
			comm, tag, bytes := m.comm(p, &v[4], &v[5], begin), uint32(v[6].Int()), uint64(max(0, v[8].Int()))
			sends, receives := false, false
			switch fn.Class {
			case trace.ClassSend, trace.ClassBsend, trace.ClassIsend, trace.ClassSendrecv:
				sends = true
			case trace.ClassRecv, trace.ClassIrecv:
				receives = true
			}
			if (sends || receives) && peer == trace.None {
				m.unknown++
				sends, receives = false, false
			}
			blocking := fn.Class != trace.ClassIsend && fn.Class != trace.ClassIrecv
			switch {
			case sends && blocking:
				c = nest.Call{Operation: nest.OpSend, Comm: comm, Peer: peer, Tag: tag, Sent: bytes}
			case receives && blocking:
				c = nest.Call{Operation: nest.OpRecv, Comm: comm, Peer: peer, Tag: tag, Received: bytes}
			}
			before := m.last.t
			t, _, begin, dur, first := m.call(v, c)
			if t == nil {
				return
			}
			if first {
				m.receiveBoth(before)
			}
			switch {
			case fn.Class == trace.ClassSendrecv:
				if m.both = nil; sends {
					m.both = &trace.P2PRow{Time: nest.AddTime(begin, max(0, dur)), Kind: trace.KindMpiRecv, Peer: peer,
						Comm: trace.CommID(comm), Tag: tag, Bytes: bytes}
				}
			case first && !blocking && (sends || receives):
				m.wait(t, begin, recordP2P, uint64(v[9].Int()), uint64(fn.Class), uint64(peer), uint64(comm), uint64(tag), bytes)
			}
		})
	m.receiveBoth(m.last.t)
	return err
}

// receiveBoth puts what the last call received, of a thread.
func (m *mpiReader) receiveBoth(t *thread) {
	if m.both != nil {
		t.track.Stream.Tie = nest.TieFile
		t.track.Comm = true
		t.track.Stream.AddP2P(*m.both)
		m.both = nil
	}
}

// collectives reads collective calls.
func (m *mpiReader) collectives() error {
	return m.scan("MPI_COLLECTIVES_EVENTS",
		[]string{"start", "end", "globalTid", "textId", "commHandle", "commUid", "rootRank", "size", "recvSize", "requestHandle"},
		func(v []sqlite.Value) {
			fn, begin, c := m.function(&v[3]), v[0].Int(), nest.Call{}
			comm := m.comm(m.thread(&v[2]).process, &v[4], &v[5], begin)
			root := trace.RootNone
			if n := v[6].Int(); v[6].Is() && n >= 0 && n < trace.None && fn.Op.Pattern().Rooted() {
				root = uint32(n)
			}
			sent, received := uint64(max(0, v[7].Int())), uint64(max(0, v[8].Int()))
			if fn.Class == trace.ClassColl {
				c = nest.Call{Operation: nest.Collective(fn.Op), Comm: comm, Peer: root, Sent: sent, Received: received}
			}
			t, _, begin, _, first := m.call(v, c)
			if t != nil && first && fn.Class == trace.ClassIcoll {
				m.wait(t, begin, recordColl, uint64(v[9].Int()), uint64(fn.Op), uint64(comm), uint64(root), sent, received)
			}
		})
}

// waits reads calls that start, test or complete requests.
func (m *mpiReader) waits() error {
	return m.scan("MPI_START_WAIT_EVENTS", []string{"start", "end", "globalTid", "textId", "requestHandle"}, func(v []sqlite.Value) {
		t, fn, begin, dur, _ := m.call(v, nest.Call{})
		if t == nil || dur == openEnd || !v[4].Is() {
			return
		}
		end := nest.AddTime(begin, dur)
		switch fn.Class {
		case trace.ClassWait:
			m.wait(t, end, recordWait, uint64(v[4].Int()))
		case trace.ClassTest:
			m.wait(t, end, recordTest, uint64(v[4].Int()))
		}
	})
}

// others reads all other calls.
func (m *mpiReader) others() error {
	return m.scan("MPI_OTHER_EVENTS", []string{"start", "end", "globalTid", "textId"}, func(v []sqlite.Value) { m.call(v, nest.Call{}) })
}

// wait keeps a record until all are there.
func (m *mpiReader) wait(t *thread, time int64, kind trace.Kind, handle uint64, args ...uint64) {
	number, ok := m.numbers[t.process]
	if !ok {
		number = trace.LocationID(len(m.order))
		m.numbers[t.process] = number
		m.order = append(m.order, t.process)
	}
	thread, ok := m.index[t]
	if !ok {
		thread = uint64(len(m.threads))
		m.index[t] = thread
		m.threads = append(m.threads, t)
	}
	m.waiting.Stream(number).AddOther(time, kind, append([]uint64{thread, handle}, args...)...)
}

// complete goes through requests in order of time: a handle is reused, and belongs to its process.
func (m *mpiReader) complete() error {
	if err := m.waiting.Finish(m.ctx, 1); err != nil {
		return err
	}
	next := uint64(0)
	for number, p := range m.order {
		for b, err := range m.waiting.Events(m.ctx, trace.LocationID(number)) {
			if err != nil {
				return err
			}
			for i, time := range b.Other.Time {
				args := b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]
				t, handle := m.threads[args[0]], args[1]
				switch b.Other.Kind[i] {
				case recordWait:
					m.finish(p, handle, t, time)
				case recordTest:
					if open := p.open[handle]; len(open) > 0 {
						open[0].tested, open[0].by = time, t
					}
				default:
					m.settle(p, handle)
					next++
					m.start(p, t, time, b.Other.Kind[i], handle, args[2:], next)
				}
			}
		}
		for _, handle := range slices.Sorted(maps.Keys(p.open)) {
			m.settle(p, handle)
		}
	}
	return nil
}

// start begins a request.
func (m *mpiReader) start(p *process, t *thread, time int64, kind trace.Kind, handle uint64, args []uint64, number uint64) {
	if p.pending >= requestLimit {
		m.lost++
		return
	}
	q := pendingRequest{number: number}
	l := t.track
	l.Comm = true
	l.Moment()
	if kind == recordColl {
		q.kind = trace.KindNonBlockingCollectiveComplete
		q.coll = trace.CollRow{Kind: q.kind, Op: trace.CollectiveOp(args[0]), Comm: trace.CommID(args[1]), Root: uint32(args[2]),
			Sent: args[3], Received: args[4], Request: number}
		l.Stream.AddColl(trace.CollRow{Time: time, Kind: trace.KindNonBlockingCollectiveRequest, Comm: trace.None, Root: trace.None,
			Request: number})
	} else {
		q.row = trace.P2PRow{Peer: uint32(args[1]), Comm: trace.CommID(args[2]), Tag: uint32(args[3]), Bytes: args[4], Request: number}
		if trace.CallClass(args[0]) == trace.ClassIsend {
			q.kind = trace.KindMpiIsendComplete
			row := q.row
			row.Time, row.Kind = time, trace.KindMpiIsend
			l.Stream.AddP2P(row)
		} else {
			q.kind = trace.KindMpiIrecv
			l.Stream.AddRequest(time, trace.KindMpiIrecvRequest, number)
		}
	}
	p.open[handle] = append(p.open[handle], q)
	p.pending++
}

// settle completes what a handle stood for before, by the test that saw it last.
func (m *mpiReader) settle(p *process, handle uint64) {
	for _, q := range p.open[handle] {
		if q.by != nil {
			m.put(q, q.by, q.tested)
		}
		p.pending--
	}
	delete(p.open, handle)
}

// finish completes the request of a handle.
func (m *mpiReader) finish(p *process, handle uint64, t *thread, time int64) {
	open := p.open[handle]
	if len(open) == 0 {
		return
	}
	m.put(open[0], t, time)
	p.pending--
	if open = open[1:]; len(open) == 0 {
		delete(p.open, handle)
	} else {
		p.open[handle] = open
	}
}

// put puts the completion of a request into the call that ends at a time, ahead of what begins then.
func (m *mpiReader) put(q pendingRequest, t *thread, time int64) {
	s := t.track.Stream
	s.Tie = nest.TieFile
	switch q.kind {
	case trace.KindNonBlockingCollectiveComplete:
		q.coll.Time = time
		s.AddColl(q.coll)
	case trace.KindMpiIrecv:
		q.row.Time, q.row.Kind = time, q.kind
		s.AddP2P(q.row)
	default:
		s.AddRequest(time, q.kind, q.number)
	}
}
