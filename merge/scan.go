package merge

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// deepestPath is the call depth beyond which call paths do not grow: deeper regions count
// as belonging to the path at that depth, so that endless recursion cannot fill memory.
const deepestPath = 1 << 14

// A located is what the scan of one location yields. Times are raw ticks, but never
// decrease; call paths are those of the location's own tree.
type located struct {
	tree     *trace.CallTree
	paths    []trace.PathID // of tree's nodes in the common tree
	calls    *spill.Table[trace.Call]
	sends    *spill.Table[trace.Send]
	recvs    *spill.Table[trace.Recv]
	parts    *spill.Table[part]
	span     trace.Span
	skipped  uint64 // events that could not be used
	disorder bool   // receives complete in another order than they were posted in
	posted   uint64 // PostSeq of the last receive
	pauses   uint32 // times that recording was switched off
	stray    bool   // a part in a collective lies outside any call
	bytes    total  // of all messages and collectives
	ledger   trace.Ledger
}

// A total is a sum that knows whether it is too large.
type total struct {
	sum      uint64
	overflow bool
}

func (t *total) add(n uint64) {
	sum, carry := bits.Add64(t.sum, n, 0)
	t.sum, t.overflow = sum, t.overflow || carry > 0
}

// A visit is a region that is entered and not left.
type visit struct {
	seq  uint64
	time int64
	path trace.PathID
	row  uint32 // in calls; None: has none
}

// A scanner follows one location's events.
//
//	open is the depth of the MPI call that is being recorded; open < 0: none
//	call is its row, and the last one: no other call gets a row until it ends
//	begun are the parts in collectives that have begun in it and not ended
type scanner struct {
	facts    *facts
	location trace.LocationID
	rank     uint32
	out      *located
	stack    trace.CallStack[visit]
	open     int
	call     *trace.Call
	row      uint32 // of the last call
	seq      uint64 // of the event that is being scanned
	now      int64  // its time, or that of the one before it if that is later
	lastPart int64  // when the last part in a collective begins
	requests requestTable
	begun    []uint32              // rows
	firsts   map[trace.Code]uint64 // the first place of each finding so far
	paths    trace.PathCache
}

// facts is what all scanners share and none changes.
type facts struct {
	defs     *trace.Defs
	classes  []trace.CallClass // by region
	windows  map[uint64]trace.CommID
	resolver *resolver
}

func newFacts(d *trace.Defs) *facts {
	f := &facts{defs: d, windows: d.Windows(), resolver: newResolver(d)}
	for _, fn := range d.MPIFunctions() {
		f.classes = append(f.classes, fn.Class)
	}
	return f
}

func (f *facts) class(region trace.RegionID) trace.CallClass {
	if int(region) < len(f.classes) {
		return f.classes[region]
	}
	return trace.ClassNone
}

// eager reports whether all calls of a class get a row, whatever happens in them.
func eager(c trace.CallClass) bool {
	return c != trace.ClassNone && c != trace.ClassOther && c != trace.ClassTest
}

// scan decodes all locations once.
func scan(ctx context.Context, src trace.Source, f *facts, store *spill.Store, opts engine.Options) ([]*located, error) {
	return engine.Each(ctx, src, opts, func(_ context.Context, l trace.LocationID, batches engine.Batches) (*located, error) {
		s := newScanner(f, l, store)
		if s.outlined(src) {
			opts.Progress.Pass(s.out.span.Events)
			return s.out, nil
		}
		for b, err := range batches {
			if err != nil {
				return nil, fmt.Errorf("reading location %d: %w", l, err)
			}
			s.batch(b)
		}
		s.finish()
		return s.out, nil
	})
}

func newScanner(f *facts, l trace.LocationID, store *spill.Store) *scanner {
	return &scanner{facts: f, location: l, rank: f.resolver.ranks[l], open: -1, firsts: make(map[trace.Code]uint64), out: &located{
		tree:  trace.NewCallTree(),
		calls: spill.NewTable[trace.Call](store),
		sends: spill.NewTable[trace.Send](store),
		recvs: spill.NewTable[trace.Recv](store),
		parts: spill.NewTable[part](store),
	}}
}

// outlined reports whether the source knows all that a scan would find. Calls that get a row must be read.
func (s *scanner) outlined(src trace.Source) bool {
	outliner, ok := src.(trace.Outliner)
	if !ok {
		return false
	}
	o := outliner.Outline(s.location)
	if o == nil || slices.ContainsFunc(o.Tree.Nodes, func(n trace.PathNode) bool { return eager(s.facts.class(n.Region)) }) {
		return false
	}
	s.out.tree, s.out.span, s.now = o.Tree, o.Span, o.Span.Last
	s.finish()
	return true
}

