// Package fileio says what a program does to files: bytes, time and bandwidth by operation and by
// file, and how large accesses are.
//
// The roles of their regions tell calls (see Calls). The attributes of their Enter tell bytes and files or, as OTF2 has it, the records of
// operations within them.
package fileio

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Options says what a Finder does.
type Options struct {
	Ranks    []uint32 // selected; empty: all
	From, To int64    // corrected ticks: calls are clipped to them
}

// A Finder finds what is done to files from the events that others decode. It is a stats.Shared.
type Finder struct {
	Result      *document.FileIO // nil: no call works on files
	t           *trace.Trace
	opts        Options
	calls       []Call // by region
	aside       []bool
	file, bytes trace.AttributeID
	readings    []*reading // by location; nil: not heard of
	parts       []*part    // by location: of those that were coded
}

// NewFinder returns a finder of what is done to files in a trace. It hears nothing of one in which
// no call works on files.
func NewFinder(t *trace.Trace, opts Options) *Finder {
	f := &Finder{t: t, opts: opts, calls: Calls(t.Defs), aside: scope.Aside(t),
		file: t.Defs.AttributeByName(trace.AttributeFile), bytes: t.Defs.AttributeByName(trace.AttributeBytes)}
	works := false
	for region, visited := range t.Tree.Visited(len(f.calls)) {
		works = works || visited && f.calls[region] != NoCall
	}
	if works {
		f.readings, f.parts = make([]*reading, len(t.Defs.Locations)), make([]*part, len(t.Defs.Locations))
	}
	return f
}

// Listen implements profile.Observer.
func (f *Finder) Listen(_ waits.ByCall, l trace.LocationID) (hear func(*trace.Batch), end func()) {
	if !f.wants(l) {
		return nil, nil
	}
	r := &reading{s: f, p: newPart(), location: l, rank: f.t.Rank[l], clock: new(trace.ClockMap), last: f.t.Span[l].First}
	if int(l) < len(f.t.Clock.Maps) {
		r.clock = &f.t.Clock.Maps[l]
	}
	f.readings[l] = r
	return r.batch, nil
}

// wants reports whether a location is of interest.
func (f *Finder) wants(l trace.LocationID) bool {
	return f.readings != nil && int(l) < len(f.t.Span) && f.t.Span[l].Events > 0 && !f.aside[l] &&
		(len(f.opts.Ranks) == 0 || slices.Contains(f.opts.Ranks, f.t.Rank[l]))
}

// Finish implements profile.Observer: it finds the Result.
func (f *Finder) Finish(context.Context) ([]trace.Finding, error) {
	sum, main, most := newPart(), int64(0), field.Extreme{Rank: trace.None}
	ns := f.t.Defs.Clock.Nanoseconds
	for l, r := range f.readings {
		before, rank := sum.own, f.t.Rank[l]
		switch {
		case f.parts[l] != nil:
			sum.merge(f.parts[l])
		case r != nil:
			r.end()
			sum.merge(r.p)
		default:
			continue
		}
		sum.ranks[rank] += 0 // one that works on no files is the one with the least time
		if int(rank) < len(f.t.World) && f.t.World[rank] == trace.LocationID(l) {
			own := sum.own - before
			if main += own; most.Rank == trace.None || ns(own) > most.TimeNs {
				most = field.Extreme{Rank: field.Rank(rank), TimeNs: ns(own)}
			}
		}
	}
	f.readings, f.parts = nil, nil
	if len(sum.operations) == 0 {
		return nil, nil
	}
	f.Result = sum.rows(f)
	f.Result.MainNs, f.Result.MainMost = ns(main), most
	return sum.ledger.Findings(), nil
}

// A sum sums calls, in ticks.
type sum struct {
	calls, sized, bytes uint64
	time, sizedTime     int64
	min, max            int64
}

func (s *sum) add(o sum) {
	if s.calls == 0 {
		*s = o
		return
	}
	s.calls, s.sized, s.bytes = s.calls+o.calls, s.sized+o.sized, s.bytes+o.bytes
	s.time, s.sizedTime = s.time+o.time, s.sizedTime+o.sizedTime
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
}

// A fileKey names a file: by the string of an attribute, or by the handle of OTF2.
type fileKey struct {
	handle bool
	id     uint64
}

// A fileSum sums what is done to a file, by kind of call.
type fileSum struct {
	kinds [4]sum
	ranks []uint32 // ascending; locations outside MPI count as one
}

// A sizeKey names a class of accesses: 0 bytes, or bits.Len of the bytes.
type sizeKey struct {
	call  Call
	class int
}

// A part is what some locations yield.
type part struct {
	operations map[trace.RegionID]*sum
	files      map[fileKey]*fileSum
	sizes      map[sizeKey]*sum
	ranks      map[uint32]int64 // time
	time       int64            // of calls that no other such call encloses
	own        int64            // of that, without what they call that is no such call
	ledger     trace.Ledger
}

