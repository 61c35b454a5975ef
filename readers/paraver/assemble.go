package paraver

import (
	"context"
	"iter"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// batchEvents is how many events a batch holds, about.
const batchEvents = 4096

// An assembler makes the events of a location of the records in its three streams; see
// thread. Records come in order of time; at one time, endpoints of messages come before
// events, so that a call that is entered finds what begins in it.
//
//	sends and posts begin at time at and have not been given to a call
//	blocking, nonblocking and loose are receives that are posted and not completed; see
//	messages.go
//	requests[head:] are sends and collectives that are not completed; see requests.go
//	last is the time of the last event; visits and calls are indexed from the outermost
//	rooted[c] is the number of collectives with a root on communicator c so far
//
// It works in one pass and holds what is open, not what is past.
type assembler struct {
	source   *Source
	location trace.LocationID
	layer    // location is that thread's, or its layer of that number
	task     uint32
	yield    func(*trace.Batch, error) bool
	out      trace.Batch
	stopped  bool
	visits   []visit
	open     map[uint32]int32 // by slot: number of visits
	deep     int              // entered and not left, inside the innermost of visits, since there are too many
	calls    []int            // visits of MPI functions, innermost last
	last     int64

	leaving   []uint32 // slots whose leaves wait, at time leavingAt
	leavingAt int64
	crossings map[crossing]uint64 // of the user's types; nil: they are not wanted

	at          int64
	sends       []endpoint
	posts       []endpoint
	blocking    []receive   // posted by calls that are open
	nonblocking receiveHeap // posted
	loose       receiveHeap // outside of any call
	requests    []request   // sends and collectives that are not completed
	head        int         // of requests
	lastRequest uint64
	lastPost    uint64
	rooted      map[trace.CommID]uint32
	ranks       map[rankKey]uint32 // of roots in groups, as far as they were looked for
	ledger      trace.Ledger
}

func newAssembler(s *Source, l trace.LocationID, yield func(*trace.Batch, error) bool) *assembler {
	at := layer{thread: l}
	if int(l) >= len(s.calls) {
		at = s.layers[int(l)-len(s.calls)]
	}
	a := &assembler{source: s, location: l, layer: at, yield: yield, task: uint32(s.defs.Locations[l].Group),
		rooted: make(map[trace.CommID]uint32), open: make(map[uint32]int32), ranks: make(map[rankKey]uint32)}
	a.out.Reset(l, 0)
	return a
}

// run delivers the location: it goes over the stream of events and looks, before each, whether
// messages or states come first.
func (a *assembler) run(ctx context.Context) {
	defer func() { a.source.note(a.location, a.ledger.Findings()) }()
	if a.number > 0 {
		a.runLayer(ctx)
		return
	}
	messages := a.pull(ctx, messageStream)
	defer messages.stop()
	var states *records
	if !a.source.calls[a.thread] {
		states = a.pull(ctx, stateStream)
		defer states.stop()
	}
	for b, err := range a.source.spool.Events(ctx, a.thread*threadStreams) {
		if err != nil {
			a.fail(err)
			return
		}
		a.events(b, messages, states)
		if a.stopped {
			return
		}
	}
	a.until(maxTime+1, messages, states)
	if a.stopped {
		return
	}
	a.finish()
	if a.out.Len() > 0 {
		a.yield(&a.out, nil)
	}
}

// runLayer delivers a layer of a thread, which holds regions of some types and nothing else.
func (a *assembler) runLayer(ctx context.Context) {
	part := spool.Part{First: int64(a.number), Last: int64(a.number)}
	records := spool.Merge([]*spool.Stream{a.source.inLayers.Stream(a.thread)}, part)
	row := trace.Flow{Time: make([]int64, 1), Kind: make([]trace.Kind, 1), Region: make([]trace.RegionID, 1)}
	n := 0
	for r := records.Next(); r != nil; r = records.Next() {
		args := r.Args()
		row.Time[0], row.Kind[0], row.Region[0] = int64(args[0]), trace.Kind(args[1]), trace.RegionID(args[2])
		a.reach(row.Time[0])
		a.flow(&row, 0)
		a.full()
		if n++; n%batchEvents == 0 && ctx.Err() != nil {
			a.fail(ctx.Err())
		}
		if a.stopped {
			return
		}
	}
	a.finish()
	if a.out.Len() > 0 {
		a.yield(&a.out, nil)
	}
}

// elsewhere reports whether a record belongs to a layer of the thread.
func (a *assembler) elsewhere(f *trace.Flow, i int) bool {
	slot := a.source.slotOf(f, i)
	return slot != trace.None && a.source.slots[slot].layer > 0
}

// fail delivers an error, after which there is nothing.
func (a *assembler) fail(err error) {
	if !a.stopped {
		a.stopped = true
		a.yield(nil, err)
	}
}

// full delivers what is assembled if it is enough for a batch.
func (a *assembler) full() {
	if a.out.Len() < batchEvents || a.stopped {
		return
	}
	a.stopped = !a.yield(&a.out, nil)
	a.out.Reset(a.location, a.out.First+uint64(a.out.Len()))
}

// records walks over a stream of messages or states.
type records struct {
	next  func() (*trace.Batch, error, bool)
	stop  func()
	batch *trace.Batch
	row   int
	time  int64 // of the current record; maxTime+1 at the end
	a     *assembler
}

// pull begins to walk over a stream.
func (a *assembler) pull(ctx context.Context, stream trace.LocationID) *records {
	next, stop := iter.Pull2(a.source.spool.Events(ctx, a.thread*threadStreams+stream))
	r := &records{next: next, stop: stop, a: a}
	r.advance()
	return r
}

// advance goes to the next record.
func (r *records) advance() {
	if r.row++; r.batch == nil || r.row == r.batch.Len() {
		b, err, ok := r.next()
		if err != nil {
			r.a.fail(err)
		}
		if !ok || err != nil {
			r.time = maxTime + 1
			return
		}
		r.batch, r.row = b, 0
	}
	if len(r.batch.P2P.Time) > 0 {
		r.time = r.batch.P2P.Time[r.row]
	} else {
		r.time = r.batch.Flow.Time[r.row]
	}
}

// events takes a batch of events, and what the other streams hold up to them.
func (a *assembler) events(b *trace.Batch, messages, states *records) {
	for _, r := range b.Events {
		i := r.First
		switch r.Table {
		case trace.TableFlow:
			if len(a.source.layers) == 0 || !a.elsewhere(&b.Flow, i) {
				a.until(b.Flow.Time[i], messages, states)
				a.flow(&b.Flow, i)
			}
		case trace.TableP2P:
			a.until(b.P2P.Time[i], messages, states)
			a.ownMessage(&b.P2P, i)
		case trace.TableColl:
			a.until(b.Coll.Time[i], messages, states)
			a.collective(&b.Coll, i)
		case trace.TableMetric:
			t := b.Metric.Time[i]
			a.until(t, messages, states)
			a.last = t
			values := b.Metric.Value[i:r.End]
			if b.Metric.Metric[i] == a.source.running && values[0] == uint64(maxTime-t) { // an open state ends with the trace
				values = []uint64{uint64(a.source.end - t)}
			}
			a.out.AddMetric(t, b.Metric.Metric[i], b.Metric.Type[i:r.End], values)
		default:
			t := b.Other.Time[i]
			a.until(t, messages, states)
			a.last = t
			a.out.AddOther(t, b.Other.Kind[i], b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]...)
		}
		a.full()
		if a.stopped {
			return
		}
	}
}

