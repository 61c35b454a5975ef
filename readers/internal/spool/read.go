package spool

import (
	"context"
	"iter"
	"math"
	"slices"
	"sort"

	"tracekit/spill"
	"tracekit/trace"
)

// batchEvents is how many events a batch holds.
const batchEvents = 4096

// Events iterates over the events of a location, sorted. A batch is valid until the next
// one, the last one until the iteration ends. The error, if any, is that of the context.
func (s *Spool) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) >= len(s.streams) || s.streams[location] == nil {
			return
		}
		m := Merge(s.streams[location:location+1], Part{math.MinInt64, math.MaxInt64})
		b, ok := s.batches.Get().(*trace.Batch)
		if !ok {
			b = new(trace.Batch)
		}
		defer s.batches.Put(b)
		b.Reset(location, 0)
		for r := m.Next(); r != nil; r = m.Next() {
			if b.Len() == batchEvents {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(b, nil) {
					return
				}
				b.Reset(location, b.First+uint64(b.Len()))
			}
			restore(b, r)
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		} else if b.Len() > 0 {
			yield(b, nil)
		}
	}
}

// restore appends the event of a record; see Stream for the record's form.
func restore(b *trace.Batch, r Record) {
	kind := r.Kind()
	for a := r.Attrs(); len(a) > 0; a = a[2:] {
		b.AddAttr(Attr(a))
	}
	switch kind.Table() {
	case trace.TableFlow:
		if f := r.Args(); len(f) == 0 {
			b.AddFlow(r.Time(), kind, trace.RegionID(r.Field()))
		} else {
			b.AddContext(r.Time(), kind, trace.RegionID(r.Field()), trace.CallingContextID(high(f[0])), uint32(f[0]))
		}
	case trace.TableP2P:
		b.AddP2P(r.P2P())
	case trace.TableColl:
		b.AddColl(r.Coll())
	case trace.TableMetric:
		types, values := r.Values(make([]trace.ValueType, 0, 8), make([]uint64, 0, 8))
		b.AddMetric(r.Time(), trace.MetricID(r.Field()), types, values)
	default:
		b.AddOther(r.Time(), kind, r.Args()...)
	}
}

func high(w uint64) uint32 { return uint32(w >> 32) }

// A cursor walks over the records of a run.
//
//	window are words from next on, as far as they lie beside each other
type cursor struct {
	words    *spill.Table[uint64]
	number   int // of the run
	next, to int
	window   []uint64
	record   []uint64
	joined   []uint64 // memory of a record that lies on several pages
}

// advance goes to the next record; it returns false at the end.
func (c *cursor) advance() bool {
	if c.next == c.to {
		return false
	}
	if len(c.window) == 0 {
		c.window = c.words.From(c.next)
	}
	n := length(c.window)
	if n <= len(c.window) {
		c.record, c.window = c.window[:n], c.window[n:]
	} else {
		c.joined = slices.Grow(c.joined[:0], n)[:n]
		c.words.Copy(c.joined, c.next)
		c.record, c.window = c.joined, nil
	}
	c.next += n
	return true
}

// A Record is an event as it lies in a stream; see Stream for its form.
type Record []uint64

// Kind returns the event's kind.
func (r Record) Kind() trace.Kind { return trace.Kind(r[0] >> 56) }

// Time returns the event's time.
func (r Record) Time() int64 { return int64(r[1]) }

// Tie returns what decides the order of events with equal times.
func (r Record) Tie() int64 { return int64(r[2]) }

// Field returns the region of an Enter or Leave, the peer of a message, the root of a collective, the metric of a value.
func (r Record) Field() uint32 { return uint32(r[0]) }

// Args returns the arguments of an event of trace.TableOther.
func (r Record) Args() []uint64 { return r[headWords:r.attrs()] }

// attrs returns where the attributes begin.
func (r Record) attrs() int { return length(r) - 2*int(r[0]>>48&0xFF) }

// Attrs returns the attributes of the event, to be taken apart by Attr.
func (r Record) Attrs() []uint64 { return r[r.attrs():length(r)] }

// Attr returns the first of some attributes.
func Attr(attrs []uint64) (id trace.AttributeID, typ trace.ValueType, value uint64) {
	return trace.AttributeID(uint32(attrs[0])), trace.ValueType(high(attrs[0])), attrs[1]
}

