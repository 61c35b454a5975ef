package reduce

import (
	"context"
	"slices"
	"sync/atomic"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Kept says what was done so that no message loses one end only, and no collective some of
// its members.
type Kept struct {
	Calls    uint64 `json:"calls"`               // kept with their callers, although a rule cut them
	Records  uint64 `json:"records"`             // that are kept with them
	Messages uint64 `json:"cut_ends"`            // messages between a kept rank and a dropped one: both ends are cut
	Partial  uint64 `json:"collectives_partial"` // collectives that lose the members that are dropped, and no others
}

// Whether a call is kept.
const (
	callCut uint32 = iota
	callKept
	callWanted // cut by a rule, and kept for a message or a collective
)

// A consistency finds the calls that must be kept: all of those that a message or a request
// ties together, or a collective, if one of them is. The answer is the smallest set that
// holds what rules keep, and does not depend on the order in which it is found.
type consistency struct {
	t     *trace.Trace
	cuts  *Cuts
	jobs  int
	calls []*spill.Table[uint32] // by location and call: callCut …
	loose [][]uint64             // by location: records outside calls that are kept
}

// Consistent returns settled cuts. Where the trace has them whole, no message has one end, no collective some of its members, no request a
// start or a completion only: calls that one of these needs are kept, and the regions around them. Dropped locations stay dropped; messages
// with them lose both ends. It settles the cuts and decodes once more the locations where calls are kept inside of what is cut.
func (c *Cuts) Consistent(ctx context.Context, t *trace.Trace, jobs int) (*Cuts, Kept, error) {
	x := &consistency{t: t, cuts: c, jobs: jobs, calls: make([]*spill.Table[uint32], len(t.Calls)), loose: make([][]uint64, len(t.Calls))}
	if err := x.begin(ctx); err != nil {
		return nil, Kept{}, err
	}
	if err := x.spread(ctx); err != nil {
		return nil, Kept{}, err
	}
	x.findLoose()
	out := NewCuts(c.store, len(c.spans))
	kept, err := engine.Each(ctx, t.Source, engine.Options{Jobs: jobs},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (Kept, error) {
			return x.refine(out, l, batches)
		})
	if err != nil {
		return nil, Kept{}, err
	}
	sum := Kept{Messages: x.severed(out), Partial: x.partial()}
	for l, k := range kept {
		sum.Calls, sum.Records = sum.Calls+k.Calls, sum.Records+k.Records
		x.calls[l].Release()
	}
	return out, sum, nil
}

// begin settles the cuts and finds which calls they cut.
func (x *consistency) begin(ctx context.Context) error {
	_, err := engine.Map(ctx, x.jobs, len(x.calls), func(_ context.Context, l int) (struct{}, error) {
		id := trace.LocationID(l)
		x.cuts.Settle(id)
		calls := spill.NewZeros[uint32](x.t.Store, x.t.Calls[l].Len())
		x.calls[l] = calls
		cut := x.cuts.cursor(id)
		for first, rows := range x.t.Calls[l].Rows {
			for i := range rows {
				if !cut.cuts(rows[i].Seq()) {
					calls.Set(first+i, callKept)
				}
			}
		}
		return struct{}{}, nil
	})
	return err
}

// A tie is one of the calls, or records outside calls, that stay or go together.
type tie struct {
	loc  trace.LocationID
	call uint32 // None: the record seq lies outside any call
	seq  uint64
	none bool // there is no such thing
}

// ties gives what each message and request of a location ties together to do.
func (x *consistency) ties(l trace.LocationID, do func(...tie)) {
	t := x.t
	for _, rows := range t.Sends[l].Rows {
		for i := range rows {
			s := &rows[i]
			post, done := tie{loc: l, call: s.Call, seq: s.Seq()}, tie{loc: l, call: s.Done, none: s.Done == trace.None}
			if s.State != trace.Matched || x.cuts.dropped[s.RecvLoc] {
				do(post, done)
				continue
			}
			r := t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
			do(post, done, tie{loc: s.RecvLoc, call: r.Call, seq: r.Seq()}, tie{loc: s.RecvLoc, call: r.Post, seq: r.PostSeq})
		}
	}
	for _, rows := range t.Recvs[l].Rows {
		for i := range rows {
			if r := &rows[i]; r.State != trace.Matched || x.cuts.dropped[r.SendLoc] {
				do(tie{loc: l, call: r.Call, seq: r.Seq()}, tie{loc: l, call: r.Post, seq: r.PostSeq})
			}
		}
	}
}

// collective gives what a collective ties together to do.
func (x *consistency) collective(i int, do func(...tie)) {
	c := x.t.Collectives.Ptr(i)
	var all []tie
	for k := range int(c.Count) {
		if m := x.t.Members.Ptr(int(c.First) + k); !x.cuts.dropped[m.Location] {
			all = append(all, tie{loc: m.Location, call: m.Call, none: m.Call == trace.None},
				tie{loc: m.Location, call: m.Done, none: m.Done == trace.None})
		}
	}
	do(all...)
}

// kept reports whether a tie's call or record is kept.
func (x *consistency) kept(e tie) bool {
	if e.none {
		return false
	}
	if e.call != trace.None {
		return atomic.LoadUint32(x.calls[e.loc].Ptr(int(e.call))) != callCut
	}
	return !x.cuts.holds(e.loc, e.seq)
}

// holds reports whether a record is cut. The cuts are settled.
func (c *Cuts) holds(l trace.LocationID, seq uint64) bool {
	t := c.spans[l]
	if t == nil {
		return c.dropped[l]
	}
	low, high := 0, t.Len() // the first span that ends behind seq
	for low < high {
		if mid := (low + high) / 2; t.Ptr(mid).To <= seq {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low < t.Len() && t.Ptr(low).From <= seq
}

// spread keeps all that is tied to what is kept, until nothing changes.
func (x *consistency) spread(ctx context.Context) error {
	if !slices.ContainsFunc(x.cuts.spans, func(s *spill.Table[Span]) bool { return s != nil }) {
		return nil
	}
	const chunk = 1 << 12 // collectives that are an item of work
	locations, collectives := len(x.calls), x.t.Collectives.Len()
	for changed := true; changed; {
		var count atomic.Int64
		together := func(ties ...tie) {
			some, all := false, true
			for _, e := range ties {
				k := x.kept(e)
				some, all = some || k, all && (k || e.none)
			}
			if !some || all {
				return
			}
			for _, e := range ties {
				if !e.none && e.call != trace.None && atomic.CompareAndSwapUint32(x.calls[e.loc].Ptr(int(e.call)), callCut, callWanted) {
					count.Add(1)
				}
			}
		}
		_, err := engine.Map(ctx, x.jobs, locations+(collectives+chunk-1)/chunk, func(_ context.Context, item int) (struct{}, error) {
			if item < locations {
				if !x.cuts.dropped[item] {
					x.ties(trace.LocationID(item), together)
				}
				return struct{}{}, nil
			}
			for i := (item - locations) * chunk; i < min((item-locations+1)*chunk, collectives); i++ {
				x.collective(i, together)
			}
			return struct{}{}, nil
		})
		if err != nil {
			return err
		}
		changed = count.Load() > 0
	}
	return nil
}

// findLoose finds the records outside calls that are cut and must be kept.
func (x *consistency) findLoose() {
	for l := range x.calls {
		if x.cuts.dropped[l] {
			continue
		}
		x.ties(trace.LocationID(l), func(ties ...tie) {
			if !slices.ContainsFunc(ties, x.kept) {
				return
			}
			for _, e := range ties {
				if !e.none && e.call == trace.None && !x.kept(e) {
					x.loose[e.loc] = append(x.loose[e.loc], e.seq)
				}
			}
		})
	}
	for l := range x.loose {
		slices.Sort(x.loose[l])
		x.loose[l] = slices.Compact(x.loose[l])
	}
}

// severed cuts the ends of messages whose other end is dropped, and returns their number.
// What completes a request whose start is cut goes with it: see Source.
func (x *consistency) severed(out *Cuts) (n uint64) {
	for l := range x.calls {
		id := trace.LocationID(l)
		if x.cuts.dropped[l] {
			continue
		}
		var ends []uint64
		for _, rows := range x.t.Sends[l].Rows {
			for i := range rows {
				if s := &rows[i]; s.State == trace.Matched && x.cuts.dropped[s.RecvLoc] {
					ends = append(ends, s.Seq())
					n++
				}
			}
		}
		for _, rows := range x.t.Recvs[l].Rows {
			for i := range rows {
				if r := &rows[i]; r.State == trace.Matched && x.cuts.dropped[r.SendLoc] {
					ends = append(ends, r.PostSeq, r.Seq())
					n++
				}
			}
		}
		if len(ends) == 0 {
			continue
		}
		slices.Sort(ends)
		records := NewCuts(out.store, len(out.spans))
		for _, seq := range ends {
			records.Add(id, seq, seq+1)
		}
		whole := out.spans[l]
		out.spans[l] = nil
		out.unite(id, []*Cuts{records, {spans: at(len(out.spans), l, whole)}})
		out.Settle(id)
		records.Release()
		if whole != nil {
			whole.Release()
		}
	}
	return n
}

// at returns n tables of which one is given.
func at(n, i int, t *spill.Table[Span]) []*spill.Table[Span] {
	all := make([]*spill.Table[Span], n)
	all[i] = t
	return all
}

// partial returns how many collectives keep some members and lose others.
func (x *consistency) partial() (n uint64) {
	if !slices.Contains(x.cuts.dropped, true) {
		return 0
	}
	for i := range x.t.Collectives.Len() {
		c := x.t.Collectives.Ptr(i)
		lost, left := false, false
		for k := range int(c.Count) {
			m := x.t.Members.Ptr(int(c.First) + k)
			if x.cuts.dropped[m.Location] {
				lost = true
			} else if m.Call == trace.None || x.calls[m.Location].At(int(m.Call)) != callCut {
				left = true
			}
		}
		if lost && left {
			n++
		}
	}
	return n
}

// refine adds to out what remains cut of a location: its spans without the wanted calls, and
// without the Enter and Leave of the regions around these.
func (x *consistency) refine(out *Cuts, l trace.LocationID, batches engine.Batches) (kept Kept, err error) {
	if out.dropped[l] = x.cuts.dropped[l]; out.dropped[l] || x.cuts.spans[l] == nil {
		return kept, nil
	}
	r := refiner{out: out, location: l, cut: x.cuts.cursor(l), calls: x.t.Calls[l], states: x.calls[l], loose: x.loose[l], inside: -1}
	r.seek()
	if r.wanted == none {
		for s := range x.cuts.Spans(l) {
			out.Add(l, s.From, s.To)
		}
		return kept, nil
	}
	r.from = r.cut.From
	for b, err := range batches {
		if err != nil {
			return kept, err
		}
		r.batch(b)
	}
	for ; r.wanted != none && !r.isCall; r.take() {
		r.record(r.wanted)
	}
	for r.cut.Span != end {
		r.close()
	}
	out.Settle(l)
	return r.kept, nil
}

// none is the sequence number of no record.
const none = ^uint64(0)

// A refiner takes what is wanted out of the spans of a location. Spans, wanted records and
// events come in the same order.
//
//	[from, …) is cut and not yet added, unless a wanted call is open
//	stack.At(inside) is the wanted call that is open; inside < 0: none
type refiner struct {
	out      *Cuts
	location trace.LocationID
	cut      cursor
	calls    *spill.Table[trace.Call]
	states   *spill.Table[uint32]
	row      int
	loose    []uint64
	wanted   uint64 // Enter of the next wanted call, or a loose record
	isCall   bool
	stack    trace.CallStack[visit]
	inside   int
	from     uint64
	kept     Kept
}

// A visit is a region that is entered: whether its Enter is cut.
type visit struct {
	enter uint64
	cut   bool
}

// seek finds what is wanted next.
func (r *refiner) seek() {
	for r.row < r.states.Len() && r.states.At(r.row) != callWanted {
		r.row++
	}
	call, record := none, none
	if r.row < r.states.Len() {
		call = r.calls.Ptr(r.row).Seq()
	}
	if len(r.loose) > 0 {
		record = r.loose[0]
	}
	r.wanted, r.isCall = min(call, record), call <= record
}

// take goes on to what is wanted then.
func (r *refiner) take() {
	if r.isCall {
		r.row++
		r.kept.Calls++
	}
	if len(r.loose) > 0 && r.loose[0] == r.wanted {
		r.loose = r.loose[1:]
	}
	r.seek()
}

func (r *refiner) batch(b *trace.Batch) {
	f := &b.Flow
	for i, seq := range f.Seq {
		for r.wanted < seq && !r.isCall {
			r.record(r.wanted)
			r.take()
		}
		r.reach(seq)
		if f.Kind[i].Enters() {
			r.enter(seq, f.Region[i])
		} else {
			r.leave(seq, f.Region[i])
		}
	}
}

// reach ends the spans before a record.
func (r *refiner) reach(seq uint64) {
	for r.cut.To <= seq {
		r.close()
	}
}

// close ends the current span.
func (r *refiner) close() {
	if r.inside < 0 {
		r.add(r.cut.To)
	}
	r.cut.advance()
	r.from = r.cut.From
}

// add cuts what is not yet added up to a record.
func (r *refiner) add(to uint64) {
	if r.from < to {
		r.out.Add(r.location, r.from, to)
	}
}

// record keeps a record, and the Enter of the regions around it.
func (r *refiner) record(seq uint64) {
	r.reach(seq)
	if r.inside >= 0 || seq < r.cut.From {
		return
	}
	for i := range r.stack.Len() {
		if e := r.stack.At(i); e.cut {
			e.cut = false
			r.keep(e.enter)
		}
	}
	r.keep(seq)
}

// keep cuts up to a record and keeps that.
func (r *refiner) keep(seq uint64) {
	r.add(seq)
	r.from = seq + 1
	r.kept.Records++
}

func (r *refiner) enter(seq uint64, region trace.RegionID) {
	if r.stack.Full() {
		if r.stack.Pop(); r.inside == r.stack.Len() {
			r.end(seq)
		}
	}
	if r.wanted == seq {
		r.record(seq)
		if r.inside < 0 && seq >= r.cut.From {
			r.inside = r.stack.Len()
		}
		r.take()
		r.stack.Enter(region, visit{enter: seq})
		return
	}
	r.stack.Enter(region, visit{enter: seq, cut: r.inside < 0 && seq >= r.cut.From})
}

func (r *refiner) leave(seq uint64, region trace.RegionID) {
	n := r.stack.Leave(region)
	var outer visit
	for range n {
		outer = r.stack.Pop()
	}
	switch {
	case n == 0:
	case r.inside >= r.stack.Len():
		r.end(seq + 1)
	case r.inside < 0 && !outer.cut && seq >= r.cut.From:
		r.keep(seq)
	}
}

// end ends the wanted call that is open before a record, and keeps what comes before that.
func (r *refiner) end(seq uint64) {
	r.inside = -1
	if r.from < seq { // else it ends where nothing is cut
		r.kept.Records += seq - r.from
		r.from = seq
	}
}
