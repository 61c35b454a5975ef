package samples

import (
	"context"
	"slices"

	"tracekit/trace"
)

// batchEvents is the number of events after which a batch is given to the sink.
const batchEvents = 4096

// A recorder makes the events of one location.
type recorder struct {
	sink  trace.Sink
	batch trace.Batch
	clock *localClock
	total uint64
	err   error // the sink's first
}

func newRecorder(sink trace.Sink, location trace.LocationID, clock *localClock) *recorder {
	r := &recorder{sink: sink, clock: clock}
	r.batch.Reset(location, 0)
	return r
}

// next makes room for an event and returns its local time.
func (r *recorder) next(t int64) int64 {
	if r.batch.Len() >= batchEvents {
		r.flush()
	}
	return r.clock.local(t)
}

// flush gives the batch to the sink. After the sink's first error, events are only counted;
// the simulation stops at its next step.
func (r *recorder) flush() {
	n := r.batch.Len()
	if n > 0 && r.err == nil {
		r.err = r.sink.Write(&r.batch)
	}
	r.total += uint64(n)
	r.batch.Reset(r.batch.Location, r.total)
}

func (r *recorder) enter(t int64, region trace.RegionID) {
	r.batch.AddFlow(r.next(t), trace.KindEnter, region)
}

func (r *recorder) leave(t int64, region trace.RegionID) {
	r.batch.AddFlow(r.next(t), trace.KindLeave, region)
}

func (r *recorder) p2p(row trace.P2PRow) {
	row.Time = r.next(row.Time)
	r.batch.AddP2P(row)
}

func (r *recorder) request(t int64, kind trace.Kind, id uint64) {
	r.batch.AddRequest(r.next(t), kind, id)
}

func (r *recorder) coll(row trace.CollRow) {
	row.Time = r.next(row.Time)
	r.batch.AddColl(row)
}

func (r *recorder) other(t int64, kind trace.Kind, args ...uint64) {
	r.batch.AddOther(r.next(t), kind, args...)
}

// Memory is a sink that keeps the trace in memory.
type Memory struct {
	trace.MemorySource
}

// NewMemory returns an empty trace with definitions. Its method value has the type that
// Generate asks for.
func NewMemory(info trace.Info, defs *trace.Defs) *Memory {
	return &Memory{trace.MemorySource{About: info, Definitions: defs, Batches: make([][]*trace.Batch, len(defs.Locations))}}
}

// InMemory generates a trace and keeps it; see Generate.
func InMemory(ctx context.Context, o Options) (m *Memory, truth *Truth, err error) {
	truth, err = Generate(ctx, o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		m = NewMemory(info, defs)
		return m, nil
	})
	return m, truth, err
}

// Write implements trace.Sink.
func (m *Memory) Write(b *trace.Batch) error {
	m.Batches[b.Location] = append(m.Batches[b.Location], cloneBatch(b))
	return nil
}

// Close implements trace.Sink and, with nothing to do, trace.Source.
func (m *Memory) Close() error { return nil }

// cloneBatch copies all columns: a batch's memory belongs to whoever delivers it.
func cloneBatch(b *trace.Batch) *trace.Batch {
	c := *b
	c.Order = slices.Clone(b.Order)
	c.Flow = trace.Flow{Seq: slices.Clone(b.Flow.Seq), Time: slices.Clone(b.Flow.Time), Kind: slices.Clone(b.Flow.Kind),
		Region: slices.Clone(b.Flow.Region), Context: slices.Clone(b.Flow.Context), Unwind: slices.Clone(b.Flow.Unwind)}
	p := &b.P2P
	c.P2P = trace.P2P{Seq: slices.Clone(p.Seq), Time: slices.Clone(p.Time), Kind: slices.Clone(p.Kind), Peer: slices.Clone(p.Peer),
		Comm: slices.Clone(p.Comm), Tag: slices.Clone(p.Tag), Bytes: slices.Clone(p.Bytes), Request: slices.Clone(p.Request)}
	l := &b.Coll
	c.Coll = trace.Coll{Seq: slices.Clone(l.Seq), Time: slices.Clone(l.Time), Kind: slices.Clone(l.Kind), Op: slices.Clone(l.Op),
		Comm: slices.Clone(l.Comm), Root: slices.Clone(l.Root), Sent: slices.Clone(l.Sent), Received: slices.Clone(l.Received),
		Request: slices.Clone(l.Request)}
	m := &b.Metric
	c.Metric = trace.MetricValues{Seq: slices.Clone(m.Seq), Time: slices.Clone(m.Time), Metric: slices.Clone(m.Metric),
		Member: slices.Clone(m.Member), Type: slices.Clone(m.Type), Value: slices.Clone(m.Value)}
	o := &b.Other
	c.Other = trace.Other{Seq: slices.Clone(o.Seq), Time: slices.Clone(o.Time), Kind: slices.Clone(o.Kind),
		Offset: slices.Clone(o.Offset), Args: slices.Clone(o.Args)}
	a := &b.Attrs
	c.Attrs = trace.Attrs{Seq: slices.Clone(a.Seq), Attribute: slices.Clone(a.Attribute), Type: slices.Clone(a.Type), Value: slices.Clone(a.Value)}
	return &c
}
