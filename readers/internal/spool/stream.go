package spool

import (
	"cmp"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// A Stream takes the events of one location. Its methods are those of trace.Batch.
//
//	tail holds whole records that will be appended to words; in a sheet it holds all
//	records begin at words[marks[i]], in runs or in the portion
//	words[:portion] are runs, each of them sorted
//	words[portion:] and tail are the portion at hand, of which the fields say:
//	first and last are the least and the greatest key; disordered: some record is less than
//	one before it; settled is the number of events before it
type Stream struct {
	// Tie is the second key, after the time, of the events that are added from now on.
	Tie int64

	spool *Spool // nil in a sheet
	tail  []uint64
	words *spill.Table[uint64]
	attrs []uint64 // of the next event
	marks []int
	runs  []run

	portion     int
	first, last key
	disordered  bool
	settled     uint64

	events, late uint64
	min, max     int64

	observer func(Record)
}

// A run is a sorted sequence of records, words [from, to) of a stream.
type run struct {
	from, to    int
	first, last key
}

// markWords is how far marks are apart at least.
const markWords = 512

// mark notes that a record begins at an index.
func (s *Stream) mark(at int) {
	if n := len(s.marks); n == 0 || at-s.marks[n-1] >= markWords {
		s.marks = append(s.marks, at)
	}
}

// A key is what records are sorted by, before the order of adding.
type key struct{ time, tie int64 }

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.time, o.time), cmp.Compare(k.tie, o.tie))
}

func (k key) less(o key) bool { return k.time < o.time || k.time == o.time && k.tie < o.tie }

// A record is a sequence of words:
//
//	0   kind (8 bits), number of attributes (8), length in words (16), a 32-bit field
//	1   time
//	2   tie
//	3…  the further fields of its table
//	…   two words for each attribute: type and number, value
const (
	headWords = 3
	maxWords  = 1<<16 - 1
)

func length(record []uint64) int { return int(record[0] >> 32 & 0xFFFF) }

func keyOf(record []uint64) key { return key{int64(record[1]), int64(record[2])} }

// tailWords is how many words are appended to a table at a time.
const tailWords = 256

// Len returns the number of events.
func (s *Stream) Len() uint64 { return s.events }

// Words returns the number of words that the events take.
func (s *Stream) Words() int { return s.words.Len() + len(s.tail) }

// Late returns the number of events that were added after one with a greater time.
func (s *Stream) Late() uint64 { return s.late }

// Span returns the least and the greatest time; ok is false if there is no event.
func (s *Stream) Span() (first, last int64, ok bool) { return s.min, s.max, s.events > 0 }

// AddFlow appends an Enter or Leave event without a calling context.
func (s *Stream) AddFlow(time int64, kind trace.Kind, region trace.RegionID) {
	s.record(time, kind, uint32(region), 0)
}

// AddContext appends a CallingContextEnter or CallingContextLeave event.
func (s *Stream) AddContext(time int64, kind trace.Kind, region trace.RegionID, context trace.CallingContextID, unwind uint32) {
	r := s.record(time, kind, uint32(region), 1)
	r[0] = pair(uint32(context), unwind)
}

// AddP2P appends a point-to-point event.
func (s *Stream) AddP2P(p trace.P2PRow) {
	r := s.record(p.Time, p.Kind, p.Peer, 3)
	r[0], r[1], r[2] = pair(uint32(p.Comm), p.Tag), p.Bytes, p.Request
}

// AddRequest appends a point-to-point event that names only a request.
func (s *Stream) AddRequest(time int64, kind trace.Kind, request uint64) {
	s.AddP2P(trace.P2PRow{Time: time, Kind: kind, Peer: trace.None, Comm: trace.None, Request: request})
}

// AddColl appends a collective event.
func (s *Stream) AddColl(c trace.CollRow) {
	r := s.record(c.Time, c.Kind, c.Root, 4)
	r[0] = pair(uint32(c.Comm), uint32(c.Op))
	r[1], r[2], r[3] = c.Sent, c.Received, c.Request
}

// AddMetric appends a metric event with its values (at most 255).
func (s *Stream) AddMetric(time int64, metric trace.MetricID, types []trace.ValueType, values []uint64) {
	r := s.record(time, trace.KindMetric, uint32(metric), 2*len(values))
	for i, v := range values {
		r[2*i], r[2*i+1] = uint64(types[i]), v
	}
}

// AddOther appends an event of another kind, with at most 64,000 arguments.
func (s *Stream) AddOther(time int64, kind trace.Kind, args ...uint64) {
	copy(s.record(time, kind, uint32(len(args)), len(args)), args)
}

// AddShort appends an event of a kind of the caller's own that belongs to trace.TableOther and has no arguments but a Field.
func (s *Stream) AddShort(time int64, kind trace.Kind, field uint32) { s.record(time, kind, field, 0) }