// P2P returns a point-to-point event.
func (r Record) P2P() trace.P2PRow {
	f := r[headWords:]
	return trace.P2PRow{Time: r.Time(), Kind: r.Kind(), Peer: r.Field(), Comm: trace.CommID(high(f[0])), Tag: uint32(f[0]), Bytes: f[1],
		Request: f[2]}
}

// Coll returns a collective event.
func (r Record) Coll() trace.CollRow {
	f := r[headWords:]
	return trace.CollRow{Time: r.Time(), Kind: r.Kind(), Root: r.Field(), Comm: trace.CommID(high(f[0])), Op: trace.CollectiveOp(f[0]),
		Sent: f[1], Received: f[2], Request: f[3]}
}

// Values appends the values of a metric event, with their types.
func (r Record) Values(types []trace.ValueType, values []uint64) ([]trace.ValueType, []uint64) {
	for f := r.Args(); len(f) > 0; f = f[2:] {
		types, values = append(types, trace.ValueType(f[0])), append(values, f[1])
	}
	return types, values
}

// A Merger gives the records of several streams, each of which has several runs, in order of
// time, tie, stream and adding.
//
//	cursors is a heap, the least record on top
type Merger struct {
	cursors []*cursor
	started bool
}

// Merge returns the events of a part of several streams of a spool that is finished.
func Merge(streams []*Stream, part Part) *Merger {
	m := &Merger{}
	number := 0
	for _, s := range streams {
		for _, r := range s.runs {
			number++
			if r.last.time < part.First || r.first.time > part.Last {
				continue
			}
			c := &cursor{words: s.words, number: number, next: s.find(r, part.First), to: r.to}
			if part.Last < r.last.time {
				c.to = s.find(r, part.Last+1)
			}
			if c.advance() {
				m.cursors = append(m.cursors, c)
			}
		}
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return m
}

// Next returns the next record, nil at the end. It is valid until the next call.
func (m *Merger) Next() Record {
	if m.started && !m.cursors[0].advance() {
		n := len(m.cursors) - 1
		m.cursors[0] = m.cursors[n]
		m.cursors = m.cursors[:n]
	}
	m.started = true
	if len(m.cursors) == 0 {
		return nil
	}
	if len(m.cursors) > 1 {
		m.sift(0)
	}
	return m.cursors[0].record
}

// find returns the index of the first record in a run whose time is not before a given one.
func (s *Stream) find(r run, time int64) int {
	if r.first.time >= time {
		return r.from
	}
	from, _ := slices.BinarySearch(s.marks, r.from+1)
	to, _ := slices.BinarySearch(s.marks, r.to)
	marks := s.marks[from:to]
	c := cursor{words: s.words, next: r.from, to: r.to}
	if n := sort.Search(len(marks), func(i int) bool { return s.timeAt(marks[i]) >= time }); n > 0 {
		c.next = marks[n-1]
	}
	for {
		if at := c.next; !c.advance() || keyOf(c.record).time >= time {
			return at
		}
	}
}

// timeAt returns the time of the record at an index.
func (s *Stream) timeAt(at int) int64 { return int64(s.words.At(at + 1)) }

// A Part is a range of times, with its ends.
type Part struct{ First, Last int64 }

// Parts returns parts of all times in which several streams have about so many words.
func Parts(streams []*Stream, words int) []Part {
	marks := 0
	for _, s := range streams {
		marks += len(s.marks)
	}
	every := 1 + marks/maxSamples
	var samples []int64
	for _, s := range streams {
		for i := every / 2; i < len(s.marks); i += every {
			samples = append(samples, s.timeAt(s.marks[i]))
		}
	}
	slices.Sort(samples)
	parts := []Part{{math.MinInt64, math.MaxInt64}}
	step := max(1, words/(every*markWords))
	for i := step; i < len(samples); i += step {
		if at, last := samples[i], &parts[len(parts)-1]; at > last.First {
			last.Last = at - 1
			parts = append(parts, Part{at, math.MaxInt64})
		}
	}
	return parts
}

// maxSamples bounds the memory of Parts.
const maxSamples = 1 << 20

func (m *Merger) sift(i int) {
	h := m.cursors
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && before(h[c+1], h[c]) {
			c++
		}
		if !before(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func before(a, b *cursor) bool {
	x, y := keyOf(a.record), keyOf(b.record)
	return x.less(y) || x == y && a.number < b.number
}
