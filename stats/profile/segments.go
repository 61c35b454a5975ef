package profile

import (
	"iter"

	"tracekit/spill"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Segments says where a location spends its time between and in its calls, waits apart: the
// run cut at every call of trace.Trace.Calls. A call's own time, what it takes beyond its
// wait, is one row, followed by one for its wait if it has one; what passes from there to the
// next call are rows of one call path each. Time of the measurement in a call follows that. So the time between any two calls is a run of
// rows.
type Segments struct {
	store *spill.Store
	Rows  *spill.Table[Row]
	Calls *spill.Table[uint32] // by call: its row of own time

	// Long stretches are summed by blocks of rows.
	BlockSums *spill.Table[Row]    // of each block, by path
	Blocks    *spill.Table[uint32] // by block: its first row in sums; one more for the end

	wide *spill.Table[Segment] // that fit no Row

	waits *waits.Table
	scope *scope.Scope
}

// A Row is a Segment in 8 bytes: see Segments.Of. A location has several for each call. Its time takes the lower bits. Above them lie the
// visits, then the path with a sign, so that paths of no tree fit as well. For what does not fit it holds the row in Segments.wide, and a
// path that nothing has.
type Row uint64

const (
	timeBits   = 34
	visitBits  = 12
	pathShift  = timeBits + visitBits
	wideSource = 1 << (63 - pathShift)
)

// narrow returns the Row of a segment, if it fits one.
func narrow(x Segment) Row {
	return Row(x.Time)&(1<<timeBits-1) | Row(x.Visits)&(1<<visitBits-1)<<timeBits | Row(x.Path)<<pathShift
}

// segment returns the Segment of a Row which that fits.
func (r Row) segment() Segment {
	return Segment{trace.PathID(int64(r) >> pathShift), uint32(r>>timeBits) & (1<<visitBits - 1), int64(r & (1<<timeBits - 1))}
}

// Of returns the segment of a row.
func (s *Segments) Of(r Row) Segment {
	if r>>pathShift == wideSource {
		return s.wideOf(r)
	}
	return r.segment()
}

//go:noinline
func (s *Segments) wideOf(r Row) Segment { return s.wide.At(int(r & (1<<pathShift - 1))) }

// row returns the row of a segment, and makes one in wide if need be.
func (s *Segments) row(x Segment) Row {
	r := narrow(x)
	if r.segment() != x || r>>pathShift == wideSource {
		r = wideSource<<pathShift | Row(spill.Ensure(s.store, &s.wide).Append(x))
	}
	return r
}

// at returns the segment in a row of the table.
func (s *Segments) at(row int) Segment { return s.Of(s.Rows.At(row)) }

// A Segment is time in one call path, in ticks. The path is that of the tree, or one of those
// below. Visits are those that end in it, and the one that goes on.
type Segment struct {
	Path   trace.PathID
	Visits uint32
	Time   int64
}

// Paths of time that lies in no call path. They are above all others.
const (
	PathOutside     = trace.PathID(trace.None)     // outside any region
	PathWait        = trace.PathID(trace.None - 1) // waiting
	PathNotRecorded = trace.PathID(trace.None - 2) // before the location's first event
	PathFlush       = trace.PathID(trace.None - 3) // the measurement writes its buffer
	PathOff         = trace.PathID(trace.None - 4) // recording is switched off
)

// NewSegments returns empty segments for each location.
func NewSegments(t *trace.Trace, s *scope.Scope, waits waits.ByCall) []*Segments {
	out, all := make([]*Segments, len(waits)), make([]Segments, len(waits))
	for l := range out {
		all[l] = Segments{store: t.Store, waits: waits[l], scope: s}
		out[l] = &all[l]
	}
	return out
}

// SegmentBlock is the number of rows in a block.
const SegmentBlock = 128

// between returns the rows after a call (None: from the begin) until another one is entered
// (None: to the end).
func (s *Segments) between(after, until uint32) (first, end int) {
	if after != trace.None {
		first = int(s.Calls.At(int(after))) + 1
		if first < s.Rows.Len() && s.at(first).Path == PathWait {
			first++
		}
	}
	if until == trace.None {
		return first, s.Rows.Len()
	}
	return first, int(s.Calls.At(int(until)))
}

// Between iterates over the segments after a call (None: from the begin of the run) until
// another one is entered (None: until the location's last event), in order: that is the time
// in both and between them, without what the first takes itself. Waits of the calls between have the path PathWait.
func (s *Segments) Between(after, until uint32) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for first, end := s.between(after, until); first < end; {
			rows := s.Rows.From(first)
			rows = rows[:min(len(rows), end-first)]
			for _, r := range rows {
				if !yield(s.Of(r)) {
					return
				}
			}
			first += len(rows)
		}
	}
}

// All iterates over all segments in order, each with the call whose own time it is; of others
// that is None.
func (s *Segments) All() iter.Seq2[uint32, Segment] {
	return func(yield func(uint32, Segment) bool) {
		call, own := 0, s.ownRow(0)
		for first, rows := range s.Rows.Rows {
			for i, r := range rows {
				of := uint32(trace.None)
				if first+i == own {
					of = uint32(call)
					call++
					own = s.ownRow(call)
				}
				if !yield(of, s.Of(r)) {
					return
				}
			}
		}
	}
}

// ownRow returns the row of a call's own time, -1 if there is no such call.
func (s *Segments) ownRow(call int) int {
	if call < s.Calls.Len() {
		return int(s.Calls.At(call))
	}
	return -1
}

// Sums iterates over sums of all segments: several of one path.
func (s *Segments) Sums(yield func(Segment) bool) {
	summed := max(0, s.Blocks.Len()-1) * SegmentBlock
	for _, table := range []struct {
		rows *spill.Table[Row]
		from int
	}{{s.BlockSums, 0}, {s.Rows, summed}} {
		for i := table.from; i < table.rows.Len(); {
			rows := table.rows.From(i)
			for _, r := range rows {
				if !yield(s.Of(r)) {
					return
				}
			}
			i += len(rows)
		}
	}
}

// Own returns the own time of a call, with its call path.
func (s *Segments) Own(call uint32) Segment { return s.at(int(s.Calls.At(int(call)))) }

// Len returns the number of calls: 0 for a location that is not analyzed.
func (s *Segments) Len() int { return s.Calls.Len() }

// Wait returns how long a call waits, as far as that is selected.
func (s *Segments) Wait(call uint32) int64 {
	if row := int(s.Calls.At(int(call))) + 1; row < s.Rows.Len() {
		if x := s.at(row); x.Path == PathWait {
			return x.Time
		}
	}
	return 0
}
