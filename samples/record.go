package samples

import (
	"context"

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

// made returns how many events there are so far.
func (r *recorder) made() uint64 { return r.total + uint64(r.batch.Len()) }

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
	var own trace.Batch // a batch's memory belongs to whoever delivers it
	own.Copy(b)
	m.Batches[b.Location] = append(m.Batches[b.Location], &own)
	return nil
}

// Close implements trace.Sink and, with nothing to do, trace.Source.
func (m *Memory) Close() error { return nil }