// AddAttr attaches an attribute (at most 255) to the event that is added next.
func (s *Stream) AddAttr(attribute trace.AttributeID, typ trace.ValueType, value uint64) {
	s.attrs = append(s.attrs, pair(uint32(typ), uint32(attribute)), value)
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

// record makes room for a record with n words after its head and before its attributes,
// fills in the rest, and returns those n words.
func (s *Stream) record(time int64, kind trace.Kind, field uint32, n int) []uint64 {
	words := headWords + n + len(s.attrs)
	if words > maxWords || len(s.attrs) > 2*255 {
		panic("spool: an event with more arguments than any format has")
	}
	if s.spool != nil && len(s.tail) >= tailWords {
		s.flush()
	}
	s.note(key{time, s.Tie})
	at := len(s.tail)
	s.tail = slices.Grow(s.tail, words)[:at+words]
	r := s.tail[at:]
	r[0] = uint64(kind)<<56 | uint64(len(s.attrs)/2)<<48 | uint64(words)<<32 | uint64(field)
	r[1], r[2] = uint64(time), uint64(s.Tie)
	if len(s.attrs) > 0 {
		copy(r[headWords+n:], s.attrs)
		s.attrs = s.attrs[:0]
	}
	return r[headWords : headWords+n]
}

// note keeps account of a key before its record is added.
func (s *Stream) note(k key) {
	if s.events == 0 {
		s.min, s.max = k.time, k.time
	}
	if k.time < s.max {
		s.late++
	}
	s.min, s.max = min(s.min, k.time), max(s.max, k.time)
	switch {
	case s.events == s.settled:
		s.first, s.last = k, k
	case k.less(s.last):
		s.disordered = true
		if k.less(s.first) {
			s.first = k
		}
	default:
		s.last = k
	}
	s.events++
}

// Observe lets a function see each event in the order in which they come out, while they are added: as long as they
// are added in this order. It sees them later than they are added, the last ones when the spool is finished, and
// must not keep what it gets. Few events, which take little time to read, it does not see. nil ends it.
func (s *Stream) Observe(observer func(Record)) { s.observer = observer }

// Observed reports whether the observer has seen all events of a stream of a finished spool.
func (s *Stream) Observed() bool { return s.observer != nil }

// show shows events to the observer, which are the next ones to be appended to the table, after they were accounted for.
func (s *Stream) show(records []uint64) {
	if s.disordered || len(s.runs) > 0 && s.first.less(s.runs[len(s.runs)-1].last) {
		s.observer = nil
		return
	}
	for len(records) > 0 && s.observer != nil {
		n := length(records)
		s.observer(records[:n])
		records = records[n:]
	}
}

// Append adds the events of a stream of a sheet, in the order in which they were added
// there. The stream is not changed.
func (s *Stream) Append(from *Stream) {
	if from.events == 0 {
		return
	}
	s.flush()
	s.account(from)
	if s.observer != nil {
		s.show(from.tail)
	}
	s.mark(s.words.Len())
	s.spool.add(s.words, from.tail)
}

// account keeps account of a stream before it is appended; see note.
func (s *Stream) account(from *Stream) {
	if s.events == 0 {
		s.min, s.max = from.min, from.min
	}
	if from.min >= s.max {
		s.late += from.late
	} else {
		s.late += from.after(s.max)
	}
	s.min, s.max = min(s.min, from.min), max(s.max, from.max)
	if s.events == s.settled {
		s.first, s.last, s.disordered = from.first, from.last, from.disordered
	} else {
		s.disordered = s.disordered || from.disordered || from.first.less(s.last)
		if from.first.less(s.first) {
			s.first = from.first
		}
		if s.last.less(from.last) {
			s.last = from.last
		}
	}
	s.events += from.events
}

// after returns how many events come after one with a greater time, if one of time latest
// comes before all.
func (s *Stream) after(latest int64) (late uint64) {
	for p := s.tail; len(p) > 0; p = p[length(p):] {
		if t := keyOf(p).time; t < latest {
			late++
		} else {
			latest = t
		}
	}
	return late
}

// flush appends the tail to the table, and ends a portion that is large enough. All events
// that are accounted for lie in the tail or the table.
func (s *Stream) flush() {
	if len(s.tail) > 0 {
		s.mark(s.words.Len())
	}
	if s.observer != nil {
		s.show(s.tail)
	}
	s.spool.add(s.words, s.tail)
	s.tail = s.tail[:0]
	if s.words.Len()-s.portion >= s.spool.portion {
		s.settle()
	}
}

// Rest gives the memory back that serves adding, as far as that is not part of the store, until
// the next event is added.
func (s *Stream) Rest() {
	s.flush()
	s.tail = nil
}

// settle ends the portion at hand: it is sorted if need be, and goes on with the run before it
// or begins a new one.
func (s *Stream) settle() {
	if s.events == s.settled {
		return
	}
	end := s.words.Len()
	if s.disordered {
		for n := len(s.marks); n > 0 && s.marks[n-1] >= s.portion; n-- {
			s.marks = s.marks[:n-1]
		}
		s.spool.sort(s.words, s.portion, end, s.mark)
	}
	if n := len(s.runs); n == 0 || s.first.less(s.runs[n-1].last) {
		s.runs = append(s.runs, run{from: s.portion, first: s.first})
	}
	r := &s.runs[len(s.runs)-1]
	r.to, r.last = end, s.last
	s.portion, s.settled, s.disordered = end, s.events, false
}
