package spool

import "tracekit/trace"

// A Stream takes the events of one location. Its methods are those of trace.Batch.
//
//	pages hold whole records in order of adding
//	disordered: some record in pages is less than one before it
//	chunks are sorted, each in itself
type Stream struct {
	// Tie is the second key, after the time, of the events that are added from now on.
	Tie int64

	pager       pager  // where pages come from
	spool       *Spool // nil in a sheet
	pages       [][]uint64
	attrs       []uint64 // of the next event
	first, last key      // the least and the greatest key in pages
	disordered  bool
	chunks      []chunk

	events, late uint64
	min, max     int64
}

// A pager gives out empty pages that take a record of n words.
type pager interface{ page(n int) []uint64 }

// A key is what records are sorted by, before the order of adding.
type key struct{ time, tie int64 }

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

// Len returns the number of events.
func (s *Stream) Len() uint64 { return s.events }

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
	p := s.room(words)
	at := len(*p)
	s.note(key{time, s.Tie}, at == 0 && len(s.pages) == 1)
	*p = (*p)[:at+words]
	r := (*p)[at:]
	r[0] = uint64(kind)<<56 | uint64(len(s.attrs)/2)<<48 | uint64(words)<<32 | uint64(field)
	r[1], r[2] = uint64(time), uint64(s.Tie)
	if len(s.attrs) > 0 {
		copy(r[headWords+n:], s.attrs)
		s.attrs = s.attrs[:0]
	}
	return r[headWords : headWords+n]
}

// room returns the last page, which has room for that many words.
func (s *Stream) room(words int) *[]uint64 {
	k := len(s.pages) - 1
	if k >= 0 && len(s.pages[k])+words <= cap(s.pages[k]) {
		return &s.pages[k]
	}
	p := s.pager.page(words) // may flush s.pages
	s.pages = append(s.pages, p)
	return &s.pages[len(s.pages)-1]
}

// note keeps account of a key before its record is added; fresh says that pages are empty.
func (s *Stream) note(k key, fresh bool) {
	if s.events == 0 {
		s.min, s.max = k.time, k.time
	}
	s.events++
	if k.time < s.max {
		s.late++
	}
	s.min, s.max = min(s.min, k.time), max(s.max, k.time)
	switch {
	case fresh:
		s.first, s.last = k, k
	case k.less(s.last):
		s.disordered = true
		if k.less(s.first) {
			s.first = k
		}
	default:
		s.last = k
	}
}