// until takes what the streams of messages and states hold up to time t, and completes
// what ends before.
func (a *assembler) until(t int64, messages, states *records) {
	for !a.stopped {
		m, s := messages.time, int64(maxTime+1)
		if states != nil {
			s = a.nextState(states)
		}
		now := min(m, s)
		if now > t || now > maxTime {
			break
		}
		a.reach(now)
		if s <= m {
			a.changeState(states)
		} else {
			a.endpoint(&messages.batch.P2P, messages.row)
			messages.advance()
		}
		a.full()
	}
	a.reach(min(t, maxTime))
}

// reach is told that time goes on to t: endpoints that wait for a call entered at an
// earlier time wait no longer.
func (a *assembler) reach(t int64) {
	if len(a.leaving) > 0 && t > a.leavingAt {
		a.leaveInner()
	}
	if len(a.sends)+len(a.posts) > 0 && t > a.at {
		a.strand()
	}
	if len(a.loose) > 0 {
		a.receiveLoose(t)
	}
}

// nextState returns the time of the next change of state: the end of the innermost, or
// the begin of the next.
func (a *assembler) nextState(states *records) int64 {
	if n := len(a.visits); n > 0 && a.visits[n-1].end <= states.time {
		return a.visits[n-1].end
	}
	return states.time
}

// changeState makes the change that nextState tells. A state within another is nested; one
// that lasts longer than the one before it ends it.
func (a *assembler) changeState(states *records) {
	n := len(a.visits)
	if n > 0 && a.visits[n-1].end <= states.time {
		a.leave(a.visits[n-1].end)
		return
	}
	f, b := visit{slot: trace.None, site: trace.None, enter: states.time}, states.batch
	f.region, f.end = b.Flow.Region[states.row], int64(b.Attrs.Value[states.row])
	if f.end == maxTime {
		f.end = max(f.enter, a.source.end)
	}
	for n := len(a.visits); n > 0 && a.visits[n-1].end < f.end; n-- {
		a.leave(f.enter)
	}
	a.enter(f)
	states.advance()
}
