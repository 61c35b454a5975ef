package perfetto

import (
	"context"
	"math"
	"math/bits"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// An attribute is one that the event at hand has.
type attribute struct {
	id    trace.AttributeID
	value uint64
}

// beginning is the duration of a slice that an end ends.
const beginning = nest.OpenEnd

// notFlow sets apart the identifiers that are counted within a process from those of flows.
const notFlow = 1 << 63

// slice takes a slice of a duration, or its begin.
func (r *reader) slice(s *sequence, l *track, e *event, time, dur int64) {
	region := r.named(s, e)
	kinds := r.kinds[region]
	l.kinds |= kinds
	r.attributes(s, e, time, kinds)
	if !l.started {
		r.start(l)
	}
	switch {
	case l.later:
		r.postpone(l, time, lateSlice, uint64(region), uint64(dur))
	case l.row == nil:
	case dur == beginning:
		l.row.Stack()
		r.attach(l.row)
		l.row.Begin(time, region)
	default:
		r.attach(l.row)
		l.row.Put(time, dur, region, nest.Call{})
	}
}

// attributes finds the attributes of an event.
func (r *reader) attributes(s *sequence, e *event, time int64, kinds kind) {
	r.attrs = r.attrs[:0]
	correlation, bytes, byFlow := uint64(0), uint64(0), false
	if e.arguments > 0 {
		r.arguments++
		if kinds&(kindDevice|kindLaunch) != 0 {
			if correlation, bytes = r.known(s, e); correlation != 0 {
				correlation |= notFlow
			}
		}
	}
	for i, flow := range [2][]uint64{e.lists.flows, e.lists.lasts} {
		for _, id := range flow {
			if a, ok := r.f.FlowEnd(id, time, i == 1); ok {
				r.attrs = append(r.attrs, attribute{a, id})
			}
			if !byFlow {
				correlation, byFlow = id, true
			}
		}
	}
	if kinds&(kindDevice|kindLaunch) == 0 {
		return
	}
	if correlation != 0 {
		r.attrs = append(r.attrs, attribute{recording.AttrCorrelation, correlation})
	}
	if bytes != 0 && kinds&kindDevice != 0 {
		r.attrs = append(r.attrs, attribute{recording.AttrBytes, bytes})
	}
}

// attach gives the attributes of the event at hand to the event that is added to a row next.
func (r *reader) attach(row *recording.Track) {
	for _, a := range r.attrs {
		row.Stream.AddAttr(a.id, trace.TypeUint64, a.value)
	}
}

// end takes the end of a slice.
func (r *reader) end(l *track, time int64) {
	r.attrs = r.attrs[:0]
	if !l.started {
		r.start(l)
	}
	switch {
	case l.later:
		r.postpone(l, time, lateEnd)
	case l.row != nil:
		l.row.Stack()
		l.row.End(time, trace.None)
	}
}

// instant takes a moment.
func (r *reader) instant(s *sequence, l *track, e *event, time int64) {
	name := r.nameOf(s, e)
	r.attributes(s, e, time, 0)
	if !l.started {
		r.start(l)
	}
	switch {
	case l.later:
		r.postpone(l, time, lateInstant, uint64(name))
	case l.row != nil:
		l.row.Moment()
		r.attach(l.row)
		l.row.Stream.AddOther(time, trace.KindInstant, uint64(name))
	}
}

// count takes a value of a counter.
func (r *reader) count(s *sequence, l *track, time, integer int64, double float64, isDouble bool) {
	if !l.started {
		r.start(l)
	}
	if l.counter.incremental {
		if s.sums == nil {
			s.sums = make(map[*track]sum)
		}
		u := s.sums[l]
		u.integer, u.double = nest.AddTime(u.integer, integer), u.double+double
		s.sums[l] = u
		integer, double = u.integer, u.double
		if isDouble {
			double += float64(integer)
		}
	}
	typ, value := trace.TypeInt64, uint64(integer)
	if isDouble {
		typ, value = trace.TypeDouble, math.Float64bits(double)
	}
	r.attrs = r.attrs[:0]
	if l.later {
		r.postpone(l, time, lateValue, uint64(typ), value)
		return
	}
	r.value(l, time, typ, value)
}

// value puts a value of a counter into its row.
func (r *reader) value(l *track, time int64, typ trace.ValueType, value uint64) {
	if l.row == nil {
		return
	}
	c := &l.counter
	if !c.hasMetric {
		name := r.f.String(l.name)
		if name == "" {
			name = "counter without a name"
		}
		if c.metric, c.hasMetric = r.f.Metric(name, c.unit, trace.MetricAbsolutePoint, trace.TypeInt64); !c.hasMetric {
			return
		}
	}
	if c.multiplier != 1 {
		if typ == trace.TypeDouble {
			value = math.Float64bits(math.Float64frombits(value) * float64(c.multiplier))
		} else {
			value = uint64(multiply(int64(value), c.multiplier))
		}
	}
	r.f.Number(l.row, time, c.metric, typ, value)
}

// multiply returns a product, or the integer that is nearest to it.
func multiply(a, b int64) int64 {
	negative := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	switch {
	case hi != 0 || lo > math.MaxInt64:
		if negative {
			return math.MinInt64
		}
		return math.MaxInt64
	case negative:
		return -int64(lo)
	}
	return int64(lo)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// The records of events that wait until all tracks are described, in the order of tracks, then of time. Their
// first argument is the time, the last ones are pairs of attribute and value.
//
//	lateSlice    region, duration (beginning: an end ends it)
//	lateEnd
//	lateInstant  number of its text
//	lateValue    type, value
const (
	lateSlice trace.Kind = 240 + iota
	lateEnd
	lateInstant
	lateValue
)

// lateFields is how many arguments come between the time and the attributes.
var lateFields = map[trace.Kind]int{lateSlice: 2, lateEnd: 0, lateInstant: 1, lateValue: 2}

// postpone keeps an event.
func (r *reader) postpone(l *track, time int64, kind trace.Kind, fields ...uint64) {
	if r.waiting == nil {
		r.later = spool.New(r.f.Set.Spool.Store())
		r.waiting = r.later.Stream(0)
	}
	r.args = append(append(r.args[:0], uint64(time)), fields...)
	for _, a := range r.attrs {
		r.args = append(r.args, uint64(a.id), a.value)
	}
	r.waiting.Tie = time
	r.waiting.AddOther(int64(l.index), kind, r.args...)
}

// An opened slice is begun and not ended.
type opened struct {
	time   int64
	region trace.RegionID
	attrs  []attribute
}

// openLimit bounds the slices that are open on a track.
const openLimit = 1 << 16

// place puts the events that wait into the rows of their tracks.
func (r *reader) place(ctx context.Context) error {
	if r.waiting == nil {
		return nil
	}
	defer r.later.Close()
	if err := r.later.Finish(ctx, 1); err != nil {
		return err
	}
	var l *track
	var open []opened
	leave := func() {
		for _, o := range open {
			r.put(l, o, beginning)
		}
		open = open[:0]
	}
	for b, err := range r.later.Events(ctx, 0) {
		if err != nil {
			return err
		}
		for i, kind := range b.Other.Kind {
			if next := r.list[b.Other.Time[i]]; next != l {
				leave()
				l = next
				l.row = r.settle(l)
			}
			args := b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]
			time := int64(args[0])
			r.attrs = r.attrs[:0]
			for a := args[1+lateFields[kind]:]; len(a) > 0; a = a[2:] {
				r.attrs = append(r.attrs, attribute{trace.AttributeID(a[0]), a[1]})
			}
			switch {
			case l.row == nil:
			case kind == lateSlice && int64(args[2]) != beginning:
				r.put(l, opened{time, trace.RegionID(args[1]), r.attrs}, int64(args[2]))
			case kind == lateSlice && len(open) >= openLimit:
				r.limited("slices that are open at once; the innermost are left out")
			case kind == lateSlice:
				open = append(open, opened{time, trace.RegionID(args[1]), append([]attribute(nil), r.attrs...)})
			case kind == lateEnd && len(open) > 0:
				o := open[len(open)-1]
				open = open[:len(open)-1]
				r.put(l, o, time-o.time)
			case kind == lateEnd:
				r.f.Ledger.Add(trace.CodeUnmatchedLeave, r.f.Place(-1), "in "+l.row.Name)
			case kind == lateInstant:
				l.row.Moment()
				r.attach(l.row)
				l.row.Stream.AddOther(time, trace.KindInstant, args[1])
			case kind == lateValue:
				r.value(l, time, trace.ValueType(args[1]), args[2])
			}
		}
	}
	leave()
	return nil
}

// put puts a slice into the row of its track.
func (r *reader) put(l *track, o opened, dur int64) {
	for _, a := range o.attrs {
		l.row.Stream.AddAttr(a.id, trace.TypeUint64, a.value)
	}
	call := nest.Call{}
	if l.row.GPU {
		call = r.f.Communication(o.region)
	}
	l.row.Put(o.time, dur, o.region, call)
}
