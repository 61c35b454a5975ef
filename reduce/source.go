package reduce

import (
	"context"
	"iter"
	"slices"

	"tracekit/trace"
)

// Source returns a trace without what is cut. Its events are numbered anew, from 0 in each
// location; its times are those of src. Beside what the cuts say, records go that complete
// or test a request of which the start was cut; records that say that something is not in
// the trace (MeasurementOnOff, BufferFlush) stay. The cuts are settled, src is the source
// that they were made of, or one with the same records at other times; both must stay.
func (c *Cuts) Source(src trace.Source, about trace.Info) trace.Source {
	d := *src.Defs()
	d.Locations = slices.Clone(d.Locations)
	for l := range d.Locations {
		d.Locations[l].Events -= c.Records(trace.LocationID(l), d.Locations[l].Events)
	}
	return &reduced{Source: src, about: about, defs: &d, cuts: c}
}

// A reduced is a trace without what is cut.
type reduced struct {
	trace.Source
	about trace.Info
	defs  *trace.Defs
	cuts  *Cuts
}

// Info implements trace.Source.
func (r *reduced) Info() trace.Info { return r.about }

// Defs implements trace.Source.
func (r *reduced) Defs() *trace.Defs { return r.defs }

// Close implements trace.Source. The trace that is reduced stays open.
func (r *reduced) Close() error { return nil }