// batch walks the events in recorded order: enters and leaves, and between them the others. A region
// that is left before another one is entered needs no place on the stack unless it may get its row by
// what happens in it.
func (s *scanner) batch(b *trace.Batch) {
	if s.out.span.Events == 0 {
		s.now = firstTime(b)
		s.out.span.First = s.now
	}
	s.out.span.Events += uint64(b.Len())
	others, next := otherRows{Batch: b}, b.First
	n := len(b.Flow.Seq)
	seqs, times, kinds, regions := b.Flow.Seq, b.Flow.Time[:n], b.Flow.Kind[:n], b.Flow.Region[:n]
	for i := 0; i < n; i++ {
		seq, region := seqs[i], regions[i]
		if seq != next {
			s.between(&others, next, seq)
		}
		next = seq + 1
		s.event(seq, times[i])
		if !kinds[i].Enters() {
			if v, ok := s.stack.LeaveInnermost(region); !ok {
				s.leave(region)
			} else if v.row != trace.None {
				s.close(v.row, false)
			}
			continue
		}
		if s.stack.Full() {
			s.unwind(1)
		}
		node := trace.PathNode{Parent: trace.None, Region: region, Site: s.site(b.Flow.Context, i)}
		if v := s.stack.Top(); v != nil {
			node.Parent = v.path
		}
		path, known := s.paths.Lookup(node)
		if !known {
			path = s.step(node)
		}
		k, call := i+1, s.open < 0 && eager(s.facts.class(region))
		if k == n || regions[k] != region || kinds[k].Enters() || seqs[k] != next && s.open < 0 && !call {
			s.enter(region, trace.PathID(path), call)
			continue
		}
		if call {
			s.openCall(trace.PathID(path), region)
		}
		if seqs[k] != next {
			s.between(&others, next, seqs[k])
		}
		next = seqs[k] + 1
		s.event(seqs[k], times[k])
		if call {
			s.closeCall(false)
		}
		i = k
	}
	s.between(&others, next, b.First+uint64(b.Len()))
}

// otherRows are the next rows of the tables of a batch that hold neither enter nor leave.
type otherRows struct {
	*trace.Batch
	p2p, coll, metric, other int
}

// between takes events that are neither enter nor leave, from one sequence number to before
// another. The tables that merging does not need are passed over, but for their times. It is
// trace.Batch.Events written out, for this is the hottest of all loops over events.
func (s *scanner) between(b *otherRows, seq, end uint64) {
	for ; seq < end; seq++ {
		switch b.Order[seq-b.First] {
		case trace.TableP2P:
			s.event(seq, b.P2P.Time[b.p2p])
			s.p2p(&b.P2P, b.p2p)
			b.p2p++
		case trace.TableColl:
			s.event(seq, b.Coll.Time[b.coll])
			s.coll(&b.Coll, b.coll)
			b.coll++
		case trace.TableMetric:
			s.event(seq, b.Metric.Time[b.metric])
			b.metric = b.MetricEnd(b.metric, seq)
		default:
			s.event(seq, b.Other.Time[b.other])
			switch b.Other.Kind[b.other] {
			case trace.KindBufferFlush, trace.KindMeasurementOnOff:
				s.gap(&b.Other, b.other)
			case trace.KindRmaCollectiveBegin, trace.KindRmaCollectiveEnd:
				s.window(&b.Other, b.other)
			}
			b.other++
		}
	}
}

// firstTime returns the time of the first event, 0 if there is none.
func firstTime(b *trace.Batch) int64 {
	if b.Len() == 0 {
		return 0
	}
	return b.Time(trace.Row{Table: b.Order[0], End: 1})
}

// event turns to the event of a sequence number and a time.
func (s *scanner) event(seq uint64, t int64) {
	s.seq = seq
	if t < s.now {
		s.early(t)
		return
	}
	s.now = t
}

// early notes that the time of the event is before that of the one before it.
//
//go:noinline
func (s *scanner) early(t int64) {
	s.note(trace.CodeTimeDecreases, s.seq, "time %d after %d", t, s.now)
}

// site returns from where the region in row i of the batch is called.
func (s *scanner) site(contexts []trace.CallingContextID, i int) trace.SourceLocationID {
	if i < len(contexts) {
		return s.facts.defs.SiteOf(contexts[i])
	}
	return trace.None
}

// enter opens a region, which may be a call that gets its row at once.
func (s *scanner) enter(region trace.RegionID, path trace.PathID, call bool) {
	v := visit{seq: s.seq, time: s.now, path: path, row: trace.None}
	if call {
		v.row = s.openCall(path, region)
	}
	s.stack.Enter(region, v)
}

// openCall begins to record the call of the region that is entered, and returns its row.
func (s *scanner) openCall(path trace.PathID, region trace.RegionID) uint32 {
	s.open = s.stack.Len()
	return s.addCall(s.seq, s.now, path, region)
}

// step returns the number of the path n, which is its parent's if that is as deep as paths are.
func (s *scanner) step(n trace.PathNode) uint32 {
	path := n.Parent
	if s.stack.Len() < deepestPath {
		path = s.out.tree.Add(n)
	}
	s.paths.Remember(n, uint32(path))
	return uint32(path)
}

