package paraver

import (
	"math"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// Kinds of the records in the spool of lines; the time of a record is where its line
// stands, times in its words are ticks.
const (
	lineState = trace.Kind(201) // location, end, state
	lineEvent = trace.Kind(202) // location, then type and value of each event
	lineComm  = trace.Kind(203) // locations of sender and receiver, logS, phyS, logR, phyR, size, tag
)

// Order of lines of one time and location.
const (
	orderState = iota
	orderEvent
	orderComm
)

// Bits of the second sort key: location, order, sequence number.
const (
	seqBits      = 40
	orderBits    = 2
	locationBits = seqBits + orderBits
)

// A threadWriter follows the events of one location and makes lines of them: an event line for what
// is entered, left or happens, and state lines that tile the time between the first event and
// the last. Outside of MPI the state is Running; in MPI, that of the outermost call.
//
//	calls[0], if there is one, is the MPI call that is open; the others are inside it
type threadWriter struct {
	w        *Writer
	location trace.LocationID
	rank     uint32
	place    place
	seq      uint64
	first    int64
	last     int64 // time of the latest event, with offsets
	end      int64 // of the latest flush
	since    int64 // begin of the current state
	regions  []opened
	calls    []call
	posted   map[uint64]posting // receives by request
	started  map[uint64]call    // collectives by request
	sends    []message          // of the open call
	recvs    []message
	pairs    []uint64 // scratch
	lines    *spool.Stream
	messages [2]endpoints // ends of sends and of receives
}

// An opened region is one that is entered and not left.
type opened struct {
	region trace.RegionID
	mpi    bool
}

// A call is an MPI function whose enter line is not written yet: it has what is known at
// its end.
type call struct {
	region         trace.RegionID
	time           int64
	seq            uint64
	context        trace.CallingContextID
	coll           bool
	root           bool
	later          bool // written when the collective is completed
	comm           int64
	sent, received uint64
}

// A posting is where a receive was posted.
type posting struct {
	time int64
	seq  uint64
}

func (w *Writer) newThread(l trace.LocationID) threadWriter {
	p := w.objects.place[l]
	return threadWriter{w: w, location: l, rank: uint32(p.task - 1), place: p, lines: w.lines.Stream(l),
		end: math.MinInt64, posted: make(map[uint64]posting), started: make(map[uint64]call)}
}

// Concurrent implements trace.ConcurrentSink.
func (w *Writer) Concurrent() bool { return true }

// Write implements trace.Sink. It may be called for different locations at the same time.
func (w *Writer) Write(b *trace.Batch) error {
	t := &w.threads[b.Location]
	for _, r := range b.Events {
		t.step(b.Time(r))
		switch r.Table {
		case trace.TableFlow:
			t.flow(&b.Flow, r.First)
		case trace.TableP2P:
			t.p2p(&b.P2P, r.First)
		case trace.TableColl:
			t.collective(&b.Coll, r.First)
		case trace.TableMetric:
			t.metric(&b.Metric, r)
		default:
			t.other(&b.Other, r.First)
		}
	}
	if n := len(b.Attrs.Seq); n > 0 {
		w.lose("attributes of events", uint64(n))
	}
	t.rest()
	return nil
}

// rest gives the memory back that only adding needs: there may be very many locations.
func (t *threadWriter) rest() {
	t.lines.Rest()
	for _, e := range t.messages {
		if e.Stream != nil {
			e.Rest()
		}
	}
}

// step goes on to the next event. Times never decrease.
func (t *threadWriter) step(time int64) {
	if t.seq == 0 {
		t.first, t.since = time, time
	} else if time < t.last {
		t.w.lose("times that run backwards", 1)
		time = t.last
	}
	t.last = time
	t.seq++
}

// offsets writes the measured clock offsets, before all events.
func (t *threadWriter) offsets() {
	c, start := t.w.defs.Clock, t.w.start()
	for _, o := range t.w.defs.Locations[t.location].ClockOffsets {
		t.eventAt(t.w.min, 0, []uint64{ownOffsetTime, uint64(c.Nanoseconds(since(o.Time, start))),
			ownOffset, uint64(c.Nanoseconds(o.Offset)), ownDeviation, math.Float64bits(o.Deviation)})
	}
}

// key returns the second key of a line, which orders lines of one time.
func (t *threadWriter) key(order int, seq uint64) int64 {
	return int64(t.location)<<locationBits | int64(order)<<seqBits | int64(seq&(1<<seqBits-1))
}

// put adds a line.
func (t *threadWriter) put(time, key int64, kind trace.Kind, words ...uint64) {
	t.lines.Tie = key
	t.lines.AddOther(time, kind, words...)
}

// event adds an event line; pairs are types and values.
func (t *threadWriter) event(pairs ...uint64) { t.eventAt(t.last, t.seq, pairs) }

func (t *threadWriter) eventAt(time int64, seq uint64, pairs []uint64) {
	t.pairs = append(append(t.pairs[:0], uint64(t.location)), pairs...)
	t.put(time, t.key(orderEvent, seq), lineEvent, t.pairs...)
}

// state ends the current state at the present time, and says what it was.
func (t *threadWriter) state(value int64) {
	if t.last > t.since {
		t.put(t.since, t.key(orderState, t.seq), lineState, uint64(t.location), uint64(t.last), uint64(value))
	}
	t.since = t.last
}

func (t *threadWriter) flow(f *trace.Flow, i int) {
	if !f.Kind[i].Enters() {
		t.leave(f.Region[i])
		return
	}
	context := trace.CallingContextID(trace.None)
	if i < len(f.Context) {
		context = f.Context[i]
	}
	t.enter(f.Region[i], context)
}

func (t *threadWriter) enter(region trace.RegionID, context trace.CallingContextID) {
	v, ok := t.w.values.region(region)
	if !ok {
		t.w.lose("regions that are not defined", 1)
		return
	}
	mpi := v.class != trace.ClassNone
	t.regions = append(t.regions, opened{region, mpi})
	if !mpi {
		pairs := []uint64{uint64(v.typ), uint64(v.value)}
		if !t.w.options.Plain {
			pairs = t.w.values.caller(pairs, context)
		} else if context != trace.None {
			t.w.lose("call sites outside MPI", 1)
		}
		t.event(pairs...)
		return
	}
	if len(t.calls) == 0 {
		t.state(stateRunning)
	}
	t.calls = append(t.calls, call{region: region, context: context, time: t.last, seq: t.seq})
}

func (t *threadWriter) leave(region trace.RegionID) {
	n := len(t.regions) - 1
	for n >= 0 && t.regions[n].region != region {
		n--
	}
	if n < 0 {
		t.w.lose("leaves of regions that were not entered", 1)
		return
	}
	if n < len(t.regions)-1 {
		t.w.lose("regions that are not left before those around them", uint64(len(t.regions)-1-n))
	}
	for len(t.regions) > n {
		t.leaveInnermost()
	}
}

func (t *threadWriter) leaveInnermost() {
	n := len(t.regions) - 1
	r := t.regions[n]
	t.regions = t.regions[:n]
	v := t.w.values.regions[r.region]
	if r.mpi {
		n := len(t.calls) - 1
		t.write(&t.calls[n])
		t.calls = t.calls[:n]
		if n == 0 {
			t.endMessages()
			t.state(v.state)
		}
	}
	t.event(uint64(v.typ), 0)
}

// write adds the line of a call's enter.
func (t *threadWriter) write(c *call) {
	if c.later {
		return
	}
	v := t.w.values.regions[c.region]
	pairs := []uint64{uint64(v.typ), uint64(v.value)}
	if c.coll {
		pairs = append(pairs, typeSent, c.sent, typeReceived, c.received, typeComm, uint64(c.comm))
		if c.root {
			pairs = append(pairs, typeRoot, 1)
		}
	}
	pairs = t.w.values.caller(pairs, c.context)
	t.eventAt(c.time, c.seq, pairs)
}

// caller adds the call site of a calling context as the caller of the first level.
func (v *values) caller(pairs []uint64, context trace.CallingContextID) []uint64 {
	if int(context) >= len(v.defs.CallingContexts) {
		return pairs
	}
	c := v.defs.CallingContexts[context]
	if int(c.Site) >= len(v.defs.SourceLocations) {
		return pairs
	}
	if int(c.Parent) < len(v.defs.CallingContexts) {
		caller := v.defs.CallingContexts[c.Parent].Region
		if int(caller) < len(v.defs.Regions) && v.regions[caller].class == trace.ClassNone {
			v.callers.set(int(caller))
			pairs = append(pairs, typeCaller, uint64(caller)+1)
		}
	}
	v.lines.set(int(c.Site))
	return append(pairs, typeCallerLine, uint64(c.Site)+1)
}

// finish ends the location: what is open stays open.
func (t *threadWriter) finish() {
	if !t.w.options.Plain {
		t.offsets()
	}
	for i := range t.calls {
		t.write(&t.calls[i])
	}
	for _, c := range t.started {
		c.later = false
		t.write(&c)
	}
	t.endMessages()
	start, end := t.w.start(), t.w.max
	if t.seq == 0 {
		t.since, t.last = start, end
		t.state(0)
		return
	}
	value := int64(stateRunning)
	if len(t.calls) > 0 {
		value = t.w.values.regions[t.calls[0].region].state
	}
	t.state(value)
	if t.first > start {
		t.put(start, t.key(orderState, 0), lineState, uint64(t.location), uint64(t.first), stateNotCreated)
	}
	if t.last = end; t.last > t.since {
		t.state(14)
	}
}
