package reduce

import (
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// A Call is a region that a location has entered and left, with what happened in it. It is
// valid while a judge is asked about it.
type Call struct {
	Location     trace.LocationID
	Rank         uint32 // None: outside MPI
	Region       trace.RegionID
	First, Last  uint64 // sequence numbers of Enter and Leave
	Enter, Leave int64  // corrected ticks
	Class        trace.CallClass
	MPI          bool   // an outermost call of an MPI function
	Busy         bool   // something is communicated, forked, locked, launched … in it
	Held         bool   // judges before keep an MPI call in it, or something is tied to others in it outside of MPI calls
	Bytes        uint64 // sent and received in it, of collectives sent
	File         bool   // outside of MPI calls: it works on a file, and completes what it begins
	FileBytes    uint64 // that it has moved, as far as the trace says

	walk *walker
}

// Caller returns the region outside MPI that calls, None if there is none, and a source line. This is the line of the call, or else that of
// the region.
func (c *Call) Caller() (region trace.RegionID, file trace.StringID, line uint32) {
	return c.walk.caller()
}

// A Judge decides about the calls of a location, in order of their Leave: it knows what was
// before, and nothing of what follows. It is not asked about calls inside of MPI calls, which
// stay or go with these.
type Judge interface {
	Cut(c *Call) (bool, error)
}

// A counterJudge decides about records of counters outside of what is cut, too.
type counterJudge interface {
	cutCounter(time int64) bool
}

// A counterReader wants to know the values of counters.
type counterReader interface {
	counter(metric trace.MetricID, member uint8, value uint64)
}

// A place is a call that is entered and not left.
type place struct {
	seq     uint64
	time    int64
	bytes   uint64
	context trace.CallingContextID
	busy    bool
	held    bool
	file    fileWork
}

// fileWork is the operations on files that are recorded in a call itself.
type fileWork struct {
	begun, complete int
	bytes           uint64
}

// record takes a record of an operation on a file.
func (f *fileWork) record(kind trace.Kind, args []uint64) {
	switch kind {
	case trace.KindIoOperationBegin:
		f.begun++
	case trace.KindIoOperationComplete:
		f.complete++
		if len(args) > 1 {
			f.bytes += args[1]
		}
	}
}

// touch notes that a record of it is tied to others.
func (w *walker) touch(p *place) {
	p.busy = true
	p.held = p.held || w.mpi < 0
}

// facts is what all walkers share.
type facts struct {
	t         *trace.Trace
	functions []trace.MPIFunction
	links     []trace.AttributeID // that tie a call to what it starts elsewhere
}

func newFacts(t *trace.Trace) *facts {
	f := &facts{t: t, functions: t.Defs.MPIFunctions()}
	for _, name := range []string{trace.AttributeCorrelation, trace.AttributeFlowOut, trace.AttributeFlowStep, trace.AttributeFlowIn} {
		if id := t.Defs.AttributeByName(name); id != trace.None {
			f.links = append(f.links, id)
		}
	}
	return f
}

// A walker follows the calls of a location and asks judges about each.
//
//	stack.At(mpi) is the MPI call that is open; mpi < 0: none
type walker struct {
	*facts
	judges []Judge
	cuts   []*Cuts // by judge
	stack  trace.CallStack[place]
	mpi    int
	clock  trace.ClockCursor
	last   int64 // time of the last event
	call   Call
}

// walk asks judges about all calls of a location; those that are never left end with the
// last record.
func walk(f *facts, l trace.LocationID, batches engine.Batches, judges []Judge, cuts []*Cuts) error {
	w := &walker{facts: f, judges: judges, cuts: cuts, mpi: -1, last: math.MinInt64, clock: f.t.Clock.Maps[l].Cursor()}
	w.call = Call{Location: l, Rank: f.t.Rank[l], walk: w}
	for b, err := range batches {
		if err != nil {
			return err
		}
		if err := w.batch(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) batch(b *trace.Batch) error {
	attrs := &b.Attrs
	attr := 0
	for seq, r := range b.Events {
		i := r.First
		switch r.Table {
		case trace.TableFlow:
			t := w.time(b.Flow.Time[i])
			if b.Flow.Kind[i].Enters() {
				w.enter(b, i, seq, t)
			} else if err := w.leave(b.Flow.Region[i], seq, t); err != nil {
				return err
			}
		case trace.TableP2P:
			if p := w.stack.Top(); p != nil {
				w.touch(p)
				p.bytes += b.P2P.Bytes[i]
			}
		case trace.TableColl:
			if p := w.stack.Top(); p != nil {
				w.touch(p)
				p.bytes += b.Coll.Sent[i]
			}
		case trace.TableMetric:
			w.counters(&b.Metric, r, seq)
		case trace.TableOther:
			if p := w.stack.Top(); p != nil && ties(b.Other.Kind[i]) {
				w.touch(p)
				p.file.record(b.Other.Kind[i], b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]])
			}
		}
		for ; attr < len(attrs.Seq) && attrs.Seq[attr] <= seq; attr++ {
			if p := w.stack.Top(); p != nil && slices.Contains(w.links, attrs.Attribute[attr]) {
				w.touch(p)
			}
		}
	}
	return nil
}

// ties reports whether a record of no table of its own belongs to others elsewhere. What
// describes a call does not.
func ties(k trace.Kind) bool {
	switch k {
	case trace.KindParameterString, trace.KindParameterInt, trace.KindParameterUint, trace.KindCallingContextSample,
		trace.KindInstant, trace.KindMeasurementOnOff, trace.KindBufferFlush:
		return false
	}
	return true
}

// time returns a corrected time that is not before that of the event before.
func (w *walker) time(raw int64) int64 {
	w.last = max(w.last, w.clock.At(raw))
	return w.last
}

func (w *walker) class(region trace.RegionID) trace.CallClass {
	if int(region) < len(w.functions) {
		return w.functions[region].Class
	}
	return trace.ClassNone
}

// onFile reports whether a region is a function that works on files.
func (w *walker) onFile(region trace.RegionID) bool {
	if int(region) >= len(w.t.Defs.Regions) {
		return false
	}
	role := w.t.Defs.Regions[region].Role
	return role == trace.RoleFileIO || role == trace.RoleFileIOMetadata
}

func (w *walker) enter(b *trace.Batch, i int, seq uint64, t int64) {
	region := b.Flow.Region[i]
	if w.stack.Full() {
		w.pop(w.stack.Pop())
	}
	if w.mpi < 0 && w.class(region) != trace.ClassNone {
		w.mpi = w.stack.Len()
	}
	context := trace.CallingContextID(trace.None)
	if i < len(b.Flow.Context) {
		context = b.Flow.Context[i]
	}
	w.stack.Enter(region, place{seq: seq, time: t, context: context})
}

func (w *walker) leave(region trace.RegionID, seq uint64, t int64) error {
	n := w.stack.Leave(region)
	for ; n > 1; n-- { // never left: what it did is what its caller did
		w.pop(w.stack.Pop())
	}
	if n == 0 {
		return nil
	}
	depth := w.stack.Len() - 1
	p := *w.stack.Top()
	c := &w.call
	c.Region, c.First, c.Last, c.Enter, c.Leave = w.stack.Region(depth), p.seq, seq, p.time, t
	c.Class, c.MPI, c.Busy, c.Bytes = w.class(c.Region), depth == w.mpi, p.busy, p.bytes
	c.Held = p.held || c.MPI
	c.File, c.FileBytes = !c.MPI && p.file.begun == p.file.complete && (p.file.begun > 0 || w.onFile(c.Region)), p.file.bytes
	judges := w.judges
	if w.mpi >= 0 && depth > w.mpi { // it belongs to the MPI call around it
		judges = nil
	}
	for i, j := range judges {
		cut, err := j.Cut(c)
		if err != nil {
			return err
		}
		if cut {
			w.cuts[i].Add(c.Location, p.seq, seq+1)
			c.Held = false
		}
	}
	p.held = c.Held
	w.stack.Pop()
	w.pop(p)
	return nil
}

// pop gives what a call did to its caller.
func (w *walker) pop(p place) {
	if w.stack.Len() <= w.mpi {
		w.mpi = -1
	}
	if top := w.stack.Top(); top != nil {
		top.busy = top.busy || p.busy
		top.held = top.held || p.held
		top.bytes += p.bytes
	}
}

func (w *walker) counters(m *trace.MetricValues, r trace.Row, seq uint64) {
	t := w.time(m.Time[r.First])
	for i, j := range w.judges {
		if j, ok := j.(counterReader); ok {
			for k := r.First; k < r.End; k++ {
				j.counter(m.Metric[k], m.Member[k], m.Value[k])
			}
		}
		if j, ok := j.(counterJudge); ok && j.cutCounter(t) {
			w.cuts[i].Add(w.call.Location, seq, seq+1)
		}
	}
}

// caller returns the innermost region outside MPI around the call that is judged, which is
// still on the stack; of a call that works on a file, that around it.
func (w *walker) caller() (region trace.RegionID, file trace.StringID, line uint32) {
	d := w.t.Defs
	depth := w.stack.Len() - 1
	file = trace.None
	for own := w.call.File; depth >= 0 && (own || w.class(w.stack.Region(depth)) != trace.ClassNone); depth-- {
		own = false
		if c := w.stack.At(depth).context; int(c) < len(d.CallingContexts) && file == trace.None {
			if s := d.CallingContexts[c].Site; int(s) < len(d.SourceLocations) {
				file, line = d.SourceLocations[s].File, d.SourceLocations[s].Line
			}
		}
	}
	if depth < 0 {
		return trace.None, file, line
	}
	region = w.stack.Region(depth)
	if file == trace.None && int(region) < len(d.Regions) {
		file, line = d.Regions[region].File, d.Regions[region].BeginLine
	}
	return region, file, line
}
