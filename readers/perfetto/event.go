package perfetto

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"tracekit/readers/internal/protobuf"
)

// The fields of TrackEvent that are read.
const (
	eventCategoryID   = 3
	eventArgument     = 4
	eventLegacy       = 6
	eventType         = 9
	eventNameID       = 10
	eventTrack        = 11
	eventExtraValues  = 12
	eventCategory     = 22
	eventName         = 23
	eventCounter      = 30
	eventExtraTracks  = 31
	eventOldFlow      = 36
	eventOldLast      = 42
	eventDouble       = 44
	eventDoubleTracks = 45
	eventDoubleValues = 46
	eventFlow         = 47
	eventLast         = 48
)

// The types of events.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

// listLimit bounds what an event has several of, such as flows.
const listLimit = 64

// An event is a TrackEvent.
type event struct {
	typ         uint64
	track       uint64
	hasTrack    bool
	nameID      uint64
	categoryID  uint64
	name        []byte // nil: none
	category    []byte
	arguments   int
	first       []byte // the arguments from the first one on, as the rest of the message
	value       int64
	double      float64
	isDouble    bool
	hasValue    bool
	lists       *lists
	phase       byte // of Chrome
	duration    int64
	hasDuration bool
	id          uint64 // of asynchronous events of Chrome
}

// lists are what an event has several of.
type lists struct {
	used                                                          bool
	extraTracks, extraValues, doubleTracks, doubles, flows, lasts []uint64
}

// reset empties the lists.
func (l *lists) reset() {
	if l.used {
		*l = lists{extraTracks: l.extraTracks[:0], extraValues: l.extraValues[:0], doubleTracks: l.doubleTracks[:0],
			doubles: l.doubles[:0], flows: l.flows[:0], lasts: l.lasts[:0]}
	}
}

// parse reads an event; it returns false if it cannot be decoded.
func (e *event) parse(data []byte) bool {
	m := protobuf.Of(data)
	for at := 0; m.Next(); at = m.At() {
		switch m.Type {
		case protowire.BytesType:
			if m.Number == eventArgument {
				if e.arguments == 0 {
					e.first = data[at:]
				}
				e.arguments++
				continue
			}
			e.message(&m)
		case protowire.VarintType, protowire.Fixed64Type:
			e.number(&m)
		}
	}
	return !m.Broken
}

func (e *event) number(m *protobuf.Message) {
	switch m.Number {
	case eventType:
		e.typ = m.Value &^ typeComplete
	case eventTrack:
		e.track, e.hasTrack = m.Value, true
	case eventNameID:
		e.nameID = m.Value
	case eventCategoryID:
		if e.categoryID == 0 {
			e.categoryID = m.Value
		}
	case eventCounter:
		e.value, e.hasValue = int64(m.Value), true
	case eventDouble:
		e.double, e.isDouble, e.hasValue = m.Double(), true, true
	default:
		e.repeated(m)
	}
}

func (e *event) message(m *protobuf.Message) {
	switch m.Number {
	case eventName:
		e.name = m.Data
	case eventCategory:
		if e.category == nil {
			e.category = m.Data
		}
	case eventLegacy:
		e.legacy(m.Data)
	case eventCategoryID:
		if ids := m.Numbers(nil); len(ids) > 0 && e.categoryID == 0 {
			e.categoryID = ids[0]
		}
	default:
		e.repeated(m)
	}
}

// repeated takes numbers that may be packed.
func (e *event) repeated(m *protobuf.Message) {
	var to *[]uint64
	switch m.Number {
	case eventExtraTracks:
		to = &e.lists.extraTracks
	case eventExtraValues:
		to = &e.lists.extraValues
	case eventDoubleTracks:
		to = &e.lists.doubleTracks
	case eventDoubleValues:
		to = &e.lists.doubles
	case eventFlow, eventOldFlow:
		to = &e.lists.flows
	case eventLast, eventOldLast:
		to = &e.lists.lasts
	default:
		return
	}
	if m.Number == eventDoubleValues || m.Number == eventFlow || m.Number == eventLast {
		*to = m.Fixed(*to)
	} else {
		*to = m.Numbers(*to)
	}
	*to = (*to)[:min(len(*to), listLimit)]
	e.lists.used = true
}

// legacy reads what Chrome has of events that are begin and end at once.
func (e *event) legacy(data []byte) {
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case 2:
			e.phase = byte(m.Value)
		case 3:
			if us := int64(m.Value); us >= 0 && us < farthest/1000 {
				e.duration, e.hasDuration = us*1000, true
			}
		case 6, 10, 11:
			e.id = m.Value
		}
	}
}

