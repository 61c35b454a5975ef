package samples

import "tracekit/trace"

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