// Events implements trace.Source.
func (r *reduced) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	switch {
	case r.cuts.dropped[l]:
		return func(func(*trace.Batch, error) bool) {}
	case r.cuts.spans[l] == nil:
		return r.Source.Events(ctx, l)
	}
	return func(yield func(*trace.Batch, error) bool) {
		f := filter{cut: r.cuts.cursor(l)}
		f.out.Reset(l, 0)
		left := uint64(0)
		for b, err := range r.Source.Events(ctx, l) {
			if err == nil {
				f.batch(b)
				left += uint64(len(f.out.Order))
				if b = &f.out; b.Len() == 0 {
					continue
				}
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		r.cuts.left[l].Store(left + 1)
	}
}

// A filter copies the records of a location that are kept.
type filter struct {
	cut  cursor
	out  trace.Batch
	next [trace.Tables]int // row of the batch that is next in each table
	gone map[uint64]bool   // requests that are open and whose start was cut
}

// batch makes out the kept records of a batch.
func (f *filter) batch(b *trace.Batch) {
	f.out.Reset(b.Location, f.out.First+uint64(len(f.out.Order)))
	f.next = [trace.Tables]int{}
	for i := 0; i < len(b.Order); {
		seq := b.First + uint64(i)
		cut, last := f.cut.cuts(seq), b.First+uint64(len(b.Order))
		if cut {
			last = min(last, f.cut.To)
			f.drop(b, last)
		} else {
			last = min(last, f.cut.From)
			f.keep(b, seq, last)
		}
		i = int(last - b.First)
	}
}

// keep copies the records from <= seq < to but for those of requests that are gone.
func (f *filter) keep(b *trace.Batch, from, to uint64) {
	if len(f.gone) == 0 {
		f.copy(b, from, to)
		return
	}
	p, c := &b.P2P, &b.Coll
	for i, k := f.next[trace.TableP2P], f.next[trace.TableColl]; ; {
		nextP2P, nextColl := seqAt(p.Seq, i, to), seqAt(c.Seq, k, to)
		seq, table := nextP2P, trace.TableP2P
		if nextColl < nextP2P {
			seq, table = nextColl, trace.TableColl
		}
		if seq == to {
			break
		}
		var kind trace.Kind
		var request uint64
		if table == trace.TableP2P {
			kind, request = p.Kind[i], p.Request[i]
			i++
		} else {
			kind, request = c.Kind[k], c.Request[k]
			k++
		}
		if kind.UsesRequest() && f.gone[request] {
			f.copy(b, from, seq)
			f.skip(b, seq+1)
			from = seq + 1
			f.noteRequest(kind, request)
		} else if kind.StartsRequest() {
			delete(f.gone, request)
		}
	}
	f.copy(b, from, to)
}

// drop leaves the records before to out and notes what becomes of requests.
func (f *filter) drop(b *trace.Batch, to uint64) {
	p := &b.P2P
	for i := f.next[trace.TableP2P]; i < len(p.Seq) && p.Seq[i] < to; i++ {
		f.noteRequest(p.Kind[i], p.Request[i])
	}
	c := &b.Coll
	for i := f.next[trace.TableColl]; i < len(c.Seq) && c.Seq[i] < to; i++ {
		f.noteRequest(c.Kind[i], c.Request[i])
	}
	o := &b.Other
	for i := f.next[trace.TableOther]; i < len(o.Seq) && o.Seq[i] < to; i++ {
		if k := o.Kind[i]; k == trace.KindMeasurementOnOff || k == trace.KindBufferFlush {
			f.skip(b, o.Seq[i])
			f.copy(b, o.Seq[i], o.Seq[i]+1)
		}
	}
	f.skip(b, to)
}

// noteRequest notes what a record that is cut does to its request.
func (f *filter) noteRequest(kind trace.Kind, request uint64) {
	switch {
	case kind.StartsRequest():
		if f.gone == nil {
			f.gone = make(map[uint64]bool)
		}
		f.gone[request] = true
	case kind.UsesRequest() && kind != trace.KindMpiRequestTest:
		delete(f.gone, request)
	}
}

func seqAt(seq []uint64, i int, end uint64) uint64 {
	if i < len(seq) && seq[i] < end {
		return seq[i]
	}
	return end
}

// skip goes on in all tables to the rows of the records from seq on.
func (f *filter) skip(b *trace.Batch, seq uint64) {
	for t, s := range columns(b) {
		f.next[t] = rowOf(s, f.next[t], seq)
	}
}

// rowOf returns the first row from i on whose record is not before seq. It looks near i
// first, for runs are mostly short.
func rowOf(s []uint64, i int, seq uint64) int {
	for step := 1; ; step *= 2 {
		if i+step > len(s) {
			n, _ := slices.BinarySearch(s[i:], seq)
			return i + n
		}
		if s[i+step-1] >= seq {
			n, _ := slices.BinarySearch(s[i:i+step], seq)
			return i + n
		}
		i += step
	}
}

// columns are the sequence numbers of each table.
func columns(b *trace.Batch) [trace.Tables][]uint64 {
	return [trace.Tables][]uint64{trace.TableFlow: b.Flow.Seq, trace.TableP2P: b.P2P.Seq, trace.TableColl: b.Coll.Seq,
		trace.TableMetric: b.Metric.Seq, trace.TableOther: b.Other.Seq, trace.TableAttrs: b.Attrs.Seq}
}

// copy appends the records from <= seq < to. The rows of consecutive records lie beside each
// other in every table.
func (f *filter) copy(b *trace.Batch, from, to uint64) {
	if from >= to {
		return
	}
	shift := from - f.out.First - uint64(len(f.out.Order))
	f.out.Order = append(f.out.Order, b.Order[from-b.First:to-b.First]...)
	for t, s := range columns(b) {
		first := f.next[t]
		last := rowOf(s, first, to)
		if f.next[t] = last; first < last {
			copyRows(&f.out, b, trace.TableID(t), first, last, shift)
		}
	}
}

// copyRows appends rows of a table, whose sequence numbers become smaller by shift.
func copyRows(out, b *trace.Batch, t trace.TableID, i, j int, shift uint64) {
	switch t {
	case trace.TableFlow:
		x, y := &out.Flow, &b.Flow
		x.Seq, x.Time = renumber(x.Seq, y.Seq[i:j], shift), append(x.Time, y.Time[i:j]...)
		x.Kind, x.Region = append(x.Kind, y.Kind[i:j]...), append(x.Region, y.Region[i:j]...)
		if len(y.Context) > 0 { // of all rows or of none in a batch
			x.Context, x.Unwind = append(x.Context, y.Context[i:j]...), append(x.Unwind, y.Unwind[i:j]...)
		}
	case trace.TableP2P:
		x, y := &out.P2P, &b.P2P
		x.Seq, x.Time = renumber(x.Seq, y.Seq[i:j], shift), append(x.Time, y.Time[i:j]...)
		x.Kind, x.Peer, x.Comm = append(x.Kind, y.Kind[i:j]...), append(x.Peer, y.Peer[i:j]...), append(x.Comm, y.Comm[i:j]...)
		x.Tag, x.Bytes, x.Request = append(x.Tag, y.Tag[i:j]...), append(x.Bytes, y.Bytes[i:j]...), append(x.Request, y.Request[i:j]...)
	case trace.TableColl:
		x, y := &out.Coll, &b.Coll
		x.Seq, x.Time = renumber(x.Seq, y.Seq[i:j], shift), append(x.Time, y.Time[i:j]...)
		x.Kind, x.Op, x.Comm = append(x.Kind, y.Kind[i:j]...), append(x.Op, y.Op[i:j]...), append(x.Comm, y.Comm[i:j]...)
		x.Root, x.Sent = append(x.Root, y.Root[i:j]...), append(x.Sent, y.Sent[i:j]...)
		x.Received, x.Request = append(x.Received, y.Received[i:j]...), append(x.Request, y.Request[i:j]...)
	case trace.TableMetric:
		x, y := &out.Metric, &b.Metric
		x.Seq, x.Time = renumber(x.Seq, y.Seq[i:j], shift), append(x.Time, y.Time[i:j]...)
		x.Metric, x.Member = append(x.Metric, y.Metric[i:j]...), append(x.Member, y.Member[i:j]...)
		x.Type, x.Value = append(x.Type, y.Type[i:j]...), append(x.Value, y.Value[i:j]...)
	case trace.TableOther:
		x, y := &out.Other, &b.Other
		x.Seq, x.Time, x.Kind = renumber(x.Seq, y.Seq[i:j], shift), append(x.Time, y.Time[i:j]...), append(x.Kind, y.Kind[i:j]...)
		if len(x.Offset) == 0 {
			x.Offset = append(x.Offset, 0)
		}
		moved := int32(len(x.Args)) - y.Offset[i]
		for _, o := range y.Offset[i+1 : j+1] {
			x.Offset = append(x.Offset, o+moved)
		}
		x.Args = append(x.Args, y.Args[y.Offset[i]:y.Offset[j]]...)
	case trace.TableAttrs:
		x, y := &out.Attrs, &b.Attrs
		x.Seq, x.Attribute = renumber(x.Seq, y.Seq[i:j], shift), append(x.Attribute, y.Attribute[i:j]...)
		x.Type, x.Value = append(x.Type, y.Type[i:j]...), append(x.Value, y.Value[i:j]...)
	}
}

func renumber(out, seq []uint64, shift uint64) []uint64 {
	for _, s := range seq {
		out = append(out, s-shift)
	}
	return out
}