// leave ends the region that is left although it is not the innermost, and those inside it, which
// were never left.
func (s *scanner) leave(region trace.RegionID) {
	n := s.stack.Leave(region)
	if n == 0 {
		s.skip(trace.CodeUnmatchedLeave, "%s is left and was not entered", s.facts.defs.RegionName(region))
		return
	}
	s.unwind(n - 1)
	s.close(s.stack.Pop().row, false)
}

// unwind closes the n innermost regions although they were never left. They are noted from the
// outermost on, so that the first alone needs a text.
func (s *scanner) unwind(n int) {
	for i := s.stack.Len() - n; i < s.stack.Len(); i++ {
		s.note(trace.CodeOpenRegion, s.stack.At(i).seq, "%s is not left", s.facts.defs.RegionName(s.stack.Region(i)))
	}
	for range n {
		s.close(s.stack.Pop().row, true)
	}
}

// close ends the call in a row, if it is one, of the region that was removed last.
func (s *scanner) close(row uint32, open bool) {
	switch {
	case row == trace.None:
	case s.open == s.stack.Len():
		s.closeCall(open)
	default:
		c := s.out.calls.Ptr(int(row))
		c.Leave, c.Open = s.now, open
	}
}

// closeCall ends the call that is being recorded.
func (s *scanner) closeCall(open bool) {
	s.open, s.begun = -1, s.begun[:0]
	s.call.Leave, s.call.Open = s.now, open
}

// addCall makes the row of a call and returns its number.
func (s *scanner) addCall(seq uint64, enter int64, path trace.PathID, region trace.RegionID) uint32 {
	s.row = uint32(s.out.calls.Len())
	c := s.out.calls.Next()
	c.Event, c.Enter, c.Leave, c.Path = trace.EventAt(seq), enter, enter, path
	c.FirstSend, c.FirstRecv = uint32(s.out.sends.Len()), uint32(s.out.recvs.Len())
	c.Coll, c.Class, c.Open = trace.None, s.facts.class(region), true
	s.call = c
	return s.row
}

// caller returns the row of the call that the event belongs to: that of the open MPI call
// or else of the innermost region.
func (s *scanner) caller() uint32 {
	if s.open >= 0 {
		return s.row
	}
	return s.region()
}

// region returns the row of the call of the innermost region, which gets it with its first event;
// but if a call inside it already has a later row, rows would no longer be in order of Enter, and
// the event stays without a call.
func (s *scanner) region() uint32 {
	n := s.stack.Len()
	if n == 0 {
		s.note(trace.CodeEventOutsideCall, s.seq, "no region is entered")
		return trace.None
	}
	v, region := s.stack.Top(), s.stack.Region(n-1)
	if v.row == trace.None && (s.call == nil || s.call.Seq() < v.seq) {
		if v.row = s.addCall(v.seq, v.time, v.path, region); s.call.Class != trace.ClassNone {
			s.open = n - 1
		}
	}
	if v.row == trace.None || v.row != s.row {
		s.note(trace.CodeEventOutsideCall, s.seq, "%s has communicated in a call inside it before", s.facts.defs.RegionName(region))
		return trace.None
	}
	return v.row
}

// gap notes what the record in row i says: that something is not in the trace.
func (s *scanner) gap(o *trace.Other, i int) {
	if o.Kind[i] == trace.KindBufferFlush {
		s.note(trace.CodeBufferFlush, s.seq, "")
	} else if at := int(o.Offset[i]); at < len(o.Args) && o.Args[at] == trace.MeasurementOff {
		s.out.pauses++
		s.note(trace.CodeRecordingOff, s.seq, "")
	}
}

// finish closes what is open at the end of the location.
func (s *scanner) finish() {
	s.out.span.Open = s.stack.Len() > 0
	s.unwind(s.stack.Len())
	s.requests.each(func(r request) {
		s.note(trace.CodeOpenRequest, r.seq, "request %d", r.id)
	})
	s.out.span.Last = s.now
	out := s.out
	out.calls, out.sends, out.recvs, out.parts = out.calls.Sealed(), out.sends.Sealed(), out.recvs.Sealed(), out.parts.Sealed()
}

// note counts a finding at an event.
func (s *scanner) note(code trace.Code, seq uint64, format string, args ...any) {
	text := ""
	if first, ok := s.firsts[code]; !ok || seq < first {
		text, s.firsts[code] = fmt.Sprintf(format, args...), seq
	}
	s.out.ledger.Add(code, trace.Place{Location: s.location, Seq: seq, Offset: -1}, text)
}

// skip counts a finding at the event, which cannot be used.
func (s *scanner) skip(code trace.Code, format string, args ...any) {
	s.out.skipped++
	s.note(code, s.seq, format, args...)
}