// fileLimit bounds the files of a part; calls on further ones count for no file.
const fileLimit = 1 << 20

func newPart() *part {
	return &part{operations: make(map[trace.RegionID]*sum), files: make(map[fileKey]*fileSum), sizes: make(map[sizeKey]*sum),
		ranks: make(map[uint32]int64)}
}

// merge adds what other locations yield.
func (p *part) merge(o *part) {
	for k, v := range o.operations {
		join(p.operations, k, *v)
	}
	for k, v := range o.sizes {
		join(p.sizes, k, *v)
	}
	for k, v := range o.ranks {
		p.ranks[k] += v
	}
	for k, v := range o.files {
		to := p.of(k)
		if to == nil {
			continue
		}
		for i := range v.kinds {
			if v.kinds[i].calls > 0 {
				to.kinds[i].add(v.kinds[i])
			}
		}
		for _, r := range v.ranks {
			to.visit(r)
		}
	}
	p.time, p.own = p.time+o.time, p.own+o.own
	p.ledger.Merge(o.ledger.Findings())
}

func join[K comparable](sums map[K]*sum, k K, v sum) {
	if sums[k] == nil {
		sums[k] = new(sum)
	}
	sums[k].add(v)
}

// of returns the sum of a file, nil if there are too many.
func (p *part) of(k fileKey) *fileSum {
	f := p.files[k]
	if f == nil {
		if len(p.files) >= fileLimit {
			p.ledger.Add(trace.CodeLimitExceeded, trace.Nowhere(), "files")
			return nil
		}
		f = new(fileSum)
		p.files[k] = f
	}
	return f
}

func (f *fileSum) visit(rank uint32) {
	if i, found := slices.BinarySearch(f.ranks, rank); !found {
		f.ranks = slices.Insert(f.ranks, i, rank)
	}
}

// A visit is a region that is entered and not left.
type visit struct {
	enter  int64
	call   Call
	inside bool // a call on files encloses it
	named  bool
	sized  bool
	file   fileKey
	bytes  uint64
	below  int64 // time of the regions directly in it
	io     int64 // of that, in calls on files
}

// A reading follows the call stack of one location.
type reading struct {
	s        *Finder
	p        *part
	rank     uint32
	location trace.LocationID
	clock    *trace.ClockMap
	stack    trace.CallStack[visit]
	times    []int64
	last     int64
}

// end closes what was never left.
func (r *reading) end() {
	for r.stack.Len() > 0 {
		r.close(r.last)
	}
}

func (r *reading) batch(b *trace.Batch) {
	r.times = append(r.times[:0], b.Flow.Time...)
	r.last = r.clock.Correct(r.times, r.last)
	f, attrs, other := &b.Flow, 0, 0
	for i, kind := range f.Kind {
		for ; other < len(b.Other.Seq) && b.Other.Seq[other] < f.Seq[i]; other++ {
			r.record(b, other)
		}
		if !kind.Enters() {
			for range r.stack.Leave(f.Region[i]) {
				r.close(r.times[i])
			}
			continue
		}
		if r.stack.Full() {
			r.close(r.times[i])
		}
		v := visit{enter: r.times[i]}
		if int(f.Region[i]) < len(r.s.calls) {
			v.call = r.s.calls[f.Region[i]]
		}
		if up := r.stack.Top(); up != nil {
			v.inside = up.inside || up.call != NoCall
		}
		for attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] < f.Seq[i] {
			attrs++
		}
		for ; attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] == f.Seq[i]; attrs++ {
			switch value := b.Attrs.Value[attrs]; b.Attrs.Attribute[attrs] {
			case trace.None:
			case r.s.file:
				v.named, v.file = true, fileKey{id: value}
			case r.s.bytes:
				r.measure(&v, value)
			}
		}
		r.stack.Enter(f.Region[i], v)
	}
	for ; other < len(b.Other.Seq); other++ {
		r.record(b, other)
	}
}

// record takes a record of an operation: its handle, and when it is complete its bytes.
func (r *reading) record(b *trace.Batch, i int) {
	kind, v := b.Other.Kind[i], r.stack.Top()
	if v == nil || v.call == NoCall || kind != trace.KindIoOperationBegin && kind != trace.KindIoOperationComplete {
		return
	}
	args := b.Other.Args[b.Other.Offset[i]:b.Other.Offset[i+1]]
	if len(args) < 2 {
		return
	}
	v.named, v.file = true, fileKey{handle: true, id: args[0]}
	if kind == trace.KindIoOperationComplete {
		r.measure(v, args[1])
	}
}

// most is how many bytes a call moves at most; more is a fault of the trace.
const most = 1 << 48

// measure adds the bytes that a call has moved.
func (r *reading) measure(v *visit, bytes uint64) {
	if bytes > most || v.bytes > most {
		r.p.ledger.Add(trace.CodeBadValue, trace.Place{Location: r.location, Offset: -1}, fmt.Sprintf("%d bytes in one call", bytes))
		return
	}
	v.sized = true
	v.bytes += bytes
}

