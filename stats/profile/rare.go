package profile

import (
	"math"

	"tracekit/trace"
)

// rareEvents are the events of a batch that a profile needs beside enter and leave, and
// that most batches do not have: counters, buffer flushes, recording on and off, threads that
// are forked and joined.
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
	for r.other < len(o.Kind) && !isRare(o.Kind[r.other]) {
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

// isRare reports whether the profile needs an event of a kind without a table of its own.
func isRare(k trace.Kind) bool {
	switch k {
	case trace.KindBufferFlush, trace.KindMeasurementOnOff, trace.KindOmpFork, trace.KindOmpJoin,
		trace.KindThreadFork, trace.KindThreadJoin, trace.KindThreadTeamBegin, trace.KindThreadTeamEnd:
		return true
	}
	return false
}

// before handles the events before sequence number end.
func (r *rareEvents) before(w *walk, end uint64) {
	m := &r.batch.Metric
	for r.seq < end {
		if r.metric < len(m.Seq) && m.Seq[r.metric] == r.seq {
			w.counter(m, r.metric)
			r.metric++
		} else {
			r.happens(w)
			r.other++
		}
		r.seek()
	}
}

// happens handles a buffer flush, the switch of recording, or what is told of threads. The time
// of a flush is that of the event which found the buffer full, so the flush lasts beyond it.
func (r *rareEvents) happens(w *walk) {
	o, i := &r.batch.Other, r.other
	if t := w.corrected(o.Time[i]); t > w.now {
		w.advance(w.top, t)
	}
	kind := o.Kind[i]
	if w.thread != nil {
		switch kind {
		case trace.KindThreadFork, trace.KindOmpFork:
			w.thread.Fork(w.now)
		case trace.KindThreadJoin, trace.KindOmpJoin:
			w.thread.Join(w.now)
		case trace.KindThreadTeamBegin, trace.KindThreadTeamEnd:
			w.thread.Team(w.now, kind == trace.KindThreadTeamBegin)
		}
	}
	if int(o.Offset[i]) >= len(o.Args) {
		return
	}
	switch arg := o.Args[o.Offset[i]]; kind {
	case trace.KindBufferFlush:
		w.flushing(w.corrected(int64(arg)))
	case trace.KindMeasurementOnOff:
		w.record(arg != trace.MeasurementOff)
	}
}
