package delays

import (
	"context"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// comparisons are the synchronisation intervals of consecutive waits: who has spent how much
// more time where.
type comparisons struct {
	first  int                 // row of the first wait
	order  []int32             // in which the waits from there on are compared
	waits  []comparison        // by row
	excess [][]profile.Segment // by chunk of order
}

// A comparison is that of one wait. All times are 0 if nothing is known of its cause.
type comparison struct {
	opened     opening
	delay      int64 // what the cause has spent more than the one that waits, summed over places
	wait       int64 // its own waits in the interval
	chunk      int32
	first, end int32 // rows of the chunk's excess: the places
}

// nearLocations is how many adjacent locations wait in one part of an order if not all is in memory: their rows, and those of who they wait
// for, are at a time. In a collective they wait for one, whose interval is found for them once.
const nearLocations = 8

// newComparisons returns those of the waits of some rows, to be made chunk by chunk.
func (d *Finder) newComparisons(first, end int) *comparisons {
	return &comparisons{first: first, order: d.nearOrder(first, end), waits: make([]comparison, end-first),
		excess: make([][]profile.Segment, (end-first+delayChunk-1)/delayChunk)}
}

// compareBatch compares the waits of some rows, in chunks.
func (d *Finder) compareBatch(ctx context.Context, first, end int) (*comparisons, error) {
	c := d.newComparisons(first, end)
	_, err := engine.Fold(ctx, d.jobs, len(c.excess), d.newComparing, func(x comparing, k int) error {
		d.compare(c, k, x)
		return nil
	}, func(a, _ comparing) comparing { return a })
	return c, err
}

// nearOrder returns the order in which the waits of some rows are compared: in parts by location, or as they are if all is in memory.
func (d *Finder) nearOrder(first, end int) []int32 {
	order := make([]int32, end-first)
	if d.t.Store.Spilled() == 0 {
		for i := range order {
			order[i] = int32(i)
		}
		return order
	}
	waits, next := d.waits.Cursor(), make([]int32, len(d.t.Calls)/nearLocations+2) // by part: where its next wait goes
	for i := range order {
		next[waits.Ptr(first+i).at.Location/nearLocations+1]++
	}
	for k := 1; k < len(next); k++ {
		next[k] += next[k-1]
	}
	for i := range order {
		at := &next[waits.Ptr(first+i).at.Location/nearLocations]
		order[*at] = int32(i)
		*at++
	}
	return order
}

// comparing is what a goroutine needs to compare waits: how the cause and the one that waits have spent
// their intervals, and where things were looked for last.
type comparing struct {
	cause, own *interval
	at         []lookedUp // by location
}

// lookedUp is where things of a location were looked for last.
type lookedUp struct {
	calls spill.Cursor[trace.Call]
	rowOf spill.Cursor[uint32] // Segments.calls
	rows  spill.Cursor[profile.Row]
	parts int // that begin before the last wait

	waits, from, to int // of the present chunk: how many, and their calls
}

func (d *Finder) newComparing() comparing {
	paths := len(d.t.Tree.Nodes)
	x := comparing{newInterval(paths), newInterval(paths), make([]lookedUp, len(d.t.Calls))}
	for l, s := range d.Segments {
		x.at[l] = lookedUp{calls: d.t.Calls[l].Cursor(), rowOf: s.Calls.Cursor(), rows: s.Rows.Cursor()}
	}
	return x
}

// compare compares the waits of a chunk.
func (d *Finder) compare(c *comparisons, chunk int, x comparing) {
	order := c.order[chunk*delayChunk : min(len(c.order), (chunk+1)*delayChunk)]
	waits, excess := d.waits.Cursor(), make([]profile.Segment, 0, 4*len(order))
	d.readAhead(waits, c.first, order, x.at)
	for _, i := range order {
		w, k := waits.Ptr(c.first+int(i)), &c.waits[i]
		k.chunk, k.first = int32(chunk), int32(len(excess))
		if w.cause.Call != trace.None {
			k.opened = d.meetings.last(w, &x.at[w.at.Location].parts)
			d.fill(x.cause, span{w.cause, w.end, k.opened.cause}, x.at)
			d.fill(x.own, span{w.at, w.from, k.opened.at}, x.at)
			d.fillBehind(x.cause, x.own)
			d.fillBehind(x.own, x.cause)
			excess = x.cause.Excess(&x.own.TimeMap, excess)
			for _, more := range excess[k.first:] {
				k.delay += more.Time
			}
			k.wait = *x.cause.Of(profile.PathWait)
		}
		k.end = int32(len(excess))
	}
	c.excess[chunk] = excess
}

// mostCalls is how many calls of a location there may be for each of its waits so that all are read at once.
const mostCalls = 16

// readAhead brings near what locations do between their first and their last wait of a chunk: wait by wait it would be looked for in
// memory.
func (d *Finder) readAhead(rows spill.Cursor[delayedWait], first int, order []int32, at []lookedUp) {
	for _, i := range order {
		w := rows.Ptr(first + int(i)).at
		call, x := int(w.Call), &at[w.Location]
		if x.waits == 0 {
			x.from, x.to = call, call
		}
		x.waits, x.from, x.to = x.waits+1, min(x.from, call), max(x.to, call)
	}
	for _, i := range order {
		l := rows.Ptr(first + int(i)).at.Location
		x, s := &at[l], d.Segments[l]
		if calls := x.to - x.from; calls > 0 && calls <= mostCalls*x.waits {
			d.t.Calls[l].ReadAhead(x.from, x.to+1)
			s.Calls.ReadAhead(x.from, x.to+1)
			s.Rows.ReadAhead(int(s.Calls.At(x.from)), int(s.Calls.At(x.to)))
		}
		x.waits, x.from, x.to = 0, 0, 0
	}
}

// A span is the time of a location from the end of a call that opens a synchronisation interval, None:
// the begin of the run, to an instant in a later call.
type span struct {
	until  waits.CallKey
	end    int64
	opened uint32
}

// An interval is how a location has spent a span. All that wait for one in a collective ask for the
// same span, one after another: it is remembered.
type interval struct {
	profile.TimeMap
	span
	known bool

	// Of the opening call:
	left   int64           // when it is left
	ends   int64           // when it is left or the next call is entered
	own    profile.Segment // its own time
	behind profile.Segment // what of it lies behind the end of the partner's, and has been added last
}

func newInterval(paths int) *interval { return &interval{TimeMap: profile.NewTimeMap(paths)} }

// fill finds how a location has spent a span, without the opening call itself.
func (d *Finder) fill(x *interval, s span, at []lookedUp) {
	if x.known && x.span == s {
		x.Undo(x.behind)
	} else {
		x.span, x.known = s, true
		d.fillSpan(x, &at[s.until.Location])
	}
	x.behind = profile.Segment{}
}

// fillBehind adds what of the opening call lies behind the end of the partner's.
func (d *Finder) fillBehind(x, partner *interval) {
	if x.opened == trace.None || partner.opened == trace.None || partner.left >= x.ends {
		return
	}
	x.behind = profile.Segment{Path: x.own.Path, Time: min(x.own.Time, d.scope.Clip(partner.left, x.ends))}
	x.Add(x.behind.Path, x.behind.Time)
}

// fillSpan sums what lies behind the opening call.
func (d *Finder) fillSpan(x *interval, at *lookedUp) {
	x.Clear()
	s := d.Segments[x.until.Location]
	first, behind := 0, int(*at.rowOf.Ptr(int(x.until.Call)))
	if enter := at.calls.Ptr(int(x.until.Call)).Enter; enter < x.end {
		x.Add(s.Of(*at.rows.Ptr(behind)).Path, d.scope.Clip(enter, x.end))
	}
	if x.opened != trace.None {
		x.left = at.calls.Ptr(int(x.opened)).Leave
		x.ends = min(x.left, at.calls.Ptr(int(x.opened)+1).Enter)
		row := int(*at.rowOf.Ptr(int(x.opened)))
		x.own = s.Of(*at.rows.Ptr(row))
		if first = row + 1; s.Of(*at.rows.Ptr(first)).Path == profile.PathWait {
			first++
		}
	}
	block, last := (first+profile.SegmentBlock-1)/profile.SegmentBlock, behind/profile.SegmentBlock
	if block >= last {
		x.AddRows(s, s.Rows, first, behind)
		return
	}
	x.AddRows(s, s.Rows, first, block*profile.SegmentBlock)
	x.AddRows(s, s.BlockSums, int(s.Blocks.At(block)), int(s.Blocks.At(last)))
	x.AddRows(s, s.Rows, last*profile.SegmentBlock, behind)
}