// known returns what is read of the arguments.
func (r *reader) known(s *sequence, e *event) (correlation, bytes uint64) {
	m := protobuf.Of(e.first)
	for m.Next() {
		if m.Number != eventArgument {
			continue
		}
		what, value, some := argumentOther, uint64(0), false
		a := protobuf.Of(m.Data)
		for a.Next() {
			switch a.Number {
			case 1:
				if n := s.arguments.get(a.Value); n != nil {
					what = n.argument
				}
			case 10:
				what = argumentOf(a.Data)
			case 3, 4, 7:
				value, some = a.Value, a.IsNumber()
			case 5:
				if v := a.Double(); v >= 0 && v < 1<<53 {
					value, some = uint64(v), true
				}
			case 6:
				value, some = integer(a.Data)
			}
		}
		switch {
		case !some:
		case what == argumentCorrelation:
			correlation = value
		case what == argumentBytes:
			bytes = value
		}
	}
	return correlation, bytes
}

// integer reads a text that is a number.
func integer(b []byte) (v uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || v > (math.MaxUint64-9)/10 {
			return 0, false
		}
		v = 10*v + uint64(c-'0')
	}
	return v, len(b) > 0
}

// event takes a TrackEvent of a sequence at a time.
func (r *reader) event(s *sequence, time int64, data []byte) {
	e := &event{lists: &r.lists}
	r.lists.reset()
	if !e.parse(data) {
		r.broken()
		return
	}
	if !e.hasTrack {
		e.track = s.track
	}
	l := s.last
	if l == nil || s.lastUUID != e.track {
		if l = r.track(e.track); l == nil {
			return
		}
		s.last, s.lastUUID = l, e.track
	}
	if len(e.lists.extraValues) > 0 || len(e.lists.doubles) > 0 {
		r.extraCounters(s, e, time)
	}
	typ := e.typ
	if e.phase != 0 && typ == 0 {
		if typ = e.chrome(); e.isAsync() {
			if l = r.async(s, e); l == nil {
				return
			}
		}
	}
	switch typ {
	case typeBegin:
		r.slice(s, l, e, time, beginning)
	case typeEnd:
		r.end(l, time)
	case typeInstant:
		r.instant(s, l, e, time)
	case typeCounter:
		if e.hasValue {
			r.count(s, l, time, e.value, e.double, e.isDouble)
		}
	case typeComplete:
		r.slice(s, l, e, time, e.duration)
	default:
		if len(e.lists.extraValues)+len(e.lists.doubles) == 0 {
			r.strange++
		}
	}
}

// typeComplete stands for events of Chrome that have a duration.
const typeComplete = 1 << 63

// chrome returns the type that the phase of an event of Chrome means, 0 if none.
func (e *event) chrome() uint64 {
	switch e.phase {
	case 'B', 'b', 'S':
		return typeBegin
	case 'E', 'e', 'F':
		return typeEnd
	case 'I', 'i', 'R', 'n', 'T', 'p':
		return typeInstant
	case 'X':
		if e.hasDuration {
			return typeComplete
		}
		return typeBegin
	}
	return 0
}

// isAsync reports whether an event of Chrome belongs to others of its identifier, not to a thread.
func (e *event) isAsync() bool { return strings.IndexByte("beSFnTp", e.phase) >= 0 }

// async returns the track of the events of an identifier and category of a process. Such tracks have one row for each category.
func (r *reader) async(s *sequence, e *event) *track {
	category := r.categoryOf(s, e)
	l := r.track((e.id+1)*0x9E3779B97F4A7C15 ^ (e.track+uint64(category)<<32)*0xC2B2AE3D27D4EB4F ^ 1<<63)
	if l != nil && !l.known {
		l.known, l.parent, l.name = true, e.track, r.text([]byte("async "+r.f.String(category)))
	}
	return l
}

// extraCounters takes the counters that an event has beside what it is.
func (r *reader) extraCounters(s *sequence, e *event, time int64) {
	on := e.lists.extraTracks
	if len(on) == 0 {
		on = s.extras
	}
	for i, v := range e.lists.extraValues[:min(len(e.lists.extraValues), len(on))] {
		if l := r.track(on[i]); l != nil {
			r.count(s, l, time, int64(v), 0, false)
		}
	}
	for i, v := range e.lists.doubles[:min(len(e.lists.doubles), len(e.lists.doubleTracks))] {
		if l := r.track(e.lists.doubleTracks[i]); l != nil {
			r.count(s, l, time, 0, math.Float64frombits(v), true)
		}
	}
}
