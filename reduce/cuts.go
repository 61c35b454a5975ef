package reduce

import (
	"math"

	"sync/atomic"

	"tracekit/spill"
	"tracekit/trace"
)

// A Span is the records From <= seq < To of a location.
type Span struct{ From, To uint64 }

// Cuts says which records of each location are cut. Only locations of which something is
// cut take memory, and their spans lie in the store.
//
// Until Settle the spans of a location are as they were added: in order of To. Afterwards
// they are apart from each other, in order.
//
//	spans[l] == nil: nothing of location l is cut, or all of it
type Cuts struct {
	store   *spill.Store
	spans   []*spill.Table[Span]
	dropped []bool
	left    []atomic.Uint64 // by location: one more than the records that its source has; 0: they were not read yet
}

// NewCuts returns cuts of nothing, of a trace of so many locations.
func NewCuts(store *spill.Store, locations int) *Cuts {
	return &Cuts{store: store, spans: make([]*spill.Table[Span], locations), dropped: make([]bool, locations),
		left: make([]atomic.Uint64, locations)}
}

// Add cuts the records from <= seq < to of a location. The spans of a location come in
// order of their end, as calls do when they are left; one may hold or overlap those before
// it. Different locations may be cut at the same time.
func (c *Cuts) Add(l trace.LocationID, from, to uint64) {
	if from >= to {
		return
	}
	t := c.spans[l]
	if t == nil {
		t = spill.NewTable[Span](c.store)
		c.spans[l] = t
	}
	if n := t.Len(); n > 0 {
		if last := t.Ptr(n - 1); from <= last.To { // what holds or follows the last one is joined
			last.From, last.To = min(last.From, from), max(last.To, to)
			return
		}
	}
	t.Append(Span{from, to})
}

// Drop cuts all of a location, and insists: what others have of messages with it goes too.
func (c *Cuts) Drop(l trace.LocationID) { c.dropped[l] = true }

// DropRanks drops the locations of each world rank for which drop is true. Locations
// outside MPI stay.
func (c *Cuts) DropRanks(t *trace.Trace, drop func(rank uint32) bool) {
	for l, r := range t.Rank {
		if r != trace.None && drop(r) {
			c.Drop(trace.LocationID(l))
		}
	}
}

// Records returns how many records of a location that has n of them are cut. The cuts are
// settled.
func (c *Cuts) Records(l trace.LocationID, n uint64) (cut uint64) {
	if c.dropped[l] {
		return n
	}
	for s := range c.Spans(l) {
		cut += min(s.To, n) - min(s.From, n)
	}
	return cut
}

// Left returns how many records of a location that has n of them are left: those of its source, if they were read, else what the cuts
// say. What completes a request whose start is cut goes as well.
func (c *Cuts) Left(l trace.LocationID, n uint64) uint64 {
	if counted := c.left[l].Load(); counted > 0 {
		return counted - 1
	}
	return n - c.Records(l, n)
}

// Spans iterates over the spans of a location, also while it is dropped: then over one that
// holds all.
func (c *Cuts) Spans(l trace.LocationID) func(yield func(Span) bool) {
	return func(yield func(Span) bool) {
		if c.dropped[l] {
			yield(Span{0, math.MaxUint64})
			return
		}
		if c.spans[l] == nil {
			return
		}
		for _, rows := range c.spans[l].Rows {
			for _, s := range rows {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// Settle puts the spans of a location in order and joins those that overlap or touch.
func (c *Cuts) Settle(l trace.LocationID) {
	old := c.spans[l]
	if old == nil || c.dropped[l] {
		return
	}
	n := 0
	joined(old, func(Span) { n++ })
	out := spill.NewZeros[Span](c.store, n)
	joined(old, func(s Span) {
		n--
		out.Set(n, s)
	})
	old.Release()
	c.spans[l] = out
}

// joined gives spans that come in order of To to emit, the last one first, those that
// overlap or touch joined.
func joined(spans *spill.Table[Span], emit func(Span)) {
	i := spans.Len() - 1
	if i < 0 {
		return
	}
	for last := spans.At(i); ; i-- {
		if i == 0 {
			emit(last)
			return
		}
		if s := spans.At(i - 1); s.To >= last.From {
			last.From = min(last.From, s.From)
		} else {
			emit(last)
			last = s
		}
	}
}

// union returns the settled cuts of all that any of several settled cuts cut.
func union(cuts ...*Cuts) *Cuts {
	first := cuts[0]
	out := NewCuts(first.store, len(first.spans))
	for l := range out.spans {
		id := trace.LocationID(l)
		for _, c := range cuts {
			out.dropped[l] = out.dropped[l] || c.dropped[l]
		}
		if out.dropped[l] {
			continue
		}
		out.unite(id, cuts)
		out.Settle(id)
	}
	return out
}

// unite adds the spans of a location in order of their end.
func (c *Cuts) unite(l trace.LocationID, cuts []*Cuts) {
	next := make([]int, len(cuts))
	for {
		var least *Cuts
		var at int
		var s Span
		for i, x := range cuts {
			if x.spans[l] == nil || next[i] == x.spans[l].Len() {
				continue
			}
			if head := x.spans[l].At(next[i]); least == nil || head.To < s.To {
				least, at, s = x, i, head
			}
		}
		if least == nil {
			return
		}
		next[at]++
		c.Add(l, s.From, s.To)
	}
}

// Release gives the spans back.
func (c *Cuts) Release() {
	for l, t := range c.spans {
		if t != nil {
			t.Release()
		}
		c.spans[l] = nil
	}
}

// A cursor goes through the spans of a location.
type cursor struct {
	spans *spill.Table[Span]
	next  int
	Span  // the current one: the first that ends behind the last record that was asked for
}

// end is a span behind all records.
var end = Span{math.MaxUint64, math.MaxUint64}

func (c *Cuts) cursor(l trace.LocationID) cursor {
	x := cursor{spans: c.spans[l]}
	if c.dropped[l] {
		return cursor{Span: Span{0, math.MaxUint64}}
	}
	x.advance()
	return x
}

// advance goes to the next span.
func (c *cursor) advance() {
	if c.spans == nil || c.next == c.spans.Len() {
		c.Span = end
		return
	}
	c.Span = c.spans.At(c.next)
	c.next++
}

// cuts reports whether a record is cut. Records are asked for in ascending order.
func (c *cursor) cuts(seq uint64) bool {
	for c.To <= seq {
		c.advance()
	}
	return seq >= c.From
}
