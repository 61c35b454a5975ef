package stats

import (
	"math"

	"tracekit/trace"
)

// rareEvents are the events of a batch that a profile needs beside enter and leave, and
// that most batches do not have: counters, buffer flushes, recording on and off.
//
//	seq is the sequence number of the next of them; MaxUint64: there is none
type rareEvents struct {
	batch  *trace.Batch
	metric int
	other  int
	seq    uint64
}

func newRareEvents(b *trace.Batch) *rareEvents {
	r := &rareEvents{batch: b}
	r.seek()
	return r
}

// seek finds the next event.
func (r *rareEvents) seek() {
	o, m := &r.batch.Other, &r.batch.Metric
	for r.other < len(o.Kind) && o.Kind[r.other] != trace.KindBufferFlush && o.Kind[r.other] != trace.KindMeasurementOnOff {
		r.other++
	}
	r.seq = math.MaxUint64
	if r.other < len(o.Seq) {
		r.seq = o.Seq[r.other]
	}
	if r.metric < len(m.Seq) {
		r.seq = min(r.seq, m.Seq[r.metric])
	}
}

// before handles the events before sequence number end.
func (r *rareEvents) before(w *walk, end uint64) {
	m := &r.batch.Metric
	for r.seq < end {
		if r.metric < len(m.Seq) && m.Seq[r.metric] == r.seq {
			w.counter(m, r.metric)
			r.metric++
		} else {
			r.pause(w)
			r.other++
		}
		r.seek()
	}
}

// pause handles a buffer flush or the switch of recording. The time of a flush is that of
// the event which found the buffer full, so the flush lasts beyond it.
func (r *rareEvents) pause(w *walk) {
	o, i := &r.batch.Other, r.other
	if int(o.Offset[i]) >= len(o.Args) {
		return
	}
	if t := w.profiler.corrected(w.clock, o.Time[i]); t > w.now {
		w.advance(t)
	}
	arg := o.Args[o.Offset[i]]
	if o.Kind[i] == trace.KindBufferFlush {
		w.flushing(w.profiler.corrected(w.clock, int64(arg)))
	} else {
		w.record(arg != trace.MeasurementOff)
	}
}