// close ends the innermost visit and adds it if it is a call on files.
func (r *reading) close(t int64) {
	region := r.stack.Region(r.stack.Len() - 1)
	v := r.stack.Pop()
	o := &r.s.opts
	if t < o.From || v.enter > o.To {
		return
	}
	time := max(0, min(t, o.To)-max(v.enter, o.From))
	own := v.io // in calls on files, and in nothing that they call
	if v.call != NoCall {
		own += time - v.below
	}
	if up := r.stack.Top(); up != nil {
		up.below, up.io = up.below+time, up.io+own
	} else {
		r.p.own += own
	}
	if v.call == NoCall {
		return
	}
	x := sum{calls: 1, time: time, min: time, max: time}
	if v.sized && v.call != Other {
		x.sized, x.bytes, x.sizedTime = 1, v.bytes, time
		join(r.p.sizes, sizeKey{v.call, bits.Len64(v.bytes)}, x)
	}
	join(r.p.operations, region, x)
	if !v.inside {
		r.p.time += time
		r.p.ranks[r.rank] += time
	}
	if v.named {
		if f := r.p.of(v.file); f != nil {
			f.kinds[v.call].add(x)
			f.visit(r.rank)
		}
	}
}

// rows makes the block of the document.
func (p *part) rows(s *Finder) *document.FileIO {
	d, ns := s.t.Defs, s.t.Defs.Clock.Nanoseconds
	out := &document.FileIO{TimeNs: ns(p.time), Operations: []document.IOOperation{}, Files: []document.IOFile{}, Sizes: []document.IOSizes{},
		Min: field.Extreme{Rank: trace.None}, Max: field.Extreme{Rank: trace.None}}
	for region, x := range p.operations {
		kind := s.calls[region]
		out.Calls += x.calls
		out.Operations = append(out.Operations,
			document.IOOperation{Operation: d.RegionLabel(region), Kind: kind.String(), Calls: x.calls, TimeNs: ns(x.time),
				MinNs: ns(x.min), MeanNs: ns(x.time / int64(x.calls)), MaxNs: ns(x.max), Sized: x.sized, Bytes: x.bytes,
				Bandwidth: bandwidth(x.bytes, x.sized, ns(x.sizedTime))})
		switch kind {
		case Read:
			out.ReadBytes += x.bytes
		case Write:
			out.WriteBytes += x.bytes
		}
	}
	slices.SortFunc(out.Operations, func(a, b document.IOOperation) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation), cmp.Compare(b.Calls, a.Calls))
	})
	for k, f := range p.files {
		row := document.IOFile{File: s.nameOf(k), Ranks: len(f.ranks), Reads: f.kinds[Read].calls, Writes: f.kinds[Write].calls,
			ReadBytes: f.kinds[Read].bytes, WriteBytes: f.kinds[Write].bytes}
		var all sum
		for _, x := range f.kinds {
			all.calls, all.time, all.sized, all.bytes, all.sizedTime = all.calls+x.calls, all.time+x.time, all.sized+x.sized, all.bytes+x.bytes,
				all.sizedTime+x.sizedTime
		}
		row.Calls, row.TimeNs, row.Bandwidth = all.calls, ns(all.time), bandwidth(all.bytes, all.sized, ns(all.sizedTime))
		out.Files = append(out.Files, row)
	}
	slices.SortFunc(out.Files, func(a, b document.IOFile) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.File, b.File), cmp.Compare(b.Calls, a.Calls))
	})
	for k, x := range p.sizes {
		row := document.IOSizes{Kind: k.call.String(), To: 1, Calls: x.calls, Bytes: x.bytes, TimeNs: ns(x.time)}
		if k.class > 0 {
			row.From, row.To = 1<<(k.class-1), 1<<k.class
		}
		out.Sizes = append(out.Sizes, row)
	}
	slices.SortFunc(out.Sizes, func(a, b document.IOSizes) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From))
	})
	for _, r := range slices.Sorted(maps.Keys(p.ranks)) {
		e := field.Extreme{Rank: field.Rank(r), TimeNs: ns(p.ranks[r])}
		if r == trace.None {
			continue
		}
		if out.Min.Rank == trace.None || e.TimeNs < out.Min.TimeNs {
			out.Min = e
		}
		if out.Max.Rank == trace.None || e.TimeNs > out.Max.TimeNs {
			out.Max = e
		}
	}
	return out
}

// nameOf names a file.
func (s *Finder) nameOf(k fileKey) string {
	if k.handle {
		return fmt.Sprintf("handle %d", k.id)
	}
	return s.t.Defs.String(trace.StringID(min(k.id, trace.None)))
}

func bandwidth(bytes, sized uint64, ns int64) *float64 {
	if sized == 0 || ns <= 0 {
		return nil
	}
	b := float64(bytes) / (float64(ns) / 1e9)
	return &b
}
