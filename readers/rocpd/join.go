package rocpd

import (
	"math"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

func floatBits(v float64) uint64 { return math.Float64bits(v) }

// valueLimit bounds the counters of one event.
const valueLimit = 1 << 12

// A happening is an event, while what hangs on it is gone through.
type happening struct {
	id              int64
	category, stack int64
	message         uint64 // a text + 1
	values          []value
}

type value struct {
	counter int64
	value   float64
}

// join brings together what hangs on each event.
func (s *set) join() error {
	if err := s.waiting.Finish(s.ctx, 1); err != nil {
		return err
	}
	e := happening{id: math.MinInt64}
	used := false // the values
	leave := func() {
		if !used {
			s.values += uint64(len(e.values))
		}
	}
	for b, err := range s.waiting.Events(s.ctx, 0) {
		if err != nil {
			return err
		}
		for i, id := range b.Other.Time {
			args := b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]
			if id != e.id {
				leave()
				e = happening{id: id, values: e.values[:0]}
				used = false
			}
			switch b.Other.Kind[i] {
			case recordEvent:
				e.category, e.stack, e.message = int64(args[0]), int64(args[1]), args[2]
			case recordValue:
				if len(e.values) < valueLimit {
					e.values = append(e.values, value{int64(args[0]), math.Float64frombits(args[1])})
				}
			case recordCall:
				s.call(&e, args)
			case recordWork:
				used = true
				s.work(&e, args)
			case recordSample:
				used = true
				s.sample(&e, args)
			}
		}
	}
	leave()
	return nil
}

// category returns the category of an event, "" if it has none.
func (s *set) category(e *happening) string {
	if name := s.categories.At(e.category); name != "" {
		return name
	}
	return s.strings.At(e.category)
}

// call puts a call.
func (s *set) call(e *happening, args []uint64) {
	t := s.list[args[0]]
	if t.track == nil {
		return
	}
	name := s.strings.At(int64(args[3]))
	what, launches := whatOf(s.category(e), name)
	if what == recording.Annotation && e.message > 0 {
		name = s.f.Said(uint32(e.message - 1))
	}
	if what.Paradigm == trace.ParadigmMPI {
		t.process.Works = true
	}
	if launches && e.stack != 0 {
		t.track.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, uint64(e.stack))
	}
	t.track.Put(int64(args[1]), int64(args[2]), s.f.Region(name, what), nest.Call{})
}

// work puts what a stream executes, and the values of counters while it did.
func (s *set) work(e *happening, args []uint64) {
	l := s.targets[args[0]]
	begin, dur, region := int64(args[1]), int64(args[2]), trace.RegionID(args[3])
	if e.stack != 0 {
		l.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, uint64(e.stack))
	}
	if args[4] > 0 {
		l.Stream.AddAttr(recording.AttrBytes, trace.TypeUint64, args[4]-1)
	}
	l.Put(begin, dur, region, s.f.Communication(region))
	for _, v := range e.values {
		c := s.counters[v.counter]
		if id, ok := s.f.Metric(c.name, c.unit, trace.MetricRelativeLast, trace.TypeDouble); ok {
			s.f.Value(l, nest.AddTime(begin, dur), id, v.value)
		}
	}
}

// sample puts the values of sampled counters, or a moment.
func (s *set) sample(e *happening, args []uint64) {
	process, thread, time, name := int64(args[0]), int64(args[1]), int64(args[2]), s.strings.At(int64(args[3]))
	for _, v := range e.values {
		c := s.counters[v.counter]
		if name != "" {
			c.name = name
		}
		id, ok := s.f.Metric(c.name, c.unit, trace.MetricAbsolutePoint, trace.TypeDouble)
		if l := s.processOf(process).sampler(c.device); ok && l != nil {
			s.f.Value(l, time, id, v.value)
		}
	}
	if len(e.values) > 0 {
		return
	}
	if e.message > 0 {
		name = s.f.Said(uint32(e.message - 1))
	}
	t := s.thread(process, thread)
	if t.track == nil || strings.TrimSpace(name) == "" {
		return
	}
	t.track.Moment()
	t.track.Stream.AddOther(time, trace.KindInstant, uint64(s.f.Text(name)))
}
